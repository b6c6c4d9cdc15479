"""One keeper for a module, with a session in it, looked at only from outside."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from claudekeeper.core.config import load_config
from claudekeeper.demo.home import DemoHome
from claudekeeper.demo.messages_api import ScriptedApi
from tests.security.raw_requests import send_request
from tests.support.keeper_process import KeeperProcess
from tests.support.real_cli import scripted_api  # noqa: F401
from tests.support.transcript_writer import TranscriptWriter

ALLOWED_HOST = "box.tail.net"


@pytest.fixture(scope="module")
def home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        transcript = TranscriptWriter()
        transcript.prompt("hello")
        transcript.reply("good day")
        transcript.write(home.config / "projects")
        load_config(home.keeper)
        file = home.keeper / "config.json"
        file.write_text(
            json.dumps({**json.loads(file.read_text()), "allowedHosts": [ALLOWED_HOST]})
        )
        yield home


@pytest.fixture(scope="module")
def keeper(home: DemoHome, scripted_api: ScriptedApi) -> Iterator[KeeperProcess]:  # noqa: F811
    with KeeperProcess(home, api_url=scripted_api.url) as keeper:
        yield keeper


@pytest.fixture(autouse=True)
def same_process(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever a test did: the same process answers the next request."""
    yield
    if "keeper" in request.fixturenames:
        keeper = request.getfixturevalue("keeper")
        assert keeper.process.poll() is None
        assert send_request(keeper.url, "GET", "/health").status == 200
        assert send_request(keeper.page_url, "GET", "/").status == 200


@pytest.fixture(scope="module")
def cookie(keeper: KeeperProcess) -> str:
    """A way into Clarvis, by a login link."""
    return log_in(keeper)


def login_code(keeper: KeeperProcess) -> str:
    """As `claudekeeper open` gets one."""
    headers = {**keeper.auth_headers, "Content-Type": "application/json"}
    return str(
        send_request(str(keeper.page_url), "POST", "/login/code", headers, b"{}").json["code"]
    )


def log_in(keeper: KeeperProcess) -> str:
    body = json.dumps({"code": login_code(keeper)}).encode()
    answer = send_request(
        str(keeper.page_url), "POST", "/login", {"Content-Type": "application/json"}, body
    )
    assert answer.status == 200, answer
    return answer.headers["set-cookie"].split(";")[0]
