"""The demo's home is apart from the user's, and goes away."""

from __future__ import annotations

from pathlib import Path

import pytest

from claudekeeper.demo import running
from claudekeeper.demo.home import DemoHome
from claudekeeper.demo.samples import SamplesFailed

API = "http://127.0.0.1:9"


def test_every_place_is_inside_the_home() -> None:
    with DemoHome() as home:
        places = home.environment(API, inherited={})
        names = ["HOME", "CLAUDE_CONFIG_DIR", "CLAUDEKEEPER_HOME", "XDG_CACHE_HOME"]
        assert all(Path(places[name]).is_relative_to(home.root) for name in names)


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


async def test_the_demo_cleans_up_when_the_samples_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    homes: list[DemoHome] = []

    async def fail(home: DemoHome, *_: object) -> None:
        homes.append(home)
        raise SamplesFailed

    monkeypatch.setattr(running, "make_samples", fail)
    with pytest.raises(SamplesFailed):
        async with running.demo():
            pass
    assert not homes[0].root.exists()


async def test_the_demo_cleans_up_when_its_user_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    homes: list[DemoHome] = []

    async def none(*_: object) -> list[object]:
        return []

    async def use_it_and_fail() -> None:
        async with running.demo() as demo:
            assert demo.environment["ANTHROPIC_BASE_URL"] == demo.api_url
            homes.append(demo.home)
            raise ZeroDivisionError

    monkeypatch.setattr(running, "make_samples", none)
    with pytest.raises(ZeroDivisionError):
        await use_it_and_fail()
    assert not homes[0].root.exists()
