"""The labelled sequences: recent conversations, a command, and where it belongs.

In each set `talks.jsonl` has the conversations, and `sequences.jsonl` says which of them were
there, how many minutes ago, what was said next, and to which it belongs (null: to none). Half of
the sequences are held out: scorers are tuned on the others only. The second set was written apart
from the first, by somebody who had not seen the scorer; the third, all for tuning, against what
the others showed to be weak.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from claudekeeper.routing.candidate import Candidate, CandidateWords, parse_words

FOLDER = Path(__file__).parent

Name = Literal["first", "second", "third"]
SETS: tuple[Name, ...] = ("first", "second", "third")


class Conversation(msgspec.Struct, frozen=True):
    id: str
    said: list[str]
    replied: str


class Line(msgspec.Struct, frozen=True, rename="camel"):
    kind: str
    # conversations by id, minutes since the last word in each
    at: dict[str, float]
    said: str
    to: str | None
    held_out: bool | None = None


class Sequence(msgspec.Struct, frozen=True):
    kind: str
    said: str
    to: str | None
    talks: list[Candidate]
    held_out: bool


@cache
def conversations(name: Name) -> dict[str, CandidateWords]:
    lines = (FOLDER / name / "talks.jsonl").read_bytes().splitlines()
    talks = [msgspec.json.decode(line, type=Conversation) for line in lines]
    return {talk.id: parse_words(talk.said, talk.replied) for talk in talks}


def sequences(name: Name) -> list[Sequence]:
    lines = (FOLDER / name / "sequences.jsonl").read_bytes().splitlines()
    heard = conversations(name)
    return [_sequence(msgspec.json.decode(line, type=Line), heard) for line in lines]


def _sequence(line: Line, heard: dict[str, CandidateWords]) -> Sequence:
    talks = [
        Candidate(session_id=id_, title=id_, seconds_ago=minutes * 60, words=heard[id_])
        for id_, minutes in line.at.items()
    ]
    held_out = line.held_out if line.held_out is not None else _held_out(line)
    return Sequence(line.kind, line.said, line.to, talks, held_out)


def _held_out(line: Line) -> bool:
    """By a hash of the words, so that no sequence ever changes sides."""
    words = f"{line.said}\0{sorted(line.at)}".encode()
    return hashlib.sha256(words).digest()[0] % 2 == 1
