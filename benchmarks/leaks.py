"""What a thousand turns leave behind."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import orjson

from benchmarks.harness.measure import LONGEST, MEGABYTE, ROOT, Figure, megabytes
from benchmarks.harness.scripted_api import scripted

# what a thousand turns may leave: less than a transcript's lines would take
MOST_GROWTH = 5 * MEGABYTE
# by then the ring of events, which is bounded, has nearly taken its bound
WARM, END = 500, 1_500


def endurance(environment: Mapping[str, str]) -> list[Figure]:
    held = _held(environment)
    before, after = held[WARM], held[END]
    grown = after["memory"] - before["memory"]
    same = all(after[what] <= before[what] for what in ("tasks", "descriptors", "processes"))
    counts = ", ".join(
        f"{what} {before[what]} → {after[what]}" for what in ("tasks", "descriptors", "processes")
    )
    return [
        Figure("a thousand turns on ten sessions", counts, "no more than before", same),
        Figure(
            "memory after them",
            f"{grown / MEGABYTE:+.1f} MB",
            f"under {MOST_GROWTH / MEGABYTE:.0f} MB",
            grown < MOST_GROWTH,
            "resident after so many turns: "
            + ", ".join(f"{turns:,}: {megabytes(each['memory'])}" for turns, each in held.items()),
        ),
    ]


def _held(environment: Mapping[str, str]) -> dict[int, dict[str, int]]:
    with scripted(environment) as api:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.harness.gateway", "endurance", api.url],
            env=environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            timeout=LONGEST,
            check=True,
        )
    return {int(turns): each for turns, each in orjson.loads(done.stdout).items()}
