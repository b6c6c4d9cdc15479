"""Memory, tasks and descriptors after a thousand turns."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.harness.measure import MEGABYTE, Figure, megabytes, run_module
from benchmarks.harness.scripted_api import scripted

# less than the lines of the transcripts would take
MAX_GROWTH = 5 * MEGABYTE
# by the first the bounded ring of events is nearly full
WARM, END = 500, 1_500


def endurance(environment: Mapping[str, str]) -> list[Figure]:
    by_turns = _by_turns(environment)
    before, after = by_turns[WARM], by_turns[END]
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
            f"under {MAX_GROWTH / MEGABYTE:.0f} MB",
            grown < MAX_GROWTH,
            "resident after so many turns: "
            + ", ".join(
                f"{turns:,}: {megabytes(each['memory'])}" for turns, each in by_turns.items()
            ),
        ),
    ]


def _by_turns(environment: Mapping[str, str]) -> dict[int, dict[str, int]]:
    with scripted(environment) as api:
        by_turns = run_module(environment, "benchmarks.harness.gateway", "endurance", api.url)
    return {int(turns): each for turns, each in by_turns.items()}
