"""Ports, unix sockets and TLS: where a server can be had."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from yarl import URL

from claudekeeper.net.listen import (
    HTTP_LIMITS,
    ListenAddress,
    TlsFiles,
    TlsInvalid,
    client_context,
    serve_app,
)


def app() -> web.Application:
    async def hello(_request: web.Request) -> web.Response:
        return web.Response(text="hello")

    application = web.Application()
    application.router.add_get("/", hello)
    return application


def certificate(folder: Path, name: str = "box.test") -> TlsFiles:
    """A certificate that nobody signed, as people make them at home."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    tls = TlsFiles(folder / f"{name}.crt", folder / f"{name}.key")
    tls.certificate.write_bytes(signed.public_bytes(pem))
    tls.key.write_bytes(key.private_bytes(pem, *plain))
    return tls


async def get_text(url: str, connector: aiohttp.BaseConnector | None = None) -> str:
    async with (
        aiohttp.ClientSession(connector=connector) as client,
        client.get(url) as answer,
    ):
        return await answer.text()


async def test_a_port() -> None:
    async with serve_app(app(), ListenAddress()) as url:
        assert url.startswith("http://127.0.0.1:")
        assert await get_text(url) == "hello"


async def test_who_never_ends_a_request_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HTTP_LIMITS, "keepalive_timeout", 0.1)
    async with serve_app(app(), ListenAddress()) as url:
        for beginning in (b"", b"GET / HTTP/1.1\r\nHost: loc"):
            reader, writer = await asyncio.open_connection("127.0.0.1", URL(url).port)
            writer.write(beginning)
            assert await reader.read() == b""
            writer.close()


async def call_until_refused(url: str) -> None:
    with suppress(aiohttp.ClientError):
        while await get_text(url):
            pass


async def test_who_was_let_in_is_answered_although_it_ends() -> None:
    stack = AsyncExitStack()
    url = await stack.enter_async_context(serve_app(app(), ListenAddress()))
    reader, writer = await asyncio.open_connection("127.0.0.1", URL(url).port)
    # they are let in one after the other
    assert await get_text(url) == "hello"
    ending = asyncio.create_task(stack.aclose())
    await call_until_refused(url)
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert (await reader.read()).endswith(b"hello")
    writer.close()
    await ending


async def test_who_is_let_in_while_it_ends_is_answered() -> None:
    stack = AsyncExitStack()
    url = await stack.enter_async_context(serve_app(app(), ListenAddress()))
    with socket.create_connection(("127.0.0.1", URL(url).port or 0), 10) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        # in this turn of the loop it is accepted, in the next one its connection is to be made
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await stack.aclose()
        assert line.recv(65536).endswith(b"hello")


async def test_who_is_let_in_encrypted_while_it_ends_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("claudekeeper.net.listen.ACCEPT_GRACE", 60.0)
    tls = certificate(tmp_path)
    stack = AsyncExitStack()
    url = await stack.enter_async_context(serve_app(app(), ListenAddress(tls=tls)))
    reader, writer = await asyncio.open_connection("127.0.0.1", URL(url).port)
    assert await get_text(url, aiohttp.TCPConnector(ssl=client_context(tls.certificate))) == "hello"
    ending = asyncio.create_task(stack.aclose())
    await asyncio.wait({ending}, timeout=0.1)
    assert not ending.done()
    await writer.start_tls(client_context(tls.certificate))
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert (await reader.read()).endswith(b"hello")
    writer.close()
    await ending


async def test_who_was_let_in_and_says_nothing_does_not_hold_up_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("claudekeeper.net.listen.ACCEPT_GRACE", 0.1)
    async with serve_app(app(), ListenAddress()) as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", URL(url).port)
        assert await get_text(url) == "hello"
    assert await reader.read() == b""
    writer.close()


class EndlessAnswer:
    def __init__(self) -> None:
        self.is_cut_off = asyncio.Event()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        try:
            while True:
                await answer.write(b"x" * 1_000_000)
        finally:
            self.is_cut_off.set()


