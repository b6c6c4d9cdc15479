"""What a person allowed for a session, so that its next process need not ask again. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

# what somebody allowed first is forgotten first, and asked again
MOST = 200

_ESCAPED = str.maketrans({"\\": "\\\\", "(": "\\(", ")": "\\)"})


class Grants(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Rules as Claude Code's settings write them, and directories beside the working directory."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    additional_directories: tuple[str, ...] = ()

    def settings(self) -> str | None:
        """For a process that is about to start; None where nothing was granted."""
        if self == Grants():
            return None
        return msgspec.json.encode({"permissions": self}).decode()


def with_answer(grants: Grants, permissions: list[dict[str, Any]]) -> Grants:
    """What holds after an answer with these permissions.

    Claude Code keeps those of a session in its process, and those of other scopes in files.
    """
    for each in permissions:
        if each["destination"] == "session":
            grants = _changed(grants, each)
    return grants


def _changed(grants: Grants, change: dict[str, Any]) -> Grants:
    kind = str(change["type"])
    if kind.endswith("Rules"):
        field = str(change["behavior"])
        values = [_rule(rule) for rule in change["rules"]]
    elif kind.endswith("Directories"):
        field, values = "additional_directories", list(change["directories"])
    else:
        # a mode: the session says itself in which it is
        return grants
    others = () if kind.startswith("replace") else getattr(grants, field)
    kept = [value for value in others if value not in values]
    now = kept if kind.startswith("remove") else [*kept, *values]
    return msgspec.structs.replace(grants, **{field: tuple(now[-MOST:])})


def _rule(rule: dict[str, Any]) -> str:
    content = rule.get("ruleContent")
    return f"{rule['toolName']}({content.translate(_ESCAPED)})" if content else rule["toolName"]
