"""A turn that was cut off, with all that a later keeper has to know of it."""

from __future__ import annotations

from collections.abc import Container
from uuid import uuid4

import msgspec

from claudekeeper.contract.attention import Attention
from claudekeeper.contract.errors import Fault
from claudekeeper.sessions.message_queue import QueuedMessage
from claudekeeper.sessions.recovery.failed_turn import INTERRUPTED_FAULT

# the prompt that goes on with a turn that was cut off
CONTINUE_PROMPT = "Continue from where you left off."


class InterruptedTurn(msgspec.Struct, rename="camel"):
    """What was under way in a session."""

    # of the prompt; None where a background task had something to say
    uuid: str | None
    started: str
    questions: list[Attention] = []
    queue: list[QueuedMessage] = []
    # the prompt itself, while no transcript is known to have it
    prompt: QueuedMessage | None = None
    workdir: str | None = None
    # False: its turn had not begun yet
    begun: bool = True
    # why it failed; None where the keeper ended before it did
    error: Fault | None = None
    # a person had interrupted it
    stopped: bool = False

    @property
    def can_continue(self) -> bool:
        """Whether there is something to go on with; held messages wait for a person anyhow."""
        has_queue = any(not message.held for message in self.queue)
        return self.begun or self.prompt is not None or has_queue

    @property
    def fault(self) -> Fault | None:
        """What is wrong with the session, in a word."""
        return self.error or (INTERRUPTED_FAULT if self.can_continue else None)

    @property
    def held_messages(self) -> list[QueuedMessage]:
        return [message for message in self.queue if message.held]

    @property
    def messages_to_hold(self) -> list[QueuedMessage]:
        """What the next keeper holds: nothing that was not sent yet is sent by itself.

        A prompt whose turn failed says so by itself, and can be sent again.
        """
        unsent = [self.prompt] if self.prompt is not None and self.error is None else []
        return [msgspec.structs.replace(message, held=True) for message in (*unsent, *self.queue)]

    @property
    def unsent_messages(self) -> list[QueuedMessage]:
        """What no transcript may have, in order."""
        return [*([self.prompt] if self.prompt is not None else []), *self.queue]

    @property
    def first_text(self) -> str | None:
        """The text of the first message that no transcript may have."""
        messages = self.unsent_messages
        return messages[0].text if messages else None


def messages_to_send(
    interrupted: InterruptedTurn, written_uuids: Container[str]
) -> list[QueuedMessage]:
    """The messages with which it goes on; `written_uuids` are those that the transcript has."""
    queue = [
        message
        for message in interrupted.queue
        if not (message.held or message.uuid in written_uuids)
    ]
    if interrupted.stopped and queue:
        # a person wanted these instead
        return queue
    messages: list[QueuedMessage] = []
    if interrupted.prompt is not None and interrupted.prompt.uuid not in written_uuids:
        messages.append(interrupted.prompt)
    elif interrupted.begun:
        messages.append(QueuedMessage(str(uuid4()), CONTINUE_PROMPT))
    return [*messages, *queue] or [QueuedMessage(str(uuid4()), CONTINUE_PROMPT)]
