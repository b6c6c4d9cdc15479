"""The real CLI against the scripted API, for tests of every layer.

Take the fixtures in a test module (or a folder's `conftest.py`) with

    from tests.support.real_cli import real_cli, scripted_api  # noqa: F401

`await real_cli.run_turn(prompt)` is one turn in a process of its own; `real_cli.talk()` keeps the
process for several. `real_cli.play([...])` does the same from a fixture that is not async. All of
it happens in a home that the module's tests share, never in the machine's own.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest
from claude_agent_sdk.types import (
    AssistantMessage,
    ContentBlock,
    Message,
    ResultMessage,
    StreamEvent,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)

from claudekeeper.demo.cli_driver import CliConversation, SimulatedPerson, open_conversation
from claudekeeper.demo.home import DemoHome
from claudekeeper.demo.messages_api import ScriptedApi

T = TypeVar("T")
# one attempt after the first: a failing API is shown to fail, without waiting for ten
ONE_RETRY = {"CLAUDE_CODE_MAX_RETRIES": "1"}


class RealCli:
    """A home, an API, and a way to talk to the CLI between them."""

    def __init__(self, home: DemoHome, api: ScriptedApi) -> None:
        self.home = home
        self.api = api

    @property
    def environment(self) -> dict[str, str]:
        return {**self.home.environment(self.api.url), **ONE_RETRY}

    def workdir(self, project: str = "scratch") -> Path:
        return self.home.project(project)

    def open_conversation(
        self,
        project: str = "scratch",
        *,
        person: SimulatedPerson | None = None,
        environment: dict[str, str] | None = None,
        **options: Any,
    ) -> AbstractAsyncContextManager[CliConversation]:
        """A CLI process; `options` are those of `ClaudeAgentOptions`: `resume`, `model`, …"""
        merged = {**self.environment, **(environment or {})}
        return open_conversation(merged, self.workdir(project), person=person, **options)

    async def run_turn(self, prompt: str, project: str = "scratch", **options: Any) -> FinishedTurn:
        """One turn in a process of its own, with everything the SDK said about it."""
        async with self.open_conversation(project, **options) as talk:
            return FinishedTurn(await talk.run_turn(prompt))

    def run_turns(
        self, prompts: list[str], project: str = "scratch", **options: Any
    ) -> list[FinishedTurn]:
        """Several turns of one session, for fixtures that many tests look at."""

        async def conversation() -> list[FinishedTurn]:
            async with self.open_conversation(project, **options) as talk:
                return [FinishedTurn(await talk.run_turn(prompt)) for prompt in prompts]

        return run_in_thread(conversation())

    def transcript_path(self, session_id: str) -> Path:
        (path,) = self.home.config.glob(f"projects/*/{session_id}.jsonl")
        return path

    def transcript(self, session_id: str) -> list[dict[str, Any]]:
        lines = self.transcript_path(session_id).read_bytes().splitlines()
        return [msgspec.json.decode(line) for line in lines]


class FinishedTurn:
    """What came back for one prompt, in the words that tests use."""

    def __init__(self, messages: list[Message]) -> None:
        self.messages = messages

    @property
    def blocks(self) -> list[ContentBlock]:
        blocks: list[ContentBlock] = []
        for message in self.messages:
            if isinstance(message, AssistantMessage | UserMessage):
                blocks += message.content if isinstance(message.content, list) else []
        return blocks

    @property
    def text(self) -> str:
        """What the model said at last."""
        own = [
            message
            for message in self.messages
            if isinstance(message, AssistantMessage) and message.parent_tool_use_id is None
        ]
        texts = [
            block.text
            for message in own
            for block in message.content
            if isinstance(block, TextBlock)
        ]
        return texts[-1] if texts else ""

    @property
    def thinking(self) -> list[str]:
        return [block.thinking for block in self.blocks if isinstance(block, ThinkingBlock)]

    @property
    def calls(self) -> list[ToolUseBlock]:
        return [block for block in self.blocks if isinstance(block, ToolUseBlock)]

    @property
    def results(self) -> list[ToolResultBlock]:
        return [block for block in self.blocks if isinstance(block, ToolResultBlock)]

    @property
    def deltas(self) -> list[str]:
        """The pieces of text as they arrived; needs `include_partial_messages`."""
        events = [message.event for message in self.messages if isinstance(message, StreamEvent)]
        return [
            event["delta"]["text"]
            for event in events
            if event.get("delta", {}).get("type") == "text_delta"
        ]

    @property
    def result(self) -> ResultMessage:
        (result,) = [message for message in self.messages if isinstance(message, ResultMessage)]
        return result

    @property
    def errors(self) -> list[str]:
        """The kinds of API error that the CLI reported."""
        return [
            message.error
            for message in self.messages
            if isinstance(message, AssistantMessage) and message.error
        ]

    def subtypes(self) -> set[str]:
        return {getattr(message, "subtype", "") for message in self.messages}


def run_in_thread(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end on a loop of its own, whatever loop the tests use."""
    outcome: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(asyncio.run(work))
        except BaseException as error:  # noqa: BLE001 - it is raised again in the caller's thread
            failure.append(error)

    thread = threading.Thread(target=run, name="real-cli")
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]


@contextmanager
def serve_in_thread(api: ScriptedApi) -> Iterator[ScriptedApi]:
    """Serve from a thread, so that one API outlives the loops of many tests."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="scripted-api")
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(api.start(), loop).result()
        yield api
        asyncio.run_coroutine_threadsafe(api.stop(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture(scope="module")
def scripted_api() -> Iterator[ScriptedApi]:
    with serve_in_thread(ScriptedApi(max_requests=1_000)) as api:
        yield api


@pytest.fixture(scope="module")
def real_cli(scripted_api: ScriptedApi) -> Iterator[RealCli]:
    with DemoHome() as home:
        yield RealCli(home, scripted_api)
