"""The labelled sequences: recent conversations, a command, and where it belongs.

In each set `talks.jsonl` has the conversations, and `sequences.jsonl` the candidates of a command,
how many minutes ago each was active, the command, and where it belongs (null: to none). Half of the
sequences are held out: scorers are tuned on the others only. The second set was written by somebody
who had not seen the scorer; the third, all for tuning, has cases that were weak in the others.
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
    prompts: list[str] = msgspec.field(name="said")
    reply: str = msgspec.field(name="replied")


class Line(msgspec.Struct, frozen=True, rename="camel"):
    kind: str
    # minutes since the last message of each conversation, by its id
    at: dict[str, float]
    command: str = msgspec.field(name="said")
    to: str | None
    held_out: bool | None = None


class Sequence(msgspec.Struct, frozen=True):
    kind: str
    command: str
    to: str | None
    candidates: list[Candidate]
    held_out: bool


@cache
def conversations(name: Name) -> dict[str, CandidateWords]:
    lines = (FOLDER / name / "talks.jsonl").read_bytes().splitlines()
    every = [msgspec.json.decode(line, type=Conversation) for line in lines]
    return {each.id: parse_words(each.prompts, each.reply) for each in every}


def sequences(name: Name) -> list[Sequence]:
    lines = (FOLDER / name / "sequences.jsonl").read_bytes().splitlines()
    words = conversations(name)
    return [_sequence(msgspec.json.decode(line, type=Line), words) for line in lines]


def _sequence(line: Line, words: dict[str, CandidateWords]) -> Sequence:
    candidates = [
        Candidate(session_id=id_, title=id_, seconds_ago=minutes * 60, words=words[id_])
        for id_, minutes in line.at.items()
    ]
    held_out = line.held_out if line.held_out is not None else _held_out(line)
    return Sequence(line.kind, line.command, line.to, candidates, held_out)


def _held_out(line: Line) -> bool:
    """By a hash of the words, so that no sequence ever changes sides."""
    words = f"{line.command}\0{sorted(line.at)}".encode()
    return hashlib.sha256(words).digest()[0] % 2 == 1
