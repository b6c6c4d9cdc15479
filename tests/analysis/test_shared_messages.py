"""Which lines of several transcripts are the same, and which session goes on from which."""

from __future__ import annotations

from array import array

from msgspec import Raw

from claudekeeper.analysis.reply_usage import identity
from claudekeeper.analysis.shared_messages import (
    ForkGraph,
    MessageChain,
    MessageIdentity,
    line_identities,
    origin_of,
)
from claudekeeper.transcripts.entries import Entry

MORNING, NOON, EVENING = (f"2026-03-01T{hour}:00:00Z" for hour in ("08", "12", "20"))


def chain(own: list[int], origins: list[int] | None = None, **more: str) -> MessageChain:
    numbers = array("Q", own)
    copied = array("Q", origins or [0] * len(own))
    # lines with an odd number are messages, the others nobody sees
    counts = bytearray(number % 2 for number in own)
    return MessageChain(numbers, copied, array("Q", own), counts, **more)


def parents(chains: dict[str, MessageChain], spoke: dict[str, str | None]) -> dict[str, str]:
    return {key: fork.parent for key, fork in ForkGraph(chains).find_forks(spoke).items()}


def test_where_a_line_was_copied_from_is_told_or_not() -> None:
    assert origin_of(Raw(b'{"sessionId":"AB","messageUuid":"m"}')) == ("ab", "m")
    for odd in (b"", b"null", b'"x"', b"[]", b'{"sessionId":1}', b'{"sessionId":"a"}', b"{"):
        assert origin_of(Raw(odd)) is None


def test_only_lines_that_can_be_copied_begin_a_transcript() -> None:
    written = Raw(b'{"sessionId":"a","messageUuid":"before"}')
    line = Entry(type="user", uuid="now", forked_from=written)
    assert line_identities(line) == (identity("now"), identity("before"))
    assert line_identities(Entry(type="user", uuid="now")) == (identity("now"), 0)
    assert line_identities(Entry(type="progress", uuid="now")) == (0, 0)
    assert line_identities(Entry(type="user", uuid="now", is_sidechain=True)) == (0, 0)
    assert line_identities(Entry(type="summary")) == (0, 0)


def test_a_copy_of_a_copy_is_what_was_first() -> None:
    same = MessageIdentity([chain([1, 2]), chain([11, 12], [1, 2]), chain([21], [11])])
    assert [same.resolve(each) for each in (1, 12, 21, 99)] == [1, 2, 1, 99]


def test_lines_that_say_they_are_copies_of_each_other_end_nowhere() -> None:
    same = MessageIdentity([chain([1], [2]), chain([2], [1]), chain([3], [3])])
    assert (same.resolve(1), same.resolve(3)) == (2, 3)


def test_a_fork_that_says_so_goes_on_from_there() -> None:
    chains = {
        "old": chain([1, 2, 3, 4]),
        "new": chain([11, 12, 13], [1, 2, 0], copied_from="old"),
        "newer": chain([21, 22, 23, 24], [11, 12, 13, 0], copied_from="new"),
    }
    forks = ForkGraph(chains).find_forks({})
    assert {
        key: (fork.parent, fork.shared_lines, fork.own_index, fork.parent_index)
        for key, fork in forks.items()
    } == {
        "new": ("old", 2, 0, 0),
        "newer": ("new", 3, 2, 2),
    }


def test_siblings_whose_parent_is_gone_have_a_past_in_common() -> None:
    chains = {
        "one": chain([11, 12, 13], [1, 2, 0], copied_from="gone", first_message_at=MORNING),
        "two": chain([21, 22, 23], [1, 2, 0], copied_from="gone", first_message_at=MORNING),
    }
    assert parents(chains, {"one": EVENING, "two": NOON}) == {"two": "one"}


def test_a_copy_with_its_own_notes_was_made_when_they_were_written() -> None:
    chains = {
        "fork": chain([1, 2, 5], first_message_at=MORNING, first_uncopied_at=NOON),
        "original": chain([1, 2, 3], first_message_at=MORNING, first_uncopied_at=MORNING),
    }
    assert parents(chains, {"fork": NOON, "original": EVENING}) == {"fork": "original"}


def test_without_notes_the_one_that_went_on_later_is_the_original() -> None:
    chains = {
        "a": chain([1, 2, 5], first_message_at=MORNING),
        "b": chain([1, 2, 3], first_message_at=MORNING),
    }
    assert parents(chains, {"a": NOON, "b": EVENING}) == {"a": "b"}
    assert parents(chains, {"a": NOON}) == {"a": "b"}
    assert parents(chains, {}) == {"b": "a"}


def test_where_each_first_says_something_of_its_own() -> None:
    chains = {"a": chain([1, 2, 5]), "b": chain([1, 2, 3]), "c": chain([1, 2])}
    assert ForkGraph(chains).first_own_indexes() == {"a": 2, "b": 2}


def test_two_that_claim_to_come_from_each_other_are_a_line_all_the_same() -> None:
    chains = {
        "a": chain([1, 2], copied_from="b", first_message_at=MORNING),
        "b": chain([1, 2], copied_from="a", first_message_at=NOON),
    }
    assert parents(chains, {}) == {"a": "b"}
