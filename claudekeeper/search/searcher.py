"""One search in all sessions: the index says where, the text is read from the transcripts."""

from __future__ import annotations

import itertools
import os
import re
import sqlite3
from collections.abc import Iterator

import msgspec

from claudekeeper.analysis.plain_text import Where, join_parts, part_at, parts_of
from claudekeeper.contract.message import MessageKind, Role
from claudekeeper.core.timestamps import iso_from_ns
from claudekeeper.net.errors import InvalidRequest
from claudekeeper.search.fts_query import FtsQuery
from claudekeeper.search.hit_location import HitLocator
from claudekeeper.search.indexer import milliseconds_of
from claudekeeper.search.query import SearchQueryTerms
from claudekeeper.search.snippets import SnippetPart, find_matches, make_snippet, score
from claudekeeper.search.store import (
    ROW_EPOCH,
    ROWS_PER_SECOND,
    MessageLocation,
    find_messages,
    first_row,
    workdir_tag,
)
from claudekeeper.transcripts.entries import Entry, parse_line
from claudekeeper.transcripts.history import History
from claudekeeper.transcripts.line_reader import open_readonly
from claudekeeper.transcripts.messages import kind_of, role_of, uuid_of
from claudekeeper.transcripts.object_scanner import is_fragment

# messages whose words are read for one answer; a cursor leads on from there
MAX_EXAMINED = 3_000
# messages of each sort from which the best are chosen
POOL_SIZE = 100

# bytes after an object that show whether it is an object of its own
BEHIND = 64
# bytes before and after a line
_LINE_ENDS = (b"", b"\n")

_CURSOR = re.compile(r"([0-9]):(-?[0-9]{1,15}):([0-9]{1,5})")


class SearchFilters(msgspec.Struct, frozen=True, kw_only=True):
    """The conditions of a search besides its words. Times are in milliseconds."""

    workdirs: frozenset[str] | None = None
    # in these directories or below them, with links resolved
    within: tuple[str, ...] | None = None
    role: Role | None = None
    kind: MessageKind | None = None
    decisions: bool = False
    after: int | None = None
    before: int | None = None


class SearchRow(msgspec.Struct, frozen=True, rename="camel"):
    """A message with the words, and where it is opened."""

    session_id: str
    uuid: str
    agent_id: str | None
    # the session's own call below which the subagent ran, where it is known
    tool_use_id: str | None
    role: Role
    kind: MessageKind
    timestamp: str | None
    # whether a person decided something in it: a question, a plan, a permission
    decision: bool
    # whether it has a word only inside of longer ones
    inside: bool
    # the part of the message that the snippet is from, and its tool
    where: Where
    tool: str | None
    snippet: list[SnippetPart]


class SearchPage(msgspec.Struct):
    """Some hits, and the position of the next ones."""

    hits: list[SearchRow]
    cursor: str | None = None


class _Sort(msgspec.Struct, frozen=True):
    """A sort of hits: those with a tag, or without one."""

    tag: str | None = None
    excluded_tag: str | None = None
    inside: bool = False


INSIDE_SORT = _Sort(inside=True)


class _Matches(msgspec.Struct):
    hit: SearchRow
    time: int
    row: int
    score: float


