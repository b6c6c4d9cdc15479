"""Where Claude Code writes down what is allowed for good, and whether it can."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import orjson

from claudekeeper.contract.grants import rule_text
from claudekeeper.core.paths import claude_home

Scope = Literal["userSettings", "projectSettings", "localSettings"]
_SETTINGS_FILES: dict[Scope, str] = {
    "userSettings": "settings.json",
    "projectSettings": ".claude/settings.json",
    "localSettings": ".claude/settings.local.json",
}
_PERMISSION_LISTS = ("allow", "deny", "ask", "additionalDirectories")


def find_grant_obstacle(scope: Scope, workdir: str) -> str | None:
    """Blocks. Why something allowed in this scope would be forgotten; None where it would not.

    Claude Code does not say so: it goes on, and its next process asks again.
    """
    path = settings_file(scope, workdir)
    if scope != "userSettings" and (link := _find_link(path)) is not None:
        return f"{link} is a symbolic link, through which Claude Code does not write."
    if (fault := _find_fault(path)) is not None:
        return f"{path} {fault}."
    if scope == "projectSettings" and not _is_trusted(workdir):
        return (
            f"Claude Code heeds what {path} allows only where the directory is trusted: "
            "start Claude Code there once, in a terminal."
        )
    return None


def _scope_folder(scope: Scope, workdir: str) -> Path:
    if scope == "userSettings":
        return claude_home()
    return Path(workdir) if scope == "projectSettings" else _project_root(Path(workdir))


def _project_root(workdir: Path) -> Path:
    """The main worktree of its repository: all worktrees share one file; else the directory."""
    for folder in (workdir, *workdir.parents):
        if folder == Path.home():
            break  # one's home is no project
        git = folder / ".git"
        if git.is_dir():
            return folder
        if git.is_file():
            git_folder, _, _ = (
                _read_text(git).removeprefix("gitdir:").strip().rpartition("/worktrees/")
            )
            return Path(os.path.normpath(folder / git_folder)).parent if git_folder else folder
    return workdir


def settings_file(scope: Scope, workdir: str) -> Path:
    """Blocks. The file in which Claude Code writes what is allowed in this scope."""
    return _scope_folder(scope, workdir) / _SETTINGS_FILES[scope]


def has_change(path: Path, change: dict[str, Any]) -> bool:
    """Blocks. Whether the file has by now what a change adds; true of what adds nothing."""
    try:
        settings = orjson.loads(_read_text(path))
    except ValueError:
        return False
    listed_permissions = settings.get("permissions") if isinstance(settings, dict) else None
    permissions = listed_permissions if isinstance(listed_permissions, dict) else {}
    match change:
        case {"type": "setMode", "mode": mode}:
            return bool(permissions.get("defaultMode") == mode)
        case {"type": "addRules", "behavior": behavior, "rules": rules}:
            added, list_name = [rule_text(each) for each in rules], behavior
        case {"type": "addDirectories", "directories": directories}:
            added, list_name = directories, "additionalDirectories"
        case _:
            return True
    present = permissions.get(list_name)
    return isinstance(present, list) and all(each in present for each in added)


def _find_link(path: Path) -> Path | None:
    """A project may be anybody's, so Claude Code follows no links in it."""
    return next((each for each in (path.parent, path) if each.is_symlink()), None)


def _find_fault(path: Path) -> str | None:
    if path.exists():
        try:
            content = path.read_text(encoding="utf-8")
            settings = orjson.loads(content) if content.strip() else {}
            if not isinstance(settings, dict):
                return "has no settings in it"
            if not _are_permissions_valid(settings.get("permissions", {})):
                return "has 'permissions' that Claude Code does not understand"
        except OSError as error:
            return f"cannot be read ({error.strerror})"
        except ValueError:
            return "is not valid JSON"
    nearest = next(each for each in (path, *path.parents) if each.exists())
    return None if os.access(nearest, os.W_OK) else "cannot be written"


def _are_permissions_valid(permissions: Any) -> bool:
    """With one list that is none, Claude Code leaves the whole file alone."""
    if not isinstance(permissions, dict):
        return False
    return all(isinstance(permissions.get(name, []), list) for name in _PERMISSION_LISTS)


def _is_trusted(workdir: str) -> bool:
    """Whether a person has said so in a terminal, of this directory or one above it."""
    projects = _read_projects()
    return any(
        isinstance(project := projects.get(path), dict) and project.get("hasTrustDialogAccepted")
        for path in _trust_paths(workdir)
    )


def _trust_paths(workdir: str) -> Iterator[str]:
    for start in dict.fromkeys((workdir, os.path.realpath(workdir))):
        path = Path(start)
        yield from map(str, (path, *path.parents, _project_root(path)))


def _read_projects() -> dict[str, Any]:
    folder = Path.home() if "CLAUDE_CONFIG_DIR" not in os.environ else claude_home()
    try:
        state = orjson.loads(_read_text(folder / ".claude.json"))
    except ValueError:
        return {}
    projects = state.get("projects") if isinstance(state, dict) else None
    return projects if isinstance(projects, dict) else {}


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
