"""A session of the real CLI with a simulated person, for the samples and the tests."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # importing the SDK costs 40 MB, so it is imported when used
    from claude_agent_sdk import ClaudeSDKClient
    from claude_agent_sdk.types import (
        Message,
        PermissionResultAllow,
        PermissionResultDeny,
        ToolPermissionContext,
    )

# the lines of the CLI may hold whole files and images
MAX_LINE_BYTES = 256 * 1024 * 1024

Refusal = Callable[[str, dict[str, Any]], str | None]


class SimulatedPerson:
    """Allows every tool and takes the first option of questions, unless `refuses` objects.

    `refuses(tool, input)` returns the reason of a refusal, or None.
    """

    def __init__(self, refuses: Refusal | None = None) -> None:
        self._refuses = refuses
        self.requests: list[tuple[str, dict[str, Any]]] = []

    async def decide(
        self, tool: str, tool_input: dict[str, Any], _context: ToolPermissionContext
    ) -> PermissionResultAllow | PermissionResultDeny:
        from claude_agent_sdk import PermissionResultAllow, PermissionResultDeny

        self.requests.append((tool, tool_input))
        objection = self._refuses(tool, tool_input) if self._refuses else None
        if objection:
            return PermissionResultDeny(message=objection)
        if tool == "AskUserQuestion":
            tool_input = {**tool_input, "answers": first_options(tool_input)}
        return PermissionResultAllow(updated_input=tool_input)


def first_options(tool_input: dict[str, Any]) -> dict[str, str]:
    return {
        question["question"]: question["options"][0]["label"]
        for question in tool_input["questions"]
    }


class CliConversation:
    """One session in one CLI process."""

    def __init__(self, client: ClaudeSDKClient) -> None:
        self.client = client
        self.session_id = ""

    async def run_turn(self, prompt: str) -> list[Message]:
        """One turn, from the prompt to its result."""
        await self.client.query(prompt)
        return await self._receive_reply()

    async def send_during_turn(self, prompt: str) -> None:
        """Sends a prompt during a turn; the CLI decides when the model gets it."""
        await self.client.query(prompt)

    async def run_image_turn(
        self, image: bytes, prompt: str, media_type: str = "image/png"
    ) -> list[Message]:
        """A turn whose prompt is an image and a text."""
        data = base64.b64encode(image).decode()
        source = {"type": "base64", "media_type": media_type, "data": data}
        content: list[dict[str, Any]] = [
            {"type": "image", "source": source},
            {"type": "text", "text": prompt},
        ]
        await self.client.query(as_messages(content))
        return await self._receive_reply()

    async def run_interrupted_turn(self, prompt: str, after_deltas: int = 30) -> list[Message]:
        """A turn that is interrupted after so many deltas; needs `include_partial_messages`."""
        from claude_agent_sdk import ResultMessage
        from claude_agent_sdk.types import StreamEvent

        await self.client.query(prompt)
        messages: list[Message] = []
        deltas = 0
        async for message in self.client.receive_messages():
            messages.append(message)
            if isinstance(message, StreamEvent):
                deltas += message.event.get("type") == "content_block_delta"
                if deltas == after_deltas:
                    deltas += 1
                    await self.client.interrupt()
            elif isinstance(message, ResultMessage):
                self.session_id = message.session_id
                break
        return messages

    async def _receive_reply(self) -> list[Message]:
        from claude_agent_sdk import ResultMessage

        messages = [message async for message in self.client.receive_response()]
        for message in messages:
            if isinstance(message, ResultMessage):
                self.session_id = message.session_id
        return messages


async def as_messages(content: list[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    yield {
        "type": "user",
        "message": {"role": "user", "content": content},
        "parent_tool_use_id": None,
    }


@asynccontextmanager
async def open_conversation(
    environment: Mapping[str, str],
    workdir: Path,
    *,
    person: SimulatedPerson | None = None,
    **options: Any,
) -> AsyncIterator[CliConversation]:
    """Starts a CLI in `workdir`; `options` are those of `ClaudeAgentOptions`."""
    from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient

    options.setdefault("max_buffer_size", MAX_LINE_BYTES)
    settings = ClaudeAgentOptions(
        cwd=workdir,
        env=dict(environment),
        can_use_tool=(person or SimulatedPerson()).decide,
        **options,
    )
    async with ClaudeSDKClient(settings) as client:
        yield CliConversation(client)
