"""The client of the API that the commands use."""

from __future__ import annotations

import http.client
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from claudekeeper.cli.instance_lock import running_keeper
from claudekeeper.core.config import Config, load_config
from claudekeeper.net.addresses import host_in_url, reachable_host
from claudekeeper.net.errors import ApiError
from claudekeeper.net.listen import TlsInvalid, client_context

TIMEOUT_SECONDS = 30.0


class Unreachable(ApiError):
    code = "unreachable"
    sentence = "No keeper answers."


class Refused(ApiError):
    code = "refused"
    sentence = "The keeper refused."


class ApiClient:
    """Calls the keeper of a home, and its Clarvis, with the token of the home."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._config = load_config(home)
        self._instance = running_keeper(home)

    @property
    def allowed_hosts(self) -> list[str]:
        """The host names by which other machines reach the keeper."""
        return [host_in_url(name) for name in self._config.allowed_hosts]

    def call_keeper(self, method: str, path: str, body: object = None) -> Any:
        """The answer of the keeper."""
        running = self._instance.keeper if self._instance else None
        address = running or _address(self._config, self._config.port)
        return self._request(address, method, path, body)

    def call_clarvis(
        self, method: str, path: str, body: object = None, port: int | None = None
    ) -> Any:
        """The answer of Clarvis; `port` where it runs without the keeper."""
        running = self._instance.clarvis if self._instance and port is None else None
        address = running or _address(self._config, port or self._config.ui_port)
        return self._request(address, method, path, body)

    def _request(self, address: str, method: str, path: str, body: object) -> Any:
        headers = {
            "Authorization": f"Bearer {self._config.token}",
            "Content-Type": "application/json",
            "Host": "localhost" if address.startswith("unix:") else urlsplit(address).netloc,
        }
        content = None if body is None else _encode_body(body)
        try:
            connection = self._connect(address)
            try:
                connection.request(method, path, content, headers)
                response = connection.getresponse()
                answer = response.read()
            finally:
                connection.close()
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(
                f"Nothing answers at {address}. Start it with: claudekeeper serve"
            ) from error
        if response.status >= 400:
            raise Refused(f"{_error_message(answer)} ({response.status}, {address})")
        return _parse_response(answer) if answer else None

    def _connect(self, address: str) -> http.client.HTTPConnection:
        if address.startswith("unix:"):
            return _UnixConnection(address.removeprefix("unix:"))
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
        if parts.scheme != "https":
            return http.client.HTTPConnection(host, port, timeout=TIMEOUT_SECONDS)
        try:
            context = client_context(Path(self._config.tls_cert)) if self._config.tls_cert else None
        except TlsInvalid as error:
            raise Unreachable(f"{error}.") from error
        return http.client.HTTPSConnection(host, port, timeout=TIMEOUT_SECONDS, context=context)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=TIMEOUT_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _address(config: Config, port: int) -> str:
    scheme = "https" if config.tls_cert else "http"
    return f"{scheme}://{host_in_url(reachable_host(config.host))}:{port}"


def _parse_response(content: bytes) -> Any:
    """The answer as JSON; one that broke off has the error in its last line."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        reason = _error_message(content.rstrip(b"\n").rpartition(b"\n")[2])
        raise Refused(reason) from error


def _error_message(content: bytes) -> str:
    try:
        return str(orjson.loads(content)["error"]["message"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return "This is not the answer of a keeper"


def _encode_body(body: object) -> bytes:
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError as error:
        # arguments of a command can be any bytes
        raise Refused("The arguments are not UTF-8.") from error
