"""The golden frames: an example of every event and frame, for the tests of both sides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, get_args

import jsonschema
import msgspec
import pytest

from claudekeeper.contract.frames import ClientFrame, ServerAnswer, ServerEvent
from tests.contract.contract_schema import check_frame
from tests.contract.golden_frames import (
    ANSWERS,
    EVENTS,
    FILE,
    REQUESTS,
    file_content,
    frames_of,
)

SERVER_FRAMES = frames_of("server")
CLIENT_FRAMES = frames_of("client")


def without_position(frame: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in frame.items() if name != "position"}


def type_of(frame: dict[str, Any]) -> str:
    return str(frame["type"])


def test_the_file_is_fresh() -> None:
    assert FILE.read_bytes() == file_content(), "run `make contract`"


@pytest.mark.parametrize(
    ("examples", "frame_type"),
    [(EVENTS, ServerEvent), (ANSWERS, ServerAnswer), (REQUESTS, ClientFrame)],
    ids=["events", "answers", "requests"],
)
def test_every_type_has_an_example(examples: list[msgspec.Struct], frame_type: Any) -> None:
    assert {type(example) for example in examples} == set(get_args(frame_type))


def structs_in(value: Any) -> Iterator[msgspec.Struct]:
    if isinstance(value, msgspec.Struct):
        yield value
        value = [getattr(value, name) for name in value.__struct_fields__]
    if isinstance(value, list):
        for item in value:
            yield from structs_in(item)


def fields_with_value(struct: msgspec.Struct) -> set[str]:
    return {
        field.name
        for field in msgspec.structs.fields(struct)
        if getattr(struct, field.name) not in (None, field.default)
    }


def test_the_examples_have_a_value_in_every_field() -> None:
    filled: dict[type[msgspec.Struct], set[str]] = defaultdict(set)
    for struct in structs_in([*EVENTS, *ANSWERS, *REQUESTS]):
        filled[type(struct)] |= fields_with_value(struct)
    assert filled == {struct: set(struct.__struct_fields__) for struct in filled}


@pytest.mark.parametrize("frame", SERVER_FRAMES, ids=type_of)
def test_a_frame_of_the_server_is_what_the_contract_says(frame: dict[str, Any]) -> None:
    check_frame(frame)


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "hello", "version": 1},
        {"type": "turn/started", "sessionId": "s", "uuid": None},
        {"type": "session/removed", "position": "a:1"},
        {"type": "news", "position": "a:1", "sessionId": "s"},
    ],
    ids=type_of,
)
def test_another_frame_is_refused(frame: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        check_frame(frame)


@pytest.mark.parametrize("frame", CLIENT_FRAMES, ids=type_of)
def test_a_frame_of_a_client_is_what_the_contract_says(frame: dict[str, Any]) -> None:
    check_frame(frame, "ClientFrame")


@pytest.mark.parametrize(
    ("frame_type", "frames"),
    [
        # the bus adds the position as it encodes an event
        (ServerEvent, [without_position(frame) for frame in SERVER_FRAMES[len(ANSWERS) :]]),
        (ServerAnswer, SERVER_FRAMES[: len(ANSWERS)]),
        (ClientFrame, CLIENT_FRAMES),
    ],
    ids=["events", "answers", "requests"],
)
def test_what_is_decoded_is_encoded_again_as_it_was(frame_type: Any, frames: list[Any]) -> None:
    decoded = msgspec.json.decode(msgspec.json.encode(frames), type=list[frame_type])
    assert msgspec.json.decode(msgspec.json.encode(decoded)) == frames
