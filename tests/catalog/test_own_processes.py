"""Which running Claude Codes are the keeper's own."""

from __future__ import annotations

import os

import msgspec

from claudekeeper.catalog.own_processes import OwnProcesses
from claudekeeper.catalog.presence_files import RunningClaude
from claudekeeper.contract.sessions import Presence


class Cli(msgspec.Struct):
    pid: int | None = None
    holds_slot: bool = True


RUNNING = RunningClaude(
    session_id="s",
    presence=Presence(
        pid=7, entrypoint="sdk-py", status="busy", waiting_for=None, since=None, interactive=False
    ),
    started="1",
    parent_pid=1,
    keeper_session=None,
)


def own(cli: Cli | None) -> OwnProcesses:
    processes = OwnProcesses()
    if cli is not None:
        processes.add("s", cli)
    return processes


def test_a_process_is_known_by_its_pid() -> None:
    assert own(Cli(pid=7)).includes(RUNNING)
    assert not own(Cli(pid=8)).includes(RUNNING)
    assert own(Cli(pid=7)).pids == {7}


def test_one_that_comes_while_ours_starts_is_ours() -> None:
    assert own(Cli(pid=None)).includes(RUNNING)
    assert not own(Cli(pid=None, holds_slot=False)).includes(RUNNING)
    assert not own(None).includes(RUNNING)
    by_hand = msgspec.structs.replace(
        RUNNING, presence=msgspec.structs.replace(RUNNING.presence, entrypoint="cli")
    )
    assert not own(Cli(pid=None)).includes(by_hand)


def test_an_orphan_of_an_earlier_keeper_is_not_ours() -> None:
    orphan = msgspec.structs.replace(RUNNING, keeper_session="s")
    assert not own(None).includes(orphan)
    assert own(Cli(pid=8)).includes(orphan)
    child = msgspec.structs.replace(orphan, parent_pid=os.getpid())
    assert own(None).includes(child)
    resumed = msgspec.structs.replace(child, keeper_session="another")
    assert not own(None).includes(resumed)


def test_a_session_runs_here_while_it_has_a_cli() -> None:
    cli = Cli()
    processes = own(cli)
    assert processes.runs("s")
    cli.holds_slot = False
    assert not processes.runs("s")
    processes.remove("s")
    processes.remove("s")
    assert not processes.runs("s")
