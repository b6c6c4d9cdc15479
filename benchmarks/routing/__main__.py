"""`python -m benchmarks.routing`: how often both scorers are right, for docs/routing.md."""

from __future__ import annotations

import sys
from collections.abc import Sequence as Several

from benchmarks.harness.measure import ROOT
from benchmarks.harness.tables import tell
from benchmarks.routing.labelled import SETS, Sequence, sequences
from claudekeeper.contract.routing import RoutingSettings, Scorer
from claudekeeper.routing.decide import decide

DOCUMENT = ROOT / "docs" / "routing.md"


def right(scorer: Scorer, among: Several[Sequence]) -> int:
    settings = RoutingSettings(scorer=scorer)
    return sum(
        decide(each.command, each.candidates, settings).session_id == each.to for each in among
    )


def wrong_conversation(scorer: Scorer, among: Several[Sequence]) -> int:
    """The worse mistake: a command that went into a conversation to which it does not belong."""
    settings = RoutingSettings(scorer=scorer)
    return sum(
        decide(each.command, each.candidates, settings).session_id not in (None, each.to)
        for each in among
    )


def table() -> str:
    lines = [
        "| sequences | number | plain | improved | of these, into a wrong conversation |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name in SETS:
        every = sequences(name)
        held_out = [each for each in every if each.held_out]
        kinds = dict.fromkeys(each.kind for each in every)
        groups = {
            f"**{name} set, tuning**": [each for each in every if not each.held_out],
            f"**{name} set, held out**": held_out,
            f"{name} set, held out, to be new": [each for each in held_out if each.to is None],
        } | {
            f"{name} set, held out, {kind}": [each for each in held_out if each.kind == kind]
            for kind in kinds
        }
        lines += [_row(group, among) for group, among in groups.items() if among]
    return "\n".join(lines)


def _row(name: str, among: Several[Sequence]) -> str:
    plain, improved = (_share(right(by, among), among) for by in ("plain", "improved"))
    wrong = [wrong_conversation(by, among) for by in ("plain", "improved")]
    return f"| {name} | {len(among)} | {plain} | {improved} | {wrong[0]} and {wrong[1]} |"


def _share(count: int, among: Several[Sequence]) -> str:
    return f"{count / len(among):.1%}"


def main() -> int:
    tell(table(), DOCUMENT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
