"""A session that Claude Code deleted is shown, read, and goes on."""

from __future__ import annotations

import json

from tests.talking.keeper import Ear, Keeper, text_of


async def test_a_deleted_session_is_archived_and_goes_on(keeper: Keeper, ear: Ear) -> None:
    (keeper.home / "config.json").write_text(json.dumps({"archive": True}))
    session = (await keeper.send("say: one"))["sessionId"]
    await ear.finished(session)
    await keeper.post(f"/sessions/{session}/close", status=202)
    from claudekeeper.edge.keys import ARCHIVE

    keeper.app[ARCHIVE].keep_all()
    (path,) = keeper.home.glob(f".claude/projects/*/{session}.jsonl")
    path.unlink()
    await ear.until(
        lambda event: (
            event["type"] == "session/updated"
            and event["sessionId"] == session
            and event["session"]["archived"]
        )
    )
    assert [text_of(message) for message in await keeper.history(session)] == ["say: one", "one"]
    await keeper.send("say: two", session)
    await ear.finished(session, outcome="done")
    assert path.exists()
    page = await keeper.get(f"/sessions/{session}")
    assert page["session"]["archived"] is False
    assert [text_of(message) for message in page["messages"]][-2:] == ["say: two", "two"]
