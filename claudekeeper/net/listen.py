"""Where a server listens: a port, a unix socket, or a socket that systemd holds for it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import socket
import ssl
import stat
from asyncio.trsock import TransportSocket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakSet

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Handler

from .accept_errors import limit_accept_error_logs
from .addresses import host_in_url, is_loopback, reachable_host

BACKLOG = 128
# what one client may occupy: header bytes, and seconds of an idle or closing connection
HTTP_LIMITS: dict[str, Any] = {
    "max_line_size": 8190,
    "max_field_size": 8190,
    "max_headers": 64,
    "keepalive_timeout": 75.0,
    "lingering_time": 5.0,
}
# a client that keeps a stream open must not delay a restart
SHUTDOWN_TIMEOUT = 2.0
# seconds to wait at the end for accepted connections without a request, and between two checks
ACCEPT_GRACE = 1.0
POLL_INTERVAL = 0.02
# a client that reads nothing for so many seconds is disconnected by the system
SEND_TIMEOUT = 120.0

log = logging.getLogger("claudekeeper.net.requests")


class TlsInvalid(ValueError):
    """The certificate or its key cannot be used."""


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """A certificate with its chain, and its key, in PEM files."""

    certificate: Path
    key: Path

    def server_context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self.certificate, self.key)
        except (OSError, ssl.SSLError) as error:
            raise TlsInvalid(
                f"{self.certificate} and {self.key} cannot be used for TLS: {error}"
            ) from error
        return context


def client_context(certificate: Path) -> ssl.SSLContext:
    """For a client that trusts exactly this certificate, whatever name it has."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        context.load_verify_locations(certificate)
    except (OSError, ssl.SSLError) as error:
        raise TlsInvalid(f"{certificate} is no usable certificate: {error}") from error
    return context


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """A host and port, or a unix socket, or a socket inherited from systemd."""

    host: str = "127.0.0.1"
    port: int = 0
    path: Path | None = None
    inherited_socket: socket.socket | None = None
    tls: TlsFiles | None = None

    @property
    def is_unix(self) -> bool:
        if self.inherited_socket is not None:
            return self.inherited_socket.family == socket.AF_UNIX
        return self.path is not None

    @property
    def effective_tls(self) -> TlsFiles | None:
        """A unix socket needs no TLS, as it never leaves the machine."""
        return None if self.is_unix else self.tls

    @property
    def is_local(self) -> bool:
        """Whether other machines cannot reach it."""
        if self.is_unix:
            return True
        return is_loopback(
            self.inherited_socket.getsockname()[0] if self.inherited_socket else self.host
        )

    def __str__(self) -> str:
        if self.inherited_socket is not None:
            return f"the socket {self.inherited_socket.getsockname()} that was given"
        return str(self.path) if self.path else f"{host_in_url(self.host)}:{self.port}"


@asynccontextmanager
async def serve_app(app: web.Application, address: ListenAddress) -> AsyncIterator[str]:
    """Serves in this event loop until the block ends; yields the URL.

    Raises OSError if the address cannot be bound, and TlsInvalid.
    """
    context = address.effective_tls.server_context() if address.effective_tls else None
    # without the access log of aiohttp, which would record what people open
    log.addFilter(redact_bad_requests)
    limit_accept_error_logs()
    tracker = _RequestTracker()
    app.middlewares.insert(0, tracker.track)
    runner = web.AppRunner(
        app, access_log=None, logger=log, shutdown_timeout=SHUTDOWN_TIMEOUT, **HTTP_LIMITS
    )
    await runner.setup()
    try:
        with _make_site(runner, address, context) as site:
            await site.start()
            yield _url(address, runner.addresses[0])
            await _stop_accepting(site)
            await site.stop()
            await tracker.wait_for_requests(runner)
    finally:
        await runner.cleanup()


async def _stop_accepting(site: web.BaseSite) -> None:
    """Accepts no more connections, and waits for those whose handshake is under way.

    asyncio drops such a connection if the server is closed in that moment.
    """
    loop = asyncio.get_running_loop()
    if isinstance(site._server, asyncio.Server):
        for listening in site._server.sockets:
            loop.remove_reader(listening.fileno())
    accepting = {task for task in asyncio.all_tasks() if _is_accepting(task)}
    if accepting:
        await asyncio.wait(accepting, timeout=ACCEPT_GRACE)


