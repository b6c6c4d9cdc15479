"""The last permission mode of a session, as Claude Code recorded it with its prompts.

A process that resumes the session begins in plan mode again, even if a terminal chose that mode.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from claudekeeper.transcripts.line_reader import lines_backwards, open_readonly

# the quotes are escaped in texts, so this is always a field
_FIELD = b'"permissionMode":'
# of a transcript's end
MAX_BYTES = 8 * 1024 * 1024


class _Line(msgspec.Struct, rename="camel"):
    permission_mode: str | None = None
    is_sidechain: bool = False


_decode = msgspec.json.Decoder(_Line).decode


def written_mode(path: Path) -> str | None:
    """The last mode; None if the end of the transcript has none. Blocks."""
    try:
        with open_readonly(path) as descriptor:
            size = os.fstat(descriptor).st_size
            for offset, line in lines_backwards(descriptor, size):
                if offset < size - MAX_BYTES:
                    return None
                if _FIELD in line and (mode := _mode_in(line)) is not None:
                    return mode
    except OSError:
        pass
    return None


def _mode_in(line: bytes) -> str | None:
    try:
        fields = _decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return None if fields.is_sidechain else fields.permission_mode