async def test_who_takes_nothing_of_an_answer_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("claudekeeper.net.listen.SEND_TIMEOUT", 0.1)
    endless = EndlessAnswer()
    application = web.Application()
    application.router.add_get("/", endless.handle)
    async with serve_app(application, ListenAddress()) as url:
        with socket.create_connection(("127.0.0.1", URL(url).port or 0)) as line:
            line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            # it reads nothing at all
            await endless.is_cut_off.wait()


@pytest.mark.usefixtures("no_umask")
async def test_a_unix_socket_is_for_us_alone_whatever_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "new" / "keeper.sock"
    async with serve_app(app(), ListenAddress(path=path)) as url:
        assert url == f"unix:{path}"
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700
        assert await get_text("http://localhost/", aiohttp.UnixConnector(str(path))) == "hello"
    assert not path.exists()


async def test_a_socket_that_a_kill_left_behind_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "keeper.sock"
    async with serve_app(app(), ListenAddress(path=path)):
        leftover = path.with_suffix(".left")
        os.link(path, leftover)
    leftover.rename(path)
    async with serve_app(app(), ListenAddress(path=path)):
        assert await get_text("http://localhost/", aiohttp.UnixConnector(str(path))) == "hello"


async def test_but_not_that_of_a_server_that_lives(tmp_path: Path) -> None:
    path = tmp_path / "keeper.sock"
    async with serve_app(app(), ListenAddress(path=path)):
        with pytest.raises(OSError, match="in use"):
            async with serve_app(app(), ListenAddress(path=path)):
                pass
        assert await get_text("http://localhost/", aiohttp.UnixConnector(str(path))) == "hello"


async def test_who_ends_takes_away_no_socket_but_its_own(tmp_path: Path) -> None:
    path = tmp_path / "keeper.sock"
    async with AsyncExitStack() as later:
        async with serve_app(app(), ListenAddress(path=path)):
            path.rename(tmp_path / "moved.sock")
            await later.enter_async_context(serve_app(app(), ListenAddress(path=path)))
        assert await get_text("http://localhost/", aiohttp.UnixConnector(str(path))) == "hello"


@pytest.mark.parametrize("host", ["::1", "[::1]"])
async def test_ipv6_is_written_with_brackets_or_without(host: str) -> None:
    async with serve_app(app(), ListenAddress(host)) as url:
        assert url.startswith("http://[::1]:")
        assert await get_text(url) == "hello"


async def test_a_file_that_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("mine")
    with pytest.raises(OSError, match="in use"):
        async with serve_app(app(), ListenAddress(path=path)):
            pass
    assert path.read_text() == "mine"


async def test_tls_is_known_by_its_very_certificate(tmp_path: Path) -> None:
    tls, other = certificate(tmp_path), certificate(tmp_path, "other.test")
    async with serve_app(app(), ListenAddress(tls=tls)) as url:
        assert url.startswith("https://127.0.0.1:")
        pinned = aiohttp.TCPConnector(ssl=client_context(tls.certificate))
        assert await get_text(url, pinned) == "hello"
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await get_text(url, aiohttp.TCPConnector(ssl=client_context(other.certificate)))
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await get_text(url)


def test_old_tls_is_not_spoken(tmp_path: Path) -> None:
    assert certificate(tmp_path).server_context().minimum_version == ssl.TLSVersion.TLSv1_2


async def test_files_that_are_no_certificate_are_named(tmp_path: Path) -> None:
    tls = TlsFiles(tmp_path / "a.crt", tmp_path / "a.key")
    with pytest.raises(TlsInvalid, match=r"a\.crt"):
        async with serve_app(app(), ListenAddress(tls=tls)):
            pass
    tls.certificate.write_text("nonsense")
    with pytest.raises(TlsInvalid, match=r"a\.crt"):
        client_context(tls.certificate)
