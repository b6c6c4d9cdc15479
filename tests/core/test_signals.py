"""A signal tells everyone who subscribed, until they undo it."""

from __future__ import annotations

from claudekeeper.core.signals import Signal


def test_handlers_are_called_in_the_order_of_their_subscription() -> None:
    signal, calls = Signal[str](), list[tuple[str, str]]()
    signal.subscribe(lambda change: calls.append(("first", change)))
    signal.subscribe(lambda change: calls.append(("second", change)))
    signal.emit("a")
    assert calls == [("first", "a"), ("second", "a")]


def test_subscribing_returns_its_undo() -> None:
    signal, calls = Signal[str](), list[str]()
    unsubscribe = signal.subscribe(calls.append)
    unsubscribe()
    unsubscribe()
    signal.emit("a")
    assert calls == []


def test_a_handler_may_unsubscribe_while_it_is_called() -> None:
    signal, calls = Signal[str](), list[str]()
    unsubscribe = signal.subscribe(lambda _: unsubscribe())
    signal.subscribe(calls.append)
    signal.emit("a")
    assert calls == ["a"]
