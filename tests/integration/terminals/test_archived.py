"""A session that Claude Code deleted is shown, read, and goes on."""

from __future__ import annotations

import json
import os
import time

from claudekeeper.archive.archive import DAY_SECONDS
from claudekeeper.core.timestamps import now_iso
from tests.support.keeper_in_process import InProcessKeeper, SocketListener, text_of
from tests.support.transcript_people import wait_for_session_update
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder


async def test_a_deleted_session_is_archived_and_goes_on(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    (keeper.home / "config.json").write_text(json.dumps({"archive": True}))
    session = (await keeper.send("say: one"))["sessionId"]
    await listener.wait_for_turn_end(session)
    await keeper.post(f"/sessions/{session}/close", status=202)
    from claudekeeper.server.app_keys import ARCHIVE

    keeper.app[ARCHIVE].link_all()
    (path,) = keeper.home.glob(f".claude/projects/*/{session}.jsonl")
    before = now_iso()
    path.unlink()
    await listener.wait_for(
        lambda event: (
            event["type"] == "session/updated"
            and event["sessionId"] == session
            and event["session"]["archived"]
        )
    )
    assert [text_of(message) for message in await keeper.history(session)] == ["say: one", "one"]
    session_row = (await keeper.get(f"/sessions/{session}?limit=1"))["session"]
    assert before <= session_row["archivedSince"] <= now_iso()
    assert (await keeper.get("/archive"))["holds"]["gone"] == 1
    await keeper.send("say: two", session)
    await listener.wait_for_turn_end(session, outcome="done")
    assert path.exists()
    page = await keeper.get(f"/sessions/{session}")
    assert (page["session"]["archived"], page["session"]["archivedSince"]) == (False, None)
    assert [text_of(message) for message in page["messages"]][-2:] == ["say: two", "two"]


async def test_a_due_deletion_is_told_and_the_archive_is_switched_over_the_contract(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    old = TranscriptWriter()
    old.prompt("hello")
    path = old.write(projects_folder())
    then = time.time() - 29 * DAY_SECONDS
    os.utime(path, (then, then))
    archive = await keeper.get("/archive")
    assert (archive["on"], archive["days"], archive["holds"]["kept"]) == (False, 30, 0)
    assert [(each["sessionId"], each["workdir"]) for each in archive["due"]] == [
        (SESSION_ID, "/code/shop")
    ]
    assert archive["due"][0]["at"] > now_iso()
    archive = await keeper.post("/archive", {"on": True})
    assert (archive["on"], archive["holds"]["kept"], archive["due"]) == (True, 1, [])
    # what was said in config.json before still stands there
    settings = json.loads((keeper.home / "config.json").read_text())
    assert settings["archive"] is True
    assert settings["token"]
    refused = await keeper.post(f"/sessions/{SESSION_ID}/restore", status=404)
    assert refused["error"]["code"] == "not_archived"
    path.unlink()
    await wait_for_session_update(listener, SESSION_ID, archived=True)
    # what was done does not go with its transcript
    for address in ("/timeline", f"/sessions/{SESSION_ID}/timeline"):
        assert [each["text"] for each in (await keeper.get(address))["prompts"]] == ["hello"]
    restored = await keeper.post(f"/sessions/{SESSION_ID}/restore")
    assert (restored["archived"], path.exists()) == (False, True)
    assert (await keeper.post("/archive", {"on": False}))["on"] is False


async def test_a_deleted_session_is_put_back_to_be_forked(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    old = TranscriptWriter()
    old.prompt("hello")
    path = old.write(projects_folder())
    await keeper.get("/sessions")
    await keeper.post("/archive", {"on": True})
    path.unlink()
    await wait_for_session_update(listener, SESSION_ID, archived=True)
    fork = await keeper.post(f"/sessions/{SESSION_ID}/fork", {}, 201)
    assert path.exists()
    family = await keeper.get(f"/sessions/{fork['id']}/family")
    assert [kin["sessionId"] for kin in family["sessions"]] == [SESSION_ID, fork["id"]]
