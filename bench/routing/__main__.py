"""`python -m bench.routing`: how often both scorers are right, told in docs/routing.md."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence as Several

from bench.measure import ROOT
from bench.routing.labelled import Sequence, sequences
from claudekeeper.features.routing import decide
from claudekeeper.model.routing import RoutingSettings, Scorer

DOCUMENT = ROOT / "docs" / "routing.md"
_TABLE = re.compile(r"(?<=<!-- measured -->\n).*?(?=<!-- end -->)", re.DOTALL)


def right(scorer: Scorer, among: Several[Sequence]) -> int:
    settings = RoutingSettings(scorer=scorer)
    return sum(decide(each.said, each.talks, settings).session_id == each.to for each in among)


def wrong_conversation(scorer: Scorer, among: Several[Sequence]) -> int:
    """The worse mistake: a command that went into a conversation to which it does not belong."""
    settings = RoutingSettings(scorer=scorer)
    return sum(
        decide(each.said, each.talks, settings).session_id not in (None, each.to) for each in among
    )


def table() -> str:
    every = sequences()
    first = [each for each in every if not each.held_out]
    held_out = [each for each in every if each.held_out]
    rows = [("**all of the tuning half**", first), ("**all of the held-out half**", held_out)]
    kinds = dict.fromkeys(each.kind for each in every)
    rows += [(f"{kind}, held out", [e for e in held_out if e.kind == kind]) for kind in kinds]
    lines = [
        "| sequences | number | plain | improved | of these, into a wrong conversation |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, among in rows:
        plain, improved = (_share(right(by, among), among) for by in ("plain", "improved"))
        wrong = [wrong_conversation(by, among) for by in ("plain", "improved")]
        lines.append(
            f"| {name} | {len(among)} | {plain} | {improved} | {wrong[0]} and {wrong[1]} |"
        )
    return "\n".join(lines)


def _share(count: int, among: Several[Sequence]) -> str:
    return f"{count / len(among):.1%}" if among else "–"


def main() -> int:
    measured = table()
    print(measured)
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(_TABLE.sub(lambda _: f"\n{measured}\n\n", text), encoding="utf-8")
    print(f"\nwritten to {DOCUMENT.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
