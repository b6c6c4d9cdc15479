"""Request bodies on their way to the keeper: bounded, and parsed only where roots are set."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TypeVar

import msgspec
from aiohttp import web
from aiohttp.web_protocol import RequestPayloadError

from claudekeeper.net.errors import BodyTooLarge, InvalidRequest, RequestTooSlow

SMALL_BODY = 1024 * 1024
# images of a prompt, or a whole file in a changed tool input, encoded as JSON
LARGE_BODY = 40 * 1024 * 1024
# a phone with a bad connection pauses; one that pauses longer is gone
CHUNK_SECONDS = 30.0

Shape = TypeVar("Shape")


class BoundedBody:
    """A body that is passed on in chunks and refused once it is too large."""

    def __init__(self, request: web.Request, limit: int) -> None:
        if (request.content_length or 0) > limit:
            raise BodyTooLarge
        self._content = request.content
        self._limit = limit
        self.overflowed = False
        self.unreadable = False

    async def chunks(self) -> AsyncIterator[bytes]:
        size = 0
        while chunk := await self._next_chunk():
            size += len(chunk)
            if size > self._limit:
                self.overflowed = True
                raise BodyTooLarge
            yield chunk

    async def _next_chunk(self) -> bytes:
        try:
            async with asyncio.timeout(CHUNK_SECONDS):
                return await self._content.readany()
        except TimeoutError as error:
            raise RequestTooSlow from error
        except RequestPayloadError as error:
            # compressed otherwise than declared, or cut short
            self.unreadable = True
            raise InvalidRequest("The body cannot be read.") from error


class WholeBody:
    """A body that is read to check it, and then passed on unchanged."""

    overflowed = unreadable = False

    def __init__(self, content: bytes) -> None:
        self._content = content

    @classmethod
    async def read(cls, request: web.Request, limit: int) -> WholeBody:
        chunks = [chunk async for chunk in BoundedBody(request, limit).chunks()]
        return cls(b"".join(chunks))

    def decode_as(self, shape: type[Shape]) -> Shape:
        try:
            return msgspec.json.decode(self._content, type=shape)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise InvalidRequest(f"The request could not be understood: {error}") from error

    async def chunks(self) -> AsyncIterator[bytes]:
        yield self._content
