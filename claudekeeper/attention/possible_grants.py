"""Which grants a question can offer, beside allowing the call once. Pure."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

from claudekeeper.contract.grants import Grant

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
