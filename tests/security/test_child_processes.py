"""What the keeper runs knows no secret of the keeper (threat 7), and cannot speak for it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from claudekeeper.core.config import load_config
from claudekeeper.demo.home import DemoHome
from claudekeeper.demo.messages_api import ScriptedApi
from tests.support.api_visitor import connect_api
from tests.support.keeper_process import KeeperProcess, parent_pids
from tests.support.real_cli import scripted_api  # noqa: F401
from tests.support.waiting import wait_until


@pytest.fixture
def home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        yield home


def words_of(pid: int, file: str) -> list[str]:
    content = Path(f"/proc/{pid}/{file}").read_bytes().decode(errors="replace")
    return [word for word in content.split("\0") if word]


def open_files(pid: int) -> set[str]:
    names = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        try:
            names.add(str(descriptor.readlink()))
        except OSError:
            continue
    return names


async def test_7_no_child_has_a_secret_or_a_way_to_systemd(
    home: DemoHome,
    scripted_api: ScriptedApi,  # noqa: F811
) -> None:
    config = load_config(home.keeper)
    work = home.project("scratch")
    notify_socket = home.root / "notify.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(notify_socket))
        environment = {"NOTIFY_SOCKET": str(notify_socket), "WATCHDOG_USEC": "60000000"}
        with KeeperProcess(home, api_url=scripted_api.url, environment=environment) as keeper:
            before = {word.partition("=")[0] for word in words_of(keeper.pid, "environ")}
            code = keeper.new_login_link().rpartition("=")[2]
            assert code
            async with connect_api(keeper) as visitor:
                listener = await visitor.listen()
                await visitor.start_session(
                    work, "run: env > env.txt; touch on; while [ -e on ]; do :; done"
                )
                question = (await listener.wait_for_event("attention/raised"))["attention"]
                body = {"attentionId": question["id"], "decision": "allow"}
                await visitor.post("/resolve", body)
                await wait_until((work / "on").exists)
                children = keeper.descendants()
                # the CLI, and the shell that it runs
                assert len(children) >= 2
                secrets = (config.token, config.hook_token, code)
                own = open_files(keeper.pid)
                for child in children:
                    words = [*words_of(child, "environ"), *words_of(child, "cmdline")]
                    assert [word for word in words if any(each in word for each in secrets)] == []
                    names = {word.partition("=")[0] for word in words_of(child, "environ")}
                    assert names & {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} == set()
                    assert names & {"LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"} == set()
                    # no socket and no file of the keeper's is open there
                    shared = open_files(child) & own
                    assert {each for each in shared if each.startswith(("socket:", "/"))} <= {
                        "/dev/null"
                    }
                variables = (work / "env.txt").read_text()
                assert not any(each in variables for each in secrets)
                (work / "on").unlink()
                await listener.wait_for_turn_end(question["sessionId"], outcome="done")
            assert not any(each in keeper.log for each in secrets)
            assert not any(
                each in word for word in words_of(keeper.pid, "cmdline") for each in secrets
            )
            assert before >= {"NOTIFY_SOCKET"}
    assert keeper.pid not in parent_pids()
