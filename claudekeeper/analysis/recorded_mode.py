"""In which permission mode a session was last, as Claude Code wrote it beside its prompts.

A process that resumes it begins in plan mode again, whoever had chosen that: a terminal, say.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from claudekeeper.transcripts.line_reader import lines_backwards, open_readonly

# escaped in whatever somebody says, so it stands only where a field has this name
_FIELD = b'"permissionMode":'
# of a transcript's end
MOST_BYTES = 8 * 1024 * 1024


class _Line(msgspec.Struct, rename="camel"):
    permission_mode: str | None = None
    is_sidechain: bool = False


_decode = msgspec.json.Decoder(_Line).decode


def written_mode(path: Path) -> str | None:
    """Blocks. None where nothing of late says so."""
    try:
        with open_readonly(path) as descriptor:
            size = os.fstat(descriptor).st_size
            for offset, line in lines_backwards(descriptor, size):
                if offset < size - MOST_BYTES:
                    return None
                if _FIELD in line and (mode := _mode_in(line)) is not None:
                    return mode
    except OSError:
        pass
    return None


def _mode_in(line: bytes) -> str | None:
    try:
        found = _decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return None if found.is_sidechain else found.permission_mode
