"""What happens around a turn: plans, images, interruption, interjection, background work."""

from __future__ import annotations

from typing import Any

from claude_agent_sdk.types import Message

from claudekeeper.demo.cli_driver import CliConversation, SimulatedPerson
from claudekeeper.demo.sample_image import phone_screenshot
from tests.support.real_cli import FinishedTurn, RealCli


async def test_a_plan_is_approved_and_followed(real_cli: RealCli) -> None:
    turn = await real_cli.run_turn("plan: look; leap\nrun: touch leapt", permission_mode="plan")
    assert [call.name for call in turn.calls] == ["ExitPlanMode", "Bash"]
    assert (real_cli.workdir() / "leapt").exists()


async def test_the_model_says_what_it_sees(real_cli: RealCli) -> None:
    async with real_cli.open_conversation() as talk:
        turn = FinishedTurn(await talk.run_image_turn(phone_screenshot(), "What is wrong here?"))
    assert turn.text.startswith("I see an image: PNG, 180×320 pixels")


async def test_a_reply_can_be_interrupted_and_the_session_goes_on(real_cli: RealCli) -> None:
    async with real_cli.open_conversation(include_partial_messages=True) as talk:
        stopped = FinishedTurn(await talk.run_interrupted_turn("slow: 600", after_deltas=3))
        after = FinishedTurn(await talk.run_turn("say: Still here."))
    assert stopped.result.subtype == "error_during_execution"
    assert after.text == "Still here."


async def test_words_typed_in_mid_turn_are_heard_in_it(real_cli: RealCli) -> None:
    class Impatient(SimulatedPerson):
        """Types something while the CLI waits for a permission."""

        talk: CliConversation

        async def decide(self, tool: str, tool_input: dict[str, Any], context: Any) -> Any:
            await self.talk.send_during_turn("say: Heard.")
            return await super().decide(tool, tool_input, context)

    person = Impatient()
    async with real_cli.open_conversation(person=person) as talk:
        person.talk = talk
        turn = FinishedTurn(await talk.run_turn("run: touch one.txt"))
    assert turn.text == "Heard."
    lines = real_cli.transcript(talk.session_id)
    kinds = [line["attachment"]["type"] for line in lines if line["type"] == "attachment"]
    assert "queued_command" in kinds


async def receive_until(talk: CliConversation, words: str) -> FinishedTurn:
    messages: list[Message] = []
    async for message in talk.client.receive_messages():
        messages.append(message)
        if words in FinishedTurn(messages).text:
            break
    return FinishedTurn(messages)


async def test_a_background_agent_reports_later(real_cli: RealCli) -> None:
    async with real_cli.open_conversation() as talk:
        await talk.send_during_turn("agent later: run: echo far away")
        turn = await receive_until(talk, "far away")
    assert "task_notification" in turn.subtypes()


async def test_each_model_is_served_under_its_own_name(real_cli: RealCli) -> None:
    turn = await real_cli.run_turn("say: hi", model="haiku")
    (name,) = turn.result.model_usage or {}
    assert "haiku" in name
