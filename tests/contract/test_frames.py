"""The frames of the WebSocket name every event."""

from __future__ import annotations

from typing import get_args

from claudekeeper.contract.events import Event
from claudekeeper.contract.frames import ServerEvent
from tests.contract.contract_schema import contract_schemas


def test_every_event_class_is_an_event_of_the_server() -> None:
    assert set(get_args(ServerEvent)) == set(Event.__subclasses__())


def test_the_contract_describes_every_event() -> None:
    schemas = contract_schemas()
    tags = {event.__struct_config__.tag: event.__name__ for event in Event.__subclasses__()}
    assert schemas["ServerEvent"]["discriminator"]["mapping"] == {
        tag: f"#/components/schemas/{name}" for tag, name in tags.items()
    }
    assert {schemas[name]["properties"]["type"]["enum"][0] for name in tags.values()} == set(tags)
