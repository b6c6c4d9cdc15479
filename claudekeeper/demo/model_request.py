"""A request of the CLI to the Messages API, and what decides its reply.

All of it is read from the request itself, and nothing is stored between requests: so resuming,
forking and restarting the API in mid-conversation work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec


class ImageSource(msgspec.Struct, frozen=True):
    media_type: str = ""
    data: str = ""


class RequestBlock(msgspec.Struct, frozen=True):
    """A content block of any type; unknown fields are ignored."""

    type: str
    text: str = ""
    id: str = ""
    name: str = ""
    input: dict[str, Any] = {}
    tool_use_id: str = ""
    content: str | list[RequestBlock] | None = None
    is_error: bool | None = None
    source: ImageSource | None = None


class RequestMessage(msgspec.Struct, frozen=True):
    role: str
    content: str | list[RequestBlock] = ""

    @property
    def blocks(self) -> list[RequestBlock]:
        if isinstance(self.content, str):
            return [RequestBlock(type="text", text=self.content)]
        return self.content


class OfferedTool(msgspec.Struct, frozen=True):
    name: str = ""
    input_schema: dict[str, Any] = {}


class OutputFormat(msgspec.Struct, frozen=True):
    schema: dict[str, Any] = {}


class OutputConfig(msgspec.Struct, frozen=True):
    format: OutputFormat | None = None


class RequestBody(msgspec.Struct, frozen=True):
    """The part of a Messages API request that matters to a script."""

    model: str = "claude-scripted"
    messages: list[RequestMessage] = []
    system: str | list[RequestBlock] = ""
    tools: list[OfferedTool] = []
    stream: bool = False
    output_config: OutputConfig | None = None


class ToolResult(msgspec.Struct, frozen=True):
    """The result of a tool call, as the model gets it."""

    tool: str
    input: dict[str, Any]
    text: str
    failed: bool

    @property
    def denied(self) -> bool:
        """Whether a person refused the call: then it is an error with the bare message."""
        return self.failed and not self.text.startswith(FAILURE_PREFIXES)


FAILURE_PREFIXES = ("<tool_use_error>", "Exit code", "Error", "[Tool result missing")
# text that the CLI inserts into prompts
CLI_TAGS = re.compile(
    r"<(system-reminder|local-command-caveat|local-command-stdout|local-command-stderr"
    r"|command-name|command-message|command-args|task-notification)>.*?</\1>",
    re.DOTALL,
)
NOT_TYPED_PREFIXES = (
    "[Request interrupted by user",
    "[Image: ",
    "This session is being continued from a previous",
)
SUMMARY_REQUEST = "Your task is to create a detailed summary of the conversation"
INTERJECTION = re.compile(
    r"The user sent a new message while you were working:\n(.*?)"
    r"(?:\n\nThis is how Claude Code|\n\nIMPORTANT|\s*</system-reminder>|$)",
    re.DOTALL,
)
NOTIFICATION = re.compile(
    r"<task-notification>.*?<summary>(.*?)</summary>(?:.*?<result>(.*?)</result>)?", re.DOTALL
)
WORKDIR = re.compile(r"[Ww]orking directory: (.+)")
STRUCTURED_OUTPUT_TOOL = "StructuredOutput"


class ModelRequest(msgspec.Struct, frozen=True):
    """A parsed request."""

    body: RequestBody

    @property
    def wants_summary(self) -> bool:
        """Whether the CLI compacts: then its instruction is the last message."""
        return any(SUMMARY_REQUEST in block.text for block in self._last_user_blocks)

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """The JSON schema of the reply; the CLI uses it for titles and names."""
        config = self.body.output_config
        return config.format.schema if config and config.format else None

    @property
    def structured_output_schema(self) -> dict[str, Any] | None:
        """The schema of the tool call that carries the output; None once it was made."""
        if any(
            outcome.tool == STRUCTURED_OUTPUT_TOOL and not outcome.failed
            for outcome in self.tool_results
        ):
            return None
        return next(
            (each.input_schema for each in self.body.tools if each.name == STRUCTURED_OUTPUT_TOOL),
            None,
        )

    @property
    def is_from_subagent(self) -> bool:
        return "cc_is_subagent=true" in self.system_text

    @property
    def system_text(self) -> str:
        system = self.body.system
        parts = [system] if isinstance(system, str) else [block.text for block in system]
        for turn in self.body.messages:
            if turn.role == "system":
                parts += [block.text for block in turn.blocks]
        return "\n".join(parts)

    @property
    def workdir(self) -> str:
        matches = WORKDIR.findall(self.system_text)
        return str(matches[-1]).strip() if matches else ""

    def offers_tool(self, tool: str) -> bool:
        """Whether the tool can be called: it is listed, or named in the system prompt."""
        if any(offered.name == tool for offered in self.body.tools):
            return True
        return re.search(rf"^{re.escape(tool)}$", self.system_text, re.MULTILINE) is not None

    @property
    def prompts(self) -> list[str]:
        """The prompts of the person, oldest first."""
        return [text for _, text in self._typed_texts()]

    @property
    def prompt(self) -> str:
        """The last prompt."""
        return next((text for _, text in reversed(list(self._typed_texts()))), "")

    @property
    def interjections(self) -> list[str]:
        """The prompts that were sent during the turn."""
        return [
            match[1].strip()
            for turn in self._messages_since_prompt
            if turn.role != "assistant"
            for block in turn.blocks
            if (match := INTERJECTION.search(block.text))
        ]

    @property
    def images(self) -> list[ImageSource]:
        """The images that came with the prompt."""
        position = self._prompt_position
        if position is None:
            return []
        blocks = self.body.messages[position].blocks
        return [block.source for block in blocks if block.type == "image" and block.source]

    @property
    def reply_count(self) -> int:
        """The replies with tool calls since the prompt, and so the index of the next step."""
        return sum(
            any(block.type == "tool_use" for block in turn.blocks)
            for turn in self._messages_since_prompt
            if turn.role == "assistant"
        )

    @property
    def tool_results(self) -> list[ToolResult]:
        """The results of the tool calls since the prompt, in the order of the calls."""
        blocks = [block for turn in self._messages_since_prompt for block in turn.blocks]
        # tools of one reply run at once, so their results come in any order
        results = {block.tool_use_id: block for block in blocks if block.type == "tool_result"}
        return [
            ToolResult(call.name, call.input, plain_text(result), bool(result.is_error))
            for call in blocks
            if call.type == "tool_use" and (result := results.get(call.id))
        ]

    @property
    def latest_tool_results(self) -> list[ToolResult]:
        """The results of the tool calls of the last reply."""
        calls = 0
        for turn in self._messages_since_prompt:
            if turn.role == "assistant":
                calls = sum(block.type == "tool_use" for block in turn.blocks) or calls
        return self.tool_results[-calls:] if calls else []

    @property
    def task_reports(self) -> list[tuple[str, str]]:
        """Summary and result of the background tasks that reported since the last reply."""
        matches = [NOTIFICATION.search(block.text) for block in self._blocks_after_last_reply]
        return [(match[1].strip(), (match[2] or "").strip()) for match in matches if match]

    @property
    def only_task_reports(self) -> bool:
        """Whether the CLI began this turn itself, for the report of a background task."""
        results = any(block.type == "tool_result" for block in self._blocks_after_last_reply)
        return bool(self.task_reports) and not results

    @property
    def _blocks_after_last_reply(self) -> list[RequestBlock]:
        """The blocks after the last reply."""
        blocks: list[RequestBlock] = []
        for turn in self.body.messages:
            blocks = [] if turn.role == "assistant" else [*blocks, *turn.blocks]
        return blocks

    @property
    def _last_user_blocks(self) -> list[RequestBlock]:
        for turn in reversed(self.body.messages):
            if turn.role == "user":
                return turn.blocks
        return []

    @property
    def _prompt_position(self) -> int | None:
        return next((position for position, _ in reversed(list(self._typed_texts()))), None)

    @property
    def _messages_since_prompt(self) -> list[RequestMessage]:
        position = self._prompt_position
        return [] if position is None else self.body.messages[position + 1 :]

    def _typed_texts(self) -> Iterator[tuple[int, str]]:
        for position, turn in enumerate(self.body.messages):
            if turn.role == "user":
                for block in turn.blocks:
                    text = typed_text(block.text) if block.type == "text" else ""
                    if text:
                        yield position, text


def typed_text(text: str) -> str:
    """A text block without what the CLI inserted; empty if it is all inserted."""
    text = CLI_TAGS.sub("", text).strip()
    return "" if text.startswith(NOT_TYPED_PREFIXES) or SUMMARY_REQUEST in text else text


def plain_text(block: RequestBlock) -> str:
    """The text of a tool result, nested or not."""
    if block.content is None:
        return block.text
    if isinstance(block.content, str):
        return block.content
    return "\n".join(inner.text for inner in block.content if inner.text)


def parse_request(raw: bytes) -> ModelRequest:
    """Raises `msgspec.DecodeError` for an invalid request."""
    return ModelRequest(msgspec.json.decode(raw, type=RequestBody))
