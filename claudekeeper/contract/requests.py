"""What clients ask for, parsed once at the door."""

from __future__ import annotations

import binascii
from typing import Annotated, Any, Literal
from uuid import uuid4

import msgspec
from msgspec import Meta

from claudekeeper.contract.errors import CommandRefused
from claudekeeper.contract.routing import Scorer
from claudekeeper.net.errors import InvalidRequest

PermissionMode = Literal["default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto"]
PERMISSION_MODES: tuple[PermissionMode, ...] = (
    "default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto",
)  # fmt: skip
Uuid = Annotated[
    str, Meta(pattern=r"^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$", max_length=36)
]
# a model's name or alias, such as opus, claude-x-1[1m] or region.vendor/model:0
ModelName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,199}$(?!\n)")]
AbsolutePath = Annotated[str, Meta(pattern=r"^/[^\x00-\x1f\x7f]*$(?!\n)", max_length=4096)]

# characters of what is appended to Claude Code's own system prompt
MAX_PROMPT_LENGTH = 60_000
# its length is judged in words, by `checked_prompt`
SystemPrompt = Annotated[
    str, Meta(extra_json_schema={"minLength": 1, "maxLength": MAX_PROMPT_LENGTH})
]

# they make Claude Code go on under another id, or end it
REFUSED_COMMANDS = {
    **dict.fromkeys(
        ("/clear", "/new", "/reset"),
        "would go on in a new session. Begin one in the same directory; this one stays as it is.",
    ),
    **dict.fromkeys(
        ("/resume", "/continue"),
        "would go on in another session. Open that one, and say it there.",
    ),
    **dict.fromkeys(
        ("/exit", "/quit"),
        "would end Claude Code. It ends by itself when nothing is said; 'close' ends it now.",
    ),
}
IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


class SendRequest(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """A message for a session: an old one by `sessionId`, or a new one in `workdir`."""

    session_id: Uuid | None = None
    workdir: AbsolutePath | None = None
    text: str | None = None
    content: list[dict[str, Any]] | None = None
    uuid: Uuid | None = None
    model: ModelName | None = None
    permission_mode: PermissionMode | None = None
    # stand in line when every place is taken, or until nobody else runs the session
    wait: bool = False
    # go on in a copy of the session
    fork: bool = False
    # let the keeper say which recent conversation it belongs to; `workdir` is where it looks
    route: bool = False
    # the `id` of the answer of `POST /route` by which it goes where it goes
    routing: Uuid | None = None
    # stop the turn that runs and say this next, before whatever waits
    interrupt: bool = False
    # appended to Claude Code's own system prompt by every process that the session has from now
    # on; null clears it
    system_prompt: SystemPrompt | msgspec.UnsetType | None = msgspec.UNSET

    def validate(self) -> SendRequest:
        """The same, with every word of it made sure of."""
        if (self.text is None) == (self.content is None):
            raise InvalidRequest("Send either 'text' or 'content'.")
        if self.route and self.session_id is not None:
            raise InvalidRequest("Say which session ('sessionId'), or let it be found ('route').")
        if self.route and self.routing is not None:
            raise InvalidRequest("Say how it was routed ('routing'), or let it be ('route').")
        if self.session_id is None and self.workdir is None and not self.route:
            raise InvalidRequest("Say which session ('sessionId') or where to begin ('workdir').")
        if self.fork and self.session_id is None:
            raise InvalidRequest("Say which session to fork ('sessionId').")
        if self.interrupt and self.fork:
            raise InvalidRequest("In a copy nothing runs: send with 'fork' or with 'interrupt'.")
        if self.interrupt and self.route:
            raise InvalidRequest("Say which session to interrupt ('sessionId').")
        check_system_prompt(self.system_prompt)
        if self.content is not None:
            _check_content(self.content)
        words = self.prompt_text.strip()
        if not words and not self.has_images:
            raise InvalidRequest("The message is empty.")
        first = (words.split(maxsplit=1) or [""])[0]
        if (instead := REFUSED_COMMANDS.get(first.lower())) is not None:
            raise CommandRefused(f"{first} {instead}")
        self.session_id = self.session_id.lower() if self.session_id else None
        self.uuid = (self.uuid or str(uuid4())).lower()
        return self

    @property
    def prompt_text(self) -> str:
        if self.text is not None:
            return self.text
        blocks = self.content or []
        return "\n".join(block["text"] for block in blocks if block.get("type") == "text")

    @property
    def has_images(self) -> bool:
        return any(block.get("type") == "image" for block in self.content or [])


class RouteRequest(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """Which conversation would this belong to? Nothing is sent."""

    text: str
    workdir: AbsolutePath | None = None
    # only conversations in these directories or below them, wherever links lead
    within: list[AbsolutePath] | None = None
    scorer: Scorer | None = None


class SettingsChange(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """Another model, or another way of asking; `model: null` is Claude Code's own choice.

    `systemPrompt` is as in `Send`: it holds from the session's next process on.
    """

    model: ModelName | msgspec.UnsetType | None = msgspec.UNSET
    permission_mode: PermissionMode | msgspec.UnsetType = msgspec.UNSET
    system_prompt: SystemPrompt | msgspec.UnsetType | None = msgspec.UNSET


class InterruptRequest(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """`hold`: what waits in the queue is held until somebody sends it on."""

    hold: bool = False


class SendHeldRequest(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """What is held goes on: all of it, or these. `wait`: as in `Send`."""

    uuids: list[Uuid] | None = None
    wait: bool = False


class ForkRequest(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """`at`: the last message that the fork keeps; without it, all of them."""

    at: Uuid | None = None


def check_system_prompt(prompt: str | msgspec.UnsetType | None) -> None:
    """Refuses what cannot be appended to a system prompt, in words."""
    if not isinstance(prompt, str):
        return
    if not prompt.strip():
        raise InvalidRequest("The system prompt is empty; null clears it ('systemPrompt').")
    if len(prompt) > MAX_PROMPT_LENGTH:
        raise InvalidRequest(
            f"The system prompt has {len(prompt):,} characters; at most {MAX_PROMPT_LENGTH:,} are "
            "allowed ('systemPrompt')."
        )
    if "\0" in prompt:
        raise InvalidRequest("The system prompt has a NUL character ('systemPrompt').")


def _is_base64(data: str) -> bool:
    try:
        return bool(binascii.a2b_base64(data, strict_mode=True))
    except ValueError:
        return False


def _check_content(content: list[dict[str, Any]]) -> None:
    if not content:
        raise InvalidRequest("The message is empty.")
    for block in content:
        match block:
            case {"type": "text", "text": str()}:
                continue
            case {
                "type": "image",
                "source": {"type": "base64", "media_type": str() as kind, "data": str() as data},
            } if kind in IMAGE_TYPES and _is_base64(data):
                continue
            case {"type": "image"}:
                raise InvalidRequest("An image is base64 data of a PNG, JPEG, GIF or WebP.")
            case _:
                raise InvalidRequest("A message is made of text and image blocks.")
