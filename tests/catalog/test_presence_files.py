"""The files by which a running Claude Code says which session it has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claudekeeper.catalog.presence_files import is_alive, list_running
from tests.support.own_process import running
from tests.support.transcript_writer import SESSION_ID

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are seen in /proc")


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    """A process that somebody else started."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


def started(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def write(folder: Path, pid: int, **fields: Any) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{pid}.json"
    standard = {"pid": pid, "sessionId": SESSION_ID, "procStart": started(pid), "entrypoint": "cli"}
    path.write_text(json.dumps(standard | fields))
    return path


def test_a_claude_code_that_runs_is_seen_with_what_it_does(tmp_path: Path) -> None:
    write(
        tmp_path,
        os.getpid(),
        status="waiting",
        waitingFor="permission prompt",
        statusUpdatedAt=1_794_963_612_407,
        kind="interactive",
    )
    (process,) = list_running(tmp_path)
    presence = process.presence
    assert process.session_id == SESSION_ID
    assert (presence.status, presence.waiting_for) == ("waiting", "permission prompt")
    assert (presence.entrypoint, presence.interactive) == ("cli", True)
    assert presence.since == "2026-11-18T01:00:12.407Z"
    assert is_alive(process)


def test_a_file_that_a_kill_left_behind_is_not_believed(
    tmp_path: Path, other: subprocess.Popen[bytes]
) -> None:
    write(tmp_path, other.pid)
    (process,) = list_running(tmp_path)
    other.kill()
    # dead, and not yet waited for: a zombie does not count either
    os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
    assert list_running(tmp_path) == []
    assert not is_alive(process)


def test_one_that_is_ending_runs_nothing_any_more(tmp_path: Path) -> None:
    """Its memory goes some time before it does; then it is not known whose it was."""
    ending = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, env={})
    write(tmp_path, ending.pid)
    assert list_running(tmp_path) == []
    ending.communicate()


def test_another_process_with_the_same_number_is_not_it(tmp_path: Path) -> None:
    write(tmp_path, os.getpid(), procStart="17")
    assert list_running(tmp_path) == []


@pytest.mark.parametrize(
    "content", [b"", b'{"pid": 1', b"[]", b'{"pid":"x","sessionId":1}', b"\xff"]
)
def test_what_cannot_be_read_is_nobody(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "12.json").write_bytes(content)
    (tmp_path / "12.abc.key").write_bytes(b"{}")
    assert list_running(tmp_path) == []
    assert list_running(tmp_path / "missing") == []


def test_an_unknown_status_is_busy(tmp_path: Path) -> None:
    write(tmp_path, os.getpid(), status="pondering", procStart=int(started(os.getpid())))
    (process,) = list_running(tmp_path)
    assert process.presence.status == "busy"


def test_the_session_that_a_keeper_started_it_for_is_seen(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "print(flush=True); input()"]
    environment = {**os.environ, "CLAUDEKEEPER_SESSION": SESSION_ID.upper()}
    with running(command, env=environment, stdin=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        write(tmp_path, process.pid)
        (presence,) = list_running(tmp_path)
        assert (presence.keeper_session, presence.parent_pid) == (SESSION_ID, os.getpid())


def test_who_runs_is_there_also_while_its_file_is_written(
    tmp_path: Path, other: subprocess.Popen[bytes]
) -> None:
    path = write(tmp_path, other.pid, status="waiting")
    before = list_running(tmp_path)
    for half in ("", '{"pid": '):
        path.write_text(half)
        assert list_running(tmp_path, before) == before
        # nothing is believed that was never seen whole
        assert list_running(tmp_path) == []
    other.kill()
    other.wait()
    assert list_running(tmp_path, before) == []
    path.unlink()
    assert list_running(tmp_path, before) == []
