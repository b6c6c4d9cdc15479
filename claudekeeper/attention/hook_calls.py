"""What Claude Code tells a hook, and what a hook may answer."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated, Any

import msgspec
import orjson

from claudekeeper.attention.possible_grants import possible_grants
from claudekeeper.contract.attention import Answer, Decision, attention_kind
from claudekeeper.contract.grants import Grant
from claudekeeper.transcripts.entries import Entry, loads

# how Claude Code tells the model that the person at the terminal said no
_TERMINAL_REFUSAL = "doesn't want to proceed with this tool use"

# files by which programs are set up and whose names begin with no dot
_GUARDED_FILES = frozenset(
    {
        "bunfig.toml",
        "lefthook.yml",
        "lefthook.yaml",
        "gradle-wrapper.properties",
        "maven-wrapper.properties",
        "pyrightconfig.json",
    }
)

# what names no session cannot have a question: a stranger's words would be shown as its id
SessionId = Annotated[
    str, msgspec.Meta(pattern=r"^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$(?!\n)")
]


class HookEvent(msgspec.Struct, kw_only=True):
    """The fields that we take; Claude Code adds others from version to version."""

    hook_event_name: str
    session_id: SessionId = ""
    # of a permission request
    tool_name: str | None = None
    tool_input: dict[str, Any] = {}
    permission_suggestions: list[dict[str, Any]] = []
    permission_mode: str | None = None
    cwd: str | None = None
    agent_id: str | None = None
    # of a notification, a beginning, an end
    message: str | None = None
    title: str | None = None
    notification_type: str | None = None
    source: str | None = None
    reason: str | None = None

    @property
    def grants(self) -> list[Grant]:
        """What may be allowed for good."""
        return possible_grants(
            self.tool_name or "",
            self.tool_input,
            self.permission_suggestions,
            workdir=self.cwd,
            mode=self.permission_mode,
            is_guarded=any(_may_be_guarded(path, self.cwd) for path in self._changed_paths),
        )

    @property
    def _changed_paths(self) -> list[str]:
        """The paths that the tool would change, as far as the hook names them."""
        tool_input = self.tool_input if self.tool_name != "Read" else {}
        paths = [tool_input.get("file_path"), tool_input.get("notebook_path")]
        for each in self.permission_suggestions:
            directories = each.get("directories")
            paths += directories if isinstance(directories, list) else []
        return [path for path in paths if isinstance(path, str)]


class HookCall(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """An event, and where it comes from; `again`: it was asked before, and the answer was lost."""

    event: HookEvent
    # when Claude Code asked: a busy keeper receives it later
    at: str = ""
    pid: int = 0
    entrypoint: str = "unknown"
    again: bool = False


def _may_be_guarded(path: str, workdir: str | None) -> bool:
    """Whether Claude Code may ask about this file whatever is allowed; the hook does not say."""
    relative_path = PurePosixPath(path)
    if workdir is not None and relative_path.is_relative_to(workdir):
        relative_path = relative_path.relative_to(workdir)
    return relative_path.name.lower() in _GUARDED_FILES or any(
        part.startswith(".") for part in relative_path.parts
    )


def hook_output(answer: Answer) -> dict[str, Any]:
    """The answer in Claude Code's words."""
    decision: dict[str, Any] = {"behavior": answer.decision}
    if answer.decision == "allow":
        # what was shown is what is allowed
        decision["updatedInput"] = answer.input
        if answer.permissions:
            decision["updatedPermissions"] = answer.permissions
    else:
        decision["message"] = answer.message
        decision["interrupt"] = answer.interrupt
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}


def find_tool_use_id(event: HookEvent, recent: list[Entry]) -> str | None:
    """The call that a permission request is for: the hook does not have its id."""
    if event.tool_name is None:
        return None
    answered = find_answered_calls(recent)
    for entry in reversed(recent):
        for block in content_blocks(entry):
            call = str(block.get("id"))
            if is_call_of(block, event.tool_name, event.tool_input) and call not in answered:
                return call
    return None


def is_call_of(block: dict[str, Any], tool: str, tool_input: dict[str, Any]) -> bool:
    """Whether this is how a call of the tool, with this input, was written down."""
    if block.get("type") != "tool_use" or block.get("name") != tool:
        return False
    # hooks are given the plan that stands in its file, which need not be what the model wrote;
    # and no conversation has two at once
    return attention_kind(tool) == "plan" or block.get("input") == tool_input


def find_answered_calls(recent: list[Entry], before: str = "") -> frozenset[str]:
    """The calls that have their results, or had them before a time."""
    return frozenset(
        str(block.get("tool_use_id"))
        for entry in recent
        if not before or (entry.timestamp or "") < before
        for block in content_blocks(entry)
        if block.get("type") == "tool_result"
    )


def actual_decision(answer: Answer, result: dict[str, Any]) -> Decision:
    """What a call's result shows to have been decided, whatever we answered."""
    words = _json_text(result.get("content"))
    if not result.get("is_error"):
        return "allow"
    if answer.decision == "deny":
        # a refusal repeats its reason
        return "deny" if _json_text(answer.message)[1:-1] in words else "allow"
    return "deny" if _TERMINAL_REFUSAL in words else "allow"


def _json_text(value: Any) -> str:
    return orjson.dumps(value).decode()


def content_blocks(entry: Entry) -> list[dict[str, Any]]:
    """The content blocks of a line, whatever they hold."""
    if entry.type not in ("user", "assistant"):
        return []
    content = loads(entry.message.content)
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if isinstance(block, dict)]
