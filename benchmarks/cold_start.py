"""The keeper as a process: its first page, its memory, and its answers under load."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import orjson

from benchmarks.corpus.corpus import Corpus
from benchmarks.harness.measure import (
    MEGABYTE,
    Figure,
    below,
    megabytes,
    milliseconds,
    run_module,
)
from benchmarks.harness.server import fetching, keeper

REQUESTS = 200
CANDIDATES = 20
FIRST_PAGE = "/sessions"


@dataclass(frozen=True)
class ColdStart:
    """The start of a keeper with sessions and no cache."""

    cache: Path
    first_answer: float
    reading: float
    healths: list[float]
    memory: int


def cold_start(environment: Mapping[str, str]) -> ColdStart:
    """Lets a keeper read everything once; the other measurements use its cache."""
    with keeper(environment) as running:
        start = time.perf_counter()
        running.get(FIRST_PAGE)
        first_answer = time.perf_counter() - start
        healths = running.read_to_the_end()
        reading = time.perf_counter() - start
        running.get(FIRST_PAGE)
        running.idle()
        memory = running.memory()
    (cache,) = Path(environment["XDG_CACHE_HOME"]).glob("claudekeeper/sessions-*.db")
    return ColdStart(cache, first_answer, reading, healths, memory)


def first_page(environment: Mapping[str, str], of: str = "") -> list[Figure]:
    with keeper(environment) as running:
        running.read_to_the_end()
        outside = [running.get(FIRST_PAGE)[1] for _ in range(REQUESTS)]
    inside = _inside(environment, FIRST_PAGE)
    details = (
        f"median of {REQUESTS}; one in twenty takes {milliseconds(_slow(inside, 20))}; "
        f"over loopback {milliseconds(median(outside))}"
    )
    name = f"first page of a running server, inside it{of}"
    return [below(name, median(inside) * 1000, 5, "ms", details)]


def resume(corpus: Corpus, environment: Mapping[str, str]) -> list[Figure]:
    """The resume report of the largest session."""
    taken = _inside(environment, f"/sessions/{corpus.giant_id}/resume")
    details = (
        f"median of {REQUESTS}; one in twenty takes {milliseconds(_slow(taken, 20))}, "
        f"the longest {milliseconds(max(taken))}; "
        f"the first one, while the server still starts, {milliseconds(taken[0])}"
    )
    size = f"{corpus.giant.stat().st_size / 1e6:.0f} MB"
    name = f"where a session of {size} stands, inside the server"
    return [below(name, median(taken) * 1000, 50, "ms", details)]


def route(environment: Mapping[str, str]) -> list[Figure]:
    """Routing with twenty candidates, the maximum."""
    with _recent(Path(environment["CLAUDE_CONFIG_DIR"])):
        taken = _inside(
            environment, "/route", orjson.dumps({"text": "also test the exporter"}).decode()
        )
    # the first request reads the transcripts of the candidates
    details = (
        f"median of {REQUESTS}, {CANDIDATES} candidates; one in twenty takes "
        f"{milliseconds(_slow(taken, 20))}; the first one {milliseconds(taken[0])}"
    )
    name = "deciding which conversation a command belongs to, inside the server"
    return [below(name, median(taken) * 1000, 5, "ms", details)]


@contextmanager
def _recent(claude: Path) -> Iterator[None]:
    """Makes some sessions of medium size the newest; afterwards they have their old times."""
    by_size = sorted((path.stat().st_size, path) for path in claude.glob("projects/*/*.jsonl"))
    middle = len(by_size) // 2
    chosen = [path for _, path in by_size[middle : middle + CANDIDATES]]
    times = {path: path.stat().st_mtime_ns for path in chosen}
    for path in chosen:
        os.utime(path)
    try:
        yield
    finally:
        for path, time_ns in times.items():
            os.utime(path, ns=(time_ns, time_ns))


def idle_memory(corpus: Corpus, environment: Mapping[str, str], cold: ColdStart) -> list[Figure]:
    with keeper(environment) as running:
        running.get(FIRST_PAGE)
        running.idle()
        warm = running.memory()
    name = f"idle memory with {corpus.sessions:,} sessions"
    return [
        below(
            f"{name}, after a restart",
            warm / MEGABYTE,
            60,
            "MB",
            "resident, after a listing",
        ),
        below(
            f"{name}, after reading all of them",
            cold.memory / MEGABYTE,
            60,
            "MB",
            f"{megabytes(corpus.size)} read in {cold.reading:.0f} s, in the background",
        ),
    ]


def health(corpus: Corpus, environment: Mapping[str, str], cold: ColdStart) -> list[Figure]:
    """The latency of /health under load, for information."""
    with keeper(environment) as running:
        running.read_to_the_end()
        quiet = [running.get("/health")[1] for _ in range(REQUESTS)]
        with fetching(running, f"/sessions/{corpus.giant_id}?limit=all") as client:
            streaming = running.healths_while(client)
    return [
        _latency("/health of a quiet server", quiet),
        _latency("/health while the large session is streamed", streaming),
        _latency("/health while all sessions are read for the first time", cold.healths),
    ]


def _latency(name: str, taken: list[float]) -> Figure:
    return Figure(
        name,
        f"median {milliseconds(median(taken))}, worst {milliseconds(max(taken))}",
        details=f"of {len(taken):,}; one in a hundred takes {milliseconds(_slow(taken, 100))}",
    )


def _slow(taken: list[float], one_in: int) -> float:
    return sorted(taken)[-max(1, len(taken) // one_in)]


def _inside(environment: Mapping[str, str], path: str, *body: str) -> list[float]:
    taken: list[float] = run_module(
        environment, "benchmarks.profile_request", path, REQUESTS, *body
    )
    return taken
