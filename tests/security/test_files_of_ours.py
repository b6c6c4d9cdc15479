"""Something else stands where a file of the keeper's own should be (threat 24)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from claudekeeper.demo.home import DemoHome
from tests.security.raw_requests import send_request
from tests.support.keeper_process import COMMAND, DEAD_URL, KeeperProcess
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter


@pytest.fixture
def other_home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        transcript = TranscriptWriter()
        transcript.prompt("hello")
        transcript.write(home.config / "projects")
        yield home


def garbage(path: Path) -> None:
    path.write_bytes(b"\xffnot what it should be" * 100)


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo], ids=["a folder", "a pipe"])
def test_24_what_is_no_state_is_kept_aside(
    other_home: DemoHome, make: Callable[[Path], None]
) -> None:
    make(other_home.keeper / "state.json")
    with KeeperProcess(other_home, "--no-ui") as keeper:
        headers = {**keeper.auth_headers, "Content-Type": "application/json"}
        body = b'{"name": "mine"}'
        assert (
            send_request(keeper.url, "PATCH", f"/sessions/{SESSION_ID}", headers, body).status
            == 200
        )
        assert "state.json is corrupt (not an ordinary file): kept as" in keeper.log
    assert (other_home.keeper / "state.json").is_file()
    assert list(other_home.keeper.glob("state.json.corrupt-*"))


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, garbage], ids=["folder", "pipe", "garbage"])
@pytest.mark.parametrize(
    ("name", "warning"),
    [
        ("turns.json", "cannot be read in full"),
        ("failed-turns.json", "cannot be read in full"),
        ("conversations.db", "is "),
        ("routings.jsonl", "is "),
    ],
)
def test_24_nor_what_is_no_record_of_turns_or_items(
    other_home: DemoHome, name: str, warning: str, make: Callable[[Path], None]
) -> None:
    make(other_home.keeper / name)
    with KeeperProcess(other_home, "--no-ui") as keeper:
        assert send_request(keeper.url, "GET", "/conversations", keeper.auth_headers).status == 200
        assert f"{name} {warning}" in keeper.log
    assert list(other_home.keeper.glob(f"{name}.corrupt-*"))


@pytest.mark.parametrize(
    ("make", "remove"),
    [
        pytest.param(os.mkdir, os.rmdir, id="a folder"),
        pytest.param(os.mkfifo, os.unlink, id="a pipe"),
    ],
)
def test_24_a_config_that_becomes_something_else_keeps_nobody_waiting(
    other_home: DemoHome, make: Callable[[Path], None], remove: Callable[[Path], None]
) -> None:
    with KeeperProcess(other_home) as keeper:
        headers = keeper.auth_headers
        file = other_home.keeper / "config.json"
        aside = file.rename(file.with_suffix(".aside"))
        make(file)
        assert send_request(keeper.url, "GET", "/sessions", headers).status == 200
        assert send_request(str(keeper.page_url), "GET", "/api/sessions").status == 401
        remove(file)
        aside.rename(file)


def test_24_what_keeps_it_from_starting_is_named(other_home: DemoHome) -> None:
    (other_home.keeper / "keeper.lock").mkdir()
    refused = subprocess.run(
        [*COMMAND, "serve", "--port", "0", "--no-ui"],
        env={**os.environ, **other_home.environment(DEAD_URL)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 2
    assert refused.stderr == f"claudekeeper: {other_home.keeper}/keeper.lock: Is a directory.\n"
