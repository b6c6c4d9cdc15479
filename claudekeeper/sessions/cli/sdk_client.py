"""The SDK's client and the CLI's pipe. Importing this imports the SDK, so it is done late.

The SDK's own reader drops what it does not know: images in prompts, new kinds of blocks, the
transcript's lines that `--session-mirror` repeats. So we stand between the SDK and the pipe, hear
everything, and leave to the SDK what it is for: the control protocol.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    CLIConnectionError,
    CLINotFoundError,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultError,
    ToolPermissionContext,
    Transport,
)
from claude_agent_sdk._internal.transport.subprocess_cli import SubprocessCLITransport
from claude_agent_sdk.types import PermissionUpdate

from claudekeeper.contract.attention import Answer
from claudekeeper.contract.errors import CliFailed, CliMissing, SessionNotFound, WorkdirMissing
from claudekeeper.core.paths import keeper_home
from claudekeeper.core.tasks import Tasks
from claudekeeper.net.errors import ApiError
from claudekeeper.sessions.cli.client import CliListener, CliOptions, PermissionRequest
from claudekeeper.sessions.cli.launch import launch_prefix
from claudekeeper.sessions.cli.orphans import OWNER_VARIABLE, owner_value
from claudekeeper.sessions.message_queue import QueuedMessage
from claudekeeper.sessions.recovery.failed_turn import describe_exit

log = logging.getLogger(__name__)

# a tool's result of 30 MB comes as one line
LONGEST_LINE = 256 * 1024 * 1024
CONTROL_TYPES = frozenset({"control_request", "control_response", "control_cancel_request"})
STDERR_LINES = 20
READ_BYTES = 64 * 1024


class TappedTransport(Transport):
    """Passes control messages on to the SDK, and all others to the listener."""

    def __init__(
        self, inner: Transport, listener: CliListener, append_prompt: str | None = None
    ) -> None:
        self._inner = inner
        self._listener = listener
        # calls that Claude Code asks about every time: the SDK does not say which
        self.guarded_calls: set[str] = set()
        self._append_prompt = append_prompt
        # once it was closed
        self.exit_code: int | None = None

    async def connect(self) -> None:
        await self._inner.connect()

    async def write(self, data: str) -> None:
        if self._append_prompt is not None:
            data = self._with_prompt(data)
        await self._inner.write(data)

    def _with_prompt(self, data: str) -> str:
        """The SDK would say it as an argument, which the system bounds and every user may read."""
        message = orjson.loads(data)
        request = message.get("request") or {}
        if request.get("subtype") != "initialize":
            return data
        request["appendSystemPrompt"], self._append_prompt = self._append_prompt, None
        return f"{orjson.dumps(message).decode()}\n"

    def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        return self._read()

    async def _read(self) -> AsyncIterator[dict[str, Any]]:
        try:
            async for message in self._inner.read_messages():
                if message.get("type") in CONTROL_TYPES:
                    self._record_guarded_call(message.get("request"))
                    yield message
                else:
                    self._handle_message(message)
        except Exception as error:
            self._listener.handle_exit(error)
            raise
        self._listener.handle_exit(None)

    def _record_guarded_call(self, request: Any) -> None:
        match request:
            case {"decision_reason_type": "safetyCheck", "tool_use_id": str(call)}:
                self.guarded_calls.add(call)

    def _handle_message(self, message: dict[str, Any]) -> None:
        try:
            self._listener.handle_message(message)
        except Exception:
            # one odd message must not end the conversation
            log.exception("a message of the type %r was not understood", message.get("type"))

    async def close(self) -> None:
        """The SDK reads no more by now; a CLI in mid-sentence would wait for somebody who does."""
        process = self._process
        if process is None:
            await self._inner.close()
            return
        tasks = Tasks()
        tasks.start(_drain(process.stdout), name="pipe:drain")
        try:
            await self._inner.close()
        finally:
            await tasks.close()
            self.exit_code = process.returncode
            # else its end of the pipe stays open until somebody collects the garbage
            process._transport.close()

    def is_ready(self) -> bool:
        return self._inner.is_ready()

    async def end_input(self) -> None:
        await self._inner.end_input()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    @property
    def _process(self) -> Any:
        """The process of asyncio, which the SDK started through anyio; neither shows it."""
        return getattr(getattr(self._inner, "_process", None), "_process", None)


async def _drain(output: asyncio.StreamReader) -> None:
    """Until there is no more; nobody needs it."""
    while await output.read(READ_BYTES):
        pass


class DetachedTransport(SubprocessCLITransport):
    """The SDK's own way to start a CLI, but for how it ends."""

    def _build_command(self) -> list[str]:
        command = super()._build_command()
        # one that is not there is best explained by the SDK
        return [*launch_prefix(), *command] if Path(command[0]).is_file() else command


