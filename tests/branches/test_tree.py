"""Branches inside one transcript, as a tree and as paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from claudekeeper.branches.tree import BranchTree, shared_lengths
from claudekeeper.transcripts.history import History
from tests.support.transcript_writer import TranscriptWriter, projects_folder


def branches_of(transcript: TranscriptWriter) -> tuple[BranchTree, dict[str | None, list[str]]]:
    """The branches, and the path to each tip in uuids."""
    path = transcript.write(projects_folder())

    def read(_: int, full_view: object) -> tuple[BranchTree, dict[str | None, list[str]]]:
        tree = BranchTree(full_view)  # type: ignore[arg-type]
        links = full_view.links  # type: ignore[attr-defined]
        return tree, {tip: [links[at].uuid for at in tree.path(tip)] for tip in tree.segments}

    return History().read_full_view(Path(path), read)


@pytest.mark.usefixtures("isolated")
class TestStrands:
    def test_a_straight_conversation_is_one(self) -> None:
        transcript = TranscriptWriter()
        uuids = [transcript.prompt("a"), transcript.reply("b")]
        tree, paths = branches_of(transcript)
        assert paths == {None: uuids}
        assert (tree.segments[None].at, tree.segments[None].leaves) == (None, None)

    def test_a_path_goes_through_what_it_leaves(self) -> None:
        transcript = TranscriptWriter()
        begin = transcript.prompt("begin")
        first = transcript.reply("one", message_id="m1")
        red = [transcript.prompt("red"), transcript.reply("red it is")]
        pink = [transcript.prompt("pink", parent=red[1]), transcript.reply("pink it is")]
        deep = [transcript.prompt("rose", parent=red[1]), transcript.reply("rose it is")]
        blue = [transcript.prompt("blue", parent=first), transcript.reply("blue it is")]
        tree, paths = branches_of(transcript)
        assert paths[None] == [begin, first, *blue]
        assert paths[deep[1]] == [begin, first, *red, *deep]
        assert paths[pink[1]] == [begin, first, *red, *pink]
        nested = tree.segments[pink[1]]
        assert (nested.at, nested.leaves) == (red[1], deep[1])

    def test_one_that_begins_anew_has_nothing_above_it(self) -> None:
        transcript = TranscriptWriter()
        old = [transcript.prompt("old"), transcript.reply("one"), transcript.reply("two")]
        new = [transcript.prompt("new", parent=None), transcript.reply("done")]
        _, paths = branches_of(transcript)
        assert paths == {None: new, old[-1]: old}


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("abcd", "abxy", (2, 2)),
        ("ab", "abxy", (2, 2)),
        ("abcd", "ab", (2, 2)),
        ("", "ab", (0, 0)),
        ("cd", "ab", (0, 0)),
        # a prompt that waited in line stands in one of them only
        ("a?bcd", "abxy", (3, 2)),
    ],
)
def test_two_paths_part_after_the_last_that_both_have(
    one: str, other: str, shared: tuple[int, int]
) -> None:
    assert shared_lengths(one, other) == shared


def test_messages_may_have_other_names_in_either() -> None:
    assert shared_lengths("abcd", "ABXY", str.lower) == (2, 2)
