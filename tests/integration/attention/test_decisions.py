"""Decisions that a person gives here are found like any other, also by another index."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from claudekeeper.server.app_keys import SEARCH
from tests.integration.conftest import StartKeeper
from tests.support.keeper_in_process import InProcessKeeper, SocketListener
from tests.support.waiting import wait_for

Decide = Callable[[InProcessKeeper, SocketListener], Awaitable[str]]


async def denied(keeper: InProcessKeeper, listener: SocketListener) -> str:
    session = (await keeper.send("run: touch a"))["sessionId"]
    await keeper.resolve(
        await listener.wait_for_question(session), decision="deny", message="prefer the heron"
    )
    return str(session)


async def answered(keeper: InProcessKeeper, listener: SocketListener) -> str:
    session = (await keeper.send("ask: Which bird? heron | stork"))["sessionId"]
    question = await listener.wait_for_question(session)
    (asked_question,) = question["input"]["questions"]
    await keeper.resolve(question, answers={asked_question["question"]: "heron"})
    return str(session)


async def answered_in_words(keeper: InProcessKeeper, listener: SocketListener) -> str:
    session = (await keeper.send("ask: Which bird? crow | stork"))["sessionId"]
    await keeper.resolve(
        await listener.wait_for_question(session), decision="deny", message="neither, a heron"
    )
    return str(session)


async def plan_refused(keeper: InProcessKeeper, listener: SocketListener) -> str:
    session = (await keeper.send("plan: look around", permissionMode="plan"))["sessionId"]
    await keeper.resolve(
        await listener.wait_for_question(session), decision="deny", message="use the heron"
    )
    return str(session)


async def decided(keeper: InProcessKeeper) -> list[tuple[str, str]]:
    """What is found, as soon as something is: the index reads what was written a little later."""
    answer = await wait_for(
        lambda: keeper.get("/search?q=heron&kind=decision"),
        lambda answer: answer["hits"] and keeper.app[SEARCH].progress.stage == "ready",
    )
    return [(hit["sessionId"], hit["uuid"]) for hit in answer["hits"]]


@pytest.mark.parametrize("decide", [denied, answered, answered_in_words, plan_refused])
async def test_a_decision_given_here_is_found(
    keeper: InProcessKeeper, listener: SocketListener, start_keeper: StartKeeper, decide: Decide
) -> None:
    session = await decide(keeper, listener)
    await listener.wait_for_turn_end(session)
    resume = await keeper.get(f"/sessions/{session}/resume")
    (decision,) = resume["decisions"]
    assert "heron" in f"{decision['decision']} {decision['reason']}"
    assert await decided(keeper) == [(session, decision["uuid"])]
    await keeper.stop()
    again = await start_keeper()
    assert await decided(again) == [(session, decision["uuid"])]
    await again.stop()
    indexes = list(again.home.glob("words-*"))
    assert indexes
    for path in indexes:
        path.unlink()
    anew = await start_keeper()
    assert await decided(anew) == [(session, decision["uuid"])]


async def test_a_denial_without_a_word_settles_nothing_to_look_up(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("run: touch a"))["sessionId"]
    await keeper.resolve(await listener.wait_for_question(session), decision="deny")
    await listener.wait_for_turn_end(session)
    await denied(keeper, listener)
    await decided(keeper)
    assert (await keeper.get("/search?q=wants&kind=decision"))["hits"] == []
