"""A page at any moment and what is told after it: no gap, and nothing twice."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.keeper_in_process import Event, InProcessKeeper, SocketListener, uuids
from tests.support.waiting import read_until


def sequence_of(event_or_page: Event) -> int:
    return int(event_or_page["position"].split(":")[1])


def index_after(messages: list[str], after: str | None) -> int:
    """Where a new message belongs: after this one, which the client must have, or at the end."""
    return messages.index(after) + 1 if after else len(messages)


@pytest.mark.parametrize("limit", ["1000", "all"])
async def test_pages_while_a_turn_runs_and_what_follows_them(
    keeper: InProcessKeeper, listener: SocketListener, limit: str
) -> None:
    """Tools, commands and a compaction; one page after another, as fast as they come."""
    session = await keeper.start_session("say: one", listener, permissionMode="acceptEdits")
    texts = ["write: a.md: 1\nread: a.md\nthink: so\nsay: it is 1", "/cost", "/compact", "say: end"]
    last = [(await keeper.send(text, session))["uuid"] for text in texts][-1]
    pages = await read_until(
        lambda: keeper.get(f"/sessions/{session}?limit={limit}"),
        lambda page: page["turn"] is None and not page["queue"] and last in uuids(page["messages"]),
    )
    await listener.wait_for_turn_end(session, uuid=last)
    added = listener.events_of("message/added")
    history = uuids(await keeper.history(session))
    for page in pages:
        messages = uuids(page["messages"])
        assert len(set(messages)) == len(messages)
        for event in [each for each in added if sequence_of(each) > sequence_of(page)]:
            uuid = event["message"]["uuid"]
            assert uuid not in messages, "told again after the page that has it"
            messages.insert(index_after(messages, event["after"]), uuid)
        assert messages == history


async def both(keeper: InProcessKeeper, session: str, limit: str) -> tuple[list[Any], list[Any]]:
    """The conversation at once and in pages, with nothing told in between."""
    while True:
        whole = await keeper.get(f"/sessions/{session}?limit=1000")
        gathered: list[Any] = []
        page = await keeper.get(f"/sessions/{session}?limit={limit}")
        gathered = page["messages"]
        while page["before"] is not None:
            path = f"/sessions/{session}?limit={limit}&before={page['before']}"
            page = await keeper.get(path)
            gathered = page["messages"] + gathered
        if page["position"] == whole["position"]:
            return whole["messages"], gathered


async def test_small_pages_add_up_in_mid_turn(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = await keeper.start_session("say: one", listener)
    await keeper.send("say: two\nrun: touch a", session)
    question = await listener.wait_for_question(session)
    for limit in ("1", "2", "3", "all"):
        whole, gathered = await both(keeper, session, limit)
        assert uuids(gathered) == uuids(whole)
    await keeper.resolve(question)
    await listener.wait_for_turn_end(session, outcome="done")


async def test_the_whole_of_a_session_that_has_no_file_yet(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("say: one"))["sessionId"]
    page = await keeper.get(f"/sessions/{session}?limit=all")
    assert page["messages"] == []
    assert page["session"]["state"] == "starting"
    await listener.wait_for_turn_end(session, outcome="done")
