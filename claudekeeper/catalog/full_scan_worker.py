"""`python -m claudekeeper.catalog.full_scan_worker`: reads whole transcripts for a keeper.

A process of its own, because reading gigabytes would slow down everything else in the
interpreter. It reads batches from its standard input and ends when that is closed, so it never
outlives its keeper.
"""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

import msgspec

from claudekeeper.catalog.discovery import SessionRow, continue_fold

# a row with its packed fold
RowToScan = tuple[SessionRow, bytes | None]
# the rows once every line is read, None where a file is gone; and the new folds. In two lists,
# because rows stay in memory and folds do not: mixed, they would fragment it
Counts = tuple[list[SessionRow | None], list[bytes | None]]

# a frame begins with its length
FRAME_HEADER_BYTES = 4
# less urgent than other programs of this machine
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
        # packed until somebody needs it
        rows.append(after.pack() if after else None)
        folds.append(new_fold)
    return rows, folds


def frame(payload: bytes) -> bytes:
    return len(payload).to_bytes(FRAME_HEADER_BYTES, "big") + payload


def serve(source: BinaryIO, target: BinaryIO) -> None:
    """Answer batches until the input ends."""
    while head := source.read(FRAME_HEADER_BYTES):
        batch = decode_batch(source.read(int.from_bytes(head, "big")))
        target.write(frame(encode(scan_rows(batch))))
        target.flush()


if __name__ == "__main__":
    os.nice(NICENESS)
    serve(sys.stdin.buffer, sys.stdout.buffer)
