"""What a session cost as Claude Code wrote it down last: its next process goes on from there."""

from __future__ import annotations

import os
from pathlib import Path

from claudekeeper.model.entries import parse
from claudekeeper.readers.lines import backwards, opened

_KIND = b'"cost-state"'


def carried_cost(path: Path) -> float:
    """Blocks. Dollars; nothing where no process has ended in order yet."""
    try:
        with opened(path) as descriptor:
            for _, line in backwards(descriptor, os.fstat(descriptor).st_size):
                if _KIND not in line:
                    continue
                entries, _ = parse(line)
                for entry in reversed(entries):
                    if entry.type == "cost-state" and entry.total_cost_usd is not None:
                        return entry.total_cost_usd
    except OSError:
        pass
    return 0.0
