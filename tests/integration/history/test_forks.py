"""Forks that the SDK and the real CLI write are found, and put beside what they leave."""

from __future__ import annotations

from typing import Any

from claudekeeper.demo.cli_driver import open_conversation
from tests.integration.conftest import StartKeeper
from tests.support.keeper_in_process import InProcessKeeper, SocketListener, new_uuid, text_of


def by_session(family: Any) -> dict[str, Any]:
    return {kin["sessionId"]: kin for kin in family["sessions"]}


async def test_forks_of_every_kind_are_found_with_where_they_leave(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = await keeper.start_session("say: one", listener)
    await keeper.send("say: two", session)
    await listener.wait_for_turn_end(session)
    history = await keeper.history(session)
    first, last = history[0]["uuid"], history[-1]["uuid"]
    # by the SDK: at the very first message, whole, and a fork of that one
    begun = (await keeper.post(f"/sessions/{session}/fork", {"at": first}, 201))["id"]
    whole = (await keeper.post(f"/sessions/{session}/fork", {}, 201))["id"]
    await keeper.send("say: in the fork", whole)
    await listener.wait_for_turn_end(whole, outcome="done")
    nested = (await keeper.post(f"/sessions/{whole}/fork", {}, 201))["id"]
    # by the CLI, which keeps uuids
    async with open_conversation({}, keeper.workdir, resume=session, fork_session=True) as talk:
        await talk.run_turn("say: elsewhere")
    copy = talk.session_id

    family = await keeper.get(f"/sessions/{session}/family")
    kin = by_session(family)
    assert family["sessions"][0]["sessionId"] == session
    assert kin.keys() == {session, begun, whole, nested, copy}
    parents = {key: each["parent"] for key, each in kin.items()}
    assert parents == {
        session: None, begun: session, whole: session, nested: whole, copy: session
    }  # fmt: skip
    assert (kin[begun]["at"], kin[begun]["shared"], kin[begun]["messages"]) == (first, 1, 0)
    assert (kin[whole]["at"], kin[whole]["firstPrompt"]) == (last, "say: in the fork")
    assert (kin[copy]["at"], kin[copy]["here"]) == (last, last)
    assert kin[copy]["firstPrompt"] == "say: elsewhere"
    for other in (begun, whole, nested, copy):
        kin = by_session(await keeper.get(f"/sessions/{other}/family"))
        assert {key: each["parent"] for key, each in kin.items()} == parents

    # its first prompt waited in line before all that it copied
    texts = [text_of(message) for message in await keeper.history(copy)]
    assert texts == [*(text_of(message) for message in history), "say: elsewhere", "elsewhere"]

    # two that never met part where both leave the original
    page = await keeper.get(f"/sessions/{nested}/branch?with={copy}")
    assert [text_of(message) for message in page["messages"]] == ["say: in the fork", "in the fork"]
    page = await keeper.get(f"/sessions/{copy}/branch?with={nested}")
    assert (page["at"], page["shared"]) == (last, len(history))
    assert [text_of(message) for message in page["messages"]] == ["say: elsewhere", "elsewhere"]
    page = await keeper.get(f"/sessions/{session}/branch?with={begun}")
    assert (page["at"], page["total"]) == (first, len(history) - 1)


async def test_a_message_sent_again_after_a_restart_goes_to_the_same_copy(
    start_keeper: StartKeeper,
) -> None:
    first = await start_keeper()
    listener = await first.listen()
    session = await first.start_session("say: one", listener)
    uuid = new_uuid()
    copy = (await first.send("say: two", session, fork=True, uuid=uuid))["sessionId"]
    await listener.wait_for_turn_end(copy, outcome="done")
    await first.send("say: three", copy)
    await listener.wait_for_turn_end(copy, outcome="done")
    await first.stop()

    second = await start_keeper()
    again = await second.send("say: two", session, fork=True, uuid=uuid)
    assert again["sessionId"] == copy
    listed = (await second.get("/sessions"))["sessions"]
    assert {row["id"] for row in listed} == {session, copy}
    texts = [text_of(message) for message in await second.history(copy)]
    assert texts == ["say: one", "one", "say: two", "two", "say: three", "three"]
    # another message is said in a copy of its own
    other = await second.send("say: two", session, fork=True, uuid=new_uuid())
    assert other["sessionId"] not in {session, copy}


async def test_what_a_fork_changed_is_told_with_the_whole_texts(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    mode = {"permissionMode": "acceptEdits"}
    session = await keeper.start_session("write: a.md: red", listener, **mode)
    fork = str((await keeper.post(f"/sessions/{session}/fork", {}, 201))["id"])

    async def files_after(prompt: str) -> list[tuple[str, str | None, str | None]]:
        await keeper.send(prompt, fork, **mode)
        await listener.wait_for_turn_end(fork, outcome="done")
        work = await keeper.get(f"/sessions/{fork}/branch/work?with={session}")
        return [(each["fate"], each["before"], each["after"]) for each in work["files"]]

    assert await files_after("edit: a.md: red => blue") == [("changed", "red", "blue")]
    assert (await files_after("write: b.md: new"))[1:] == [("created", None, "new")]
    # what came and went in the same branch is not reported, what was there before is
    await files_after("run: rm b.md")
    assert await files_after("run: rm a.md") == [("deleted", "red", None)]
    work = await keeper.get(f"/sessions/{fork}/branch/work?with={session}")
    assert work["files"][0]["path"] == str(keeper.workdir / "a.md")
