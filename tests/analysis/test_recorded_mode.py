"""The permission mode that a transcript says last."""

from __future__ import annotations

from pathlib import Path

import pytest

from claudekeeper.analysis.recorded_mode import written_mode

PLAN = b'{"type":"user","uuid":"u","permissionMode":"plan"}\n'
EDITS = b'{"type":"permission-mode","permissionMode":"acceptEdits"}\n'
SAID = rb'{"type":"user","message":{"content":"{\"permissionMode\":\"dontAsk\"}"}}' + b"\n"
DEEP = b'{"type":"user","message":{"permissionMode":"dontAsk"}}\n'
AGENT = b'{"type":"user","isSidechain":true,"permissionMode":"dontAsk"}\n'
ODD = b'{"type":"user","permissionMode":7}\n{"permissionMode":\xff}\n'


@pytest.mark.parametrize(
    ("content", "mode"),
    [
        (PLAN, "plan"),
        (PLAN + EDITS, "acceptEdits"),
        (EDITS + PLAN + SAID + DEEP + AGENT + ODD, "plan"),
        (PLAN + PLAN[:30], "plan"),
        (b"", None),
        (ODD, None),
    ],
)
def test_the_last_line_that_says_so_counts(
    tmp_path: Path, content: bytes, mode: str | None
) -> None:
    transcript = tmp_path / "a.jsonl"
    transcript.write_bytes(content)
    assert written_mode(transcript) == mode


def test_a_transcript_that_is_gone_says_nothing(tmp_path: Path) -> None:
    assert written_mode(tmp_path / "none.jsonl") is None
