"""Clarvis's side of the wire: questions to the keeper, with the token the browser never sees."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Literal, TypeVar

import aiohttp
import msgspec
from aiohttp import hdrs, web
from yarl import URL

from doorway.listening import trusting

from .failures import KeeperRefused, KeeperUnreachable
from .settings import UNIX, TokenSource

# connecting is quick or hopeless; a long history may take its time between two chunks
TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=5, sock_read=60)
# a message with pictures comes in one frame; a keeper that says more than this is none of ours
LARGEST_FRAME = 64 * 1024 * 1024
# how soon a silent end of a line, such as a machine that fell asleep, is noticed
HEARTBEAT = 30.0
# how long somebody who logs in waits to hear whether the keeper knows us
ASKING_SECONDS = 2.0
# the one address that asks for no token
OPEN_TO_ALL = ("health",)

Answer = TypeVar("Answer")


class Keeper:
    """`accepted` is told each token that the keeper takes."""

    def __init__(
        self,
        url: str,
        token: TokenSource,
        certificate: Path | None = None,
        accepted: Callable[[str], None] = lambda _token: None,
    ) -> None:
        self._socket = url.removeprefix("unix:") if url.startswith(UNIX) else None
        self._url = URL("http://localhost" if self._socket else url)
        self._token = token
        self._certificate = certificate
        self._accepted = accepted
        self._client: aiohttp.ClientSession | None = None

    async def connected(self, _app: web.Application) -> AsyncIterator[None]:
        """For `cleanup_ctx`: connections live as long as the application does.

        No cookie jar, no proxy from the environment, no unpacking: what the keeper says is passed
        on as it is, and nobody else is asked.
        """
        async with aiohttp.ClientSession(
            connector=self._connector(),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            timeout=TIMEOUT,
        ) as self._client:
            yield

    def _connector(self) -> aiohttp.BaseConnector:
        if self._socket:
            return aiohttp.UnixConnector(self._socket)
        return aiohttp.TCPConnector(ssl=trusting(self._certificate) if self._certificate else True)

    async def ask(
        self,
        method: str,
        path: tuple[str, ...],
        query: Mapping[str, str],
        headers: Mapping[str, str],
        body: AsyncIterator[bytes] | None = None,
    ) -> aiohttp.ClientResponse:
        """The keeper's answer, its body still to come; the caller closes it."""
        assert self._client is not None, "asked before the application started"
        token = self._token()
        try:
            answer = await self._client.request(
                method,
                self._url.joinpath(*path),
                params=query,
                headers={**headers, hdrs.AUTHORIZATION: f"Bearer {token}"},
                data=body,
                allow_redirects=False,
            )
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise KeeperUnreachable from error
        if refuses(answer.status, answer.headers):
            answer.close()
            raise KeeperRefused
        if answer.status < 400 and path != OPEN_TO_ALL:
            self._accepted(token)
        return answer

    async def refuses(self) -> bool:
        """Whether the keeper says no to our token; one that says nothing has not said no."""
        try:
            async with asyncio.timeout(ASKING_SECONDS):
                (await self.ask("GET", ("attention",), {}, {})).close()
        except KeeperRefused:
            return True
        except (KeeperUnreachable, TimeoutError):
            return False
        return False

    async def socket(self) -> aiohttp.ClientWebSocketResponse[Literal[False]]:
        """A socket of the keeper's; the caller closes it."""
        assert self._client is not None, "asked before the application started"
        token = self._token()
        try:
            opened = await self._client.ws_connect(
                self._url.joinpath("ws"),
                headers={hdrs.AUTHORIZATION: f"Bearer {token}"},
                max_msg_size=LARGEST_FRAME,
                heartbeat=HEARTBEAT,
                decode_text=False,
            )
        except aiohttp.WSServerHandshakeError as error:
            no = refuses(error.status, error.headers or {})
            raise (KeeperRefused if no else KeeperUnreachable) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise KeeperUnreachable from error
        self._accepted(token)
        return opened

    async def read(
        self,
        path: tuple[str, ...],
        query: Mapping[str, str],
        shape: type[Answer],
        wish: msgspec.Struct | None = None,
    ) -> Answer | Refusal:
        """A whole answer in a known shape, or the keeper's own refusal, to be passed on.

        `wish` is posted where there is one.
        """
        headers: dict[str, str] = {hdrs.ACCEPT_ENCODING: "identity"}
        body = None
        if wish is not None:
            headers[hdrs.CONTENT_TYPE] = "application/json"
            body = once(msgspec.json.encode(wish))
        try:
            method = "GET" if wish is None else "POST"
            async with await self.ask(method, path, query, headers, body) as answer:
                content = await answer.read()
                if answer.status != 200:
                    return Refusal(answer.status, content)
                return msgspec.json.decode(content, type=shape)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise KeeperUnreachable from error
        except msgspec.MsgspecError as error:
            raise KeeperUnreachable("What answers at the keeper's address is no keeper.") from error


def refuses(status: int, headers: Mapping[str, str]) -> bool:
    """Whether an answer is a no to our token.

    So is a 429 that says when to come again: the keeper counts wrong tokens alone.
    """
    return status in {401, 403} or (status == 429 and hdrs.RETRY_AFTER in headers)


async def once(content: bytes) -> AsyncIterator[bytes]:
    yield content


class Refusal(msgspec.Struct, frozen=True):
    status: int
    content: bytes
