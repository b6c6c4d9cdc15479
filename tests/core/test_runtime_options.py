"""Memory settings are wishes: they never fail, whatever the C library."""

from __future__ import annotations

import sys

import pytest

from claudekeeper.core import runtime_options


def test_memory_is_given_back_where_the_library_can() -> None:
    runtime_options.release_memory()
    runtime_options.tune_malloc()


def test_elsewhere_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime_options._libc.cache_clear()
    monkeypatch.setattr(sys, "platform", "darwin")
    runtime_options.tune_malloc()
    runtime_options.release_memory()
    assert runtime_options._libc() is None
    runtime_options._libc.cache_clear()
