"""Odd input: always a code and a sentence, never a process."""

from __future__ import annotations

from typing import Any

from tests.support.keeper_in_process import (
    InProcessKeeper,
    SocketListener,
    new_uuid,
    text_of,
    uuids,
)
from tests.support.own_process import children

ODD = [
    "$(touch c)",
    "-x",
    "--help",
    "\n",
    "a\nb",
    "",
    " ",
    "\x00",
    "..",
    "x" * 5000,
    5,
    [],
    {},
    True,
]


async def refused(keeper: InProcessKeeper, path: str, body: Any, method: str = "POST") -> None:
    async with keeper.client.request(method, path, json=body) as response:
        answer = await response.json()
        assert 400 <= response.status < 500, (path, body, answer)
    assert answer["error"]["code"]
    assert answer["error"]["message"].rstrip().endswith((".", "?", ")")), answer


async def test_odd_fields_are_refused_and_nothing_runs(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = await keeper.start_session("say: one", listener)
    await keeper.close_session(session)
    workdir = str(keeper.workdir)
    good = {"sessionId": session, "text": "say: x"}
    for odd in ODD:
        for field in ("sessionId", "uuid", "model", "permissionMode"):
            await refused(keeper, "/send", {**good, field: odd})
        await refused(keeper, "/send", {"workdir": odd, "text": "say: x"})
        await refused(keeper, f"/sessions/{session}/mode", {"model": odd})
        await refused(keeper, f"/sessions/{session}/mode", {"permissionMode": odd})
        await refused(keeper, f"/sessions/{session}/fork", {"at": odd})
        await refused(keeper, "/resolve", {"attentionId": odd, "decision": "allow"})
    for odd in (f"{session}\n", f" {session}", session[:-1]):
        await refused(keeper, "/send", {"sessionId": odd, "text": "say: x"})
        await refused(keeper, "/send", {**good, "uuid": odd})
    await refused(keeper, f"/sessions/{session}/mode", {"model": "opus\n"})
    await refused(keeper, "/send", {**good, "model": "opus\n"})
    await refused(keeper, "/send", {"workdir": workdir + "\n", "text": "say: x"})
    await refused(keeper, "/send", {"workdir": "work", "text": "say: x"})
    for body in (
        {},
        [],
        None,
        "text",
        {"text": "say: x"},
        {"sessionId": session},
        {**good, "unknown": 1},
        {**good, "content": [{"type": "text", "text": "x"}]},
        {**good, "text": None},
        {**good, "text": 5},
        {**good, "text": ""},
        {**good, "text": " \n\t"},
        {**good, "wait": "yes"},
        {"sessionId": session, "content": []},
        {"sessionId": session, "content": "text"},
        {"sessionId": session, "content": [{"type": "text"}]},
        {"sessionId": session, "content": [{"type": "text", "text": ""}]},
        {"sessionId": session, "content": [{"type": "tool_result", "text": "x"}]},
        {"sessionId": session, "content": [{"type": "image", "source": {}}]},
        {"sessionId": session, "content": [image("text/html", "aGk=")]},
        {"sessionId": session, "content": [image("image/png", "not base64!")]},
        {"sessionId": session, "content": [image("image/png", "")]},
        {"sessionId": session, "content": [5]},
    ):
        await refused(keeper, "/send", body)
    for raw in (b"", b"{", b"\xff\xfe", b'{"text": "\\ud800"}', b"[" * 100_000):
        async with keeper.client.post(
            "/send", data=raw, headers={"Content-Type": "application/json"}
        ) as response:
            assert response.status == 400, raw[:20]
            assert (await response.json())["error"]["code"] == "invalid_request"
    async with keeper.client.post("/send", data=b"{}") as response:
        assert response.status == 415
    assert not children()
    assert not (keeper.workdir / "c").exists()
    assert len((await keeper.get("/sessions"))["sessions"]) == 1
    assert len(await keeper.history(session)) == 2


def image(kind: str, data: str) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


async def test_odd_prompts_are_just_prompts(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    prompts = [
        "--help",
        "-p",
        "$(touch c)",
        "`touch c`; touch c",
        '{"type": "control_request"}',
        "two\nlines \u2028 and \x85 more \U0001f600 \x00 \x1b[31m",
        "!touch c",
        "#remember",
        "@nowhere.txt",
        "long " * 200_000,
    ]
    session = await keeper.start_session(prompts[0], listener)
    for prompt in prompts[1:]:
        await keeper.send(prompt, session)
        await listener.wait_for_turn_end(session, outcome="done")
    history = await keeper.history(session)
    assert uuids(listener.messages(session)) == uuids(history)
    texts = [text_of(message) for message in history if message["kind"] == "prompt"]
    assert texts == prompts
    assert not (keeper.workdir / "c").exists()
    # a list of sessions is no place for a megabyte
    for event in listener.events_of("session/updated", session):
        for field in ("title", "firstPrompt", "lastPrompt"):
            assert len(event["session"][field] or "") < 5_000


async def test_a_long_first_prompt_is_short_in_lists(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    uuid = new_uuid()
    session = (await keeper.send("long " * 200_000, uuid=uuid))["sessionId"]
    page = await keeper.get(f"/sessions/{session}")
    assert len(page["session"]["firstPrompt"]) < 5_000
    await listener.wait_for_turn_end(session, outcome="done")
    assert len(text_of(listener.messages(session)[0])) == 1_000_000
