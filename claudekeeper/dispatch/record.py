"""The record of a conversation, as the database has it."""

from __future__ import annotations

from typing import Any

import msgspec

from claudekeeper.contract.attention import Attention
from claudekeeper.contract.ceilings import Ceilings, CeilingUsage
from claudekeeper.contract.sessions import WorkItem


class ConversationRecord(msgspec.Struct, kw_only=True):
    """The stored conversation of an item; times are seconds since the epoch.

    The fields are the columns of its table, in their order.
    """

    key: str
    project: str | None
    workdir: str
    session: str | None
    prompt: str | None
    # what a new session is told of earlier ones, beside the system prompt
    primer: str | None = None
    metadata: dict[str, Any]
    created: float
    updated: float
    expires: float
    lifetime: float
    # the tokens of the session's last reply, and the model whose window they fill
    window: int = 0
    model: str | None = None
    dispatches: int = 0
    # turns of this session that ended
    done: int = 0
    # the threshold is reached, and no room was made yet
    full: bool = False
    # what all turns of the item used
    tokens: int = 0
    cost: float = 0.0
    # those of the request, and what a person allowed in all
    ceilings: Ceilings = Ceilings()
    allowed: Ceilings = Ceilings()
    # the open question about a ceiling that was reached
    question: Attention | None = None
    # when a person ended it
    ended: float | None = None

    @property
    def item(self) -> WorkItem:
        return WorkItem(self.key, self.project)

    @property
    def append_prompt(self) -> str | None:
        """What is appended to Claude Code's own system prompt."""
        return "\n\n".join(filter(None, (self.prompt, self.primer))) or None

    def usage_at(self, now: float) -> CeilingUsage:
        return CeilingUsage(
            round(self.cost, 6), self.dispatches, max(0.0, now - self.created) / 3600
        )
