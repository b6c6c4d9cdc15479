"""The labelled sequences: recent conversations, a command, and where it belongs.

`talks.jsonl` has the conversations, `sequences.jsonl` says which of them were there, how many
minutes ago, what was said next, and to which it belongs (null: to none). Half of the sequences are
held out: scorers are tuned on the others only.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import msgspec

from claudekeeper.features.talk import Heard, Talk, hear

FOLDER = Path(__file__).parent


class Conversation(msgspec.Struct, frozen=True):
    id: str
    said: list[str]
    replied: str


class Sequence(msgspec.Struct, frozen=True):
    kind: str
    # conversations by id, minutes since the last word in each
    at: dict[str, float]
    said: str
    to: str | None

    @property
    def held_out(self) -> bool:
        """By a hash of the words, so that no sequence ever changes sides."""
        words = f"{self.said}\0{sorted(self.at)}".encode()
        return hashlib.sha256(words).digest()[0] % 2 == 1

    @property
    def talks(self) -> list[Talk]:
        heard = conversations()
        return [
            Talk(session_id=id_, title=id_, seconds_ago=minutes * 60, heard=heard[id_])
            for id_, minutes in self.at.items()
        ]


@cache
def conversations() -> dict[str, Heard]:
    lines = (FOLDER / "talks.jsonl").read_bytes().splitlines()
    talks = [msgspec.json.decode(line, type=Conversation) for line in lines]
    return {talk.id: hear(talk.said, talk.replied) for talk in talks}


def sequences() -> list[Sequence]:
    lines = (FOLDER / "sequences.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Sequence) for line in lines]
