"""JSON libraries compared: reading and writing with a type and without one.

All work on the same lines of a random transcript and the same page of messages, in turns, in
processor time of this process, the best of several rounds.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import orjson

from benchmarks.corpus.corpus import END
from benchmarks.corpus.format_versions import CURRENT
from benchmarks.corpus.random_text import Words
from benchmarks.corpus.transcript import write_session
from benchmarks.harness.measure import Figure
from claudekeeper.contract.message import Message
from claudekeeper.transcripts.entries import Entry, EntryMessage
from claudekeeper.transcripts.history import History

SESSION = "5e551011-0000-4000-8000-00000000be4c"
SIZE = 8_000_000
PAGE = 200
ROUNDS = 7

Work = Callable[[], object]


def json_libraries(_: Mapping[str, str]) -> list[Figure]:
    with TemporaryDirectory(prefix="claudekeeper-bench-json-") as folder:
        path = Path(folder) / f"{SESSION}.jsonl"
        with path.open("wb", buffering=0) as file:
            words, random = Words(7), Random("json")
            identity = SESSION.encode()
            write_session(
                file, words, random, CURRENT, identity, "/code/shop", size=SIZE, start=END
            )
        lines = path.read_bytes().splitlines()
        page = History().page(path, SESSION, limit=PAGE).messages
    return [*_of_lines(lines), *_of_a_page(page)]


def _of_lines(lines: list[bytes]) -> list[Figure]:
    values = [orjson.loads(line) for line in lines]
    typed = msgspec.json.Decoder(Entry)
    name = f"{len(lines):,} lines of a transcript, {sum(map(len, lines)) / 1e6:.1f} MB"
    return [
        _figure(
            f"{name}, read without a type",
            {
                "orjson": lambda: [orjson.loads(line) for line in lines],
                "msgspec": lambda: [msgspec.json.decode(line) for line in lines],
                "json": lambda: [json.loads(line) for line in lines],
            },
        ),
        _figure(
            f"{name}, written without a type",
            {
                "orjson": lambda: [orjson.dumps(value) for value in values],
                "msgspec": lambda: [msgspec.json.encode(value) for value in values],
                "json": lambda: [json.dumps(value).encode() for value in values],
            },
        ),
        _figure(
            f"{name}, read as entries",
            {
                "msgspec": lambda: [typed.decode(line) for line in lines],
                "orjson and checks": lambda: [_checked(orjson.loads(line)) for line in lines],
            },
        ),
    ]


def _of_a_page(page: list[Message]) -> list[Figure]:
    written = msgspec.json.encode(page)
    value = orjson.loads(written)
    name = f"a page of {len(page)} messages, {len(written) / 1e3:.0f} kB"
    return [
        _figure(
            f"{name}, read without a type",
            {
                "orjson": lambda: orjson.loads(written),
                "msgspec": lambda: msgspec.json.decode(written),
                "json": lambda: json.loads(written),
            },
        ),
        _figure(
            f"{name}, written without a type",
            {
                "orjson": lambda: orjson.dumps(value),
                "msgspec": lambda: msgspec.json.encode(value),
                "json": lambda: json.dumps(value).encode(),
            },
        ),
        _figure(
            f"{name}, written from messages",
            {
                "msgspec": lambda: msgspec.json.encode(page),
                "orjson": lambda: orjson.dumps([_as_it_is(message) for message in page]),
            },
        ),
    ]


# ---- by hand: each field checked, the large ones not decoded ----


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda letter: letter[1].upper(), name)


_FIELDS = [(each.name, each.encode_name, each.type) for each in msgspec.structs.fields(Entry)]
_STRINGS = [(name, key) for name, key, type_ in _FIELDS if type_ in (str, str | None)]
_FLAGS = [(name, key) for name, key, type_ in _FIELDS if type_ is bool]
_ANY = [(name, key) for name, key, type_ in _FIELDS if type_ is msgspec.Raw]
_MESSAGE = [(each.name, _camel(each.name)) for each in msgspec.structs.fields(Message)]


def _checked(value: dict[str, Any]) -> Entry:
    fields: dict[str, Any] = {}
    for name, key in _STRINGS:
        if (field := value.get(key)) is not None:
            fields[name] = _of(str, field)
    for name, key in _FLAGS:
        if (field := value.get(key)) is not None:
            fields[name] = _of(bool, field)
    for name, key in _ANY:
        if key in value:
            fields[name] = value[key]
    if isinstance(message := value.get("message"), dict):
        body = {each: message[each] for each in EntryMessage.__struct_fields__ if each in message}
        fields["message"] = EntryMessage(**body)
    return Entry(**fields)


def _of(kind: type, field: object) -> object:
    if not isinstance(field, kind):
        raise TypeError(f"{field!r} is no {kind.__name__}")
    return field


def _as_it_is(message: Message) -> dict[str, Any]:
    """The message as a dict, with undecoded parts as fragments."""
    fields: dict[str, Any] = {}
    for name, key in _MESSAGE:
        value = getattr(message, name)
        raw = isinstance(value, msgspec.Raw)
        fields[key] = orjson.Fragment(bytes(value)) if raw else value
    return fields


def _figure(work: str, ways: dict[str, Work]) -> Figure:
    taken: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, run in ways.items():
            before = time.process_time()
            run()
            taken[way].append(time.process_time() - before)
    best = {way: min(times) for way, times in taken.items()}
    first, *others = best
    return Figure(
        work,
        f"{first} {best[first] * 1e3:.2f} ms",
        details="; ".join(
            f"{way} {best[way] * 1e3:.2f} ms, {best[way] / best[first]:.1f} ×" for way in others
        ),
    )
