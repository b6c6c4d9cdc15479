"""Which Claude Codes run now: each keeps `sessions/<pid>.json` in Claude's folder.

The file goes with a clean exit and stays after a kill, so the process it names is looked at too:
it has to live, and to have started when the file says.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from claudekeeper.model.sessions import Presence, Status, iso
from claudekeeper.readers.lines import opened

_NAME = re.compile(r"([0-9]{1,10})\.json")
LARGEST = 64 * 1024
# what the keeper gives to the CLIs that it starts
MARK = b"CLAUDEKEEPER_SESSION="
PROC = Path("/proc")


class _File(msgspec.Struct, rename="camel"):
    """What we take from the file; all of it may be missing or new tomorrow."""

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


_file = msgspec.json.Decoder(_File)


class Process(msgspec.Struct, frozen=True, gc=False):
    """A running Claude Code: its presence, and what tells whether it is one of ours."""

    session_id: str
    presence: Presence
    started: str
    parent: int | None
    # the session for which a keeper started it
    kept_for: str | None


def running(folder: Path, before: Iterable[Process] = ()) -> list[Process]:
    """Every Claude Code that runs now. Blocks: call it in a thread.

    `before`: what the last look found. A file is empty for a moment whenever it is written; who
    runs there is still there.
    """
    found: list[Process] = []
    known = {f"{process.presence.pid}.json": process for process in before}
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    for name in sorted(names):
        if _NAME.fullmatch(name):
            process = _look(folder / name, known.get(name))
            if process is not None:
                found.append(process)
    return found


def alive(process: Process) -> bool:
    """Whether it still runs; the cheaper question."""
    return _process(process.presence.pid)[0] == process.started


def _look(path: Path, known: Process | None) -> Process | None:
    try:
        with opened(path) as descriptor:
            file = _file.decode(os.pread(descriptor, LARGEST, 0))
    except OSError:
        return None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        # half written, or of a version that we do not know: it will be looked at again
        return known if known is not None and alive(known) else None
    started, parent = _process(file.pid)
    if started is None:
        return None
    if started and file.proc_start is not None and str(file.proc_start) != started:
        return None
    environment = _environment(file.pid)
    if environment == b"":
        # its memory is gone: it is ending, and whose it was cannot be seen any more
        return None
    since = file.status_updated_at or file.updated_at or file.started_at
    return Process(
        file.session_id.lower(),
        Presence(
            pid=file.pid,
            entrypoint=file.entrypoint or "unknown",
            status=_status(file.status),
            waiting_for=file.waiting_for,
            since=iso(int(since * 1_000_000)) if since else None,
            interactive=file.kind in (None, "interactive"),
        ),
        started,
        parent,
        _kept_for(environment or b""),
    )


def _status(text: str | None) -> Status:
    match text:
        case "idle" | "waiting":
            return text
        case _:
            # whatever else it may be called one day, something goes on
            return "busy"


def _process(pid: int) -> tuple[str | None, int | None]:
    """When a process started, as the kernel counts, and its parent; None for one that is gone."""
    if not PROC.is_dir():
        return _elsewhere(pid)
    try:
        # the name in brackets can hold anything, also brackets
        fields = (PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
        if fields[0] in (b"Z", b"X"):
            return None, None
        return fields[19].decode(), int(fields[1])
    except (OSError, IndexError, ValueError):
        return None, None


def _elsewhere(pid: int) -> tuple[str | None, int | None]:
    """Systems without /proc: whether it lives is all that can be had without a library."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return "", None
    except OSError:
        return None, None
    return "", None


def _environment(pid: int) -> bytes | None:
    """None where it cannot be seen."""
    try:
        return (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return None


def _kept_for(environment: bytes) -> str | None:
    for variable in environment.split(b"\0"):
        if variable.startswith(MARK):
            return variable[len(MARK) :].decode(errors="replace").lower()
    return None
