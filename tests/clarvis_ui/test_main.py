"""The `clarvis` command: it says where it listens, lets one in, and explains itself."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from clarvis_ui.__main__ import main
from clarvis_ui.roots import Roots
from clarvis_ui.server import run_clarvis
from clarvis_ui.settings import ClarvisSettings
from tests.support.fake_keeper import TOKEN, FakeKeeper


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "config.json"
    path.write_text(f'{{"token": "{TOKEN}"}}')
    return path


@asynccontextmanager
async def clarvis(*arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "clarvis_ui", *arguments, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_the_command_serves_until_it_is_told_to_stop(token_file: Path) -> None:
    async with (
        FakeKeeper().serve() as keeper,
        clarvis("--keeper", keeper.url, "--token-file", str(token_file), "--port", "0") as process,
        aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser,
    ):
        assert process.stdout is not None
        listening = (await process.stdout.readline()).decode().split()
        opening = (await process.stdout.readline()).decode().split()
        assert listening[:3] == ["clarvis", "listening", "on"]
        url, code = opening[-1].split("/#login=")
        assert url == listening[3]
        async with browser.post(f"{url}/login", json={"code": code}) as answer:
            assert answer.status == 200
        async with browser.get(f"{url}/api/health") as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


async def test_a_login_link_can_lead_to_a_session(tmp_path: Path) -> None:
    settings = ClarvisSettings(
        keeper="http://127.0.0.1:9", token=lambda: TOKEN, static_folder=tmp_path
    )
    async with run_clarvis(settings, port=0) as clarvis:
        assert clarvis.url.startswith("http://127.0.0.1:")
        link = clarvis.login_link("some-id")
        assert link.startswith(f"{clarvis.url}/#login=")
        assert link.endswith("&session=some-id")


async def test_a_wildcard_is_opened_by_a_name_that_works(tmp_path: Path) -> None:
    settings = ClarvisSettings(keeper="http://127.0.0.1:9", token=lambda: TOKEN, roots=Roots())
    async with run_clarvis(settings, "0.0.0.0", 0) as clarvis:
        assert clarvis.url.startswith("http://127.0.0.1:")


def test_a_missing_token_file_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--token-file", str(tmp_path / "nothing")]) == 2
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "0", "::ffff:0.0.0.0"])
def test_other_machines_need_a_flag(
    host: str, token_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--token-file", str(token_file), "--host", host]) == 2
    assert "--allow-remote" in capsys.readouterr().err


def test_roots_that_make_no_sense_are_explained(
    token_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLARVIS_ALLOWED_ROOTS", os.pathsep)
    assert main(["--token-file", str(token_file)]) == 2
    assert "names no directory" in capsys.readouterr().err


def test_a_taken_port_is_explained(token_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["--token-file", str(token_file), "--port", str(port)]) == 1
    assert f"cannot listen on 127.0.0.1:{port}" in capsys.readouterr().err


def test_a_misspelled_variable_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLARVIS_ALLOWED_ROOT", str(tmp_path))
    assert main(["--token-file", str(tmp_path / "nothing")]) == 2
    assert "CLARVIS_ALLOWED_ROOT is not a setting" in capsys.readouterr().err
    monkeypatch.delenv("CLARVIS_ALLOWED_ROOT")
    monkeypatch.setenv("CLARVIS_ALLOWED_ROOTS", str(tmp_path))
    assert main(["--token-file", str(tmp_path / "nothing")]) == 2
    assert "is not a setting" not in capsys.readouterr().err
