"""The rows of all sessions, kept in order while files come, grow and go."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import pairwise
from operator import attrgetter

from claudekeeper.catalog.discovery import SessionRow

# where a row stands in the list; a cursor is one of these
SortKey = tuple[int, str]

_by_mtime = attrgetter("file.mtime")


def sort_key(row: SessionRow) -> SortKey:
    return row.file.mtime, row.file.id


class RowList:
    """One row a session, in the order of their last writing. A change costs what it changes."""

    def __init__(self, rows: Iterable[SessionRow] = ()) -> None:
        """The first listing has thousands of rows: they are sorted at once."""
        self._by_id: dict[str, SessionRow] = {}
        # of several files with the id of one session: all but the one that was written last
        self._older_files: dict[str, list[SessionRow]] = {}
        by_id = self._by_id
        for row in rows:
            if row.is_session and by_id.setdefault(row.file.id, row) is not row:
                self._add_file(row)
        # the oldest first, so that new ones come at the end
        self._ordered = sorted(by_id.values(), key=_by_mtime)
        # two in one tick are rare: only they need more than a number to be told apart
        if any(one.file.mtime == other.file.mtime for one, other in pairwise(self._ordered)):
            self._ordered.sort(key=sort_key)
        unread = [row for row in self._ordered if not row.is_fully_scanned and row.fault is None]
        # how many were read to their end, or cannot be; and how much there is to be read
        self.done = len(self._ordered) - len(unread)
        self.unread_bytes = sum(row.file.size for row in unread)

    def __len__(self) -> int:
        return len(self._ordered)

    def get(self, session_id: str) -> SessionRow | None:
        return self._by_id.get(session_id)

    def newest_first(self, after: SortKey | None = None) -> Iterator[SessionRow]:
        """Every row, or those that follow a position. The list must not change meanwhile."""
        ordered = self._ordered
        end = len(ordered) if after is None else bisect_left(ordered, after, key=sort_key)
        return (ordered[index] for index in range(end - 1, -1, -1))

    def replace(self, before: SessionRow | None, after: SessionRow | None) -> None:
        """Put the row of a file into the place of its earlier one; None: it is new, or gone."""
        row = after or before
        if row is None:
            return
        session_id = row.file.id
        current = self._by_id.pop(session_id, None)
        for each in (*self._older_files.pop(session_id, ()), current, after):
            if each is not None and each is not before and each.is_session:
                self._add_file(each)
        self._move(current, self._by_id.get(session_id))

    def _add_file(self, row: SessionRow) -> None:
        """Of several files with its id, the one written last is the session's."""
        current = self._by_id.get(row.file.id)
        if current is not None:
            older, row = sorted((current, row), key=attrgetter("file.mtime", "file.path"))
            self._older_files.setdefault(row.file.id, []).append(older)
        self._by_id[row.file.id] = row

    def _move(self, before: SessionRow | None, after: SessionRow | None) -> None:
        """Change the order, where another row is the session's now."""
        if before is after:
            return
        ordered = self._ordered
        if before is not None:
            self._count(before, -1)
            del ordered[bisect_left(ordered, sort_key(before), key=sort_key)]
        if after is not None:
            self._count(after, 1)
            ordered.insert(bisect_left(ordered, sort_key(after), key=sort_key), after)

    def _count(self, row: SessionRow, sign: int) -> None:
        if row.is_done:
            self.done += sign
        else:
            self.unread_bytes += sign * row.file.size
