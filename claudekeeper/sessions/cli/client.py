"""The seam between a live session and its CLI."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol
from uuid import uuid4

import msgspec

from claudekeeper.attention.possible_grants import possible_grants
from claudekeeper.contract.attention import Answer, Attention, attention_kind
from claudekeeper.contract.grants import Grants
from claudekeeper.contract.requests import PermissionMode
from claudekeeper.core.timestamps import now_iso
from claudekeeper.sessions.message_queue import QueuedMessage


class CliOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to start or resume a session."""

    session_id: str
    workdir: str
    resume: bool
    model: str | None = None
    permission_mode: PermissionMode | None = None
    append_prompt: str | None = None
    # whether the CLI may store its system prompt in the transcript, and keep it from then on
    records_prompt: bool = True
    grants: Grants = Grants()


class PermissionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A question of the CLI: may it use this tool with this input?"""

    tool: str
    input: dict[str, Any]
    tool_use_id: str | None
    title: str | None
    description: str | None
    suggestions: list[dict[str, Any]]
    blocked_path: str | None
    reason: str | None
    agent_id: str | None
    # Claude Code asks about this every time, whatever is allowed
    guarded: bool = False

    def to_attention(
        self, session_id: str, plan: dict[str, Any], workdir: str, mode: str | None
    ) -> Attention:
        """As people see it; `plan` is what the model wrote, if it is a plan."""
        fields = msgspec.structs.asdict(self)
        guarded = fields.pop("guarded")
        kind = attention_kind(self.tool)
        if kind == "plan":
            fields["input"] = plan | self.input
        return Attention(
            id=str(uuid4()),
            session_id=session_id,
            kind=kind,
            grants=possible_grants(
                self.tool,
                self.input,
                self.suggestions,
                workdir=workdir,
                mode=mode,
                is_guarded=guarded,
            ),
            origin="gateway",
            raised=now_iso(),
            **fields,
        )


class CliListener(Protocol):
    """Who listens to a CLI."""

    def handle_message(self, raw: dict[str, Any]) -> None:
        """One message, in order; returns at once."""

    def handle_exit(self, error: Exception | None) -> None:
        """The process ended by itself."""

    async def request_permission(self, question: PermissionRequest) -> Answer:
        """Waits for the answer; cancelled when the CLI withdraws the question."""


class CliClient(Protocol):
    """One CLI process."""

    # whether it was started so that it can switch to bypassing permissions
    bypass: bool

    @property
    def pid(self) -> int | None: ...
    @property
    def stderr_tail(self) -> str: ...
    async def connect(self) -> None: ...
    async def send(self, item: QueuedMessage) -> None: ...
    async def interrupt(self) -> None: ...
    async def set_model(self, model: str | None) -> None: ...
    async def set_permission_mode(self, mode: str) -> None: ...
    async def info(self) -> dict[str, Any]: ...
    async def close(self) -> None: ...


MakeClient = Callable[[CliOptions, CliListener], Awaitable[CliClient]]


async def make_sdk_client(options: CliOptions, listener: CliListener) -> CliClient:
    """The one place where the SDK comes in; its 40 MB are imported when first needed."""
    return await asyncio.to_thread(_sdk_client, options, listener)


def _sdk_client(options: CliOptions, listener: CliListener) -> CliClient:
    from claudekeeper.sessions.cli.sdk_client import SdkClient

    return SdkClient(options, listener)
