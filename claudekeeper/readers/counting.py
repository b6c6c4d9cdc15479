"""`python -m claudekeeper.readers.counting`: reads whole transcripts for a keeper.

In a process of its own, because gigabytes of lines would hold up whatever shares an interpreter
with them. It is asked over its standard input and ends when that is closed, so none outlives its
keeper.
"""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

import msgspec

from claudekeeper.readers.discovery import Row, fold_on

# a row as it is known, with what its fold remembers, packed
Uncounted = tuple[Row, bytes | None]
# the rows once every line is read, None where a file is gone; and what each fold remembers now.
# Apart, because rows stay and folds go: side by side they would leave the memory full of holes
Counts = tuple[list[Row | None], list[bytes | None]]

# how a frame begins: how long it is
HEAD = 4
# less urgent than whatever the person at this machine does
NICENESS = 10

encode = msgspec.msgpack.Encoder().encode
decode_batch = msgspec.msgpack.Decoder(list[Uncounted]).decode
decode_counts = msgspec.msgpack.Decoder(Counts).decode


def count(batch: list[Uncounted]) -> Counts:
    """Read every line of these."""
    rows: list[Row | None] = []
    folds: list[bytes | None] = []
    for row, known in batch:
        after, kept = fold_on(row, known) or (None, None)
        # nobody needs it unpacked before it is asked for
        rows.append(after.packed() if after else None)
        folds.append(kept)
    return rows, folds


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(HEAD, "big") + payload


def serve(source: BinaryIO, target: BinaryIO) -> None:
    """Count whatever is asked for, until nobody asks any more."""
    while head := source.read(HEAD):
        batch = decode_batch(source.read(int.from_bytes(head, "big")))
        target.write(framed(encode(count(batch))))
        target.flush()


if __name__ == "__main__":
    os.nice(NICENESS)
    serve(sys.stdin.buffer, sys.stdout.buffer)
