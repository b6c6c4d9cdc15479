"""One keeper a home."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from claudekeeper.cli.instance_lock import (
    AlreadyRunning,
    hold_instance_lock,
    lock_path,
    running_keeper,
)
from claudekeeper.cli.main import main
from claudekeeper.demo.home import DemoHome
from tests.support.keeper_process import KeeperProcess


@pytest.fixture
def home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        yield home


def test_a_second_one_is_refused_and_told_who_runs(tmp_path: Path) -> None:
    with hold_instance_lock(tmp_path) as instance:
        instance.announce(keeper="http://127.0.0.1:7433")
        instance.announce(clarvis="http://127.0.0.1:7434")
        with (
            pytest.raises(AlreadyRunning, match=rf"pid {os.getpid()}.*:7433 and .*:7434"),
            hold_instance_lock(tmp_path),
        ):
            pass
        who = running_keeper(tmp_path)
        assert who is not None
        assert who.keeper == "http://127.0.0.1:7433"
    assert running_keeper(tmp_path) is None
    with hold_instance_lock(tmp_path):
        assert lock_path(tmp_path).stat().st_mode & 0o777 == 0o600


def test_other_homes_are_others(tmp_path: Path) -> None:
    with hold_instance_lock(tmp_path / "one"), hold_instance_lock(tmp_path / "two"):
        assert running_keeper(tmp_path / "three") is None


def test_a_second_keeper_ends_with_words_and_the_first_goes_on(
    home: DemoHome, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with KeeperProcess(home, "--no-ui") as first:
        monkeypatch.setenv("CLAUDEKEEPER_HOME", str(home.keeper))
        assert main(["serve", "--port", "0", "--ui-port", "0"]) == 2
        errors = capsys.readouterr().err
        assert f"pid {first.pid}" in errors
        assert first.url in errors
        assert first.process.poll() is None


def test_after_a_kill_the_home_is_free(home: DemoHome) -> None:
    first = KeeperProcess(home, "--no-ui")
    first.kill()
    assert running_keeper(home.keeper) is None
    with KeeperProcess(home, "--no-ui") as second:
        who = running_keeper(home.keeper)
        assert who is not None
        assert (who.pid, who.keeper) == (second.pid, second.url)
        assert second.stop(signal.SIGTERM) == 0
