"""Prompts that wait in a terminal's queue: a page and the socket agree, after every line."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from typing import Any

import pytest

from claudekeeper.events import transcript_follower
from tests.integration.conftest import StartKeeper
from tests.integration.terminals.conftest import OpenTerminal
from tests.integration.terminals.test_growing_transcripts import shape
from tests.support.keeper_in_process import InProcessKeeper, SocketListener, text_of
from tests.support.terminal import needs_tmux
from tests.support.transcript_people import SessionWatcher, append_lines
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder

LINE = {"type": "queue-operation", "sessionId": SESSION_ID}


def queued_lines(seed: int) -> list[list[bytes]]:
    """A terminal in which much is typed while Claude works; each step is written at once."""
    chance = random.Random(seed)
    transcript = TranscriptWriter()
    waiting: list[str] = []
    steps: list[list[bytes]] = []
    transcript.prompt("begin")
    transcript.reply("Begun.")
    for number in range(30):
        before = len(transcript.lines)
        time = f"2026-03-01T11:00:{number:02}.000Z"
        match chance.randrange(7):
            case 0 | 1:
                words = chance.choice([f"later {number}", f"/look {number}"])
                transcript.raw_entry(**LINE, operation="enqueue", content=words, timestamp=time)
                waiting.append(words)
            case 2 if waiting:
                transcript.raw_entry(**LINE, operation="dequeue", timestamp=time)
                if chance.random() < 0.3:
                    steps.append(transcript.lines[before:])
                    before = len(transcript.lines)
                transcript.prompt(waiting.pop(0))
            case 3 if waiting:
                words = waiting.pop(0)
                transcript.raw_entry(**LINE, operation="remove", timestamp=time)
                attachment = {"type": "queued_command", "prompt": words, "commandMode": "prompt"}
                transcript.entry("attachment", attachment=attachment)
            case 4 if waiting:
                for words in waiting:
                    transcript.raw_entry(**LINE, operation="popAll", content=words, timestamp=time)
                waiting.clear()
            case 5:
                transcript.prompt(f"say {number}")
            case _:
                transcript.reply(f"reply {number}")
        steps.append(transcript.lines[before:])
    return [transcript.lines[:2], *(step for step in steps if step)]


def agrees(watcher: SessionWatcher, page: Any) -> bool:
    """Whether the watcher shows what the page shows; it may never show anything twice."""
    counts = Counter(text_of(message) for message in watcher.messages)
    assert set(counts.values()) == {1}, counts
    return shape(watcher.messages) == shape(page["messages"])


async def agree_with_page(watcher: SessionWatcher) -> None:
    """Until the watcher shows what a page shows, read after each event."""
    path = f"/sessions/{watcher.session}?limit=1000"
    while shape(watcher.messages) != shape((await watcher.keeper.get(path))["messages"]):
        await watcher.handle_event(await watcher.listener.next_event())


def texts_of(watcher: SessionWatcher, kind: str) -> list[str]:
    return [text_of(message) for message in watcher.messages if message["kind"] == kind]


@pytest.mark.parametrize("seed", range(12, 60))
async def test_a_page_and_the_socket_agree_after_every_line(
    start_keeper: StartKeeper, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # nothing is left to the comparison that comes when all is quiet
    monkeypatch.setattr(transcript_follower, "QUIET_SECONDS", 3600.0)
    begun, *steps = queued_lines(seed)
    path = projects_folder() / "-code-shop" / f"{SESSION_ID}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\n".join(begun) + b"\n")
    keeper = await start_keeper()
    watcher = await SessionWatcher.open(keeper)
    for step in steps:
        append_lines(path, *step)
        page = await keeper.get(f"/sessions/{SESSION_ID}?limit=1000")
        await watcher.wait_until(partial(agrees, watcher, page))


@needs_tmux
@pytest.mark.timeout(120)
async def test_what_is_typed_into_a_working_terminal_is_never_shown_twice(
    keeper: InProcessKeeper,
    listener: SocketListener,
    terminals: OpenTerminal,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transcript_follower, "QUIET_SECONDS", 3600.0)
    terminal = await terminals()
    await terminal.type_line("say: begin")
    session = str((await listener.wait_for_event("message/added"))["sessionId"])
    await listener.wait_for_message(session, "reply")
    watcher = await SessionWatcher.open(keeper, session)
    # two prompts while it speaks
    await terminal.type_line("slow: 4")
    await terminal.type_line("say: the second")
    await terminal.type_line("say: the third")

    def is_answered_without_a_double() -> bool:
        prompts = Counter(texts_of(watcher, "prompt"))
        assert set(prompts.values()) <= {1}, prompts
        return any("the third" in text for text in texts_of(watcher, "reply"))

    await watcher.wait_until(is_answered_without_a_double)
    await agree_with_page(watcher)
    prompts = texts_of(watcher, "prompt")
    assert prompts.count("say: the second") == prompts.count("say: the third") == 1
