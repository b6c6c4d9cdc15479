"""The labelled endings, read by the real code."""

from __future__ import annotations

from benchmarks.question_detection.__main__ import read, right
from benchmarks.question_detection.labelled import endings


def test_the_set_covers_what_happens_at_the_end() -> None:
    every = endings()
    assert len(every) > 250
    assert {kind for each in every for kind in each.next} == {
        "answer",
        "reply",
        "continue",
        "start",
        "done",
    }
    assert len({str(each.steps) for each in every}) == len(every)


def test_endings_are_read_as_a_person_reads_them() -> None:
    wrong = [each for each in endings() if not right(each)]
    misread = "\n".join(f"{each.kind}: {each.steps[-1]} → {read(each)}" for each in wrong)
    assert len(wrong) <= 3, misread
