"""A session as clients see it: what its transcript says, and what runs now."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

import msgspec

from claudekeeper.model.errors import Fault
from claudekeeper.model.readiness import SessionProgress
from claudekeeper.model.replies import Tokens

State = Literal["idle", "starting", "running", "waiting", "error"]
Origin = Literal["gateway", "terminal"]
Status = Literal["busy", "idle", "waiting"]

FIRST_SECOND = datetime(1, 1, 1, tzinfo=UTC).timestamp()
LAST_SECOND = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()


class Presence(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """A Claude Code that somebody else runs: in a terminal (`cli`), an editor or a script."""

    pid: int
    entrypoint: str
    status: Status
    waiting_for: str | None
    # since when it has this status
    since: str | None
    # whether a person sits in front of it
    interactive: bool


class WorkItem(msgspec.Struct, frozen=True, gc=False):
    """An item of work: its key, which is its own only within its project."""

    key: str
    project: str | None = None

    @property
    def named(self) -> str:
        """As it is spoken of."""
        return f"“{self.key}” ({self.project})" if self.project else f"“{self.key}”"


class AppendedPrompt(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """What a person appended to Claude Code's own system prompt; its words are in the settings.

    `pending`: the process that runs was started before it was said, and the next one has it.
    """

    # 0: it was cleared, and the process that runs still has it
    characters: int
    pending: bool


class Session(msgspec.Struct, rename="camel", kw_only=True):
    """A session. `messageCount`, `costUsd` and `tokens` are null until every line is read."""

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
    state: State
    origin: Origin | None
    attention: int
    cost_usd: float | None
    tokens: Tokens | None
    error: Fault | None
    unreadable: int
    # where it runs, if somebody else runs it
    presence: Presence | None = None
    # Claude Code deleted it; the archive has it, and a message brings it back
    archived: bool = False
    # since when it is deleted
    archived_since: str | None = None
    # how far it is; null where neither a checklist nor a list of tasks tells
    progress: SessionProgress | None = None
    # when a person gave it up; null again as soon as it goes on
    given_up: str | None = None
    # the item of work whose conversation it is, or was
    item: WorkItem | None = None
    system_prompt: AppendedPrompt | None = None

    @property
    def called(self) -> str | None:
        """What it is called, wherever it is named: the page goes by the same order."""
        return self.name or self.title or self.first_prompt


class Liveness(msgspec.Struct, frozen=True, kw_only=True):
    """What runs of a session now."""

    state: State
    origin: Origin | None
    workdir: str
    started: str
    prompt: str | None = None
    attention: int = 0
    model: str | None = None
    permission_mode: str | None = None
    error: Fault | None = None


def project_of(workdir: str | None) -> str | None:
    """The last part of the directory, on any system's paths."""
    if not workdir:
        return None
    return workdir.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or workdir


def iso(nanoseconds: int) -> str:
    return iso_of(nanoseconds / 1e9)


def iso_of(seconds: float) -> str:
    """A moment; one beyond what calendars have is the first or last of theirs."""
    within = min(max(seconds, FIRST_SECOND), LAST_SECOND)
    return _iso(datetime.fromtimestamp(within, UTC))


def now() -> str:
    return _iso(datetime.now(UTC))


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
