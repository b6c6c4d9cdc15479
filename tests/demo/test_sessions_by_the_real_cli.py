"""Sessions survive what happens to them: the script is in the conversation, not in the API."""

from __future__ import annotations

from claudekeeper.demo.messages_api import ScriptedApi
from tests.support.real_cli import FinishedTurn, RealCli


async def test_a_compaction_leaves_a_boundary_and_a_summary(real_cli: RealCli) -> None:
    async with real_cli.open_conversation() as talk:
        await talk.run_turn("write: a.md: hello")
        await talk.run_turn("/compact")
        after = FinishedTurn(await talk.run_turn("read: a.md"))
    lines = real_cli.transcript(talk.session_id)
    (boundary,) = [line for line in lines if line.get("subtype") == "compact_boundary"]
    (summary,) = [line for line in lines if line.get("isCompactSummary")]
    assert summary["parentUuid"] == boundary["uuid"]
    assert "a.md" in summary["message"]["content"]
    assert "hello" in after.text


async def test_a_compaction_asks_the_model_once(real_cli: RealCli) -> None:
    async with real_cli.open_conversation() as talk:
        await talk.run_turn("say: hello")
        await talk.run_turn("/compact")
    requests = [seen for seen in real_cli.api.requests if seen.session == talk.session_id]
    assert [seen.model_request.wants_summary for seen in requests] == [False, True]


async def test_a_fork_knows_the_past_and_leaves_it_alone(real_cli: RealCli) -> None:
    async with real_cli.open_conversation() as original:
        await original.run_turn("say: Once upon a time")
    before = real_cli.transcript_path(original.session_id).read_bytes()
    async with real_cli.open_conversation(resume=original.session_id, fork_session=True) as fork:
        turn = FinishedTurn(await fork.run_turn("run: echo there"))
    assert "there" in turn.text
    assert fork.session_id != original.session_id
    assert real_cli.transcript_path(original.session_id).read_bytes() == before
    assert b"Once upon a time" in real_cli.transcript_path(fork.session_id).read_bytes()


async def test_a_session_goes_on_behind_another_api(real_cli: RealCli) -> None:
    async with real_cli.open_conversation() as talk:
        await talk.run_turn("say: one")
    async with ScriptedApi() as other:
        elsewhere = {"ANTHROPIC_BASE_URL": other.url}
        turn = await real_cli.run_turn(
            "run: echo two\nsay: Done.", resume=talk.session_id, environment=elsewhere
        )
        assert other.requests[-1].model_request.prompts == ["say: one", "run: echo two\nsay: Done."]
    assert turn.text == "Done."
    assert turn.result.session_id == talk.session_id


async def test_a_subagent_has_a_file_of_its_own(real_cli: RealCli) -> None:
    turn = await real_cli.run_turn("agent: look around")
    folder = real_cli.transcript_path(turn.result.session_id).with_suffix("") / "subagents"
    assert [path.suffix for path in sorted(folder.iterdir())] == [".jsonl", ".json"]


async def test_a_session_can_be_renamed(real_cli: RealCli) -> None:
    async with real_cli.open_conversation() as talk:
        await talk.run_turn("say: hello")
        await talk.run_turn("/rename The red thread")
    titles = [line.get("customTitle") for line in real_cli.transcript(talk.session_id)]
    assert "The red thread" in titles


async def test_counting_tokens_is_answered(real_cli: RealCli) -> None:
    async with real_cli.open_conversation() as talk:
        await talk.run_turn("say: hello")
        await talk.run_turn("/context")
    paths = {seen.path for seen in real_cli.api.requests if seen.session == talk.session_id}
    assert paths == {"/v1/messages", "/v1/messages/count_tokens"}


async def test_a_huge_reply_is_one_line(real_cli: RealCli) -> None:
    turn = await real_cli.run_turn("huge: 2")
    lines = real_cli.transcript_path(turn.result.session_id).read_bytes().splitlines()
    assert max(map(len, lines)) > 2_000_000
