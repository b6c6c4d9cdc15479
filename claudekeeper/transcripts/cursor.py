"""How far a file was read, and whether it has only grown since."""

from __future__ import annotations

import os

# bytes by which a file is recognised
FINGERPRINT_BYTES = 64


def fingerprint_before(descriptor: int, offset: int) -> bytes:
    """The bytes before an offset: when others stand there later, the file was rewritten."""
    start = max(0, offset - FINGERPRINT_BYTES)
    return os.pread(descriptor, offset - start, start)


def has_only_grown(descriptor: int, offset: int, fingerprint: bytes | None, inode: int = 0) -> bool:
    """Whether what was read up to an offset still stands there.

    Without a fingerprint only the size counts. `inode` 0: whichever file has the name.
    """
    facts = os.fstat(descriptor)
    if inode not in (0, facts.st_ino) or facts.st_size < offset:
        return False
    return fingerprint is None or fingerprint_before(descriptor, offset) == fingerprint


def is_mid_line(descriptor: int, offset: int) -> bool:
    """Whether a line has bytes on both sides of an offset."""
    around = os.pread(descriptor, 2, offset - 1) if offset else b""
    return len(around) == 2 and b"\n" not in around
