"""A session as clients see it: from its transcript, and from what runs now."""

from __future__ import annotations

from typing import Literal

import msgspec

from claudekeeper.contract.errors import Fault

SessionState = Literal["idle", "starting", "running", "waiting", "error"]
Origin = Literal["gateway", "terminal"]
PresenceStatus = Literal["busy", "idle", "waiting"]


class SessionProgress(msgspec.Struct, rename="camel", frozen=True):
    """The progress of a session, by the project's checklist or by its own task lists."""

    of: Literal["checklist", "tasks"]
    items: int
    done: int
    percent: int
    complete: bool


class Tokens(msgspec.Struct, rename="camel", gc=False):
    """Tokens of all replies of a session."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


class Presence(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """A Claude Code that somebody else runs: in a terminal (`cli`), an editor or a script."""

    pid: int
    entrypoint: str
    status: PresenceStatus
    waiting_for: str | None
    # since when it has this status
    since: str | None
    # whether a person uses it, and not a script
    interactive: bool


class WorkItem(msgspec.Struct, frozen=True, gc=False):
    """A work item. Its key is unique within its project."""

    key: str
    project: str | None = None

    @property
    def display_name(self) -> str:
        """The item in a sentence."""
        return f"“{self.key}” ({self.project})" if self.project else f"“{self.key}”"


class AppendedPrompt(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """What a person appended to Claude Code's own system prompt; its text is a session setting.

    `pending`: the process that runs was started with another one; the next one gets this.
    """

    # 0: it was cleared, but the process that runs still has it
    characters: int
    pending: bool


class Session(msgspec.Struct, rename="camel", kw_only=True):
    """A session. `messageCount`, `costUsd` and `tokens` are null until every line was read."""

    id: str
    workdir: str | None
    project: str | None
    name: str | None
    title: str | None
    first_prompt: str | None
    last_prompt: str | None
    message_count: int | None
    created: str | None
    modified: str
    git_branch: str | None
    size: int
    model: str | None
    permission_mode: str | None
    state: SessionState
    origin: Origin | None
    attention: int
    cost_usd: float | None
    tokens: Tokens | None
    error: Fault | None
    unreadable: int
    # the Claude Code that runs it, if it is not the keeper's
    presence: Presence | None = None
    # Claude Code deleted it; the archive has it, and a message brings it back
    archived: bool = False
    # when it was deleted
    archived_since: str | None = None
    # null without a checklist and without task lists
    progress: SessionProgress | None = None
    # when a person gave it up; null again as soon as it continues
    given_up: str | None = None
    # the work item to which it belongs or belonged
    item: WorkItem | None = None
    system_prompt: AppendedPrompt | None = None

    @property
    def display_name(self) -> str | None:
        """Its name for people; the page uses the same order."""
        return self.name or self.title or self.first_prompt


class LiveState(msgspec.Struct, frozen=True, kw_only=True):
    """The live part of a session: its process and its turn."""

    state: SessionState
    origin: Origin | None
    workdir: str
    started: str
    prompt: str | None = None
    attention: int = 0
    model: str | None = None
    permission_mode: str | None = None
    error: Fault | None = None


def project_of(workdir: str | None) -> str | None:
    """The name of a project: the last part of its directory, with / or \\ between the parts."""
    if not workdir:
        return None
    return workdir.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or workdir
