"""Looking for words in all sessions: the index says where, the transcripts say what."""

from __future__ import annotations

import itertools
import os
import re
import sqlite3
from collections.abc import Iterator

import msgspec

from claudekeeper.features.hit_place import HitPlaces
from claudekeeper.features.search_query import Query
from claudekeeper.features.search_wording import Wording
from claudekeeper.features.snippets import Piece, finds_in, score, snippet
from claudekeeper.model.entries import Entry, parse
from claudekeeper.model.errors import InvalidRequest
from claudekeeper.model.messages import Kind, Role, identity_of, kind_of, role_of
from claudekeeper.model.objects import is_fragment
from claudekeeper.model.plaintext import Where, part_at, parts_of, said_in
from claudekeeper.model.sessions import iso
from claudekeeper.readers.history import History
from claudekeeper.readers.indexing import moment_of
from claudekeeper.readers.lines import opened
from claudekeeper.readers.search_index import (
    EPOCH,
    PLACES,
    Place,
    first_row,
    matching,
    workdir_tag,
)

# messages whose words are read for one answer; a cursor leads on from there
MOST_EXAMINED = 3_000
# messages of which the best are chosen, of each sort
POOL = 100

# bytes behind an object that tell whether it is one of its line's own
BEHIND = 64
# what stands before and behind a line
_ENDS = (b"", b"\n")

_CURSOR = re.compile(r"([0-9]):(-?[0-9]{1,15}):([0-9]{1,5})")


class Filters(msgspec.Struct, frozen=True, kw_only=True):
    """What a hit must be, beside having the words. Times in milliseconds."""

    workdirs: frozenset[str] | None = None
    # in these directories or below them, wherever links lead
    within: tuple[str, ...] | None = None
    role: Role | None = None
    kind: Kind | None = None
    decisions: bool = False
    after: int | None = None
    before: int | None = None


class Hit(msgspec.Struct, frozen=True, rename="camel"):
    """A message that was found, and the place to jump to."""

    session_id: str
    uuid: str
    agent_id: str | None
    # the session's own call below which the subagent ran, where it is known
    tool_use_id: str | None
    role: Role
    kind: Kind
    timestamp: str | None
    # whether a person settled something in it: a question, a plan, a permission
    decision: bool
    # whether it has a word only inside of longer ones
    inside: bool
    # in which part of the message the piece stands, and of which tool
    where: Where
    tool: str | None
    snippet: list[Piece]


class Page(msgspec.Struct):
    """Some hits, and where the next ones begin."""

    hits: list[Hit]
    cursor: str | None = None


class _Sort(msgspec.Struct, frozen=True):
    """Hits that are told one after another: with a tag, or without one."""

    tag: str | None = None
    without: str | None = None
    inside: bool = False


INSIDE = _Sort(inside=True)


class _Found(msgspec.Struct):
    hit: Hit
    time: int
    row: int
    score: float


