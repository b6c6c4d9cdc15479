"""Measurements side by side: each work in a process of its own, in turns, the best of several."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

ROOT = Path(__file__).resolve().parents[2]
# variables of the machine's own Claude Code, which must not be used
INHERITED = ("ANTHROPIC_", "CLAUDE", "CLARVIS_", "XDG_")
MEGABYTE = 1024 * 1024
MAX_SECONDS = 600.0


@dataclass(frozen=True)
class Taken:
    """The cost of one work in its process."""

    seconds: float
    # peak of resident memory above that before the work, in bytes
    memory: int
    count: int


@dataclass(frozen=True)
class Figure:
    """A row of the table. Without a goal it is for information."""

    work: str
    measured: str
    goal: str = ""
    met: bool | None = None
    details: str = ""


@contextmanager
def isolated(claude: Path) -> Iterator[dict[str, str]]:
    """An environment with a temporary home; `claude` is used as ~/.claude."""
    with tempfile.TemporaryDirectory(prefix="claudekeeper-bench-") as home:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(INHERITED)}
        yield {
            **inherited,
            "HOME": home,
            "XDG_CACHE_HOME": f"{home}/cache",
            "XDG_CONFIG_HOME": f"{home}/config",
            "CLAUDE_CONFIG_DIR": str(claude),
            "CLAUDEKEEPER_HOME": f"{home}/keeper",
            # the discard port, so that a request to the network fails at once
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
            "PYTHONPATH": str(ROOT),
        }


def run_module(environment: Mapping[str, str], module: str, *arguments: object) -> Any:
    """The JSON that a module prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        timeout=MAX_SECONDS,
        check=True,
    )
    return orjson.loads(done.stdout)


def run(environment: Mapping[str, str], work: str, *arguments: str | Path) -> Taken:
    """Does one work in a new process."""
    return Taken(**run_module(environment, "benchmarks.harness.worker", work, *arguments))


def side_by_side(
    environment: Mapping[str, str], works: Mapping[str, Sequence[str | Path]], rounds: int
) -> dict[str, Taken]:
    """Runs every work in every round; returns the fastest time and the least memory of each."""
    runs: dict[str, list[Taken]] = {work: [] for work in works}
    for _ in range(rounds):
        for work, arguments in works.items():
            runs[work].append(run(environment, work, *arguments))
    return {work: best(taken) for work, taken in runs.items()}


def best(taken: Sequence[Taken]) -> Taken:
    # other processes can only add to both
    return Taken(
        min(each.seconds for each in taken),
        min(each.memory for each in taken),
        taken[0].count,
    )


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.{0 if seconds >= 0.1 else 1 if seconds >= 0.01 else 2}f} ms"


def megabytes(number: float) -> str:
    return f"{number / MEGABYTE:,.1f} MB"


def at_most(work: str, ratio: float, goal: float, of: str, details: str) -> Figure:
    return Figure(work, f"{ratio:.2f} × {of}", f"at most {goal} ×", ratio <= goal, details)


def at_least(work: str, ratio: float, goal: float, of: str, details: str) -> Figure:
    factor = f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.1f}"
    return Figure(work, f"{factor} × faster than {of}", f"{goal:,.0f} ×", ratio >= goal, details)


def below(work: str, value: float, goal: float, unit: str, details: str) -> Figure:
    return Figure(work, f"{value:.1f} {unit}", f"under {goal:g} {unit}", value < goal, details)
