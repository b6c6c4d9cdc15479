"""`python -m claudekeeper.catalog.full_scan_worker`: reads whole transcripts for a keeper.

In a process of its own, because gigabytes of lines would hold up whatever shares an interpreter
with them. It is asked over its standard input and ends when that is closed, so none outlives its
keeper.
"""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

import msgspec

from claudekeeper.catalog.discovery import SessionRow, continue_fold

# a row as it is known, with what its fold remembers, packed
RowToScan = tuple[SessionRow, bytes | None]
# the rows once every line is read, None where a file is gone; and what each fold remembers now.
# Apart, because rows stay and folds go: side by side they would leave the memory full of holes
Counts = tuple[list[SessionRow | None], list[bytes | None]]

# how a frame begins: how long it is
FRAME_HEADER_BYTES = 4
# less urgent than whatever the person at this machine does
NICENESS = 10

encode = msgspec.msgpack.Encoder().encode
decode_batch = msgspec.msgpack.Decoder(list[RowToScan]).decode
decode_counts = msgspec.msgpack.Decoder(Counts).decode


def scan_rows(batch: list[RowToScan]) -> Counts:
    """Read every line of these."""
    rows: list[SessionRow | None] = []
    folds: list[bytes | None] = []
    for row, fold in batch:
        after, new_fold = continue_fold(row, fold) or (None, None)
        # nobody needs it unpacked before it is asked for
        rows.append(after.pack() if after else None)
        folds.append(new_fold)
    return rows, folds


def frame(payload: bytes) -> bytes:
    return len(payload).to_bytes(FRAME_HEADER_BYTES, "big") + payload


def serve(source: BinaryIO, target: BinaryIO) -> None:
    """Count whatever is asked for, until nobody asks any more."""
    while head := source.read(FRAME_HEADER_BYTES):
        batch = decode_batch(source.read(int.from_bytes(head, "big")))
        target.write(frame(encode(scan_rows(batch))))
        target.flush()


if __name__ == "__main__":
    os.nice(NICENESS)
    serve(sys.stdin.buffer, sys.stdout.buffer)
