"""Small pictures: at most 48 colours, about as many as an interface has to the eye."""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import dataclass

from playwright.async_api import Page

# counts the colours of a picture, keeps the most telling, and gives each point the nearest of them
REDUCE = """
async (png) => {
  const blob = await (await fetch(`data:image/png;base64,${png}`)).blob();
  const bitmap = await createImageBitmap(blob);
  const { width, height } = bitmap;
  const canvas = new OffscreenCanvas(width, height);
  const drawing = canvas.getContext('2d');
  drawing.drawImage(bitmap, 0, 0);
  const points = new Uint32Array(drawing.getImageData(0, 0, width, height).data.buffer);
  const counts = new Map();
  for (const point of points) counts.set(point, (counts.get(point) ?? 0) + 1);
  const common = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([c]) => c);
  const parts = (c) => [c & 255, (c >> 8) & 255, (c >> 16) & 255];
  const apart = (a, b) => (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2;
  const all = common.map(parts);
  // for each colour the nearest in the palette, and how far that is
  const place = new Array(all.length).fill(0);
  const far = new Array(all.length).fill(Infinity);
  const known = [];
  const take = (colour) => {
    known.push(colour);
    all.forEach((other, i) => {
      const distance = apart(colour, other);
      if (distance < far[i]) { far[i] = distance; place[i] = known.length - 1; }
    });
  };
  all.slice(0, 28).forEach(take);
  // then whatever is least like the ones there are: a small dot of a colour of its own counts too
  while (known.length < 48 && Math.max(...far) > 0) take(all[far.indexOf(Math.max(...far))]);
  const nearest = new Map(common.map((c, i) => [c, place[i]]));
  const indices = new Uint8Array(points.length);
  points.forEach((point, i) => { indices[i] = nearest.get(point); });
  let text = '';
  for (let i = 0; i < indices.length; i += 32768) {
    text += String.fromCharCode(...indices.subarray(i, i + 32768));
  }
  return { width, height, palette: known, indices: btoa(text) };
}
"""


@dataclass(frozen=True)
class Indexed:
    width: int
    height: int
    palette: list[list[int]]
    indices: bytes


async def reduced(page: Page, png: bytes) -> bytes:
    """The same picture in a fraction of the bytes; `page` is a blank one that does the counting."""
    reduced_png = await page.evaluate(REDUCE, base64.b64encode(png).decode())
    indices = base64.b64decode(reduced_png["indices"])
    return written(
        Indexed(reduced_png["width"], reduced_png["height"], reduced_png["palette"], indices)
    )


def written(picture: Indexed) -> bytes:
    """As PNG, one byte a point."""
    width, height = picture.width, picture.height
    rows = b"".join(
        b"\0" + picture.indices[row * width : (row + 1) * width] for row in range(height)
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    palette = bytes(part for colour in picture.palette for part in colour)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"PLTE", palette)
        + _chunk(b"IDAT", zlib.compress(rows, 9))
        + _chunk(b"IEND", b"")
    )


def _chunk(name: bytes, content: bytes) -> bytes:
    checked = name + content
    return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))
