"""How often a session's end is read as a person reads it.

`python -m benchmarks.question_detection`

`--wrong` shows where not.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence as Several
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.harness.measure import ROOT
from benchmarks.harness.tables import tell
from benchmarks.question_detection.labelled import SESSION, Ending, endings
from claudekeeper.analysis.last_turns import session_end_of
from claudekeeper.analysis.session_facts import tasks_of
from claudekeeper.analysis.summary import SummaryFold
from claudekeeper.resume.types import NextAction, next_action
from claudekeeper.transcripts.entries import parse_line
from claudekeeper.transcripts.history import History

DOCUMENT = ROOT / "docs" / "returning.md"


def read(ending: Ending) -> tuple[NextAction, str | None]:
    """What we would do next, and the question that we see open."""
    with TemporaryDirectory() as folder:
        path = ending.write(Path(folder))
        page = History().page(path, SESSION, limit=60)
        end = session_end_of([*page.messages, *page.unanswered_prompts])
        fold = SummaryFold()
        for line in path.read_bytes().splitlines():
            for entry in parse_line(line)[0]:
                fold.add(entry)
    facts = fold.finish(0, b"")[1].facts
    question = end.question.text if end.question else None
    return next_action(end, tasks_of(facts), working=False), question


def right(ending: Ending) -> bool:
    """Whether the next action is a person's, and the question the one that a person sees."""
    action, question = read(ending)
    if action.kind not in ending.next:
        return False
    if ending.asks is not None:
        words = " ".join((question or "").split())
        return ending.asks in words and (ending.also or "") in words
    return question is None or "answer" in ending.next


def table(every: Several[Ending]) -> str:
    kinds = dict.fromkeys(each.kind for each in every)
    rows = [("**all**", every)]
    rows += [(kind, [each for each in every if each.kind == kind]) for kind in kinds]
    lines = ["| endings | number | read as a person does |", "| --- | --- | --- |"]
    lines += [f"| {name} | {len(among)} | {sum(map(right, among))} |" for name, among in rows]
    return "\n".join(lines)


def main() -> int:
    if sys.argv[1:] == ["--wrong"]:
        for each in endings():
            if not right(each):
                action, question = read(each)
                print(f"{each.kind}: {each.steps[-1]}\n  {each.next} {each.asks!r}")
                print(f"  here: {action.kind} {question!r}")
        return 0
    tell(table(endings()), DOCUMENT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
