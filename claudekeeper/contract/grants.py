"""Grants: what a person may allow for good, and what was allowed for a session, so that its next
process does not ask again. Pure."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
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


# text in quotes has no shell syntax
_QUOTED_TEXT = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.", re.DOTALL)
# a command that writes its output into a file: no rule for commands allows that
_WRITE_COMMAND = re.compile(r">(?!&|\s*/dev/null\b)|\btee\b")
# a command that is not asked about if edits are not asked about
_EDIT_COMMAND = re.compile(
    r"\s*(?:touch|mkdir|rmdir|rm|mv|cp)\s(?!(?:.*\s)?--\s)[^|;&<>`$()!\n]*", re.DOTALL
)
# Claude Code judges commands that change files by their paths. It asks every time about paths that
# it cannot know (variables; patterns, also in quotes, except those of sed), and a rule does not
# match a command with more around it.
_CHANGE_COMMAND = re.compile(
    r"(?:^|[;&|({\n]|\b(?:do|then|else)\b)\s*"
    r"(?:\w+=\S*\s+|(?:timeout\s+\S+|command|nice|nohup|time)\s+)*"
    r"(?:/\S*/)?(touch|mkdir|rmdir|rm|mv|cp|sed)(?=\s)"
)
_GLOB = re.compile(r"[*?\[\]]")
_SHELL_SYNTAX = re.compile(
    r"[<>(){}]|(?:^|\s)#|;\s*$|(?:^|[;&|\n])\s*(?:cd|for|while|until|if)\s"
    # flags of cp and mv
    r"|\b(?:cp|mv)(?:[^\S\n]+[^\s;&|]+)*?[^\S\n]+-"
)


def possible_grants(
    tool: str,
    tool_input: dict[str, Any],
    suggestions: list[dict[str, Any]],
    *,
    workdir: str | None,
    mode: str | None,
    is_guarded: bool,
) -> list[Grant]:
    """The grants of which each one is enough for the same call not to be asked about again.

    Claude Code means some of its suggestions together, and some of them change nothing.
    `is_guarded`: it asks about this file every time, whatever is allowed.
    """
    command = str(tool_input.get("command")) if tool == "Bash" else None
    if is_guarded or (command is not None and _always_needs_permission(command)):
        return []
    directories = [change for change in suggestions if change.get("type") == "addDirectories"]
    outside = [change for change in directories if not _is_below(change, workdir)]
    others = [change for change in suggestions if change not in directories]
    is_edit = command is None or _EDIT_COMMAND.fullmatch(command) is not None
    if command is None and tool != "Read":
        grants = [[change] for change in others]
    else:
        # a line may be several commands, and a path may lead elsewhere through a link: a rule for
        # one of them is of no use without the others
        rules = [change for change in others if "rules" in change]
        modes = [change for change in others if change not in rules]
        grants = ([rules] if rules else []) + [[change] for change in modes if is_edit]
    if grants:
        return [[*grant, *outside] for grant in grants]
    # a directory alone is enough only if edits are not asked about
    return [outside] if outside and is_edit and mode == "acceptEdits" else []


def _always_needs_permission(command: str) -> bool:
    unquoted = _QUOTED_TEXT.sub("", command)
    if _WRITE_COMMAND.search(unquoted):
        return True
    programs = set(_CHANGE_COMMAND.findall(unquoted))
    if not programs:
        return False
    patterns = unquoted if programs == {"sed"} else command
    return "$" in command or bool(_GLOB.search(patterns) or _SHELL_SYNTAX.search(unquoted))


def _is_below(change: dict[str, Any], workdir: str | None) -> bool:
    """Whether all directories of the change are in the working directory."""
    if workdir is None:
        return False
    directories = change.get("directories") or []
    return all(PurePosixPath(str(path)).is_relative_to(workdir) for path in directories)