class Finder:
    """One search over one open index. Blocks: call it in a thread."""

    def __init__(
        self, database: sqlite3.Connection, query: Query, filters: Filters, history: History
    ) -> None:
        self._database = database
        self._query = query
        self._filters = filters
        self._examined = 0
        self._seen: set[tuple[str, str]] = set()
        self._places = HitPlaces(database, history)
        self._words = Wording(database, query.terms)
        # whether what is looked at now has a word only inside of longer ones
        self._inside = False
        # whether it counts how well a message fits
        self._weighs = False

    def newest(self, limit: int, cursor: str | None) -> Page:
        """Newest first; of a question about decisions, first the decisions.

        What has a word only inside of longer ones comes last: `latest` is no `test`.
        """
        sort, start, skip = read_cursor(cursor)
        hits: list[Hit] = []
        sorts = self._sorts()
        for number in range(sort, len(sorts)):
            for second, found in self._by_second(sorts[number], start):
                left = found[skip:] if second == start else found
                room = limit - len(hits)
                hits += [each.hit for each in left[:room]]
                if len(left) > room:
                    done = room + (skip if second == start else 0)
                    return Page(hits, f"{number}:{second}:{done}")
                if self._examined >= MOST_EXAMINED:
                    return Page(hits, f"{number}:{second}:{len(found)}")
            start, skip = None, 0
        return Page(hits)

    def best(self, limit: int, cursor: str | None) -> Page:
        """The most telling first, among the newest of each sort: never all of a common word."""
        _, start, _ = read_cursor(cursor)
        skip = start or 0
        self._weighs = True
        pool: list[_Found] = []
        for sort in (*(_Sort(tag) for tag in ("decision", "kprompt", "kreply")), _Sort(), INSIDE):
            for _, found in itertools.islice(self._by_second(sort, None), POOL):
                pool += found
                if len(pool) >= POOL * 4 or self._examined >= MOST_EXAMINED:
                    break
        pool.sort(key=lambda each: (each.score, each.row), reverse=True)
        if self._query.decisions_first:
            pool.sort(key=lambda each: not each.hit.decision)
        more = len(pool) > skip + limit
        cursor = f"0:{skip + limit}:0" if more else None
        return Page([each.hit for each in pool[skip : skip + limit]], cursor)

    # ---- candidates ----

    def _sorts(self) -> list[_Sort]:
        if not self._query.decisions_first or self._filters.decisions:
            return [_Sort(), INSIDE]
        return [_Sort("decision"), _Sort(without="decision"), INSIDE]

    def _asked(self, sort: _Sort) -> str | None:
        """What the index is asked for; None where there is nothing of this sort."""
        filters = self._filters
        words = self._words.only_inside() if sort.inside else self._words.begun
        if words is None or filters.workdirs == frozenset():
            return None
        tags = [sort.tag] if sort.tag else []
        if filters.kind is not None:
            tags.append(f"k{filters.kind.lower()}")
        if filters.role is not None:
            tags.append(f"r{filters.role}")
        if filters.decisions:
            tags.append("decision")
        expression = " AND ".join([words, *(f'(tags : "{tag}")' for tag in tags)])
        if filters.workdirs is not None:
            workdirs = " OR ".join(f'"{workdir_tag(each)}"' for each in sorted(filters.workdirs))
            expression += f" AND (tags : ({workdirs}))"
        return f'({expression}) NOT (tags : "{sort.without}")' if sort.without else expression

    def _by_second(self, sort: _Sort, start: int | None) -> Iterator[tuple[int, list[_Found]]]:
        """What was said in each second, the newest first, also within it."""
        self._inside = sort.inside
        expression = self._asked(sort)
        if expression is None:
            return
        filters = self._filters
        below = first_row(filters.before + 999) if filters.before is not None else None
        if start is not None:
            below = min((start + 1) * PLACES, below if below is not None else 1 << 62)
        after = first_row(filters.after) if filters.after is not None else None
        places = matching(self._database, expression, below=below, after=after)
        for second, group in itertools.groupby(places, key=lambda place: place.row // PLACES):
            found = [each for place in group if (each := self._look_at(place)) is not None]
            found.sort(key=lambda each: (each.time, each.row), reverse=True)
            if found:
                yield second, found
            if self._examined >= MOST_EXAMINED:
                if not found:
                    yield second, []
                return

    # ---- what stands there ----

    def _look_at(self, place: Place) -> _Found | None:
        self._examined += 1
        entry = entry_at(place)
        if entry is None:
            return None
        nested = place.agent is not None or entry.is_sidechain
        kind = kind_of(entry, nested=nested)
        if kind is None:
            return None
        time = moment_of(entry.timestamp)
        if time is None:
            time = (place.row // PLACES + EPOCH) * 1000
        filters = self._filters
        if (filters.after is not None and time < filters.after) or (
            filters.before is not None and time >= filters.before
        ):
            return None
        parts = parts_of(entry, kind)
        text = said_in(parts)
        # the index knows words; quotes, dots and slashes between them are seen only here
        finds = finds_in(text, self._query.terms)
        if finds is None:
            return None
        uuid, agent = identity_of(entry), place.agent
        if (place.session, uuid) in self._seen:
            return None
        # a hit is a message that can be opened; what the index has beside them is none
        if not self._places.is_read(place) or not self._places.is_shown(place, entry):
            return None
        if agent is None and entry.is_sidechain:
            agent = self._places.agent_inside(place, uuid)
            if agent is None:
                return None
        self._seen.add((place.session, uuid))
        part = part_at(parts, finds[0].start)
        decides = any(each.decides for each in parts)
        hit = Hit(
            place.session,
            uuid,
            agent,
            self._places.call_of(place, agent) if agent is not None else None,
            role_of(entry, kind),
            kind,
            entry.timestamp or iso(time * 1_000_000),
            decides,
            self._inside,
            part.where,
            part.tool,
            snippet(text, finds),
        )
        worth = score(text, finds, kind, decides=decides) if self._weighs else 0.0
        return _Found(hit, time, place.row, worth)


def entry_at(place: Place) -> Entry | None:
    """The line at a place, or the object on it; None where the file is not what it was."""
    before = min(place.offset, 1)
    try:
        with opened(place.path) as descriptor:
            length = before + place.length + BEHIND
            around = os.pread(descriptor, length, place.offset - before)
    except OSError:
        return None
    end = before + place.length
    # inside of another line there may be what looks like one
    if place.part:
        if is_fragment(around[end:]):
            return None
    elif around[:before] not in _ENDS or around[end : end + 1] not in _ENDS:
        return None
    entries, _ = parse(around[before:end])
    return entries[0] if len(entries) == 1 else None


def read_cursor(cursor: str | None) -> tuple[int, int | None, int]:
    """Which sort of hits, from which second on, and how many of it were told."""
    if cursor is None:
        return 0, None, 0
    parts = _CURSOR.fullmatch(cursor)
    if parts is None:
        raise InvalidRequest("The cursor is not one that the keeper gave.")
    return int(parts[1]), int(parts[2]), int(parts[3])
