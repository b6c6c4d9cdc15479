"""A reply of several files belongs to one of them, in whatever order they are read."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from claudekeeper.analysis.summary import FoldState, SummaryFold, pack_state
from claudekeeper.catalog.cache import Cache
from claudekeeper.catalog.usage_tables import FileUsage
from claudekeeper.transcripts.entries import parse_line
from tests.support.transcript_writer import TranscriptWriter, uuid_of

# the names are such that the first of them is the last that was begun
FIRST, SECOND, THIRD = uuid_of(3), uuid_of(2), uuid_of(1)


def transcripts_of(*, marked: bool) -> dict[str, list[bytes]]:
    """A session, a fork of it, and a fork of that; or copies as older versions wrote them."""
    sessions = {}
    lines: list[bytes] = []
    for session, number in ((FIRST, 1), (SECOND, 2), (THIRD, 3)):
        transcript = TranscriptWriter(session)
        for line in lines:
            transcript.raw_bytes(forked(line, session) if marked else line)
        transcript.prompt(f"ask {number}")
        transcript.reply(message_id=f"msg {number}")
        lines = sessions[session] = transcript.lines
    return sessions


def forked(line: bytes, session: str) -> bytes:
    """A line as the SDK copies it: under the new session's id, with a note of its origin."""
    entry = json.loads(line)
    entry["forkedFrom"] = {"sessionId": entry["sessionId"], "messageUuid": entry["uuid"]}
    return json.dumps({**entry, "sessionId": session}).encode()


def folded(lines: list[bytes], parts: int) -> FoldState:
    summary, fold_state = None, None
    step = len(lines) // parts + 1
    for start in range(0, len(lines), step):
        fold = SummaryFold(summary, fold_state)
        for line in lines[start : start + step]:
            for entry in parse_line(line)[0]:
                fold.add(entry)
        summary, fold_state = fold.finish(start, b"")
    assert fold_state is not None
    return fold_state


def claim_of(session: str, fold_state: FoldState) -> FileUsage:
    path = f"/p/{session}.jsonl"
    return FileUsage(
        path,
        session,
        "/w",
        "1:1:1",
        fold_state.replies,
        fold_state.activity,
        None,
        fold_state.copy_counts,
    )


def counted(cache: Cache) -> dict[str | None, int]:
    return {sums[0]: sums[1] for sums in cache.usage_sums("session", None, None, None)}


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("order", list(itertools.permutations((FIRST, SECOND, THIRD))))
def test_each_reply_belongs_to_the_session_in_which_it_was_said(
    tmp_path: Path, order: tuple[str, ...], parts: int, marked: bool
) -> None:
    cache = Cache(tmp_path / "cache.db")
    sessions = transcripts_of(marked=marked)
    for session in order:
        fold_state = folded(sessions[session], parts)
        claim = claim_of(session, fold_state)
        cache.save_folds({claim.path: pack_state(fold_state)})
        cache.add_usage([claim])
    assert counted(cache) == {FIRST: 1, SECOND: 1, THIRD: 1}
    # the first is gone: what it said is said in one of the others
    cache.remove_usage([f"/p/{FIRST}.jsonl"])
    assert counted(cache) == {SECOND: 1, THIRD: 2}
    cache.remove_usage([f"/p/{THIRD}.jsonl"])
    assert counted(cache) == {SECOND: 2}
    cache.close()
