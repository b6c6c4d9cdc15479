"""What the gateway adds to a conversation, and what a thousand turns leave behind."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from statistics import median
from typing import Any

from bench.measure import LONGEST, MEGABYTE, ROOT, Figure, milliseconds

ROUNDS = 3
# what a thousand turns may leave: less than a transcript's lines would take
MOST_GROWTH = 5 * MEGABYTE


def latency(environment: Mapping[str, str]) -> list[Figure]:
    """The best of several runs: other work on the machine can only add to it."""
    runs = [_gateway(environment, "latency") for _ in range(ROUNDS)]
    figures = []
    for what, name in (("pieces", "a piece of text"), ("messages", "a whole message")):
        added = min((run[what] for run in runs), key=median)
        added.sort()
        ninth = added[len(added) * 9 // 10]
        figures.append(
            Figure(
                f"from the CLI's pipe to a client's hands, {name}",
                milliseconds(median(added)),
                "under 0.5 ms",
                median(added) < 0.0005,
                f"median of {len(added)}; one in ten takes {milliseconds(ninth)} or more",
            )
        )
    return figures


def endurance(environment: Mapping[str, str]) -> list[Figure]:
    held = _gateway(environment, "endurance")
    before, after = held["before"], held["after"]
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
            f"resident, from {before['memory'] / MEGABYTE:.1f} MB",
        ),
    ]


def _gateway(environment: Mapping[str, str], what: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "bench.gateway", what],
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        timeout=LONGEST,
        check=True,
    )
    return json.loads(done.stdout)
