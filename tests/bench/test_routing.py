"""The labelled sequences are what they say, and the improved scorer is worth having."""

from __future__ import annotations

from bench.routing.__main__ import right, wrong_conversation
from bench.routing.labelled import conversations, sequences

KINDS = {
    "signal", "followup", "plan", "change", "neighbour", "pronoun", "interleaved", "file",
    "language", "typo", "dictated", "falsesignal", "late", "short",
}  # fmt: skip


def test_there_are_enough_of_every_kind_half_of_them_held_out() -> None:
    every = sequences()
    assert len(every) >= 240
    assert {each.kind for each in every} == KINDS
    held_out = sum(each.held_out for each in every)
    assert 0.4 < held_out / len(every) < 0.6
    known = conversations()
    assert all(set(each.at) <= known.keys() for each in every)
    assert all(each.to is None or each.to in each.at for each in every)


def test_the_improved_scorer_beats_the_plain_rule_on_the_held_out_half() -> None:
    held_out = [each for each in sequences() if each.held_out]
    assert right("improved", held_out) - right("plain", held_out) > 0.3 * len(held_out)


def test_it_is_no_worse_on_topic_changes_and_goes_astray_no_more_often() -> None:
    held_out = [each for each in sequences() if each.held_out]
    changes = [each for each in held_out if each.kind == "change"]
    assert right("improved", changes) >= right("plain", changes)
    assert wrong_conversation("improved", held_out) <= wrong_conversation("plain", held_out)