class SdkClient:
    """One CLI process under the SDK."""

    def __init__(self, cli_options: CliOptions, listener: CliListener) -> None:
        self._listener = listener
        self._stderr: deque[str] = deque(maxlen=STDERR_LINES)
        options = self._build_options(cli_options)
        # asked here, where it may take its time
        launch_prefix()
        # the SDK sets this for its own transport only
        inner = DetachedTransport(_no_prompts(), replace(options, **_STDIO))
        self._transport = TappedTransport(inner, listener, cli_options.append_prompt)
        self._client = ClaudeSDKClient(
            # the mode is the CLI's business; the SDK would warn that some modes never ask
            replace(options, can_use_tool=self._request_permission, permission_mode=None),
            transport=self._transport,
        )
        self.bypass = cli_options.permission_mode == "bypassPermissions"

    def _build_options(self, cli_options: CliOptions) -> ClaudeAgentOptions:
        extra: dict[str, str | None] = {"replay-user-messages": None, "session-mirror": None}
        if cli_options.permission_mode == "bypassPermissions":
            extra["allow-dangerously-skip-permissions"] = None
        preset: Any = {"type": "preset", "preset": "claude_code"}
        if not cli_options.records_prompt:
            preset["snapshot"] = False
        session: dict[str, Any] = (
            {"resume": cli_options.session_id}
            if cli_options.resume
            else {"session_id": cli_options.session_id}
        )
        return ClaudeAgentOptions(
            **session,
            cwd=cli_options.workdir,
            cli_path=os.environ.get("CLAUDEKEEPER_CLI") or None,
            # as in a terminal: the person's own settings, rules and instructions
            system_prompt=preset,
            setting_sources=["user", "project", "local"],
            model=cli_options.model,
            permission_mode=cli_options.permission_mode,
            settings=cli_options.grants.settings_json(),
            include_partial_messages=True,
            forward_subagent_text=True,
            max_buffer_size=LONGEST_LINE,
            extra_args=extra,
            # hooks of ours that run inside know that the keeper asks anyway
            env={
                "CLAUDEKEEPER_SESSION": cli_options.session_id,
                OWNER_VARIABLE: owner_value(keeper_home()),
            },
            stderr=self._stderr.append,
        )

    @property
    def pid(self) -> int | None:
        return self._transport.pid

    async def connect(self) -> None:
        try:
            await self._client.connect()
        except Exception as error:
            raise self._explain(error) from error

    async def send(self, item: QueuedMessage) -> None:
        async def one() -> AsyncIterator[dict[str, Any]]:
            yield {
                "type": "user",
                "uuid": item.uuid,
                "message": {"role": "user", "content": item.content},
                "parent_tool_use_id": None,
            }

        await self._client.query(one())

    async def interrupt(self) -> None:
        await self._client.interrupt()

    async def set_model(self, model: str | None) -> None:
        await self._client.set_model(model)

    async def set_permission_mode(self, mode: str) -> None:
        await self._client.set_permission_mode(mode)  # type: ignore[arg-type]

    async def info(self) -> dict[str, Any]:
        return await self._client.get_server_info() or {}

    async def close(self) -> None:
        await self._client.disconnect()

    @property
    def stderr_tail(self) -> str:
        """What the CLI complained about, for whoever has to find out why it ended."""
        return "\n".join(self._stderr)[-2_000:]

    async def _request_permission(
        self, tool: str, tool_input: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResultAllow | PermissionResultDeny:
        guarded = context.tool_use_id in self._transport.guarded_calls
        self._transport.guarded_calls.discard(str(context.tool_use_id))
        answer: Answer = await self._listener.request_permission(
            PermissionRequest(
                tool=tool,
                input=tool_input,
                tool_use_id=context.tool_use_id,
                title=context.title,
                description=context.description,
                suggestions=[suggestion.to_dict() for suggestion in context.suggestions],
                blocked_path=context.blocked_path,
                reason=context.decision_reason,
                agent_id=context.agent_id,
                guarded=guarded,
            )
        )
        if answer.decision == "deny":
            return PermissionResultDeny(message=answer.message, interrupt=answer.interrupt)
        # what was shown is what is approved, never what the caller may have changed since
        return PermissionResultAllow(
            updated_input=answer.input,
            updated_permissions=[PermissionUpdate.from_dict(each) for each in answer.permissions]
            or None,
        )

    def _explain(self, error: Exception) -> ApiError:
        text = str(error)
        if isinstance(error, CLINotFoundError):
            return CliMissing()
        if "Working directory does not exist" in text:
            return WorkdirMissing()
        if isinstance(error, ResultError) and "No conversation found" in text:
            return SessionNotFound()
        # a pipe that is closed says nothing of the process that it led to
        exit_code = self._transport.exit_code if isinstance(error, CLIConnectionError) else None
        how = self.stderr_tail or describe_exit(error, "", exit_code)
        return CliFailed(f"Claude Code could not be started: {how}")


_STDIO: dict[str, Any] = {"permission_prompt_tool_name": "stdio"}


async def _no_prompts() -> AsyncIterator[dict[str, Any]]:
    """The prompts come later, one by one."""
    nothing: tuple[dict[str, Any], ...] = ()
    for each in nothing:
        yield each
