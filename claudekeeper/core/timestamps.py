"""Times as the contract writes them: ISO 8601 in UTC, to the millisecond."""

from __future__ import annotations

from datetime import UTC, datetime

FIRST_SECOND = datetime(1, 1, 1, tzinfo=UTC).timestamp()
LAST_SECOND = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()


def iso_from_ns(nanoseconds: int) -> str:
    return iso_of(nanoseconds / 1e9)


def iso_of(seconds: float) -> str:
    """A time in seconds; one outside the years 1 to 9999 becomes the first or last moment."""
    within = min(max(seconds, FIRST_SECOND), LAST_SECOND)
    return _format(datetime.fromtimestamp(within, UTC))


def now_iso() -> str:
    return _format(datetime.now(UTC))


def _format(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