def _is_accepting(task: asyncio.Task[Any]) -> bool:
    # asyncio gives no other access to these tasks
    return getattr(task.get_coro(), "__name__", "") == "_accept_connection2"


class _RequestTracker:
    """The connections that have sent a request.

    On shutdown, a connection that was just accepted still gets a reply. Closed at once like an
    idle one, it would lose its request.
    """

    def __init__(self) -> None:
        self._active_transports: WeakSet[asyncio.Transport] = WeakSet()

    @web.middleware
    async def track(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.transport is not None:
            self._active_transports.add(request.transport)
        return await handler(request)

    async def wait_for_requests(self, runner: web.AppRunner) -> None:
        """Waits a moment until every connection has sent a request. No more may be accepted."""
        for _ in range(round(ACCEPT_GRACE / POLL_INTERVAL)):
            if not self._has_silent_connection(runner):
                return
            await asyncio.sleep(POLL_INTERVAL)

    def _has_silent_connection(self, runner: web.AppRunner) -> bool:
        connections = runner.server.connections if runner.server else []
        ends = (connection.transport for connection in connections)
        return any(end is not None and end not in self._active_transports for end in ends)


@contextlib.contextmanager
def _make_site(
    runner: web.AppRunner, address: ListenAddress, context: ssl.SSLContext | None
) -> Iterator[web.BaseSite]:
    if address.inherited_socket is not None:
        _set_send_timeout(address.inherited_socket)
        yield web.SockSite(runner, address.inherited_socket, ssl_context=context, backlog=BACKLOG)
    elif address.path is not None:
        with bind_private_socket(address.path) as bound:
            yield web.SockSite(runner, bound, ssl_context=context, backlog=BACKLOG)
    else:
        host = address.host.strip("[]")  # IPv6 may be written as in a URL
        yield _Port(runner, host, address.port, ssl_context=context, backlog=BACKLOG)


class _Port(web.TCPSite):
    """A TCP port whose connections end when a client reads nothing for too long."""

    async def start(self) -> None:
        await super().start()
        assert isinstance(self._server, asyncio.Server)
        for listening in self._server.sockets:
            _set_send_timeout(listening)


def _set_send_timeout(listening: socket.socket | TransportSocket) -> None:
    """Sets the timeout for all accepted connections; unix sockets have none."""
    if listening.family in (socket.AF_INET, socket.AF_INET6) and hasattr(
        socket, "TCP_USER_TIMEOUT"
    ):
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(SEND_TIMEOUT * 1000))


def redact_bad_requests(record: logging.LogRecord) -> bool:
    """A log filter for requests that are not valid HTTP.

    The error quotes the request, which may contain the token.
    """
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, ConnectionError):
        # the client left before it got 100 Continue: not our failure
        return False
    if not isinstance(error, HttpProcessingError):
        return True
    record.levelno, record.levelname = logging.INFO, "INFO"
    record.msg, record.args = "refused what is no HTTP: %s", (type(error).__name__,)
    record.exc_info = None
    return log.isEnabledFor(logging.INFO)


@contextlib.contextmanager
def bind_private_socket(path: Path) -> Iterator[socket.socket]:
    """A unix socket with mode 0600; one that a killed server left behind is replaced."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISSOCK(path.lstat().st_mode) and not _has_listener(path):
            path.unlink()
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # before it has a name, so that others can never reach it
        os.fchmod(bound.fileno(), 0o600)
        bound.bind(os.fspath(path))
        path.chmod(0o600)
        ours = path.lstat().st_ino
    except OSError:
        bound.close()
        raise
    try:
        yield bound
    finally:
        with contextlib.suppress(OSError):
            if path.lstat().st_ino == ours:
                path.unlink()


def _has_listener(path: Path) -> bool:
    """Whether a running server listens there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        # EAGAIN is the full queue of a running server
        client.setblocking(False)
        return client.connect_ex(os.fspath(path)) in (0, errno.EAGAIN)


def _url(listen_address: ListenAddress, address: Any) -> str:
    """The URL of the server, or `unix:` and the path."""
    scheme = "https" if listen_address.effective_tls else "http"
    if isinstance(address, str | bytes):
        return f"unix:{os.fsdecode(address)}"
    host = address[0] if listen_address.inherited_socket is not None else listen_address.host
    return f"{scheme}://{host_in_url(reachable_host(host))}:{address[1]}"
