"""A small picture, so that a sample session can show one."""

from __future__ import annotations

import struct
import zlib

WIDTH, HEIGHT = 180, 320
PAPER, BAR, PRICE, BUTTON = (255, 255, 255), (240, 240, 245), (60, 60, 67), (10, 120, 255)


def phone_screenshot() -> bytes:
    """A page on a phone whose button lies on top of the price, as PNG."""
    rows = bytearray()
    for y in range(HEIGHT):
        rows.append(0)  # no filter
        for x in range(WIDTH):
            rows += bytes(colour_at(x, y))
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + png_chunk(b"IHDR", header)
        + png_chunk(b"IDAT", zlib.compress(bytes(rows), 9))
        + png_chunk(b"IEND", b"")
    )


def colour_at(x: int, y: int) -> tuple[int, int, int]:
    if y < 24:
        return BAR
    if 210 <= y < 245 and 70 <= x < 165:
        return BUTTON
    if 222 <= y < 232 and 20 <= x < 110:
        return PRICE
    if y % 40 in range(8, 14) and 20 <= x < 150 and y < 200:
        return BAR
    return PAPER


def png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
