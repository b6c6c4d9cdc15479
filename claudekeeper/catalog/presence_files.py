"""Which Claude Codes run now: each keeps `sessions/<pid>.json` in Claude's folder.

A clean exit deletes the file, a kill does not. So the process that it names is checked too: it has
to live, and to have started when the file says.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from claudekeeper.contract.sessions import Presence, PresenceStatus
from claudekeeper.core.proc import PROC, read_process_stat
from claudekeeper.core.timestamps import iso_from_ns
from claudekeeper.transcripts.line_reader import open_readonly

_FILE_NAME = re.compile(r"([0-9]{1,10})\.json")
MAX_FILE_BYTES = 64 * 1024
# what the keeper gives to the CLIs that it starts
SESSION_VARIABLE = b"CLAUDEKEEPER_SESSION="


class _File(msgspec.Struct, rename="camel"):
    """The fields of the file that we use; another version may lack any of them."""

    session_id: str
    pid: int
    proc_start: str | int | None = None
    entrypoint: str | None = None
    kind: str | None = None
    status: str | None = None
    waiting_for: str | None = None
    updated_at: float | None = None
    status_updated_at: float | None = None
    started_at: float | None = None


_file_decoder = msgspec.json.Decoder(_File)


class RunningClaude(msgspec.Struct, frozen=True, gc=False):
    """A running Claude Code: its presence, and what shows whether it is one of ours."""

    session_id: str
    presence: Presence
    started: str
    parent_pid: int | None
    # the session for which a keeper started it
    keeper_session: str | None


def list_running(folder: Path, before: Iterable[RunningClaude] = ()) -> list[RunningClaude]:
    """Every Claude Code that runs now. Blocks: call it in a thread.

    `before`: the result of the last call. A file is empty for a moment whenever it is written, but
    its process still runs.
    """
    running: list[RunningClaude] = []
    by_name = {f"{process.presence.pid}.json": process for process in before}
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    for name in sorted(names):
        if _FILE_NAME.fullmatch(name):
            process = _read_presence(folder / name, by_name.get(name))
            if process is not None:
                running.append(process)
    return running


def is_alive(process: RunningClaude) -> bool:
    """Whether a process that was listed still runs; cheaper than listing."""
    return _start_and_parent(process.presence.pid)[0] == process.started


def _read_presence(path: Path, earlier: RunningClaude | None) -> RunningClaude | None:
    try:
        with open_readonly(path) as descriptor:
            file = _file_decoder.decode(os.pread(descriptor, MAX_FILE_BYTES, 0))
    except OSError:
        return None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        # half written, or of an unknown version: it is read again later
        return earlier if earlier is not None and is_alive(earlier) else None
    started, parent = _start_and_parent(file.pid)
    if started is None:
        return None
    if started and file.proc_start is not None and str(file.proc_start) != started:
        return None
    environment = _read_environment(file.pid)
    if environment == b"":
        # it is ending: its environment cannot be read any more
        return None
    since = file.status_updated_at or file.updated_at or file.started_at
    return RunningClaude(
        file.session_id.lower(),
        Presence(
            pid=file.pid,
            entrypoint=file.entrypoint or "unknown",
            status=_parse_status(file.status),
            waiting_for=file.waiting_for,
            since=iso_from_ns(int(since * 1_000_000)) if since else None,
            interactive=file.kind in (None, "interactive"),
        ),
        started,
        parent,
        _keeper_session(environment or b""),
    )


def _parse_status(text: str | None) -> PresenceStatus:
    match text:
        case "idle" | "waiting":
            return text
        case _:
            # an unknown status means that something is going on
            return "busy"


def _start_and_parent(pid: int) -> tuple[str | None, int | None]:
    """When a process started, as the kernel counts, and its parent; None for one that is gone."""
    if not PROC.is_dir():
        return _process_without_proc(pid)
    stat = read_process_stat(pid)
    if stat is None or stat.is_dead:
        return None, None
    return stat.started, stat.parent_pid


def _process_without_proc(pid: int) -> tuple[str | None, int | None]:
    """Without /proc only whether a process lives can be checked."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return "", None
    except OSError:
        return None, None
    return "", None


def _read_environment(pid: int) -> bytes | None:
    """None where it cannot be seen."""
    try:
        return (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return None


def _keeper_session(environment: bytes) -> str | None:
    for variable in environment.split(b"\0"):
        if variable.startswith(SESSION_VARIABLE):
            return variable[len(SESSION_VARIABLE) :].decode(errors="replace").lower()
    return None
