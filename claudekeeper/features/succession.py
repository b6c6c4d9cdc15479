"""When a conversation fills its model's window, and what its successor is told."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import msgspec

from claudekeeper.model.dispatch import ConversationSettings
from claudekeeper.model.entries import blocks_of
from claudekeeper.readers.history import History

WINDOW, LARGE_WINDOW = 200_000, 1_000_000
# what is told of one message; and of all of them, since it travels as an argument of the CLI
MOST_OF_ONE, MOST = 4_000, 50_000
# more than a model's window holds
MOST_MESSAGES = 10_000


class LastWords(msgspec.Struct, frozen=True):
    """The last messages of a session as (who, words), and how many it has in all."""

    said: list[tuple[str, str]]
    total: int


def is_full(tokens: int, model: str | None, settings: ConversationSettings) -> bool:
    if settings.strategy == "off":
        return False
    large = model is not None and "[1m]" in model
    window = settings.window_tokens or (LARGE_WINDOW if large else WINDOW)
    return tokens >= settings.threshold * window


def primer(last: LastWords) -> tuple[str, int]:
    """What the successor knows beside its persona, and how many messages it does not know."""
    told: list[str] = []
    room = MOST
    for who, words in reversed(last.said):
        line = f"{who}: {_cut(words)}"
        room -= len(line)
        if room < 0:
            break
        told.append(line)
    left_out = max(0, last.total - len(told))
    notice = (
        f"This session continues an earlier one that had become too long. Its last {len(told)} "
        f"messages follow; the {left_out} before them were left out."
    )
    return "\n\n".join([notice, *reversed(told)]), left_out


def last_words_of(history: History, path: Path, session_id: str, most: int) -> LastWords:
    """Blocks. What was said, without calls and their results."""
    page = history.page(path, session_id, limit=MOST_MESSAGES, view="context")
    said: deque[tuple[str, str]] = deque(maxlen=most)
    total = 0
    for message in page.messages:
        if message.kind not in ("prompt", "reply"):
            continue
        blocks = blocks_of(message.content)
        words = "\n".join(block.text for block in blocks if block.text).strip()
        if words:
            total += 1
            said.append(("Claude" if message.kind == "reply" else "User", words))
    return LastWords(list(said), total)


def _cut(words: str) -> str:
    return words if len(words) <= MOST_OF_ONE else words[: MOST_OF_ONE - 1] + "…"
