"""Requests have ids, are counted, and leave lines that give nothing away."""

from __future__ import annotations

import logging
import math
import re

import pytest

from tests.server.conftest import TOKEN, Api
from tests.support.keeper_process import parse_metrics
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder


async def metrics(keeper: Api) -> dict[str, float]:
    async with keeper.get("/metrics") as response:
        assert response.status == 200
        assert response.content_type == "text/plain"
        return parse_metrics(await response.text())


@pytest.mark.parametrize("path", ["/health", "/sessions", "/nowhere", f"/sessions/{SESSION_ID}"])
async def test_every_answer_has_an_id_of_its_own(keeper: Api, path: str) -> None:
    ids = [(await keeper.get(path)).headers["X-Request-Id"] for _ in range(2)]
    assert all(re.fullmatch(r"[0-9a-f]{16}", each) for each in ids)
    assert ids[0] != ids[1]


async def test_refusals_and_streams_have_one_too(keeper: Api) -> None:
    TranscriptWriter().write(projects_folder())
    assert "X-Request-Id" in (await keeper.get("/x", headers={"Authorization": ""})).headers
    stream = await keeper.get(f"/sessions/{SESSION_ID}?limit=all")
    assert "X-Request-Id" in stream.headers


async def test_a_caller_s_own_id_is_kept_if_it_is_one(
    keeper: Api, caplog: pytest.LogCaptureFixture
) -> None:
    answer = await keeper.get("/health", headers={"X-Request-Id": "from-the-proxy.1"})
    assert answer.headers["X-Request-Id"] == "from-the-proxy.1"
    for odd in ["x" * 65, "a b", "<script>", ""]:
        answer = await keeper.get("/health", headers={"X-Request-Id": odd})
        assert answer.headers["X-Request-Id"] != odd


async def test_the_log_has_the_request_and_no_secret(
    keeper: Api, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, logger="claudekeeper"):
        await keeper.get("/sessions?workdir=/private/place")
        await keeper.patch("/sessions/nope", json={"name": "private name"})
        await keeper.get("/sessions", headers={"Authorization": f"Bearer {TOKEN}x"})
    assert "GET /sessions 200" in caplog.text
    assert "PATCH /sessions/nope 404" in caplog.text
    assert "GET /sessions 401" in caplog.text
    assert "private" not in caplog.text
    assert TOKEN not in caplog.text


async def test_answers_do_not_name_the_server(keeper: Api) -> None:
    assert "Server" not in (await keeper.get("/health")).headers


async def test_requests_are_counted_by_address(keeper: Api) -> None:
    for path in ["/sessions/a", "/sessions/b", "/nowhere", "/elsewhere"]:
        await keeper.get(path)
    await keeper.get("/sessions", headers={"Authorization": "Bearer wrong"})
    figures = await metrics(keeper)
    requests = "claudekeeper_requests_total"
    assert figures[f'{requests}{{address="/sessions/{{id}}",method="GET",status="404"}}'] == 2
    assert figures[f'{requests}{{address="other",method="GET",status="404"}}'] == 2
    assert figures["claudekeeper_wrong_tokens_total"] == 1
    assert figures["claudekeeper_request_seconds_count"] == 5
    assert figures['claudekeeper_request_seconds_bucket{le="+Inf"}'] == 5


async def test_how_the_keeper_and_its_process_are(keeper: Api) -> None:
    TranscriptWriter().write(projects_folder())
    await keeper.get("/sessions")
    figures = await metrics(keeper)
    assert figures["claudekeeper_sessions"] == 1
    assert figures["process_resident_memory_bytes"] > 1_000_000
    assert figures["process_cpu_seconds_total"] > 0
    assert figures["claudekeeper_tasks"] >= 1


async def test_metrics_need_the_token(keeper: Api) -> None:
    assert (await keeper.get("/metrics", headers={"Authorization": ""})).status == 401


METRIC = re.compile(
    r"# HELP (?P<name>\S+) .*\n# TYPE (?P=name) (?P<kind>counter|gauge|histogram)\n"
    r"(?P<samples>(?:[^#\n].*\n)*)"
)
PARTS = {"counter": [""], "gauge": [""], "histogram": ["_bucket", "_sum", "_count"]}
SAMPLE = re.compile(
    r"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)"
    r'(?:\{(?P<labels>(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)+)\})? (?P<value>\S+)'
)


async def test_prometheus_understands_every_line(keeper: Api) -> None:
    await keeper.get("/sessions")
    answer = await keeper.get("/metrics")
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    text = await answer.text()
    # all lines of a metric stand together, its description first
    metrics = list(METRIC.finditer(text))
    assert "".join(metric[0] for metric in metrics) == text
    assert len({metric["name"] for metric in metrics}) == len(metrics)
    for metric in metrics:
        for line in metric["samples"].splitlines():
            sample = SAMPLE.fullmatch(line)
            assert sample is not None, line
            assert sample["name"] in {metric["name"] + part for part in PARTS[metric["kind"]]}
            assert sample["name"].endswith("_total") == (metric["kind"] == "counter")
            assert math.isfinite(float(sample["value"]))
    series = [line.rpartition(" ")[0] for line in text.splitlines() if not line.startswith("#")]
    assert len(set(series)) == len(series)
