"""Grants: what was allowed for a session, so that its next process does not ask again. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

# the oldest grants are dropped first, and Claude Code asks again
MAX_PER_LIST = 200
# of the settings of a process: the system limits an argument to 128 KiB
MAX_SETTINGS_BYTES = 100_000

# permission changes that belong together, as Claude Code takes them
Grant = list[dict[str, Any]]

# Claude Code stores these in its process and nowhere else
PROCESS_DESTINATIONS = frozenset({"session", "cliArg"})

_ESCAPES = str.maketrans({"\\": "\\\\", "(": "\\(", ")": "\\)"})


class Grants(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Rules as in Claude Code's settings, and directories beside the working directory."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    additional_directories: tuple[str, ...] = ()

    def settings_json(self) -> str | None:
        """The settings for a new process; None without grants."""
        if self == Grants():
            return None
        return msgspec.json.encode({"permissions": self}).decode()


def apply_permissions(grants: Grants, permissions: list[dict[str, Any]]) -> Grants:
    """The grants after an answer with these permissions.

    Claude Code stores permissions of other destinations in files.
    """
    for change in permissions:
        if change["destination"] in PROCESS_DESTINATIONS:
            grants = _apply_change(grants, change)
    while len((grants.settings_json() or "").encode()) > MAX_SETTINGS_BYTES:
        grants = _drop_oldest(grants)
    return grants


def _drop_oldest(grants: Grants) -> Grants:
    """Without the oldest grant of the largest list."""
    size = {name: len(str(value)) for name, value in msgspec.structs.asdict(grants).items()}
    longest = max(size, key=lambda name: size[name])
    return msgspec.structs.replace(grants, **{longest: getattr(grants, longest)[1:]})


def _apply_change(grants: Grants, change: dict[str, Any]) -> Grants:
    kind = str(change["type"])
    if kind.endswith("Rules"):
        field = str(change["behavior"])
        values = [rule_text(rule) for rule in change["rules"]]
    elif kind.endswith("Directories"):
        field, values = "additional_directories", list(change["directories"])
    else:
        # a mode: the session reports its own
        return grants
    others = () if kind.startswith("replace") else getattr(grants, field)
    unchanged = [value for value in others if value not in values]
    result = unchanged if kind.startswith("remove") else [*unchanged, *values]
    return msgspec.structs.replace(grants, **{field: tuple(result[-MAX_PER_LIST:])})


def rule_text(rule: dict[str, Any]) -> str:
    """A rule as in Claude Code's settings."""
    content = rule.get("ruleContent")
    return f"{rule['toolName']}({content.translate(_ESCAPES)})" if content else rule["toolName"]
