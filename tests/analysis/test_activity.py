"""What was done when: folded line by line, in any pieces, each thing once."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from claudekeeper.analysis.activity import (
    MAX_PROMPT_LENGTH,
    MAX_PROMPTS,
    Activity,
    add_sums,
    sums_by_quarter,
)
from claudekeeper.analysis.summary import FoldState, SummaryFold
from tests.analysis.test_session_facts import fold, use
from tests.support.transcript_writer import TranscriptWriter

HOUR = "2026-03-01T1{}:30:00.000Z"


def folded(transcript: TranscriptWriter) -> FoldState:
    return fold(transcript.lines).finish(0, b"")[1]


def sums_of(state: FoldState) -> list[tuple[int, ...]]:
    """Replies, calls, edits, prompts and compactions of every quarter in which there was one."""
    quarters: dict[int, list[int]] = {}
    for (quarter, _), sums in sums_by_quarter(state.replies, state.activity).items():
        add_sums(quarters.setdefault(quarter, [0] * len(sums)), sums)
    return [(sums[0], *sums[6:]) for _, sums in sorted(quarters.items())]


def sample() -> TranscriptWriter:
    transcript = TranscriptWriter()
    transcript.prompt("first", timestamp=HOUR.format(0))
    use(transcript, "Edit", {"file_path": "/code/a.py"})
    use(transcript, "Edit", {"file_path": "/code/b.py"}, "not found", error=True)
    transcript.entry("system", subtype="compact_boundary", timestamp=HOUR.format(1))
    transcript.prompt("second", timestamp=HOUR.format(2))
    transcript.prompt("third", timestamp=HOUR.format(2))
    use(transcript, "Bash", {"command": "ls"})
    return transcript


def test_calls_and_edits_count_with_their_reply_and_failed_edits_are_none() -> None:
    # the replies are of ten o'clock, the prompts of half past ten and so on
    assert sums_of(folded(sample())) == [
        (3, 3, 1, 0, 0),
        (0, 0, 0, 1, 0),
        (0, 0, 0, 0, 1),
        (0, 0, 0, 2, 0),
    ]


def test_prompts_are_kept_with_their_message_and_in_one_short_line() -> None:
    transcript = TranscriptWriter()
    uuid = transcript.prompt("one\n  two " + "word " * 200)
    (prompt,) = folded(transcript).prompts
    assert (prompt.uuid, prompt.text[:12], len(prompt.text)) == (
        uuid,
        "one two word",
        MAX_PROMPT_LENGTH,
    )
    assert prompt.at == "2026-03-01T10:00:01.000Z"


def test_commands_of_the_terminal_and_notes_of_the_machine_are_no_prompts() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("<command-name>/clear</command-name>")
    transcript.prompt("a note", isMeta=True)
    transcript.prompt("of a subagent", isSidechain=True)
    state = folded(transcript)
    assert (state.activity, state.prompts) == (Activity(), [])


def test_subagents_in_the_same_file_do_things_too() -> None:
    transcript = TranscriptWriter()
    transcript.reply(message_id="m1", isSidechain=True)
    use = {"type": "tool_use", "id": "c1", "name": "Write", "input": {"file_path": "/code/a"}}
    transcript.block(use, "m1", isSidechain=True)
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}
    transcript.prompt([result], isSidechain=True)
    state = folded(transcript)
    assert sums_of(state) == [(1, 1, 1, 0, 0)]
    # but the session itself changed nothing
    assert (state.facts.edits_by_file, state.facts.tool_counts) == ({}, {})


def test_history_that_is_written_a_second_time_counts_once() -> None:
    transcript = sample()
    once = sums_of(folded(transcript))
    # as it is, and as a copy with new uuids
    again = [msgspec.json.decode(line) for line in transcript.lines]
    for line in again:
        line["uuid"] = line["uuid"].replace("0000", "1111")
    transcript.lines += [*transcript.lines, *(msgspec.json.encode(line) for line in again)]
    assert sums_of(folded(transcript)) == once


def test_of_many_prompts_all_are_counted_and_some_are_kept() -> None:
    transcript = TranscriptWriter()
    for number in range(MAX_PROMPTS * 2):
        transcript.prompt(f"ask {number}", timestamp=HOUR.format(0)[:20] + f"{number:04}Z")
    state = folded(transcript)
    texts = [prompt.text for prompt in state.prompts]
    assert len(texts) <= MAX_PROMPTS
    assert (texts[0], texts[-1]) == ("ask 0", f"ask {MAX_PROMPTS * 2 - 1}")
    assert sums_of(state) == [(0, 0, 0, MAX_PROMPTS * 2, 0)]


def test_what_other_files_have_is_left_out() -> None:
    state = folded(sample())
    everything = {
        *memoryview(state.replies.ids).cast("Q"),
        *memoryview(state.activity.identities).cast("Q"),
    }
    assert sums_by_quarter(state.replies, state.activity, everything) == {}


@settings(deadline=None, max_examples=30)
@given(st.integers(min_value=0, max_value=11))
def test_a_fold_in_two_pieces_is_the_fold_of_the_whole(cut: int) -> None:
    lines = sample().lines
    summary, first = fold(lines[:cut]).finish(0, b"")
    stored = msgspec.msgpack.decode(msgspec.msgpack.encode(first), type=FoldState)
    both = fold(lines[cut:], SummaryFold(summary, stored)).finish(0, b"")[1]
    assert sums_of(both) == sums_of(fold(lines).finish(0, b"")[1])
    assert both.prompts == fold(lines).finish(0, b"")[1].prompts
