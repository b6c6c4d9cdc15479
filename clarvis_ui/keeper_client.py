"""The client of the keeper's API, with the token that the browser never sees."""

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

# connecting takes moments or fails; a long history may take time between two chunks
TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=5, sock_read=60)
# a message with images comes in one frame
MAX_FRAME_BYTES = 64 * 1024 * 1024
# seconds between pings, which notice a silent end such as a sleeping machine
HEARTBEAT = 30.0
# how long a login waits for the check of our token
TOKEN_CHECK_SECONDS = 2.0
# the only path that needs no token
PUBLIC_PATH = ("health",)

Answer = TypeVar("Answer")


class KeeperRefusal(Exception):
    """An error answer of the keeper, to be passed on as it is."""

    def __init__(self, status: int, content: bytes) -> None:
        super().__init__(status)
        self.status = status
        self.content = content


class KeeperClient:
    """Calls `on_token_accepted` with each token that the keeper accepts."""

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
        """For `cleanup_ctx`: connections last as long as the application.

        Without cookies, proxies from the environment and decompression: answers are passed on as
        they are, and only the keeper is asked.
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
        """The answer of the keeper, its body unread; the caller closes it."""
        assert self._http is not None, "used before the application started"
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
        """Whether the keeper refuses our token; False if it does not answer."""
        try:
            async with asyncio.timeout(TOKEN_CHECK_SECONDS):
                (await self.request("GET", ("attention",), {}, {})).close()
        except KeeperRefused:
            return True
        except (KeeperUnreachable, TimeoutError):
            return False
        return False

    async def open_socket(self) -> aiohttp.ClientWebSocketResponse[Literal[False]]:
        """A WebSocket to the keeper; the caller closes it."""
        assert self._http is not None, "used before the application started"
        token = self._token()
        try:
            websocket = await self._http.ws_connect(
                self._url.joinpath("ws"),
                headers={hdrs.AUTHORIZATION: f"Bearer {token}"},
                max_msg_size=MAX_FRAME_BYTES,
                heartbeat=HEARTBEAT,
                decode_text=False,
            )
        except aiohttp.WSServerHandshakeError as error:
            is_refused = is_token_refusal(error.status, error.headers or {})
            raise (KeeperRefused if is_refused else KeeperUnreachable) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise KeeperUnreachable from error
        self._on_token_accepted(token)
        return websocket

    async def read(
        self,
        path: tuple[str, ...],
        query: Mapping[str, str],
        shape: type[Answer],
        body: msgspec.Struct | None = None,
    ) -> Answer:
        """The whole answer, decoded; KeeperRefusal for one with an error. A `body` is posted."""
        headers: dict[str, str] = {hdrs.ACCEPT_ENCODING: "identity"}
        chunks = None
        if body is not None:
            headers[hdrs.CONTENT_TYPE] = "application/json"
            chunks = single_chunk(msgspec.json.encode(body))
        try:
            method = "GET" if body is None else "POST"
            async with await self.request(method, path, query, headers, chunks) as answer:
                content = await answer.read()
                if answer.status != 200:
                    raise KeeperRefusal(answer.status, content)
                return msgspec.json.decode(content, type=shape)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise KeeperUnreachable from error
        except msgspec.MsgspecError as error:
            raise KeeperUnreachable(
                "What answers at the keeper's address is not a keeper."
            ) from error


def is_token_refusal(status: int, headers: Mapping[str, str]) -> bool:
    """Whether an answer refuses our token.

    A 429 with Retry-After does so too: the keeper counts only wrong tokens.
    """
    return status in {401, 403} or (status == 429 and hdrs.RETRY_AFTER in headers)


async def single_chunk(content: bytes) -> AsyncIterator[bytes]:
    yield content
