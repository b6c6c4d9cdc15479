"""A disk that takes no more (threat 24): it is said, nothing breaks, and it passes.

A limit for the size of files does what a full disk does, and for one process alone.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from claudekeeper.core.config import load_config
from claudekeeper.demo.home import DemoHome
from tests.security.raw_requests import Answer, send_request
from tests.support.keeper_process import COMMAND, DEAD_URL, KeeperProcess

FULL = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
os.execv(sys.argv[1], sys.argv[1:])
"""
LIMITED = [sys.executable, "-c", FULL, *COMMAND]


@contextmanager
def full(keeper: KeeperProcess) -> Iterator[None]:
    before = resource.prlimit(keeper.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.prlimit(keeper.pid, resource.RLIMIT_FSIZE, before)


def dispatched(keeper: KeeperProcess) -> Answer:
    body = json.dumps({"text": "hello", "workdir": str(keeper.home.root)}).encode()
    headers = {**keeper.auth_headers, "Content-Type": "application/json"}
    return send_request(keeper.url, "POST", "/conversations/item/dispatch", headers, body)


def test_24_a_dispatch_is_refused_while_it_lasts_and_made_afterwards() -> None:
    with DemoHome() as home, KeeperProcess(home, "--no-ui") as keeper:
        with full(keeper):
            refused = dispatched(keeper)
            assert (refused.status, refused.error) == (507, "state_unwritable")
        assert dispatched(keeper).status == 200
        assert "Traceback" not in keeper.log


def test_24_it_starts_all_the_same_and_needs_no_restart_afterwards() -> None:
    with DemoHome() as home:
        load_config(home.keeper)
        with KeeperProcess(home, "--no-ui", command=LIMITED) as keeper:
            assert dispatched(keeper).status == 507
            assert send_request(keeper.url, "GET", "/sessions", keeper.auth_headers).status == 200
            resource.prlimit(keeper.pid, resource.RLIMIT_FSIZE, (-1, -1))
            assert dispatched(keeper).status == 200


def test_24_who_cannot_write_secrets_says_so() -> None:
    with DemoHome() as home:
        environment = {**os.environ, **home.environment(DEAD_URL)}
        for arguments in (["serve", "--port", "0", "--no-ui"], ["token", "rotate"]):
            refused = subprocess.run(
                [*LIMITED, *arguments], env=environment, capture_output=True, text=True, check=False
            )
            assert refused.returncode == 2
            assert refused.stderr == f"claudekeeper: {home.keeper}/config.json: File too large.\n"
        assert not list(home.keeper.glob("*config.json*"))
