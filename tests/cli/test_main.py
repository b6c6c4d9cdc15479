"""`claudekeeper` as people type it."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from claudekeeper.cli.main import main
from claudekeeper.cli.serve import cli_version
from claudekeeper.core.config import load_config
from claudekeeper.net.addresses import is_loopback
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder

KEEPER = [sys.executable, "-m", "claudekeeper"]


@asynccontextmanager
async def started(*options: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *KEEPER, "serve", "--port", "0", "--ui-port", "0", *options, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            await process.wait()


async def line_with(process: asyncio.subprocess.Process, words: str) -> str:
    assert process.stdout is not None
    async for line in process.stdout:
        if words in line.decode():
            return line.decode().strip()
    raise AssertionError(f"it ended without saying {words!r}")


async def test_serve_says_where_it_listens_and_ends_on_sigterm(isolated: Path) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("hello")
    transcript.write(projects_folder())
    async with started() as process:
        line = await line_with(process, "claudekeeper listening on")
        address = line.rsplit(" ", 1)[1]
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", address)
        page = (await line_with(process, "clarvis listening on")).rsplit(" ", 1)[1]
        link = await line_with(process, "#login=")
        assert link.startswith(page + "/#login=")
        token = load_config(isolated / ".claudekeeper").token
        headers = {"Authorization": f"Bearer {token}"}
        async with aiohttp.ClientSession() as client:
            async with client.get(f"{address}/sessions", headers=headers) as response:
                assert (await response.json())["sessions"][0]["id"] == SESSION_ID
            code = link.rsplit("=", 1)[1]
            async with client.post(f"{page}/login", json={"code": code}) as response:
                assert response.status < 300
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


async def test_a_taken_port_is_said_with_a_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = await asyncio.create_subprocess_exec(
            *KEEPER, "serve", "--port", str(port), stderr=asyncio.subprocess.PIPE
        )
        _, errors = await process.communicate()
    assert process.returncode == 2
    assert f"127.0.0.1:{port}" in errors.decode()
    assert "--port" in errors.decode()


async def test_an_address_that_cannot_be_had_is_not_called_taken() -> None:
    process = await asyncio.create_subprocess_exec(
        *KEEPER, "serve", "--host", "192.0.2.1", "--allow-remote", stderr=asyncio.subprocess.PIPE
    )
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert "192.0.2.1" in errors.decode()
    assert "--host" in errors.decode()
    assert "running already" not in errors.decode()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "0", "::ffff:0.0.0.0", "192.168.1.5", "box"])
def test_an_address_others_can_reach_needs_a_flag(
    host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--host", host]) == 2
    assert "--allow-remote" in capsys.readouterr().err


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.8.8.8"])
def test_loopback_needs_none(host: str) -> None:
    assert is_loopback(host)


def test_open_says_when_nothing_runs(capsys: pytest.CaptureFixture[str]) -> None:
    # bound but not listening: nobody answers there, and nobody else gets the port
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        assert main(["open", "--ui-port", str(port)]) == 2
    assert "claudekeeper serve" in capsys.readouterr().err


async def test_open_makes_another_link(capsys: pytest.CaptureFixture[str]) -> None:
    async with started() as process:
        page = (await line_with(process, "clarvis listening on")).rsplit(" ", 1)[1]
        await line_with(process, "#login=")
        port = page.rsplit(":", 1)[1]
        assert await asyncio.to_thread(main, ["open", "--ui-port", port]) == 0
    assert f"{page}/#login=" in capsys.readouterr().out


def test_the_version_of_the_bundled_cli_is_known_without_the_sdk() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", cli_version())


def test_another_cli_that_does_not_run_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("CLAUDEKEEPER_CLI", str(tmp_path / "nothing"))
    assert main(["serve", "--port", "0"]) == 2
    assert "CLAUDEKEEPER_CLI" in capsys.readouterr().err


async def test_the_sdk_is_not_loaded_before_it_is_needed() -> None:
    code = "import claudekeeper.cli.serve, sys; sys.exit('claude_agent_sdk' in sys.modules)"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, env=os.environ)
    assert await process.wait() == 0
