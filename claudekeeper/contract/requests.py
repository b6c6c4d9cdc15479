"""The bodies of requests about sessions, and their checks."""

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
# `check_system_prompt` refuses another length with a sentence for people
SystemPrompt = Annotated[
    str, Meta(extra_json_schema={"minLength": 1, "maxLength": MAX_PROMPT_LENGTH})
]

# these make Claude Code continue under another id, or end it
REFUSED_COMMANDS = {
    **dict.fromkeys(
        ("/clear", "/new", "/reset"),
        "would go on in a new session. Begin one in the same directory; this one stays as it is.",
    ),
    **dict.fromkeys(
        ("/resume", "/continue"),
        "would go on in another session. Open that one and send the message there.",
    ),
    **dict.fromkeys(
        ("/exit", "/quit"),
        "would end Claude Code. It ends by itself when it is idle; 'close' ends it now.",
    ),
}
IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


class SendRequest(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """A prompt for an existing session (`sessionId`) or for a new one (`workdir`)."""

    session_id: Uuid | None = None
    workdir: AbsolutePath | None = None
    text: str | None = None
    content: list[dict[str, Any]] | None = None
    uuid: Uuid | None = None
    model: ModelName | None = None
    permission_mode: PermissionMode | None = None
    # wait in the queue while no CLI slot is free, or until nobody else runs the session
    wait: bool = False
    # continue in a copy of the session
    fork: bool = False
    # let the keeper choose the recent session that it belongs to, in `workdir`
    route: bool = False
    # the `id` of the answer of `POST /route` by which the destination was chosen
    routing: Uuid | None = None
    # stop the turn that runs and send this next, before the rest of the queue
    interrupt: bool = False
    # appended to Claude Code's own system prompt by every later process of the session; null
    # clears it
    system_prompt: SystemPrompt | msgspec.UnsetType | None = msgspec.UNSET

    def validate(self) -> SendRequest:
        """Checks what the types cannot say, and completes the ids."""
        if (self.text is None) == (self.content is None):
            raise InvalidRequest("Send either 'text' or 'content'.")
        if self.route and self.session_id is not None:
            raise InvalidRequest("Send either 'sessionId' or 'route'.")
        if self.route and self.routing is not None:
            raise InvalidRequest("Send either 'routing' or 'route'.")
        if self.session_id is None and self.workdir is None and not self.route:
            raise InvalidRequest("Name a session ('sessionId') or a directory ('workdir').")
        if self.fork and self.session_id is None:
            raise InvalidRequest("Say which session to fork ('sessionId').")
        if self.interrupt and self.fork:
            raise InvalidRequest("Nothing runs in a copy: send either 'fork' or 'interrupt'.")
        if self.interrupt and self.route:
            raise InvalidRequest("Say which session to interrupt ('sessionId').")
        check_system_prompt(self.system_prompt)
        if self.content is not None:
            _check_content(self.content)
        text = self.prompt_text.strip()
        if not text and not self.has_images:
            raise InvalidRequest("The message is empty.")
        command = (text.split(maxsplit=1) or [""])[0]
        if (reason := REFUSED_COMMANDS.get(command.lower())) is not None:
            raise CommandRefused(f"{command} {reason}")
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
    """Asks which recent session a prompt belongs to. Nothing is sent."""

    text: str
    workdir: AbsolutePath | None = None
    # only sessions in these directories or below them, with links resolved
    within: list[AbsolutePath] | None = None
    scorer: Scorer | None = None


class SettingsChange(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """New session settings; `model: null` is Claude Code's own choice.

    `systemPrompt` is as in `SendRequest`: it holds from the session's next process on.
    """

    model: ModelName | msgspec.UnsetType | None = msgspec.UNSET
    permission_mode: PermissionMode | msgspec.UnsetType = msgspec.UNSET
    system_prompt: SystemPrompt | msgspec.UnsetType | None = msgspec.UNSET


class InterruptRequest(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """An interrupt. `hold`: the messages in the queue are held until a person sends them."""

    hold: bool = False


class SendHeldRequest(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """Sends held messages: all of them, or these. `wait`: as in `SendRequest`."""

    uuids: list[Uuid] | None = None
    wait: bool = False


class ForkRequest(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """A fork. `at`: the last message that the fork has; without it, all of them."""

    at: Uuid | None = None


def check_system_prompt(prompt: str | msgspec.UnsetType | None) -> None:
    """Refuses what cannot be appended to a system prompt, with a sentence for people."""
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
