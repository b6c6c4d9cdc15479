"""The log's lines: for people or for programs, and nobody else writes them."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from claudekeeper.core.logs import JsonFormatter, RedactingFilter, TextFormatter, request_id


def record(message: str, *arguments: object, **extra: object) -> logging.LogRecord:
    logger = logging.getLogger("claudekeeper.test")
    made = logger.makeRecord(logger.name, logging.INFO, "f", 1, message, arguments, None)
    vars(made).update(extra)
    return made


def failed_record(error: ValueError, *arguments: str, **extra: object) -> logging.LogRecord:
    """As it is logged where the error is caught."""
    try:
        raise error
    except ValueError:
        return record(*arguments, **extra, exc_info=sys.exc_info())


@pytest.fixture
def in_a_request() -> None:
    request_id.set("abc123")


def test_a_line_for_people(in_a_request: None) -> None:
    assert (
        TextFormatter().format(record("GET %s", "/x")) == "INFO claudekeeper.test: GET /x [abc123]"
    )


@pytest.mark.parametrize("trick", ["\nERROR root: forged", "\x1b[31mred", "\r", "\u2028", "\x9b1m"])
def test_what_strangers_say_stays_one_plain_line(trick: str) -> None:
    line = TextFormatter().format(record("%s", trick))
    assert line.isprintable()
    assert len(JsonFormatter().format(record("%s", trick)).split("\n")) == 1


def test_secrets_are_left_out_wherever_they_stand() -> None:
    made = failed_record(ValueError("secret-two"), "GET /x/secret-one")
    for inner in (TextFormatter(), JsonFormatter()):
        line = RedactingFilter(inner, lambda: ("secret-one", "secret-two")).format(made)
        assert "GET /x/…" in line
        assert "secret-" not in line


def test_an_object_for_programs(in_a_request: None) -> None:
    fields = json.loads(JsonFormatter().format(record("GET %s", "/x", status=200)))
    assert fields.pop("time").endswith("Z")
    assert fields == {
        "level": "info",
        "logger": "claudekeeper.test",
        "message": "GET /x",
        "requestId": "abc123",
        "status": 200,
    }


def test_what_is_inside_of_an_object_stays_so() -> None:
    routing = {"action": "resume", "candidates": [{"sessionId": "s", "score": 0.5}], "left": None}
    fields = json.loads(JsonFormatter().format(record("routed", routing=routing)))
    assert fields["routing"] == routing
    fields = json.loads(
        JsonFormatter().format(record("routed", routing={"x\udcff": ["y\udcff", 2**80]}))
    )
    assert fields["routing"] == {r"x\udcff": [r"y\udcff", str(2**80)]}


def test_tracebacks_are_kept() -> None:
    made = failed_record(ValueError("because"), "failed")
    assert "ValueError: because" in TextFormatter().format(made)
    assert "ValueError: because" in json.loads(JsonFormatter().format(made))["exception"]


def test_nothing_that_is_no_text_loses_a_line() -> None:
    extra = {"path": "/x\udcff", "size": 2**80, "seconds": 0.5}
    made = failed_record(ValueError("/y\udcff"), "GET %s", "/\udcff", **extra)
    line = json.loads(JsonFormatter().format(made))
    assert line["message"] == r"GET /\udcff"
    assert (line["path"], line["size"], line["seconds"]) == (r"/x\udcff", str(2**80), 0.5)
    assert line["exception"].endswith(r"ValueError: /y\udcff")