class Searcher:
    """One search over one open index. Blocks: call it in a thread."""

    def __init__(
        self,
        database: sqlite3.Connection,
        query: SearchQueryTerms,
        filters: SearchFilters,
        history: History,
    ) -> None:
        self._database = database
        self._query = query
        self._filters = filters
        self._examined = 0
        self._seen: set[tuple[str, str]] = set()
        self._locator = HitLocator(database, history)
        self._fts_query = FtsQuery(database, query.terms)
        # whether the current messages have a word only inside of longer ones
        self._inside = False
        # whether messages are ranked by how well they match
        self._with_score = False

    def find_newest(self, limit: int, cursor: str | None) -> SearchPage:
        """Newest first; a question about decisions gets decisions first.

        Messages that have a word only inside of longer ones come last: `latest` is no `test`.
        """
        sort, start, skip = parse_cursor(cursor)
        hits: list[SearchRow] = []
        sorts = self._sorts()
        for number in range(sort, len(sorts)):
            for second, matches in self._matches_by_second(sorts[number], start):
                rest = matches[skip:] if second == start else matches
                room = limit - len(hits)
                hits += [each.hit for each in rest[:room]]
                if len(rest) > room:
                    done = room + (skip if second == start else 0)
                    return SearchPage(hits, f"{number}:{second}:{done}")
                if self._examined >= MAX_EXAMINED:
                    return SearchPage(hits, f"{number}:{second}:{len(matches)}")
            start, skip = None, 0
        return SearchPage(hits)

    def find_best(self, limit: int, cursor: str | None) -> SearchPage:
        """The best first, among the newest of each sort; a common word has too many for all."""
        _, start, _ = parse_cursor(cursor)
        skip = start or 0
        self._with_score = True
        pool: list[_Matches] = []
        for sort in (
            *(_Sort(tag) for tag in ("decision", "kprompt", "kreply")),
            _Sort(),
            INSIDE_SORT,
        ):
            for _, matches in itertools.islice(self._matches_by_second(sort, None), POOL_SIZE):
                pool += matches
                if len(pool) >= POOL_SIZE * 4 or self._examined >= MAX_EXAMINED:
                    break
        pool.sort(key=lambda each: (each.score, each.row), reverse=True)
        if self._query.decisions_first:
            pool.sort(key=lambda each: not each.hit.decision)
        more = len(pool) > skip + limit
        cursor = f"0:{skip + limit}:0" if more else None
        return SearchPage([each.hit for each in pool[skip : skip + limit]], cursor)

    # ---- candidates ----

    def _sorts(self) -> list[_Sort]:
        if not self._query.decisions_first or self._filters.decisions:
            return [_Sort(), INSIDE_SORT]
        return [_Sort("decision"), _Sort(excluded_tag="decision"), INSIDE_SORT]

    def _match_expression(self, sort: _Sort) -> str | None:
        """The expression for the index; None where this sort has no hits."""
        filters = self._filters
        words = (
            self._fts_query.infix_expression() if sort.inside else self._fts_query.prefix_expression
        )
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
        return (
            f'({expression}) NOT (tags : "{sort.excluded_tag}")'
            if sort.excluded_tag
            else expression
        )

    def _matches_by_second(
        self, sort: _Sort, start: int | None
    ) -> Iterator[tuple[int, list[_Matches]]]:
        """The matches of each second, the newest first."""
        self._inside = sort.inside
        expression = self._match_expression(sort)
        if expression is None:
            return
        filters = self._filters
        below = first_row(filters.before + 999) if filters.before is not None else None
        if start is not None:
            below = min((start + 1) * ROWS_PER_SECOND, below if below is not None else 1 << 62)
        after = first_row(filters.after) if filters.after is not None else None
        locations = find_messages(self._database, expression, below=below, after=after)
        for second, group in itertools.groupby(
            locations, key=lambda location: location.row // ROWS_PER_SECOND
        ):
            matches = [each for location in group if (each := self._examine(location)) is not None]
            matches.sort(key=lambda each: (each.time, each.row), reverse=True)
            if matches:
                yield second, matches
            if self._examined >= MAX_EXAMINED:
                if not matches:
                    yield second, []
                return

    # ---- messages ----

    def _examine(self, location: MessageLocation) -> _Matches | None:
        self._examined += 1
        entry = entry_at(location)
        if entry is None:
            return None
        nested = location.agent is not None or entry.is_sidechain
        kind = kind_of(entry, nested=nested)
        if kind is None:
            return None
        time = milliseconds_of(entry.timestamp)
        if time is None:
            time = (location.row // ROWS_PER_SECOND + ROW_EPOCH) * 1000
        filters = self._filters
        if (filters.after is not None and time < filters.after) or (
            filters.before is not None and time >= filters.before
        ):
            return None
        parts = parts_of(entry, kind)
        text = join_parts(parts)
        # the index has only words; quotes, dots and slashes between them are checked here
        finds = find_matches(text, self._query.terms)
        if finds is None:
            return None
        uuid, agent = uuid_of(entry), location.agent
        if (location.session, uuid) in self._seen:
            return None
        # only a message that can be opened is a hit
        if not self._locator.is_current_file(location) or not self._locator.is_visible(
            location, entry
        ):
            return None
        if agent is None and entry.is_sidechain:
            agent = self._locator.inline_agent_of(location, uuid)
            if agent is None:
                return None
        self._seen.add((location.session, uuid))
        part = part_at(parts, finds[0].start)
        decides = any(each.is_decision for each in parts)
        hit = SearchRow(
            location.session,
            uuid,
            agent,
            self._locator.tool_use_id_of(location, agent) if agent is not None else None,
            role_of(entry, kind),
            kind,
            entry.timestamp or iso_from_ns(time * 1_000_000),
            decides,
            self._inside,
            part.where,
            part.tool,
            make_snippet(text, finds),
        )
        worth = score(text, finds, kind, decides=decides) if self._with_score else 0.0
        return _Matches(hit, time, location.row, worth)


def entry_at(location: MessageLocation) -> Entry | None:
    """The entry at a location; None where the file changed."""
    before = min(location.offset, 1)
    try:
        with open_readonly(location.path) as descriptor:
            length = before + location.length + BEHIND
            around = os.pread(descriptor, length, location.offset - before)
    except OSError:
        return None
    end = before + location.length
    # another line may contain text that looks like an entry
    if location.part:
        if is_fragment(around[end:]):
            return None
    elif around[:before] not in _LINE_ENDS or around[end : end + 1] not in _LINE_ENDS:
        return None
    entries, _ = parse_line(around[before:end])
    return entries[0] if len(entries) == 1 else None


def parse_cursor(cursor: str | None) -> tuple[int, int | None, int]:
    """The sort of hits, the second to go on from, and how many of it were returned."""
    if cursor is None:
        return 0, None, 0
    parts = _CURSOR.fullmatch(cursor)
    if parts is None:
        raise InvalidRequest("The cursor is not one that the keeper gave.")
    return int(parts[1]), int(parts[2]), int(parts[3])
