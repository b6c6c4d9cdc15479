"""The terminal in which a keeper runs is closed."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator

import pytest

from claudekeeper.demo.home import DemoHome
from tests.support.api_visitor import connect_api
from tests.support.keeper_process import KeeperProcess


@pytest.fixture
def home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        yield home


def started_with(action: str) -> list[str]:
    """The command, with what its starter says about SIGHUP: a shell nothing, nohup to ignore it."""
    set_up = f"import runpy, signal; signal.signal(signal.SIGHUP, signal.{action})"
    return [sys.executable, "-c", f"{set_up}; runpy.run_module('claudekeeper')"]


def test_it_ends_in_order(home: DemoHome) -> None:
    keeper = KeeperProcess(home, "--no-ui", command=started_with("SIG_DFL"))
    assert keeper.stop(signal.SIGHUP) == 0


async def test_one_started_by_nohup_stays(home: DemoHome) -> None:
    with KeeperProcess(home, "--no-ui", command=started_with("SIG_IGN")) as keeper:
        keeper.process.send_signal(signal.SIGHUP)
        async with connect_api(keeper) as visitor:
            assert (await visitor.get("/health"))["status"] == "ok"
