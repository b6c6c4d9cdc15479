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

from claudekeeper.net.listen import client_context

from .errors import KeeperRefused, KeeperUnreachable
from .settings import UNIX_PREFIX, TokenSource

# connecting is quick or hopeless; a long history may take its time between two chunks
TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=5, sock_read=60)
# a message with pictures comes in one frame; a keeper that says more than this is none of ours
LARGEST_FRAME = 64 * 1024 * 1024
# how soon a silent end of a line, such as a machine that fell asleep, is noticed
HEARTBEAT = 30.0
# how long somebody who logs in waits to hear whether the keeper knows us
TOKEN_CHECK_SECONDS = 2.0
# the one address that asks for no token
PUBLIC_PATH = ("health",)

Answer = TypeVar("Answer")


class KeeperClient:
    """`accepted` is told each token that the keeper takes."""

    def __init__(
        self,
        url: str,
        token: TokenSource,
        certificate: Path | None = None,
        on_token_accepted: Callable[[str], None] = lambda _token: None,
    ) -> None:
        self._socket_path = url.removeprefix("unix:") if url.startswith(UNIX_PREFIX) else None
        self._url = URL("http://localhost" if self._socket_path else url)
        self._token = token
        self._certificate = certificate
        self._on_token_accepted = on_token_accepted
        self._http: aiohttp.ClientSession | None = None

    async def lifespan(self, _app: web.Application) -> AsyncIterator[None]:
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
        ) as self._http:
            yield

    def _connector(self) -> aiohttp.BaseConnector:
        if self._socket_path:
            return aiohttp.UnixConnector(self._socket_path)
        return aiohttp.TCPConnector(
            ssl=client_context(self._certificate) if self._certificate else True
        )

    async def request(
        self,
        method: str,
        path: tuple[str, ...],
        query: Mapping[str, str],
        headers: Mapping[str, str],
        body: AsyncIterator[bytes] | None = None,
    ) -> aiohttp.ClientResponse:
        """The keeper's answer, its body still to come; the caller closes it."""
        assert self._http is not None, "asked before the application started"
        token = self._token()
        try:
            answer = await self._http.request(
                method,
                self._url.joinpath(*path),
                params=query,
                headers={**headers, hdrs.AUTHORIZATION: f"Bearer {token}"},
                data=body,
                allow_redirects=False,
            )
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise KeeperUnreachable from error
        if is_token_refusal(answer.status, answer.headers):
            answer.close()
            raise KeeperRefused
        if answer.status < 400 and path != PUBLIC_PATH:
            self._on_token_accepted(token)
        return answer

    async def refuses_token(self) -> bool:
        """Whether the keeper says no to our token; one that says nothing has not said no."""
        try:
            async with asyncio.timeout(TOKEN_CHECK_SECONDS):
                (await self.request("GET", ("attention",), {}, {})).close()
        except KeeperRefused:
            return True
        except (KeeperUnreachable, TimeoutError):
            return False
        return False

    async def open_socket(self) -> aiohttp.ClientWebSocketResponse[Literal[False]]:
        """A socket of the keeper's; the caller closes it."""
        assert self._http is not None, "asked before the application started"
        token = self._token()
        try:
            opened = await self._http.ws_connect(
                self._url.joinpath("ws"),
                headers={hdrs.AUTHORIZATION: f"Bearer {token}"},
                max_msg_size=LARGEST_FRAME,
                heartbeat=HEARTBEAT,
                decode_text=False,
            )
        except aiohttp.WSServerHandshakeError as error:
            no = is_token_refusal(error.status, error.headers or {})
            raise (KeeperRefused if no else KeeperUnreachable) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise KeeperUnreachable from error
        self._on_token_accepted(token)
        return opened

    async def read(
        self,
        path: tuple[str, ...],
        query: Mapping[str, str],
        shape: type[Answer],
        wish: msgspec.Struct | None = None,
    ) -> Answer | KeeperRefusal:
        """A whole answer in a known shape, or the keeper's own refusal, to be passed on.

        `wish` is posted where there is one.
        """
        headers: dict[str, str] = {hdrs.ACCEPT_ENCODING: "identity"}
        body = None
        if wish is not None:
            headers[hdrs.CONTENT_TYPE] = "application/json"
            body = single_chunk(msgspec.json.encode(wish))
        try:
            method = "GET" if wish is None else "POST"
            async with await self.request(method, path, query, headers, body) as answer:
                content = await answer.read()
                if answer.status != 200:
                    return KeeperRefusal(answer.status, content)
                return msgspec.json.decode(content, type=shape)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise KeeperUnreachable from error
        except msgspec.MsgspecError as error:
            raise KeeperUnreachable("What answers at the keeper's address is no keeper.") from error


def is_token_refusal(status: int, headers: Mapping[str, str]) -> bool:
    """Whether an answer is a no to our token.

    So is a 429 that says when to come again: the keeper counts wrong tokens alone.
    """
    return status in {401, 403} or (status == 429 and hdrs.RETRY_AFTER in headers)


async def single_chunk(content: bytes) -> AsyncIterator[bytes]:
    yield content


class KeeperRefusal(msgspec.Struct, frozen=True):
    status: int
    content: bytes
