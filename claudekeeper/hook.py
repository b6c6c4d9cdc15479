"""What Claude Code runs for our hooks: passes the event on to the keeper, and its answer back.

Run as a file by its own path, with the standard library alone, because a person waits for it. It
stays silent and ends with 0 whatever goes wrong: then the terminal does what it does without us,
and nothing is ever allowed because nobody answered.
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

# seconds: for the keeper to take an event, and for one that went away to come back
PATIENCE = 5.0
RETURN = 60.0
PAUSE = 0.5
# the keeper answers a permission request when a person does
ASKED = "PermissionRequest"
GONE = 503
# set by `claudekeeper hooks status`, which wants to know
PROBE = "CLAUDEKEEPER_HOOK_PROBE"


def main(arguments: list[str]) -> None:
    # a session that the keeper runs itself: it asks there already
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
    asked = event.get("hook_event_name") == ASKED
    status, content = _ask(home, call, asked)
    while asked and status == GONE and _comes_back(home):
        # the keeper was restarted while the question was open
        status, content = _ask(home, {**call, "again": True}, asked)
    if os.environ.get(PROBE):
        sys.stdout.write(str(status))
    elif asked and status == http.HTTPStatus.OK and (output := json.loads(content)["output"]):
        sys.stdout.write(json.dumps(output))


def _now() -> str:
    """As transcripts write times: what is answered there from now on is not asked any more."""
    seconds = time.time()
    day = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{day}.{int(seconds % 1 * 1000):03}Z"


def _ask(home: Path, call: dict[str, Any], waits: bool) -> tuple[int, bytes]:
    """What the keeper answers: 0 if there is none, 503 if it went away before it could."""
    where = _keeper(home)
    if where is None:
        return 0, b""
    connection = _connected(home, where)
    path = "/hooks/permission" if waits else "/hooks/event"
    headers = {
        "Authorization": f"Bearer {_config(home)['hookToken']}",
        "Content-Type": "application/json",
        "Host": "localhost" if where.startswith("unix:") else urlsplit(where).netloc,
    }
    try:
        connection.connect()
    except OSError:
        return 0, b""
    if waits and connection.sock is not None:
        connection.sock.settimeout(None)
    try:
        connection.request("POST", path, json.dumps(call), headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        return GONE, b""


def _comes_back(home: Path) -> bool:
    until = time.monotonic() + RETURN
    while time.monotonic() < until:
        time.sleep(PAUSE)
        if _keeper(home) is not None:
            return True
    return False


def _keeper(home: Path) -> str | None:
    """Where the keeper listens; None unless one holds the home, whoever else has its port."""
    try:
        descriptor = os.open(home / "keeper.lock", os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        where = json.loads(os.pread(descriptor, 4096, 0) or b"{}").get("keeper")
        return where if isinstance(where, str) else None
    finally:
        os.close(descriptor)
    return None


def _config(home: Path) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((home / "config.json").read_bytes())
    return config


def _connected(home: Path, where: str) -> http.client.HTTPConnection:
    if where.startswith("unix:"):
        return _Unix(where.removeprefix("unix:"))
    parts = urlsplit(where)
    if parts.scheme != "https":
        return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)
    context = ssl.create_default_context(cafile=_config(home).get("tlsCert"))
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return http.client.HTTPSConnection(
        parts.hostname or "", parts.port, timeout=PATIENCE, context=context
    )


class _Unix(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=PATIENCE)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


if __name__ == "__main__":
    # whatever it is, the terminal goes on without us
    with contextlib.suppress(Exception):
        main(sys.argv[1:])
