"""The list is what sorting all rows would give, whatever changes and in whichever order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from claudekeeper.catalog.discovery import UNREADABLE_FAULT, SessionRow
from claudekeeper.catalog.row_list import RowList, sort_key
from claudekeeper.transcripts.layout import TranscriptFile

FOLDERS, IDS = ("-a", "-b", "-c"), ("one", "two", "three", "four")
# few of each, so that times are equal, sessions have several files, and files come back
CHANGES = st.lists(
    st.tuples(
        st.sampled_from(FOLDERS),
        st.sampled_from(IDS),
        st.none() | st.integers(min_value=-3, max_value=3),
        st.booleans(),
        st.booleans(),
        st.booleans(),
    ),
    max_size=40,
)
Change = tuple[str, str, int | None, bool, bool, bool]


def make_row(change: Change) -> SessionRow | None:
    folder, session_id, mtime, is_scanned, is_session, is_broken = change
    if mtime is None:
        return None
    file = TranscriptFile(session_id, f"{folder}/{session_id}", 1, 10, mtime)
    return SessionRow(file, b"", is_scanned, is_session, UNREADABLE_FAULT if is_broken else None)


def plainly_sorted(files: dict[str, SessionRow]) -> list[SessionRow]:
    by_id: dict[str, SessionRow] = {}
    for row in sorted(files.values(), key=lambda row: (row.file.mtime, row.file.path)):
        if row.is_session:
            by_id[row.file.id] = row
    return sorted(by_id.values(), key=sort_key, reverse=True)


@given(CHANGES)
def test_every_change_leaves_the_order_of_a_plain_sort(changes: list[Change]) -> None:
    files: dict[str, SessionRow] = {}
    rows = RowList()
    for change in changes:
        path, row = f"{change[0]}/{change[1]}", make_row(change)
        rows.replace(files.pop(path, None), row)
        files.update((path, each) for each in [row] if each is not None)
        expected = plainly_sorted(files)
        assert list(rows.newest_first()) == expected
        assert [rows.get(each.file.id) for each in expected] == expected
        assert len(rows) == len(expected)
        unread = [each for each in expected if not each.is_done]
        assert rows.done == len(expected) - len(unread)
        assert rows.unread_bytes == sum(each.file.size for each in unread)


@given(CHANGES)
def test_a_list_made_at_once_is_the_same(changes: list[Change]) -> None:
    made = {f"{change[0]}/{change[1]}": make_row(change) for change in changes}
    files = {path: row for path, row in made.items() if row is not None}
    rows = RowList(files.values())
    expected = plainly_sorted(files)
    assert list(rows.newest_first()) == expected
    assert rows.done == sum(row.is_done for row in expected)


@given(CHANGES)
def test_a_position_leads_to_the_rows_behind_it(changes: list[Change]) -> None:
    rows = RowList(row for row in map(make_row, changes) if row is not None)
    ordered = list(rows.newest_first())
    for index, row in enumerate(ordered):
        assert list(rows.newest_first(sort_key(row))) == ordered[index + 1 :]
    assert list(rows.newest_first((0, ""))) == [row for row in ordered if row.file.mtime < 0]
