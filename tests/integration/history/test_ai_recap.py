"""A recap by Claude itself, beside the session: the real CLI, a scripted API."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import web
from pytest_aiohttp import AiohttpServer

from claudekeeper.contract.errors import AsideFailed
from claudekeeper.demo.messages_api import ScriptedApi
from claudekeeper.resume.ai_recap import RECAP_SCHEMA
from claudekeeper.sessions.cli.side_query import RETRIES, side_query
from tests.support.keeper_in_process import InProcessKeeper, SocketListener
from tests.support.transcript_writer import projects_folder
from tests.support.waiting import wait_until


def transcripts() -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in projects_folder().rglob("*.jsonl")}


async def test_claude_writes_a_recap_beside_the_session(
    keeper: InProcessKeeper, listener: SocketListener, scripted_api: ScriptedApi
) -> None:
    session = (await keeper.send("say: The roof is red."))["sessionId"]
    await listener.wait_for_turn_end(session, outcome="done")
    before = transcripts()
    report = await keeper.post(f"/sessions/{session}/recap", {})
    assert report["quick"]
    assert report["next"]
    assert report["detailed"]
    assert report["cached"] is False
    prompt = [seen.body for seen in scripted_api.requests if "<facts>" in str(seen.body)][-1]
    # nothing can be called but the answer; the CLI's placeholder calls nothing
    offered = {tool["name"] for tool in prompt["tools"]} - {"DeferredToolPlaceholder"}
    assert offered == {"StructuredOutput"}
    assert "haiku" in prompt["model"]
    assert prompt["max_tokens"] <= 2000
    # neither this session nor any other was written to, and no new one is listed
    assert transcripts() == before
    listed = await keeper.get("/sessions")
    assert [each["id"] for each in listed["sessions"]] == [session]
    again = await keeper.post(f"/sessions/{session}/recap", {})
    assert again == {**report, "cached": True}
    await keeper.send("say: Now it is blue.", session)
    await listener.wait_for_turn_end(session, outcome="done")
    assert (await keeper.post(f"/sessions/{session}/recap", {}))["cached"] is False


async def test_what_was_denied_for_a_reason_and_answered_is_decided(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("run: touch a"))["sessionId"]
    question = await listener.wait_for_question(session)
    # the CLI writes a moment after it speaks
    await wait_until(lambda: any(projects_folder().glob(f"*/{session}.jsonl")))
    report = await keeper.get(f"/sessions/{session}/resume")
    assert (report["next"]["kind"], report["question"]["kind"]) == ("answer", "permission")
    assert report["question"]["attentionId"] == question["id"]
    await keeper.resolve(question, decision="deny", message="use mkdir, please")
    await listener.wait_for_turn_end(session, outcome="done")
    report = await keeper.get(f"/sessions/{session}/resume")
    assert [(made["kind"], made["reason"]) for made in report["decisions"]] == [
        ("denial", "use mkdir, please")
    ]
    assert (report["work"]["commands"], report["question"]) == (0, None)
    # a denial without a word decides nothing for later
    await keeper.send("run: touch b", session)
    await keeper.resolve(await listener.wait_for_question(session), decision="deny")
    await listener.wait_for_turn_end(session, outcome="done")
    assert len((await keeper.get(f"/sessions/{session}/resume"))["decisions"]) == 1


async def test_an_api_that_fails_is_said_at_once(
    aiohttp_server: AiohttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    async def overloaded(request: web.Request) -> web.Response:
        tried.append(request.path)
        error = {"type": "overloaded_error", "message": "too many ask"}
        return web.json_response({"type": "error", "error": error}, status=529)

    app = web.Application()
    app.router.add_post("/v1/messages", overloaded)
    server = await aiohttp_server(app)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", str(server.make_url("")).rstrip("/"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-nobody")
    # what a person set for their sessions is not meant for this
    monkeypatch.setenv("CLAUDE_CODE_MAX_RETRIES", "10")
    with pytest.raises(AsideFailed, match="could not be asked: API Error: 529 too many ask"):
        await side_query("Be brief.", "What?", RECAP_SCHEMA)
    assert tried == ["/v1/messages"] * (RETRIES + 1)
