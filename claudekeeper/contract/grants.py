"""What a person may allow for good, and what was allowed for a session, so that its next process
need not ask again. Pure."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

import msgspec

# what somebody allowed first is forgotten first, and asked again
MAX_PER_LIST = 200
# of the settings with which a process is started: the system bounds an argument to 128 KiB
MAX_SETTINGS_BYTES = 100_000

# a grant: changes that belong together, as Claude Code takes them
Grant = list[dict[str, Any]]

# kept in the process and nowhere else
PROCESS_DESTINATIONS = frozenset({"session", "cliArg"})

_ESCAPES = str.maketrans({"\\": "\\\\", "(": "\\(", ")": "\\)"})


class Grants(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Rules as Claude Code's settings write them, and directories beside the working directory."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    additional_directories: tuple[str, ...] = ()

    def settings_json(self) -> str | None:
        """For a process that is about to start; None where nothing was granted."""
        if self == Grants():
            return None
        return msgspec.json.encode({"permissions": self}).decode()


def apply_permissions(grants: Grants, permissions: list[dict[str, Any]]) -> Grants:
    """What holds after an answer with these permissions.

    Claude Code keeps those of a session, or of its command line, in its process, and those of
    other scopes in files.
    """
    for each in permissions:
        if each["destination"] in PROCESS_DESTINATIONS:
            grants = _apply_change(grants, each)
    while len((grants.settings_json() or "").encode()) > MAX_SETTINGS_BYTES:
        grants = _drop_oldest(grants)
    return grants


def _drop_oldest(grants: Grants) -> Grants:
    """Without the first one of the list that takes most room."""
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
        # a mode: the session says itself in which it is
        return grants
    others = () if kind.startswith("replace") else getattr(grants, field)
    kept = [value for value in others if value not in values]
    now = kept if kind.startswith("remove") else [*kept, *values]
    return msgspec.structs.replace(grants, **{field: tuple(now[-MAX_PER_LIST:])})


def rule_text(rule: dict[str, Any]) -> str:
    """A rule as settings write it."""
    content = rule.get("ruleContent")
    return f"{rule['toolName']}({content.translate(_ESCAPES)})" if content else rule["toolName"]


# what stands in quotes is no sign of the shell's
_QUOTED_TEXT = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.", re.DOTALL)
# a command that writes what it prints into a file: no rule for commands says that it may
_WRITE_COMMAND = re.compile(r">(?!&|\s*/dev/null\b)|\btee\b")
# one that needs no question where edits need none
_EDIT_COMMAND = re.compile(
    r"\s*(?:touch|mkdir|rmdir|rm|mv|cp)\s(?!(?:.*\s)?--\s)[^|;&<>`$()!\n]*", re.DOTALL
)
# Commands that change files are judged by their paths. Claude Code asks every time about what it
# cannot tell beforehand (variables; patterns, also in quotes, where sed has its own), and does not
# know a rule again where more stands around the command.
_CHANGE_COMMAND = re.compile(
    r"(?:^|[;&|({\n]|\b(?:do|then|else)\b)\s*"
    r"(?:\w+=\S*\s+|(?:timeout\s+\S+|command|nice|nohup|time)\s+)*"
    r"(?:/\S*/)?(touch|mkdir|rmdir|rm|mv|cp|sed)(?=\s)"
)
_GLOB = re.compile(r"[*?\[\]]")
_SHELL_SYNTAX = re.compile(
    r"[<>(){}]|(?:^|\s)#|;\s*$|(?:^|[;&|\n])\s*(?:cd|for|while|until|if)\s"
    # flags of these two
    r"|\b(?:cp|mv)(?:[^\S\n]+[^\s;&|]+)*?[^\S\n]+-"
)


def possible_grants(
    tool: str,
    given: dict[str, Any],
    suggested: list[dict[str, Any]],
    *,
    workdir: str | None,
    mode: str | None,
    is_guarded: bool,
) -> list[Grant]:
    """What may be allowed for good: after each of them, the same call is not asked about again.

    Claude Code means some of its suggestions together, and makes some that change nothing.
    `guarded`: it asks about this file every time, whatever is allowed.
    """
    command = str(given.get("command")) if tool == "Bash" else None
    if is_guarded or (command is not None and _always_needs_permission(command)):
        return []
    folders = [each for each in suggested if each.get("type") == "addDirectories"]
    outside = [each for each in folders if not _is_below(each, workdir)]
    others = [each for each in suggested if each not in folders]
    edits = command is None or _EDIT_COMMAND.fullmatch(command) is not None
    if command is None and tool != "Read":
        grants = [[each] for each in others]
    else:
        # a line may be several commands, and a path lead elsewhere through a link: what allows one
        # of them is no use without the others
        rules = [each for each in others if "rules" in each]
        modes = [each for each in others if each not in rules]
        grants = ([rules] if rules else []) + [[each] for each in modes if edits]
    if grants:
        return [[*each, *outside] for each in grants]
    # to let somebody in is enough only where edits are not asked about
    return [outside] if outside and edits and mode == "acceptEdits" else []


def _always_needs_permission(command: str) -> bool:
    bare = _QUOTED_TEXT.sub("", command)
    if _WRITE_COMMAND.search(bare):
        return True
    changing = set(_CHANGE_COMMAND.findall(bare))
    if not changing:
        return False
    patterns = bare if changing == {"sed"} else command
    return "$" in command or bool(_GLOB.search(patterns) or _SHELL_SYNTAX.search(bare))


def _is_below(change: dict[str, Any], workdir: str | None) -> bool:
    """Whether the session works there already."""
    if workdir is None:
        return False
    directories = change.get("directories") or []
    return all(PurePosixPath(str(each)).is_relative_to(workdir) for each in directories)
