"""A keeper that runs, asked from a terminal."""

from __future__ import annotations

import http.client
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from claudekeeper.config import Config, load_config
from claudekeeper.instance import running
from claudekeeper.model.errors import KeeperError
from doorway.addresses import in_url, reachable
from doorway.listening import TlsInvalid, trusting

PATIENCE = 30.0


class Unreachable(KeeperError):
    code = "unreachable"
    sentence = "No keeper answers."


class Refused(KeeperError):
    code = "refused"
    sentence = "The keeper refused."


class Terminal:
    """The owner of a home, in front of the keeper that runs there."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._config = load_config(home)
        self._who = running(home)

    @property
    def other_names(self) -> list[str]:
        """The names under which other machines may call."""
        return [in_url(name) for name in self._config.allowed_hosts]

    def keeper(self, method: str, path: str, body: object = None) -> Any:
        """What the keeper answers."""
        said = self._who.keeper if self._who else None
        return self._ask(said or _address(self._config, self._config.port), method, path, body)

    def clarvis(self, method: str, path: str, body: object = None, port: int | None = None) -> Any:
        """What the page's server answers; `port` where it runs by itself."""
        said = self._who.clarvis if self._who and port is None else None
        where = said or _address(self._config, port or self._config.ui_port)
        return self._ask(where, method, path, body)

    def _ask(self, address: str, method: str, path: str, body: object) -> Any:
        headers = {
            "Authorization": f"Bearer {self._config.token}",
            "Content-Type": "application/json",
            "Host": "localhost" if address.startswith("unix:") else urlsplit(address).netloc,
        }
        content = None if body is None else _written(body)
        try:
            connection = self._connected(address)
            try:
                connection.request(method, path, content, headers)
                answer = connection.getresponse()
                said = answer.read()
            finally:
                connection.close()
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(
                f"Nothing answers at {address}. Start it with: claudekeeper serve"
            ) from error
        if answer.status >= 400:
            raise Refused(f"{_sentence(said)} ({answer.status}, {address})")
        return _whole(said) if said else None

    def _connected(self, address: str) -> http.client.HTTPConnection:
        if address.startswith("unix:"):
            return _Unix(address.removeprefix("unix:"))
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
        if parts.scheme != "https":
            return http.client.HTTPConnection(host, port, timeout=PATIENCE)
        try:
            context = trusting(Path(self._config.tls_cert)) if self._config.tls_cert else None
        except TlsInvalid as error:
            raise Unreachable(f"{error}.") from error
        return http.client.HTTPSConnection(host, port, timeout=PATIENCE, context=context)


class _Unix(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=PATIENCE)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _address(config: Config, port: int) -> str:
    scheme = "https" if config.tls_cert else "http"
    return f"{scheme}://{in_url(reachable(config.host))}:{port}"


def _whole(said: bytes) -> Any:
    """An answer; one that could not go on says so in its last line."""
    try:
        return orjson.loads(said)
    except orjson.JSONDecodeError as error:
        reason = _sentence(said.rstrip(b"\n").rpartition(b"\n")[2])
        raise Refused(reason) from error


def _sentence(said: bytes) -> str:
    try:
        return str(orjson.loads(said)["error"]["message"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return "What answers is no keeper"


def _written(body: object) -> bytes:
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError as error:
        # a terminal can be told bytes that are none
        raise Refused("What you said is no text in UTF-8.") from error
