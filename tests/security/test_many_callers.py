"""Callers that come by the hundred, or go away in the middle (threat 15): nothing fills the log."""

from __future__ import annotations

import contextlib
import resource
import socket
from functools import partial
from urllib.parse import urlsplit

from tests.security.raw_requests import connect, send_request
from tests.support.keeper_process import KeeperProcess
from tests.support.transcript_writer import SESSION_ID
from tests.support.waiting import wait_until


async def test_15_who_goes_away_in_mid_body_is_no_failure_of_ours(
    keeper: KeeperProcess, cookie: str
) -> None:
    page = str(keeper.page_url)
    for url, path, entry in (
        (keeper.url, f"/sessions/{SESSION_ID}", f"Authorization: Bearer {keeper.token}"),
        (page, f"/api/sessions/{SESSION_ID}", f"Cookie: {cookie}"),
    ):
        head = f"PATCH {path} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\n{entry}\r\n"
        head += "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n"
        with connect(url) as connection:
            connection.sendall(head.encode() + b'{"name":')
    # what the keeper itself was asked is noted when it is over
    await wait_until(lambda: f"PATCH /sessions/{SESSION_ID} 400" in keeper.log)
    assert "Traceback" not in keeper.log


async def test_15_nor_is_who_goes_away_before_it_is_told_to_go_on(keeper: KeeperProcess) -> None:
    """Anybody can ask for that, without the token."""
    for url in (keeper.url, str(keeper.page_url)):
        head = f"POST /send HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\nExpect: 100-continue\r\n"
        head += "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n"
        for _ in range(10):
            with connect(url) as connection:
                connection.sendall(head.encode())
                connection.shutdown(socket.SHUT_WR)
                list(iter(partial(connection.recv, 65536), b""))
    assert "Traceback" not in keeper.log


async def test_15_more_callers_than_descriptors_are_spoken_of_once(keeper: KeeperProcess) -> None:
    where = urlsplit(keeper.url)
    before = resource.prlimit(keeper.pid, resource.RLIMIT_NOFILE)
    with contextlib.ExitStack() as crowd:
        resource.prlimit(keeper.pid, resource.RLIMIT_NOFILE, (64, before[1]))
        for _ in range(150):
            caller = crowd.enter_context(socket.socket())
            caller.setblocking(False)
            caller.connect_ex((where.hostname or "", where.port or 0))
        await wait_until(lambda: "no descriptor is left" in keeper.log)
    resource.prlimit(keeper.pid, resource.RLIMIT_NOFILE, before)
    assert send_request(keeper.url, "GET", "/health").status == 200
    assert keeper.log.count("no descriptor is left") == 1
    assert "out of system resource" not in keeper.log
    assert "Traceback" not in keeper.log
