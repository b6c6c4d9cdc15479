"""A dict that forgets its oldest entries."""

from __future__ import annotations

from claudekeeper.core.bounded import BoundedDict


def filled(most: int, *keys: str) -> BoundedDict[str, int]:
    entries: BoundedDict[str, int] = BoundedDict(most)
    for number, key in enumerate(keys):
        entries[key] = number
    return entries


def test_the_oldest_entry_goes_first() -> None:
    assert list(filled(2, "a", "b", "c").items()) == [("b", 1), ("c", 2)]


def test_an_entry_that_is_set_again_is_the_newest() -> None:
    assert list(filled(2, "a", "b", "a", "c")) == ["a", "c"]


def test_as_many_as_fit_stay() -> None:
    assert list(filled(3, "a", "b", "c")) == ["a", "b", "c"]
