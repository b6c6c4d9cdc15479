"""systemd hears when we serve, that we live, and that we stop."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from claudekeeper.cli.sd_notify import Notifier
from claudekeeper.demo.home import DemoHome
from tests.support.keeper_process import COMMAND, DEAD_URL, KeeperProcess


class Manager:
    """The end of the notify socket that systemd holds."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)

    def hears(self, line: str) -> list[str]:
        """The first message with this line; other ones may come before."""
        while True:
            lines = self.socket.recv(4096).decode().split("\n")
            if line in lines:
                return lines


@pytest.fixture
def home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        yield home


@pytest.fixture
def manager(home: DemoHome) -> Iterator[Manager]:
    manager = Manager(home.root / "notify")
    yield manager
    manager.socket.close()


def test_ready_comes_when_it_serves_then_life_signs_then_the_end(
    home: DemoHome, manager: Manager
) -> None:
    environment = {"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "200000"}
    with KeeperProcess(home, environment=environment) as keeper:
        assert f"MAINPID={keeper.pid}" in manager.hears("READY=1")
        with urlopen(f"{keeper.url}/health") as answer:
            assert answer.status == 200
        manager.hears("WATCHDOG=1")
        manager.hears("WATCHDOG=1")
        assert keeper.stop() == 0
        manager.hears("STOPPING=1")
        # what a service prints is kept in the journal
        assert not [line for line in keeper.output if "#login=" in line]


def test_it_is_not_ready_while_its_page_does_not_answer(home: DemoHome, manager: Manager) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = subprocess.run(
            [*COMMAND, "serve", "--port", "0", "--ui-port", port],
            env={**os.environ, **home.environment(DEAD_URL), "NOTIFY_SOCKET": manager.path},
            capture_output=True,
            text=True,
            check=False,
        )
    assert "claudekeeper listening on" in ended.stdout
    assert port in ended.stderr
    manager.socket.setblocking(False)
    with pytest.raises(BlockingIOError):
        manager.hears("READY=1")


def test_no_child_speaks_in_our_name(manager: Manager) -> None:
    environment = {"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "2000000", "PATH": "/bin"}
    notifier = Notifier(environment)
    assert environment == {"PATH": "/bin"}
    assert notifier.watchdog_interval == 1.0
    notifier.notify_ready("here")
    assert "STATUS=here" in manager.hears("READY=1")


def test_another_process_s_watchdog_is_not_ours(manager: Manager) -> None:
    other = {"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "1"}
    assert Notifier(other).watchdog_interval is None


@pytest.mark.skipif(sys.platform != "linux", reason="names without files are Linux's")
def test_a_name_without_a_file(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(f"\0{tmp_path}")
        Notifier({"NOTIFY_SOCKET": f"@{tmp_path}"}).notify_stopping("bye")
        assert receiver.recv(100) == b"STOPPING=1\nSTATUS=bye"


def test_nobody_asked_and_nobody_there(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    Notifier({}).notify_ready("")
    assert not caplog.records
    Notifier({"NOTIFY_SOCKET": str(tmp_path / "gone")}).notify_ready("")
    assert "READY=1" in caplog.text
