"""What a session used as Claude Code wrote it down last: its next process goes on from there."""

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
    """Dollars, and tokens of all models; None where those cannot be told."""

    cost: float = 0.0
    tokens: int | None = 0


NOTHING = Carried()


class _CostState(msgspec.Struct, rename="camel"):
    model_usage: Any = None


def carried(path: Path) -> Carried:
    """Blocks. Nothing where no process has ended in order yet."""
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
    """Of all models, as Claude Code lists them by name; None where it lists none."""
    if not isinstance(model_usage, dict) or not model_usage:
        return None
    counts = [used.get(name) for used in model_usage.values() if isinstance(used, dict)
              for name in _TOKENS]  # fmt: skip
    return sum(count for count in counts if isinstance(count, int))


def _tokens_in(line: bytes) -> int | None:
    try:
        return tokens_of(msgspec.json.decode(line, type=_CostState).model_usage)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
