"""The log on stderr: lines for people or JSON for programs, with the id of the request.

Rotating it is the work of the journal, or of whoever started us.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Literal

import orjson

LogFormat = Literal["human", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]

# the id of the request that a task works for
request_id: ContextVar[str | None] = ContextVar("request_id", default=None)

# the texts that no log line may contain
SecretsSource = Callable[[], Iterable[str]]

# larger integers are not portable in JSON
MAX_INTEGER = 1 << 63
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
# fields of every record; any other one came as `extra`
_STANDARD_FIELDS = frozenset(vars(logging.makeLogRecord({})))


def set_up_logging(format_: LogFormat, level: LogLevel, secrets: SecretsSource = tuple) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(
        RedactingFilter(JsonFormatter() if format_ == "json" else TextFormatter(), secrets)
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # one logs every start of a CLI, the other every batch of changes
    for talkative in ("claude_agent_sdk", "watchfiles"):
        logging.getLogger(talkative).setLevel(logging.WARNING)


class RedactingFilter(logging.Formatter):
    """Removes secrets: a caller can put its token into a path, an id or a subprotocol."""

    def __init__(self, inner: logging.Formatter, secrets: SecretsSource) -> None:
        super().__init__()
        self._inner = inner
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        line = self._inner.format(record)
        for secret in self._secrets():
            line = line.replace(secret, "…")
        return line


class TextFormatter(logging.Formatter):
    """`INFO claudekeeper.cli.serve: words [id]`, one line unless there is a traceback."""

    def format(self, record: logging.LogRecord) -> str:
        ours = request_id.get()
        # a path or a name from outside must not forge log lines
        message = _CONTROL.sub(_escape_match, record.getMessage())
        line = f"{record.levelname} {record.name}: {message}{f' [{ours}]' if ours else ''}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonFormatter(logging.Formatter):
    """One JSON object a line, with the fields given as `extra` beside the message."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        fields = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if ours := request_id.get():
            fields["requestId"] = ours
        fields |= {
            name: value for name, value in vars(record).items() if name not in _STANDARD_FIELDS
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        plain = {name: _to_json_value(value) for name, value in fields.items()}
        return orjson.dumps(plain).decode()


def _to_json_value(value: object) -> object:
    """A value that JSON can hold; a path that is not UTF-8 must not lose the line."""
    if isinstance(value, float | bool | None):
        return value
    if isinstance(value, int) and abs(value) < MAX_INTEGER:
        return value
    if isinstance(value, dict):
        return {
            str(_to_json_value(str(name))): _to_json_value(each) for name, each in value.items()
        }
    if isinstance(value, list):
        return [_to_json_value(each) for each in value]
    return str(value).encode("utf-8", "backslashreplace").decode()


def _escape_match(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()
