"""The demo's home is apart from the user's, and goes away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from claudekeeper.demo import start
from claudekeeper.demo.home import DemoHome, remove_abandoned
from claudekeeper.demo.sample_sessions import SampleFailed
from tests.support.own_process import running

API = "http://127.0.0.1:9"
# as a CLI does that was told to end: it has something left to write down
WRITES_TO_THE_LAST = """
import os, pathlib, sys, time
print("here", flush=True)
while True:
    folder = pathlib.Path(os.environ["CLAUDE_CONFIG_DIR"], "projects", "late")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "last.jsonl").write_text("{}")
"""
WAITS_IN_A_HOME = """
import pathlib, sys
from claudekeeper.demo.home import DemoHome
home = DemoHome(pathlib.Path(sys.argv[1]))
print(home.root, flush=True)
sys.stdin.read()
"""


def test_every_place_is_inside_the_home() -> None:
    with DemoHome() as home:
        variables = home.environment(API, inherited={})
        names = ["HOME", "CLAUDE_CONFIG_DIR", "CLAUDEKEEPER_HOME", "XDG_CACHE_HOME"]
        assert all(Path(variables[name]).is_relative_to(home.root) for name in names)


def test_another_claude_is_silenced() -> None:
    inherited = {
        "ANTHROPIC_AUTH_TOKEN": "secret",
        "CLAUDE_CODE_USE_BEDROCK": "1",
        "ANTHROPIC_BASE_URL": "https://elsewhere.test",
        "CLARVIS_ALLOWED_ROOTS": "/home/me",
        "CLAUDEKEEPER_CLI": "/opt/claude",
        "PATH": "/bin",
    }
    with DemoHome() as home:
        environment = home.environment(API, inherited=inherited)
    assert environment["ANTHROPIC_AUTH_TOKEN"] == ""
    assert environment["CLAUDE_CODE_USE_BEDROCK"] == ""
    assert environment["ANTHROPIC_BASE_URL"] == API
    assert environment["CLARVIS_ALLOWED_ROOTS"] == str(home.root)
    assert not {"PATH", "CLAUDEKEEPER_CLI"} & set(environment)


def test_a_project_is_a_repository() -> None:
    with DemoHome() as home:
        folder = home.project("payments-api")
        assert (folder / ".git" / "HEAD").read_text() == "ref: refs/heads/main\n"
        assert (folder / "payments" / "login.py").exists()


def test_a_project_is_made_once() -> None:
    with DemoHome() as home:
        (home.project("infra") / "new.txt").write_text("mine")
        assert (home.project("infra") / "new.txt").exists()


def test_nothing_is_left() -> None:
    with DemoHome() as home:
        home.project("website")
    assert not home.root.exists()


def test_who_still_writes_there_is_ended_first() -> None:
    with ExitStack() as after:
        with DemoHome() as home:
            environment = {**os.environ, **home.environment(API)}
            command = [sys.executable, "-c", WRITES_TO_THE_LAST]
            writer = after.enter_context(running(command, env=environment))
            assert writer.stdout is not None
            writer.stdout.readline()
        assert writer.wait(timeout=30) == -signal.SIGTERM
        assert not home.root.exists()


def test_the_home_of_a_killed_demo_goes_with_the_next(tmp_path: Path) -> None:
    killed = subprocess.Popen(
        [sys.executable, "-c", WAITS_IN_A_HOME, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert killed.stdout is not None
    root = Path(killed.stdout.readline().strip())
    # one that lives, one that is being made, and what a stranger put there
    with DemoHome(tmp_path) as mine:
        (tmp_path / "clarvis-demo-new").mkdir()
        (tmp_path / "clarvis-demo-link").symlink_to(root)
        assert remove_abandoned(tmp_path) == 0
        killed.kill()
        killed.communicate()
        assert root.exists()
        assert remove_abandoned(tmp_path) == 1
        assert mine.root.exists()
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"clarvis-demo-new", "clarvis-demo-link"}


async def test_the_demo_cleans_up_when_the_samples_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    homes: list[DemoHome] = []

    async def fail(home: DemoHome, *_: object) -> None:
        homes.append(home)
        raise SampleFailed

    monkeypatch.setattr(start, "make_samples", fail)
    with pytest.raises(SampleFailed):
        async with start.start_demo():
            pass
    assert not homes[0].root.exists()


async def test_the_demo_cleans_up_when_its_user_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    homes: list[DemoHome] = []

    async def none(*_: object) -> list[object]:
        return []

    async def use_it_and_fail() -> None:
        async with start.start_demo() as demo:
            assert demo.environment["ANTHROPIC_BASE_URL"] == demo.api_url
            homes.append(demo.home)
            raise ZeroDivisionError

    monkeypatch.setattr(start, "make_samples", none)
    with pytest.raises(ZeroDivisionError):
        await use_it_and_fail()
    assert not homes[0].root.exists()
