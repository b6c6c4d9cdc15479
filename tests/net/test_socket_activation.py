"""Sockets that systemd holds: a restart refuses nobody."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from urllib.request import urlopen

import pytest

from claudekeeper.demo.home import DemoHome
from claudekeeper.net.socket_activation import inherited_sockets
from tests.support.keeper_process import COMMAND, KeeperProcess

# what systemd does between fork and exec
ACTIVATE = """
import os, sys
keeper, page = int(sys.argv[1]), int(sys.argv[2])
# first out of the way: one may have the other's number
keeper, page = os.dup(keeper), os.dup(page)
while min(keeper, page) < 5:
    keeper, page = os.dup(keeper), os.dup(page)
os.dup2(keeper, 3)
os.dup2(page, 4)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="2", LISTEN_FDNAMES=sys.argv[3])
os.execv(sys.argv[4], sys.argv[4:])
"""


@pytest.fixture
def home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        yield home


@pytest.mark.parametrize(
    ("names", "order"), [("keeper:clarvis", (0, 1)), ("clarvis:keeper", (1, 0)), ("", (0, 1))]
)
def test_both_servers_take_what_is_given_and_a_restart_refuses_nobody(
    home: DemoHome, names: str, order: tuple[int, int]
) -> None:
    first = socket.create_server(("127.0.0.1", 0))
    second = socket.create_server(("127.0.0.1", 0))
    with first, second:
        for each in (first, second):
            os.set_inheritable(each.fileno(), True)
        numbers = [str(first.fileno()), str(second.fileno())]
        command = [sys.executable, "-c", ACTIVATE, *numbers, names, *COMMAND]

        def start() -> KeeperProcess:
            # Popen closes what it is not told to keep
            return KeeperProcess(
                home, command=command, inherited_fds=(first.fileno(), second.fileno())
            )

        mine, pages = ((first, second)[index] for index in order)
        with start() as keeper:
            assert keeper.url == f"http://127.0.0.1:{mine.getsockname()[1]}"
            assert keeper.page_url == f"http://127.0.0.1:{pages.getsockname()[1]}"
        # nobody runs now, and still a caller gets through: it waits for the next one
        waiting = socket.create_connection(mine.getsockname())
        waiting.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        with start() as keeper, waiting, urlopen(f"{keeper.url}/health") as answer:
            assert answer.status == 200
            assert waiting.recv(100).startswith(b"HTTP/1.1 200")


def test_what_was_given_to_another_process_is_not_ours() -> None:
    environment = {"LISTEN_PID": "1", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "keeper"}
    assert inherited_sockets(environment) == {}
    assert environment == {}
