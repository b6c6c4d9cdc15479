"""The labelled sequences are what they say, and the improved scorer is worth having."""

from __future__ import annotations

import pytest

from benchmarks.routing.__main__ import right, wrong_conversation
from benchmarks.routing.labelled import SETS, Name, Sequence, sequences

KINDS = {
    "signal", "followup", "plan", "change", "neighbour", "pronoun", "interleaved", "file",
    "language", "typo", "dictated", "falsesignal", "late", "short",
}  # fmt: skip
HALVED: tuple[Name, ...] = ("first", "second")
EACH = pytest.mark.parametrize("name", HALVED)


def held_out(name: Name) -> list[Sequence]:
    return [each for each in sequences(name) if each.held_out]


@EACH
def test_there_are_enough_half_of_them_held_out(name: Name) -> None:
    every = sequences(name)
    assert len(every) >= 240
    assert 0.4 < len(held_out(name)) / len(every) < 0.6


def test_there_are_all_kinds_and_what_is_right_is_among_what_was_there() -> None:
    assert {each.kind for each in sequences("first")} == KINDS
    for each in (each for name in SETS for each in sequences(name)):
        assert each.to is None or each.to in {one.session_id for one in each.candidates}


@EACH
def test_the_improved_scorer_beats_the_plain_rule_on_the_held_out_half(name: Name) -> None:
    half = held_out(name)
    assert right("improved", half) - right("plain", half) > 0.3 * len(half)


@EACH
def test_it_is_no_worse_on_what_is_new_and_goes_astray_no_more_often(name: Name) -> None:
    half = held_out(name)
    new = [each for each in half if each.to is None]
    assert right("improved", new) >= right("plain", new)
    assert wrong_conversation("improved", half) <= wrong_conversation("plain", half)


def test_it_is_no_worse_on_topic_changes() -> None:
    changes = [each for each in held_out("first") if each.kind == "change"]
    assert right("improved", changes) >= right("plain", changes)
