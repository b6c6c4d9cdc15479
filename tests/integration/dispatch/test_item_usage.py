"""What an item of work uses: subagents, turns that nobody dispatched, and nothing of another's."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from tests.integration.conftest import StartKeeper
from tests.support.keeper_in_process import InProcessKeeper, new_uuid
from tests.support.orchestrator import Orchestrator, prompts_of

pytestmark = pytest.mark.timeout(400)


def reported(keeper: InProcessKeeper, session: str) -> int:
    """Tokens of the session as Claude Code wrote them down when its last process ended."""
    lines = keeper.transcript_path(session).read_bytes().splitlines()
    state = [msgspec.json.decode(line) for line in lines if b'"cost-state"' in line][-1]
    names = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    return sum(int(used[name]) for used in state["modelUsage"].values() for name in names)


async def used_more_than(work: Orchestrator, before: Any) -> Any:
    """The item, once another turn of it was counted."""
    while True:
        item = await work.get("item")
        if item["tokens"] > before["tokens"]:
            return item


async def test_subagents_count_also_in_the_next_process(start_keeper: StartKeeper) -> None:
    keeper = await start_keeper()
    work = Orchestrator(keeper)
    used = []
    for words in ("say: one", "agent: look around\nsay: two", "say: three"):
        answer = await work.dispatch("item", words)
        used.append(answer["ended"]["tokensUsed"])
        await keeper.close_session(answer["sessionId"])
    item = await work.get("item")
    assert item["tokens"] == sum(used) == reported(keeper, answer["sessionId"])
    assert [each["tokensUsed"] for each in item["log"]] == used
    # the subagent makes requests of its own, beside the two of the turn
    assert used[1] > 2.5 * used[0]
    # and each process counts on from the one before it
    assert used[2] < 1.5 * used[0]


async def test_what_a_person_says_in_its_session_counts(keeper: InProcessKeeper) -> None:
    work = Orchestrator(keeper)
    listener = await keeper.listen()
    one = await work.dispatch("item", "say: one")
    before = await work.get("item")
    await keeper.send("say: by hand", one["sessionId"], uuid=(uuid := new_uuid()))
    finished = await listener.wait_for_turn_end(one["sessionId"], uuid=uuid, outcome="done")
    item = await used_more_than(work, before)
    assert item["tokens"] == before["tokens"] + finished["tokensUsed"]
    assert item["costUsd"] == pytest.approx(before["costUsd"] + finished["costUsd"], abs=1e-5)
    assert item["lastWindow"] > before["lastWindow"]
    # it is no dispatch
    assert (item["dispatches"], len(item["log"])) == (1, 1)
    # a ceiling counts it
    two = await work.dispatch("item", "say: two", 409, ceilings={"costUsd": item["costUsd"]})
    assert two["error"]["code"] == "ceiling_reached"


async def test_what_a_task_in_the_background_has_to_say_counts(keeper: InProcessKeeper) -> None:
    work = Orchestrator(keeper)
    listener = await keeper.listen()
    one = await work.dispatch("item", "agent later: look around\nsay: one")
    await listener.wait_for_turn_end(one["sessionId"], uuid=one["uuid"])
    of_its_own = await listener.wait_for_turn_end(one["sessionId"], uuid=None)
    assert of_its_own["tokensUsed"] > 0
    wanted = one["ended"]["tokensUsed"] + of_its_own["tokensUsed"]
    item = await used_more_than(work, {"tokens": one["ended"]["tokensUsed"]})
    assert item["tokens"] == wanted


async def test_nothing_of_a_forgotten_item_counts_for_its_successor(
    keeper: InProcessKeeper,
) -> None:
    work = Orchestrator(keeper)
    listener = await keeper.listen()
    old = asyncio.create_task(work.dispatch("item", "run: touch x\nsay: old"))
    session = (await listener.wait_for_event("attention/raised"))["sessionId"]
    # while it is ended, another one of the same name begins
    forgetting = asyncio.create_task(keeper.request("DELETE", "/conversations/item"))
    await listener.wait_for_event("conversation/updated", what="deleted")
    new = await work.dispatch("item", "say: new")
    await forgetting
    assert (await old)["ended"]["outcome"] == "interrupted"
    item = await work.get("item")
    assert item["sessionId"] == new["sessionId"] != session
    assert item["tokens"] == new["ended"]["tokensUsed"]
    assert item["costUsd"] == pytest.approx(new["ended"]["costUsd"])
    assert await prompts_of(keeper, new["sessionId"]) == ["say: new"]
