"""A transcript that grows becomes messages, whoever writes it, and each is delivered once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from claudekeeper.catalog.cache import Cache
from claudekeeper.catalog.catalog import Catalog
from claudekeeper.catalog.own_processes import OwnProcesses
from claudekeeper.catalog.presence import PresenceMonitor
from claudekeeper.contract.events import Event, MessageAdded, Resync
from claudekeeper.events.bus import EventBus, PublishedEvent
from claudekeeper.events.delivery_log import DeliveryLogs
from claudekeeper.events.transcript_follower import NewEntries, TranscriptFollower
from claudekeeper.transcripts.history import History
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder
from tests.support.waiting import wait_until


class OwnCli(msgspec.Struct):
    pid: int | None = 4_000_000
    holds_slot: bool = True


class Followed:
    """A follower with real files and a real catalog, and what it published."""

    def __init__(self, home: Path) -> None:
        self.events: list[Event] = []
        self.entries: list[NewEntries] = []
        self.own_processes = OwnProcesses()
        bus = EventBus()
        bus.subscribe(self)
        projects_folder().mkdir(parents=True, exist_ok=True)
        self.catalog = Catalog(projects_folder(), Cache(home / "cache.db"))
        self.delivery_logs = DeliveryLogs(bus)
        self.follower = TranscriptFollower(
            self.catalog,
            self.delivery_logs,
            PresenceMonitor(home / "presence", self.own_processes),
            History(),
            bus,
        )
        self.catalog.watcher.files_changed.subscribe(self.follower.handle_file_changes)
        self.catalog.row_changed.subscribe(self.follower.handle_row_change)
        self.follower.entries_read.subscribe(self.entries.append)

    def handle_event(self, published: PublishedEvent) -> None:
        assert published.event is not None
        self.events.append(published.event)

    @property
    def uuids(self) -> list[str]:
        """The messages that were delivered."""
        return [event.message.uuid for event in self.events if isinstance(event, MessageAdded)]

    @property
    def resyncs(self) -> list[Any]:
        return [event for event in self.events if isinstance(event, Resync)]


@asynccontextmanager
async def following(home: Path) -> AsyncIterator[Followed]:
    followed = Followed(home)
    await followed.follower.start()
    await followed.catalog.start()
    await followed.catalog.wait_ready()
    try:
        yield followed
    finally:
        await followed.follower.close()
        await followed.catalog.close()


@pytest.fixture
async def followed(tmp_path: Path) -> AsyncIterator[Followed]:
    async with following(tmp_path) as each:
        yield each


async def grown(followed: Followed, transcript: TranscriptWriter) -> Path:
    """The transcript as it is, written where the catalog and the follower see it."""
    path = transcript.write(projects_folder())
    await followed.catalog.row(SESSION_ID)
    followed.follower.handle_file_changes([str(path)])
    return path


async def test_new_lines_are_delivered_once_and_in_order(followed: Followed) -> None:
    transcript = TranscriptWriter()
    first = transcript.prompt("Hello")
    await grown(followed, transcript)
    second = transcript.reply("Hello yourself.")
    await grown(followed, transcript)
    await wait_until(lambda: second in followed.uuids)
    assert followed.uuids == [first, second]


async def test_what_stood_there_before_is_not_delivered(tmp_path: Path) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("Hello")
    transcript.write(projects_folder())
    async with following(tmp_path) as followed:
        await followed.catalog.rows()
        reply = transcript.reply("Hello yourself.")
        await grown(followed, transcript)
        await wait_until(lambda: bool(followed.uuids))
        assert followed.uuids == [reply]


async def test_what_our_own_cli_says_is_withheld_until_it_is_gone(followed: Followed) -> None:
    cli = OwnCli()
    followed.own_processes.add(SESSION_ID, cli)
    transcript = TranscriptWriter()
    prompt = transcript.prompt("Hello")
    await grown(followed, transcript)
    await wait_until(lambda: bool(followed.entries))
    followed.follower.deliver_withheld(SESSION_ID)
    assert followed.uuids == []
    cli.holds_slot = False
    followed.follower.deliver_withheld(SESSION_ID)
    assert followed.uuids == [prompt]


async def test_what_our_own_cli_has_said_is_not_said_again(followed: Followed) -> None:
    cli = OwnCli()
    followed.own_processes.add(SESSION_ID, cli)
    transcript = TranscriptWriter()
    prompt = transcript.prompt("Hello")
    followed.delivery_logs.of(SESSION_ID).mark_delivered([prompt])
    await grown(followed, transcript)
    await wait_until(lambda: bool(followed.entries))
    cli.holds_slot = False
    followed.follower.deliver_withheld(SESSION_ID)
    assert followed.uuids == []


async def test_a_file_that_is_gone_is_a_resync(followed: Followed) -> None:
    transcript = TranscriptWriter()
    prompt = transcript.prompt("Hello")
    path = await grown(followed, transcript)
    await wait_until(lambda: followed.uuids == [prompt])
    path.unlink()
    followed.follower.handle_file_changes([str(path)])
    await wait_until(lambda: bool(followed.resyncs))
    assert followed.resyncs[0].session_id == SESSION_ID


async def test_a_file_that_was_rewritten_is_a_resync(followed: Followed) -> None:
    transcript = TranscriptWriter()
    prompt = transcript.prompt("Hello")
    await grown(followed, transcript)
    await wait_until(lambda: followed.uuids == [prompt])
    other = TranscriptWriter()
    other.prompt("Hi")
    await grown(followed, other)
    await wait_until(lambda: bool(followed.resyncs))


async def test_a_rewind_is_a_resync(followed: Followed) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("Hello")
    reply = transcript.reply("Hello yourself.")
    transcript.prompt("Build a house")
    transcript.reply("Here it is.")
    await grown(followed, transcript)
    await wait_until(lambda: len(followed.uuids) == 4)
    transcript.prompt("Build a boat", parent=reply)
    transcript.reply("There you are.")
    await grown(followed, transcript)
    await wait_until(lambda: bool(followed.resyncs))


async def test_entries_come_to_whoever_settles_questions_by_them(followed: Followed) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("List the files")
    transcript.call("t1")
    transcript.result("t1")
    await grown(followed, transcript)
    await wait_until(lambda: sum(len(each.entries) for each in followed.entries) == 3)
    assert {each.session_id for each in followed.entries} == {SESSION_ID}
