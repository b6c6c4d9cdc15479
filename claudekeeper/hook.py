"""The program that Claude Code runs for our hooks: it takes an event to the keeper, and its answer
back.

It runs by its path with the standard library alone, because a person waits for it. Whatever goes
wrong, it prints nothing and ends with 0: the terminal then asks as it does without us, and nothing
is ever allowed because nobody answered.
"""

from __future__ import annotations

import contextlib
import fcntl
import http.client
import json
import os
import socket
import ssl
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

# seconds for the keeper to accept an event, and for a keeper that restarts
TIMEOUT_SECONDS = 5.0
RESTART_SECONDS = 60.0
POLL_SECONDS = 0.5
# the event that the keeper answers once a person has decided
PERMISSION_EVENT = "PermissionRequest"
GONE = 503
# set by `claudekeeper hooks status`, to get the status printed
PROBE = "CLAUDEKEEPER_HOOK_PROBE"


def main(arguments: list[str]) -> None:
    # a session of the keeper asks there anyway
    if os.environ.get("CLAUDEKEEPER_SESSION") or len(arguments) != 1:
        return
    at = _now()
    event = json.load(sys.stdin)
    call = {
        "event": event,
        "at": at,
        "pid": int(os.environ.get("CLAUDE_PID") or 0),
        "entrypoint": os.environ.get("CLAUDE_CODE_ENTRYPOINT") or "unknown",
        "again": False,
    }
    home = Path(arguments[0])
    is_question = event.get("hook_event_name") == PERMISSION_EVENT
    status, content = _send(home, call, is_question)
    while is_question and status == GONE and _wait_for_restart(home):
        # the keeper was restarted while the question was open
        status, content = _send(home, {**call, "again": True}, is_question)
    if os.environ.get(PROBE):
        sys.stdout.write(str(status))
    elif is_question and status == http.HTTPStatus.OK and (output := json.loads(content)["output"]):
        sys.stdout.write(json.dumps(output))


def _now() -> str:
    """The time as transcripts have it, to compare with answers that are written there."""
    seconds = time.time()
    day = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{day}.{int(seconds % 1 * 1000):03}Z"


def _send(home: Path, call: dict[str, Any], is_question: bool) -> tuple[int, bytes]:
    """The answer of the keeper: 0 without one, 503 if it went away meanwhile."""
    address = _keeper_address(home)
    if address is None:
        return 0, b""
    connection = _connection(home, address)
    path = "/hooks/permission" if is_question else "/hooks/event"
    headers = {
        "Authorization": f"Bearer {_config(home)['hookToken']}",
        "Content-Type": "application/json",
        "Host": "localhost" if address.startswith("unix:") else urlsplit(address).netloc,
    }
    try:
        connection.connect()
    except OSError:
        return 0, b""
    if is_question and connection.sock is not None:
        connection.sock.settimeout(None)
    try:
        connection.request("POST", path, json.dumps(call), headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        return GONE, b""


def _wait_for_restart(home: Path) -> bool:
    until = time.monotonic() + RESTART_SECONDS
    while time.monotonic() < until:
        time.sleep(POLL_SECONDS)
        if _keeper_address(home) is not None:
            return True
    return False


def _keeper_address(home: Path) -> str | None:
    """The address of the keeper that holds the lock of the home; None if there is none."""
    try:
        descriptor = os.open(home / "keeper.lock", os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        address = json.loads(os.pread(descriptor, 4096, 0) or b"{}").get("keeper")
        return address if isinstance(address, str) else None
    finally:
        os.close(descriptor)
    return None


def _config(home: Path) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((home / "config.json").read_bytes())
    return config


def _connection(home: Path, address: str) -> http.client.HTTPConnection:
    if address.startswith("unix:"):
        return _UnixConnection(address.removeprefix("unix:"))
    parts = urlsplit(address)
    if parts.scheme != "https":
        return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=TIMEOUT_SECONDS)
    context = ssl.create_default_context(cafile=_config(home).get("tlsCert"))
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return http.client.HTTPSConnection(
        parts.hostname or "", parts.port, timeout=TIMEOUT_SECONDS, context=context
    )


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=TIMEOUT_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


if __name__ == "__main__":
    # whatever goes wrong, the terminal works without us
    with contextlib.suppress(Exception):
        main(sys.argv[1:])
