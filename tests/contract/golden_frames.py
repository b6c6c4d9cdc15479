"""One example of every frame of the WebSocket, made by the types of the contract.

`golden_frames.json` has them for the tests of the keeper and of the page; `make contract` writes
it. Together they have a value in every field, so that no decoder can pass by its defaults.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from claudekeeper.contract.attention import Attention
from claudekeeper.contract.conversations import ConversationUpdated
from claudekeeper.contract.errors import Fault
from claudekeeper.contract.events import (
    AttentionRaised,
    AttentionSettled,
    Event,
    MessageAdded,
    MessageDelta,
    MessageWithdrawn,
    QueuedPrompt,
    QueueUpdated,
    Resync,
    SessionFailed,
    SessionNotified,
    SessionRemoved,
    SessionUpdated,
    TurnFinished,
    TurnStarted,
    TurnStatus,
)
from claudekeeper.contract.frames import (
    PROTOCOL_VERSION,
    Hello,
    Ping,
    Pong,
    ResyncAll,
    Subscribe,
    Subscribed,
    Unsubscribe,
    WsError,
)
from claudekeeper.contract.message import Message
from claudekeeper.contract.sessions import (
    AppendedPrompt,
    Presence,
    Session,
    SessionProgress,
    Tokens,
    WorkItem,
)
from claudekeeper.events.bus import EventBus

FILE = Path(__file__).with_suffix(".json")

EPOCH = "0a1b2c3d"
SESSION = "5e551011-0000-4000-8000-000000000001"
PROMPT = "10000000-0000-4000-8000-000000000001"
REPLY = "10000000-0000-4000-8000-000000000002"
AT = "2026-03-01T12:00:00Z"
FAULT = Fault("cli_crashed", "Claude Code ended unexpectedly.")
RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "touch a"}],
    "behavior": "allow",
    "destination": "session",
}

SESSION_VIEW = Session(
    id=SESSION,
    workdir="/code/shop",
    project="shop",
    name="The till",
    title="Build the till",
    first_prompt="Build a till.",
    last_prompt="And a drawer.",
    message_count=12,
    created="2026-03-01T08:00:00Z",
    modified=AT,
    git_branch="main",
    size=34_567,
    model="claude-opus-5-5",
    permission_mode="acceptEdits",
    state="waiting",
    origin="gateway",
    attention=1,
    cost_usd=0.42,
    tokens=Tokens(1200, 3400, 50_000, 6000),
    error=FAULT,
    unreadable=2,
    presence=Presence(
        pid=4711,
        entrypoint="cli",
        status="waiting",
        waiting_for="permission",
        since=AT,
        interactive=True,
    ),
    archived=True,
    archived_since=AT,
    progress=SessionProgress(of="checklist", items=4, done=3, percent=75, complete=True),
    given_up=AT,
    item=WorkItem("SHOP-1", "shop"),
    system_prompt=AppendedPrompt(characters=120, pending=True),
)
MESSAGE = Message(
    uuid=REPLY,
    session_id=SESSION,
    role="assistant",
    content=msgspec.Raw(b'[{"type":"text","text":"Done \\u2013 all of it."}]'),
    timestamp=AT,
    kind="reply",
    message_id="msg_1",
    parent_uuid=PROMPT,
    model="claude-opus-5-5",
    usage=msgspec.Raw(
        b'{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,'
        b'"cache_creation_input_tokens":4}'
    ),
    agent_id="a1",
    parent_tool_use_id="toolu_1",
    branch=PROMPT,
    denied_by="rule",
)
ATTENTION = Attention(
    id="20000000-0000-4000-8000-000000000001",
    session_id=SESSION,
    tool_use_id="toolu_2",
    tool="Bash",
    input={"command": "touch a"},
    kind="plan",
    title="Claude wants to run a command",
    description="Make a file",
    suggestions=[RULE],
    grants=[[RULE]],
    blocked_path="/code/shop/a",
    reason="The path is outside of the working directory.",
    agent_id="a1",
    origin="terminal",
    raised=AT,
)

EVENTS: list[Event] = [
    SessionUpdated(session_id=SESSION, session=SESSION_VIEW),
    SessionRemoved(session_id=SESSION),
    Resync(session_id=SESSION),
    SessionNotified(
        session_id=SESSION,
        event="Notification",
        text="Claude is waiting for you",
        title="Claude Code",
        reason="idle_prompt",
    ),
    SessionFailed(session_id=SESSION, uuid=PROMPT, error=FAULT),
    MessageAdded(session_id=SESSION, message=MESSAGE, after=PROMPT),
    MessageDelta(session_id=SESSION, message_id="msg_1", index=1, kind="thinking", text="Hm, "),
    MessageDelta(
        session_id=SESSION,
        message_id="msg_1",
        index=2,
        kind="input",
        text='{"comm',
        tool="Bash",
        tool_use_id="toolu_2",
    ),
    MessageWithdrawn(session_id=SESSION, message_id="msg_1", index=2),
    TurnStarted(session_id=SESSION, uuid=PROMPT),
    TurnStatus(
        session_id=SESSION,
        status="retrying",
        attempt=2,
        max_retries=10,
        delay_ms=1500.5,
        error="overloaded_error",
    ),
    TurnStatus(
        session_id=SESSION,
        status="taskEnded",
        task_id="task_1",
        tool_use_id="toolu_3",
        description="Run the tests",
        task_status="completed",
        details={"outputFile": "/tmp/out"},
    ),
    TurnFinished(
        session_id=SESSION,
        uuid=PROMPT,
        outcome="failed",
        error=FAULT,
        usage={"input_tokens": 1},
        cost_usd=0.01,
        tokens_used=61_800,
        duration_ms=1234,
    ),
    QueueUpdated(
        session_id=SESSION,
        queue=[QueuedPrompt(uuid=PROMPT, text="And a drawer.", state="held", images=1)],
    ),
    AttentionRaised(session_id=SESSION, attention=ATTENTION),
    AttentionSettled(
        session_id=SESSION, attention_id=ATTENTION.id, decision="deny", by="a browser"
    ),
    ConversationUpdated(
        session_id=SESSION, key="SHOP-1", project="shop", what="summary", details="80 % full"
    ),
]
ANSWERS: list[msgspec.Struct] = [
    Hello(PROTOCOL_VERSION, f"{EPOCH}:0"),
    Subscribed(replayed=3, position=f"{EPOCH}:3"),
    ResyncAll(),
    Pong(),
    WsError(Fault("invalid_message", "Send text, not bytes.")),
]
REQUESTS: list[msgspec.Struct] = [
    Subscribe(["*"], since=f"{EPOCH}:3"),
    Unsubscribe([SESSION]),
    Ping(),
]


def file_content() -> bytes:
    """The content of the file."""
    frames = {
        "client": [msgspec.Raw(msgspec.json.encode(request)) for request in REQUESTS],
        "server": [
            *(msgspec.Raw(msgspec.json.encode(answer)) for answer in ANSWERS),
            *(msgspec.Raw(_published(event, seq)) for seq, event in enumerate(EVENTS, 1)),
        ],
    }
    return msgspec.json.format(msgspec.json.encode(frames), indent=2) + b"\n"


def frames_of(sender: str) -> list[dict[str, Any]]:
    """The frames that the file has of the `client` or of the `server`."""
    frames: list[dict[str, Any]] = msgspec.json.decode(FILE.read_bytes())[sender]
    return frames


def _published(event: Event, seq: int) -> bytes:
    bus = EventBus()
    return bus.encode(event, seq).replace(bus.epoch.encode(), EPOCH.encode())
