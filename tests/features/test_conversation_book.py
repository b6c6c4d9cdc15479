"""The book of conversations: whole after any end, one key never another's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from claudekeeper.features.conversation_book import Book, Kept
from claudekeeper.features.succession import LastWords, is_full, primer
from claudekeeper.model.dispatch import ConversationSettings

Open = Callable[[], Book]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "conversations.db"


@pytest.fixture
def opened(path: Path) -> Iterator[Open]:
    books: list[Book] = []

    def open_book() -> Book:
        books.append(Book(path))
        books[-1].open()
        return books[-1]

    yield open_book
    for book in books:
        book.close()


def kept(key: str, session: str | None = "s1", **more: object) -> Kept:
    values = {
        "key": key,
        "project": None,
        "workdir": "/w",
        "session": session,
        "prompt": None,
        "metadata": {"a": [1]},
        "created": 1.0,
        "updated": 2.0,
        "expires": 10.0,
        "lifetime": 8.0,
    }
    return Kept(**(values | more))  # type: ignore[arg-type]


def test_what_was_written_is_there_for_the_next_keeper(opened: Open) -> None:
    book = opened()
    book.begin(kept("a", full=True), "u1", "created", "do it", 1.5)
    book.begin(kept("b", "s2"), "u2", "created", "and that", 1.5)
    book.finish("u2", "done", 7, 0.1, 1.7)
    # no close: it was killed
    later = opened()
    assert later.get("a") == kept("a", full=True)
    assert later.get("c") is None
    assert later.sessions() == {"s1", "s2"}
    ((logged,), (other,)) = (later.story(kept(key))[2] for key in "ab")
    assert (logged.text, logged.outcome) == ("do it", "unknown")
    assert (other.outcome, other.tokens) == ("done", 7)
    # made again under its name, it is another line of the trail
    later.begin(kept("a"), "u1", "created", "do it", 1.8)
    later.finish("u1", "done", 9, 0.1, 1.9)
    assert [each.outcome for each in later.story(kept("a"))[2]] == ["unknown", "done"]


def test_a_session_that_is_left_is_remembered_and_a_key_forgotten_whole(opened: Open) -> None:
    book = opened()
    book.put(kept("a"))
    book.move_on(kept("a", None), "s1", "expired", 3.0, None)
    book.note("a", "window", "…", 3.0)
    earlier, acts, _ = book.story(kept("a"))
    assert [(each.session_id, each.why) for each in earlier] == [("s1", "expired")]
    assert [each.what for each in acts] == ["window"]
    assert book.sessions() == {"s1"}
    book.begin(kept("a"), "u1", "renewed", "do it", 4.0)
    assert book.forget("a")
    assert not book.forget("a")
    # the audit trail is not the conversation's
    assert book.dispatched("u1") is not None
    assert (book.get("a"), book.sessions()) == (None, set())


def test_thousands_are_listed_by_use_and_only_expired_ones_expire(opened: Open) -> None:
    book = opened()
    with book._writing() as database:
        for number in range(3_000):
            project = "odd" if number % 2 else "even"
            book._put(
                database,
                kept(f"k{number}", f"s{number}", project=project, updated=number, expires=number),
            )
    assert [each.key for each in book.all("odd", 2)] == ["k2999", "k2997"]
    assert len(book.all(None, 10_000)) == 3_000
    assert set(book.expired(1.0)) == {"k0", "k1"}
    # the book itself leaves out what cannot be in a state, however many there are
    assert [each.key for each in book.all(None, 2, state="expired", now=1.0)] == ["k1", "k0"]
    assert len(book.all(None, 10_000, state="active", now=1.0)) == 3_000
    assert book.all(None, 2, state="reset", now=1.0) == []
    book.put(kept("left", None, updated=1, expires=5))
    assert [each.key for each in book.all(None, 2, state="reset", now=1.0)] == ["left"]
    assert "left" not in {each.key for each in book.all(None, 10_000, state="active", now=1.0)}


def test_a_dispatch_is_found_by_its_name_without_reading_all_of_them(opened: Open) -> None:
    book = opened()
    with book._writing() as database:
        # a file that was made before there was this index
        database.execute("DROP INDEX dispatch_uuid")
    book.close()
    book.open()
    with book._reading() as database:
        plan = database.execute("EXPLAIN QUERY PLAN UPDATE dispatch SET cost = 1 WHERE uuid = 'u'")
        assert "USING INDEX dispatch_uuid" in str(plan.fetchall())
    book.begin(kept("a"), "u1", "created", "do it", 1.5)
    found = book.dispatched("u1")
    assert found is not None
    assert (found[0], found[1].text) == ("a", "do it")
    assert book.dispatched("u2") is None


def test_a_file_that_is_none_is_kept_aside(path: Path, opened: Open) -> None:
    path.parent.mkdir()
    path.write_bytes(b"not a database, but somebody's words " * 40)
    book = opened()
    book.put(kept("a"))
    (aside,) = path.parent.glob("*.corrupt-*")
    assert aside.read_bytes().startswith(b"not a database")


def test_only_its_owner_can_read_it(path: Path, opened: Open) -> None:
    opened().put(kept("a"))
    assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}


@pytest.mark.parametrize(
    ("tokens", "model", "full"),
    [(159_999, None, False), (160_000, "m", True), (160_000, "m[1m]", False)],
)
def test_four_fifths_of_the_model_s_window_are_full(
    tokens: int, model: str | None, full: bool
) -> None:
    assert is_full(tokens, model, ConversationSettings()) is full
    assert not is_full(tokens, model, ConversationSettings(strategy="off"))


def test_a_primer_says_what_was_left_out() -> None:
    words, left_out = primer(LastWords([("User", "b"), ("Claude", "c" * 9_000)], 5))
    assert left_out == 3
    assert words.index("User: b") < words.index("Claude: c")
    assert len(words) < 6_000
