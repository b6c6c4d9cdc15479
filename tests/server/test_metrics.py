"""/metrics has what a dashboard of an earlier version asks for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

import claudekeeper
from tests.server.conftest import Api

# written by a keeper that made the text by hand, after the requests below
BEFORE = (
    (Path(__file__).parent / "metrics_before.txt")
    .read_text()
    .replace('version="0.2.0"', f'version="{claudekeeper.__version__}"')
)


def described(metrics: Iterable[Metric]) -> dict[str, Any]:
    """Type, help text, and the names and labels of all samples, by metric."""
    return {
        metric.name: (
            metric.type,
            metric.documentation,
            {(sample.name, *sorted(sample.labels.items())) for sample in metric.samples},
        )
        for metric in metrics
    }


def counters(text: str) -> dict[tuple[Any, ...], float]:
    """The keeper's own, by name and labels; processor time differs."""
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for metric in text_string_to_metric_families(text)
        for sample in metric.samples
        if metric.type == "counter" and metric.name.startswith("claudekeeper_")
    }


@pytest.fixture
async def metrics_text(keeper: Api) -> str:
    for path in ["/sessions/a", "/nowhere", "/sessions"]:
        await keeper.get(path)
    await keeper.get("/sessions", headers={"Authorization": "Bearer wrong"})
    return await (await keeper.get("/metrics")).text()


async def test_names_types_labels_and_help_are_those_of_before(metrics_text: str) -> None:
    before = described(text_string_to_metric_families(BEFORE))
    now = described(text_string_to_metric_families(metrics_text))
    assert {name: now[name] for name in before} == before


async def test_counters_have_the_values_of_before(metrics_text: str) -> None:
    assert counters(metrics_text) == counters(BEFORE)


async def test_nothing_of_the_library_s_own_is_added(metrics_text: str) -> None:
    own = {metric.name for metric in REGISTRY.collect()}
    names = {metric.name for metric in text_string_to_metric_families(metrics_text)}
    assert names & own <= {
        "process_cpu_seconds",
        "process_resident_memory_bytes",
        "process_open_fds",
    }
