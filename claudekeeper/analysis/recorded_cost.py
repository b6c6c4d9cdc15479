"""The last cost that Claude Code recorded of a session: its next process adds to it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from claudekeeper.transcripts.entries import parse_line
from claudekeeper.transcripts.line_reader import lines_backwards, open_readonly

_COST_STATE = b'"cost-state"'
_TOKENS = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")


class Carried(msgspec.Struct, frozen=True):
    """Dollars, and tokens of all models; None if the tokens are unknown."""

    cost: float = 0.0
    tokens: int | None = 0


NOTHING = Carried()


class _CostState(msgspec.Struct, rename="camel"):
    model_usage: Any = None


def carried(path: Path) -> Carried:
    """The last record; `NOTHING` if no process has ended properly yet. Blocks."""
    try:
        with open_readonly(path) as descriptor:
            for _, line in lines_backwards(descriptor, os.fstat(descriptor).st_size):
                if _COST_STATE not in line:
                    continue
                entries, _ = parse_line(line)
                for entry in reversed(entries):
                    if entry.type == "cost-state" and entry.total_cost_usd is not None:
                        return Carried(entry.total_cost_usd, _tokens_in(line))
    except OSError:
        pass
    return NOTHING


def tokens_of(model_usage: Any) -> int | None:
    """The tokens of all models in a `modelUsage`; None if it lists none."""
    if not isinstance(model_usage, dict) or not model_usage:
        return None
    models = [usage for usage in model_usage.values() if isinstance(usage, dict)]
    counts = [usage.get(name) for usage in models for name in _TOKENS]
    return sum(count for count in counts if isinstance(count, int))


def _tokens_in(line: bytes) -> int | None:
    try:
        return tokens_of(msgspec.json.decode(line, type=_CostState).model_usage)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
