"""Whether a file has only grown since it was read."""

from __future__ import annotations

from pathlib import Path

import pytest

from claudekeeper.transcripts.cursor import (
    FINGERPRINT_BYTES,
    fingerprint_before,
    has_only_grown,
    is_mid_line,
)
from claudekeeper.transcripts.line_reader import open_readonly

LINE = b'{"type":"user"}\n'
CONTENT = LINE * 10


@pytest.mark.parametrize(
    ("now", "grown"),
    [
        (CONTENT, True),
        (CONTENT + LINE, True),
        (CONTENT[:-1], False),
        (CONTENT[:-2] + b"]\n", False),
        (LINE, False),
    ],
)
def test_a_file_grew_when_what_was_read_still_stands_there(
    tmp_path: Path, now: bytes, grown: bool
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(now)
    with open_readonly(path) as descriptor:
        fingerprint = CONTENT[-FINGERPRINT_BYTES:]
        assert has_only_grown(descriptor, len(CONTENT), fingerprint) is grown


def test_without_a_fingerprint_only_the_size_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * 10)
    with open_readonly(path) as descriptor:
        assert has_only_grown(descriptor, 10, None)
        assert not has_only_grown(descriptor, 11, None)


def test_another_file_of_that_name_has_not_grown(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(CONTENT)
    inode = path.stat().st_ino
    with open_readonly(path) as descriptor:
        mark = fingerprint_before(descriptor, len(CONTENT))
        assert has_only_grown(descriptor, len(CONTENT), mark, inode)
        assert not has_only_grown(descriptor, len(CONTENT), mark, inode + 1)


@pytest.mark.parametrize(("offset", "expected"), [(0, False), (1, True), (2, False), (3, False)])
def test_an_offset_is_within_a_line_when_it_has_both_neighbours(
    tmp_path: Path, offset: int, expected: bool
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"ab\n")
    with open_readonly(path) as descriptor:
        assert is_mid_line(descriptor, offset) is expected
