"""Hours are local ones, also where a zone is not whole hours away."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from claudekeeper.catalog.hourly_tables import hour_of, local_hour, sums_by_hour


@pytest.fixture
def in_kathmandu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("TZ", "Asia/Kathmandu")
        time.tzset()
        local_hour.cache_clear()
        yield
    time.tzset()
    local_hour.cache_clear()


@pytest.mark.usefixtures("in_kathmandu")
def test_a_day_begins_at_a_quarter_past_six_in_utc() -> None:
    assert hour_of("2026-03-01T18:14:59.000Z") == "2026-03-01T23"
    assert hour_of("2026-03-01T18:15:00.000Z") == "2026-03-02T00"
    evening = 29_538_373  # minutes: 2026-02-28T18:13Z
    quarters = {(evening // 15, 0): [1] * 10, (evening // 15 + 1, 0): [2] * 10}
    assert list(sums_by_hour(quarters)) == ["2026-02-28T23", "2026-03-01T00"]


def test_what_has_no_time_is_in_no_hour() -> None:
    assert hour_of("") == ""
    assert hour_of("yesterday") == ""
    assert sums_by_hour({(0, 0): [1] * 10}) == {}
