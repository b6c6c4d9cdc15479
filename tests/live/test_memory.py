"""Memory settings are wishes: they never fail, whatever the C library."""

from __future__ import annotations

import sys

import pytest

from claudekeeper.live import memory


def test_memory_is_given_back_where_the_library_can() -> None:
    memory.give_back()
    memory.be_frugal()


def test_elsewhere_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    memory._libc.cache_clear()
    monkeypatch.setattr(sys, "platform", "darwin")
    memory.be_frugal()
    memory.give_back()
    assert memory._libc() is None
    memory._libc.cache_clear()
