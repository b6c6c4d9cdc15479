"""Conversations are stored whole, whatever ends the keeper, and keys are kept apart."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

import pytest

from claudekeeper.contract.ceilings import Ceilings
from claudekeeper.contract.conversations import ConversationSettings
from claudekeeper.contract.errors import StateUnwritable
from claudekeeper.contract.sessions import WorkItem
from claudekeeper.dispatch import store_file
from claudekeeper.dispatch.context_window import (
    handover_prompt,
    is_full,
    room_bytes,
    verbatim_prompt,
)
from claudekeeper.dispatch.record import ConversationRecord
from claudekeeper.dispatch.session_reader import LastMessages
from claudekeeper.dispatch.store import ConversationStore

Open = Callable[[], ConversationStore]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "conversations.db"


@pytest.fixture
def opened(path: Path) -> Iterator[Open]:
    stores: list[ConversationStore] = []

    def open_store() -> ConversationStore:
        stores.append(ConversationStore(path))
        stores[-1].open()
        return stores[-1]

    yield open_store
    for store in stores:
        store.close()


def record(key: str, session: str | None = "s1", **more: object) -> ConversationRecord:
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
    return ConversationRecord(**(values | more))  # type: ignore[arg-type]


def test_what_was_written_is_there_for_the_next_keeper(opened: Open) -> None:
    store = opened()
    store.begin_dispatch(record("a", full=True), "u1", "created", "do it", 1.5)
    store.begin_dispatch(record("b", "s2"), "u2", "created", "and that", 1.5)
    store.finish_dispatch("u2", "done", 7, 0.1, 1.7)
    # no close: it was killed
    later = opened()
    assert later.get(WorkItem("a")) == record("a", full=True)
    assert later.get(WorkItem("c")) is None
    assert later.session_owners() == {"s1": WorkItem("a"), "s2": WorkItem("b")}
    ((logged,), (other,)) = (later.read_log(record(key))[2] for key in "ab")
    assert (logged.text, logged.outcome) == ("do it", "unknown")
    assert (other.outcome, other.tokens) == ("done", 7)
    # made again under its name, it is another line of the trail
    later.begin_dispatch(record("a"), "u1", "created", "do it", 1.8)
    later.finish_dispatch("u1", "done", 9, 0.1, 1.9)
    assert [each.outcome for each in later.read_log(record("a"))[2]] == ["unknown", "done"]


def test_a_session_that_is_left_is_remembered_and_a_key_forgotten_whole(opened: Open) -> None:
    store = opened()
    store.put(record("a"))
    store.detach_session(record("a", None), "s1", "expired", 3.0, None)
    store.record_act(WorkItem("a"), "window", "…", 3.0)
    earlier, acts, _ = store.read_log(record("a"))
    assert [(each.session_id, each.why) for each in earlier] == [("s1", "expired")]
    assert [each.what for each in acts] == ["window"]
    assert store.session_owners() == {"s1": WorkItem("a")}
    store.begin_dispatch(record("a"), "u1", "renewed", "do it", 4.0)
    assert store.forget(WorkItem("a"))
    assert not store.forget(WorkItem("a"))
    # the audit trail is not the conversation's
    assert store.find_dispatch("u1") is not None
    assert (store.get(WorkItem("a")), store.session_owners()) == (None, {})


def test_thousands_are_listed_by_use_and_only_expired_ones_expire(opened: Open) -> None:
    store = opened()
    with store._transaction() as database:
        for number, project in zip(range(3_000), cycle(["even", "odd"])):
            store._put(
                database,
                record(f"k{number}", f"s{number}", project=project, updated=number, expires=number),
            )
    assert [each.key for each in store.all("odd", 2)] == ["k2999", "k2997"]
    assert len(store.all(None, 10_000)) == 3_000
    assert set(store.expired_items(1.0)) == {WorkItem("k0", "even"), WorkItem("k1", "odd")}
    # the store itself leaves out what cannot be in a state, however many there are
    assert [each.key for each in store.all(None, 2, state="expired", now=1.0)] == ["k1", "k0"]
    assert len(store.all(None, 10_000, state="active", now=1.0)) == 3_000
    assert store.all(None, 2, state="reset", now=1.0) == []
    store.put(record("left", None, updated=1, expires=5))
    assert [each.key for each in store.all(None, 2, state="reset", now=1.0)] == ["left"]
    assert "left" not in {each.key for each in store.all(None, 10_000, state="active", now=1.0)}


def test_a_dispatch_is_found_by_its_name_without_reading_all_of_them(opened: Open) -> None:
    store = opened()
    with store._transaction() as database:
        # a file that was made before there was this index
        database.execute("DROP INDEX dispatch_uuid")
    store.close()
    store.open()
    with store._connection() as database:
        plan = database.execute("EXPLAIN QUERY PLAN UPDATE dispatch SET cost = 1 WHERE uuid = 'u'")
        assert "USING INDEX dispatch_uuid" in str(plan.fetchall())
    store.begin_dispatch(record("a"), "u1", "created", "do it", 1.5)
    dispatch = store.find_dispatch("u1")
    assert dispatch is not None
    assert (dispatch[0], dispatch[1].text) == (WorkItem("a"), "do it")
    assert store.find_dispatch("u2") is None


def test_a_file_that_is_none_is_kept_aside(path: Path, opened: Open) -> None:
    path.parent.mkdir()
    path.write_bytes(b"not a database, but somebody's words " * 40)
    store = opened()
    store.put(record("a"))
    (aside,) = path.parent.glob("*.corrupt-*")
    assert aside.read_bytes().startswith(b"not a database")


def test_only_its_owner_can_read_it(path: Path, opened: Open) -> None:
    opened().put(record("a"))
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
    words, left_out = handover_prompt(
        LastMessages([("User", "b"), ("Claude", "c" * 9_000)], 5), 10_000
    )
    assert left_out == 3
    assert words.index("User: b") < words.index("Claude: c")
    # uncut, however long it is
    assert "c" * 9_000 in words


def test_what_does_not_fit_is_left_out_whole() -> None:
    last = LastMessages([("User", "x" * 50), ("Claude", "y" * 50), ("User", "z")], 3)
    words, left_out = handover_prompt(last, 70)
    assert left_out == 1
    assert "x" not in words.split("follow;")[1]
    assert "Claude: " + "y" * 50 in words
    assert verbatim_prompt(last, 10) == (
        (
            "The conversation was summarised. The last 1 messages before that follow word for word."
            "\n\nUser: z"
        ),
        1,
    )
    assert verbatim_prompt(last, 3) == (None, 0)


def test_the_room_is_half_of_what_may_be_filled() -> None:
    settings = ConversationSettings(window_tokens=1_000)
    assert room_bytes(None, settings) == 400 * 3
    assert room_bytes("m[1m]", ConversationSettings()) == 400_000 * 3


# ---- an item is its key in its project ----


def test_the_same_key_in_two_projects_is_two_items(opened: Open) -> None:
    store = opened()
    for project, session in (("shop", "s1"), ("depot", "s2"), (None, "s3")):
        store.begin_dispatch(
            record("a", session, project=project), f"u-{session}", "created", "do it", 1.5
        )
        store.record_act(WorkItem("a", project), "summary", session, 2.0)
    assert store.projects_of("a") == [None, "depot", "shop"]
    assert [each.project for each in store.all("", 10)] == [None]
    assert [each.project for each in store.all(None, 10)] == ["shop", "depot", None]
    assert [each.project for each in store.all(None, 10, (2.0, WorkItem("a", "shop")))] == [
        "depot",
        None,
    ]
    assert [each.project for each in store.all(None, 10, session="s2")] == ["depot"]
    shop = record("a", "s1", project="shop")
    _, acts, logged = store.read_log(shop)
    assert ([each.details for each in acts], [each.uuid for each in logged]) == (["s1"], ["u-s1"])
    store.detach_session(shop, "s1", "reset", 3.0, None)
    assert store.forget(WorkItem("a", "depot"))
    assert store.session_owners() == {"s1": WorkItem("a", "shop"), "s3": WorkItem("a")}
    # the trail has all of them, also the one that is forgotten
    page, more = store.audit_trail("a", None, None, 2)
    assert [each.project for each in page] == [None, "depot"]
    page, more = store.audit_trail("a", None, None, 2, more)
    assert ([each.project for each in page], more) == (["shop"], None)


def test_dispatches_leave_the_trail_when_they_were_kept_long_enough(opened: Open) -> None:
    store = opened()
    for number in range(3):
        store.begin_dispatch(record("a"), f"u{number}", "created", "do it", float(number))
    store.finish_dispatch("u0", "done", 1, 0.1, 9.0)
    store.finish_dispatch("u2", "done", 1, 0.1, 9.0)
    # one whose turn is under way stays
    assert store.forget_dispatches(1.5) == 1
    assert [each.uuid for each in store.audit_trail(None, None, None, 9)[0]] == ["u2", "u1"]


def test_what_an_item_may_use_is_written_down_with_it(opened: Open) -> None:
    one = record("a", ceilings=Ceilings(turns=3), allowed=Ceilings(turns=5), cost=0.25, ended=7.0)
    opened().put(one)
    assert opened().get(WorkItem("a")) == one


# the shape that files had before an item was its key in its project
VERSION_1 = """
CREATE TABLE conversation (
  key TEXT PRIMARY KEY, project TEXT, workdir TEXT NOT NULL, session TEXT, prompt TEXT,
  primer TEXT, metadata TEXT NOT NULL, created REAL NOT NULL, updated REAL NOT NULL,
  expires REAL NOT NULL, lifetime REAL NOT NULL, tokens INTEGER NOT NULL, model TEXT,
  dispatches INTEGER NOT NULL, done INTEGER NOT NULL, full INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX conversation_updated ON conversation (updated);
CREATE INDEX conversation_expires ON conversation (expires);
CREATE TABLE earlier (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, session TEXT NOT NULL, ended REAL NOT NULL,
  why TEXT NOT NULL, details TEXT
);
CREATE INDEX earlier_key ON earlier (key);
CREATE TABLE act (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, at REAL NOT NULL, what TEXT NOT NULL, details TEXT
);
CREATE INDEX act_key ON act (key);
CREATE TABLE dispatch (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, session TEXT NOT NULL, uuid TEXT NOT NULL,
  at REAL NOT NULL, how TEXT NOT NULL, text TEXT NOT NULL, outcome TEXT, tokens INTEGER,
  cost REAL, finished REAL
);
CREATE INDEX dispatch_key ON dispatch (key);
CREATE INDEX dispatch_uuid ON dispatch (uuid);
CREATE INDEX dispatch_open ON dispatch (id) WHERE outcome IS NULL;
PRAGMA user_version = 1;
"""


@pytest.fixture
def of_version_1(path: Path) -> Path:
    path.parent.mkdir()
    database = sqlite3.connect(path)
    database.executescript(VERSION_1)
    conversations = [
        ("a", "shop", "/w", "s2", "You are Ada.", None, '{"n":1}', 5.0, 9.0, 99.0, 90.0, 700, "m",
         3, 2, 1),
        ("b", None, "/v", None, None, "primer", "{}", 5.0, 8.0, 98.0, 90.0, 0, None, 1, 0, 0),
    ]  # fmt: skip
    database.executemany(f"INSERT INTO conversation VALUES ({', '.join('?' * 16)})", conversations)
    database.execute("INSERT INTO earlier VALUES (1, 'a', 's1', 6.0, 'expired', 'long ago')")
    database.execute("INSERT INTO act VALUES (1, 'a', 6.5, 'summary', 'done')")
    dispatches = [
        # of a conversation with this key that was forgotten before
        (1, "a", "s0", "u0", 1.0, "created", "zero", "done", 50, 0.5, 2.0),
        (2, "a", "s1", "u1", 5.0, "created", "one", "done", 300, 0.25, 5.5),
        (3, "a", "s2", "u2", 7.0, "renewed", "two", "failed", None, None, 7.5),
        (4, "a", "s2", "u3", 8.0, "continued", "three", "done", 700, 0.5, 9.0),
        (5, "b", "s3", "u4", 5.0, "created", "four", None, None, None, None),
        (6, "gone", "s9", "u9", 3.0, "created", "nine", "done", 9, 0.1, 4.0),
    ]
    database.executemany(f"INSERT INTO dispatch VALUES ({', '.join('?' * 11)})", dispatches)
    database.commit()
    database.close()
    return path


def test_a_file_of_an_earlier_keeper_loses_nothing(of_version_1: Path, opened: Open) -> None:
    store = opened()
    a, b = store.get(WorkItem("a", "shop")), store.get(WorkItem("b"))
    assert a == record(
        "a", "s2", project="shop", prompt="You are Ada.", metadata={"n": 1}, created=5.0,
        updated=9.0, expires=99.0, lifetime=90.0, window=700, model="m", dispatches=3, done=2,
        full=True, tokens=1_000, cost=0.75,
    )  # fmt: skip
    assert b is not None
    assert (b.primer, b.workdir, b.tokens, b.project) == ("primer", "/v", 0, None)
    earlier, acts, logged = store.read_log(a)
    assert [(each.session_id, each.why, each.details) for each in earlier] == [
        ("s1", "expired", "long ago")
    ]
    assert [(each.what, each.details) for each in acts] == [("summary", "done")]
    assert [(each.uuid, each.tokens) for each in logged] == [("u1", 300), ("u2", None), ("u3", 700)]
    trail, more = store.audit_trail(None, None, None, 100)
    assert more is None
    assert [(each.key, each.project, each.uuid) for each in reversed(trail)] == [
        ("a", None, "u0"), ("a", "shop", "u1"), ("a", "shop", "u2"), ("a", "shop", "u3"),
        ("b", None, "u4"), ("gone", None, "u9"),
    ]  # fmt: skip
    assert store.session_owners() == {"s1": WorkItem("a", "shop"), "s2": WorkItem("a", "shop")}
    # the next time there is nothing left to be done
    assert opened().get(WorkItem("a", "shop")) == a


def test_a_change_of_shape_that_is_cut_off_is_begun_again(
    of_version_1: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = store_file._MIGRATION_FROM_1 + "SELECT no_such_function();"
    with monkeypatch.context() as patch:
        patch.setitem(store_file._MIGRATIONS, 1, broken)
        with pytest.raises(StateUnwritable):
            opened().get(WorkItem("a", "shop"))
    assert [each.key for each in opened().all(None, 10)] == ["a", "b"]
    assert not list(of_version_1.parent.glob("*.corrupt-*"))


def test_a_file_of_a_newer_keeper_is_left_as_it_is(path: Path, opened: Open) -> None:
    opened().put(record("a"))
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(StateUnwritable):
        opened().all(None, 10)
    assert not list(path.parent.glob("*.corrupt-*"))
