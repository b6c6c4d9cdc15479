"""A session that Claude Code deleted is shown, read, and goes on."""

from __future__ import annotations

import json
import os
import time

from claudekeeper.features.archive import DAY
from claudekeeper.model.sessions import now
from tests.elsewhere.people import updated
from tests.talking.keeper import Ear, Keeper, text_of
from tests.writing import SESSION, Transcript, projects_folder


async def test_a_deleted_session_is_archived_and_goes_on(keeper: Keeper, ear: Ear) -> None:
    (keeper.home / "config.json").write_text(json.dumps({"archive": True}))
    session = (await keeper.send("say: one"))["sessionId"]
    await ear.finished(session)
    await keeper.post(f"/sessions/{session}/close", status=202)
    from claudekeeper.edge.keys import ARCHIVE

    keeper.app[ARCHIVE].keep_all()
    (path,) = keeper.home.glob(f".claude/projects/*/{session}.jsonl")
    before = now()
    path.unlink()
    await ear.until(
        lambda event: (
            event["type"] == "session/updated"
            and event["sessionId"] == session
            and event["session"]["archived"]
        )
    )
    assert [text_of(message) for message in await keeper.history(session)] == ["say: one", "one"]
    shown = (await keeper.get(f"/sessions/{session}?limit=1"))["session"]
    assert before <= shown["archivedSince"] <= now()
    assert (await keeper.get("/archive"))["holds"]["gone"] == 1
    await keeper.send("say: two", session)
    await ear.finished(session, outcome="done")
    assert path.exists()
    page = await keeper.get(f"/sessions/{session}")
    assert (page["session"]["archived"], page["session"]["archivedSince"]) == (False, None)
    assert [text_of(message) for message in page["messages"]][-2:] == ["say: two", "two"]


async def test_a_due_deletion_is_told_and_the_archive_is_switched_over_the_contract(
    keeper: Keeper, ear: Ear
) -> None:
    old = Transcript()
    old.prompt("hello")
    path = old.write(projects_folder())
    then = time.time() - 29 * DAY
    os.utime(path, (then, then))
    found = await keeper.get("/archive")
    assert (found["on"], found["days"], found["holds"]["kept"]) == (False, 30, 0)
    assert [(each["sessionId"], each["workdir"]) for each in found["due"]] == [
        (SESSION, "/code/shop")
    ]
    assert found["due"][0]["at"] > now()
    found = await keeper.post("/archive", {"on": True})
    assert (found["on"], found["holds"]["kept"], found["due"]) == (True, 1, [])
    # what was said in config.json before still stands there
    settings = json.loads((keeper.home / "config.json").read_text())
    assert settings["archive"] is True
    assert settings["token"]
    refused = await keeper.post(f"/sessions/{SESSION}/restore", status=404)
    assert refused["error"]["code"] == "not_archived"
    path.unlink()
    await updated(ear, SESSION, archived=True)
    # what was done does not go with its transcript
    for address in ("/timeline", f"/sessions/{SESSION}/timeline"):
        assert [each["text"] for each in (await keeper.get(address))["prompts"]] == ["hello"]
    restored = await keeper.post(f"/sessions/{SESSION}/restore")
    assert (restored["archived"], path.exists()) == (False, True)
    assert (await keeper.post("/archive", {"on": False}))["on"] is False


async def test_a_deleted_session_is_put_back_to_be_forked(keeper: Keeper, ear: Ear) -> None:
    old = Transcript()
    old.prompt("hello")
    path = old.write(projects_folder())
    await keeper.get("/sessions")
    await keeper.post("/archive", {"on": True})
    path.unlink()
    await updated(ear, SESSION, archived=True)
    fork = await keeper.post(f"/sessions/{SESSION}/fork", {}, 201)
    assert path.exists()
    family = await keeper.get(f"/sessions/{fork['id']}/family")
    assert [kin["sessionId"] for kin in family["sessions"]] == [SESSION, fork["id"]]
