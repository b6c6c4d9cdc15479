"""What was done when, in a session or a project: by hours or days, with the prompts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Literal

import msgspec

from claudekeeper.features.coverage import CoverageBook, Covered
from claudekeeper.features.router import inside
from claudekeeper.features.usage import Amount, UsageBook
from claudekeeper.live.catalog import Catalog
from claudekeeper.model.activity import WIDTH, Asked, Sums, add_up, by_quarter
from claudekeeper.model.readiness import percent
from claudekeeper.model.replies import NANO
from claudekeeper.readers.accounts import zone
from claudekeeper.readers.cache import Cache
from claudekeeper.readers.discovery import Row
from claudekeeper.readers.moments import Moment, Prompt, by_hour, hour_of

Step = Literal["hour", "day"]

# what lies within so many hours is told by hours
FEW_HOURS = 48
# after every hour that can be written
NEVER = "~"


class Done(Amount, rename="camel", kw_only=True):
    """What was done, by subagents too; edits are changes made to files, prompts those of people."""

    prompts: int = 0
    tools: int = 0
    edits: int = 0
    compactions: int = 0


class Bucket(Done, rename="camel", kw_only=True):
    """What was done in one day (`2026-03-01`) or hour (`2026-03-01T10`)."""

    start: str


class Said(msgspec.Struct, rename="camel"):
    """A prompt in short, and the message to jump to; `title` and `workdir` are the session's."""

    session_id: str
    uuid: str
    at: str
    text: str
    title: str | None
    workdir: str | None


class Completion(msgspec.Struct, rename="camel"):
    """How much of the project's checklist was covered at the end of a day or hour."""

    start: str
    items: int
    done: int
    percent: int


class Timeline(msgspec.Struct, rename="camel"):
    """Every day or hour in which something was done, and the first prompts of all that time.

    Times are those of the keeper's zone, `before` is not included. `complete`: whether every line
    has been read by now.
    """

    by: Step
    zone: str
    after: str | None
    before: str | None
    total: Done
    buckets: list[Bucket]
    prompts: list[Said]
    complete: bool
    # where the project has a checklist: the days or hours in which more of it was covered, and
    # how much was before; null for several projects
    completion: list[Completion] | None = None


class Span(msgspec.Struct, frozen=True):
    """Which time is asked for, how it is to be told, and how many prompts with it."""

    after: str | None
    before: str | None
    by: Step | None
    limit: int

    @property
    def start(self) -> str:
        # what has no time at all is in no span
        return self.after or "!"

    @property
    def end(self) -> str:
        return self.before or NEVER


class Timelines:
    """Tells what was done when."""

    def __init__(
        self,
        catalog: Catalog,
        cache: Cache,
        usage: UsageBook,
        label_of: Callable[[str], str | None],
        coverage: CoverageBook,
    ) -> None:
        self._catalog = catalog
        self._cache = cache
        self._usage = usage
        self._label_of = label_of
        self._coverage = coverage

    async def of_session(self, row: Row, span: Span) -> Timeline:
        """Everything that its transcript holds, and what its subagents used."""
        row, diary = await self._catalog.diary(row)

        def look() -> tuple[list[Moment], list[Asked], Covered | None]:
            hours: dict[str, Sums] = {}
            asked: list[Asked] = []
            if diary is not None:
                hours = by_hour(by_quarter(diary.replies, diary.activity))
                asked = [each for each in diary.asked if _lies_in(hour_of(each.at), span)]
            for hour, sums in self._cache.done_beside(row.found.id, span.start, span.end):
                add_up(hours.setdefault(hour, [0] * WIDTH), sums)
            found = [(hour, sums) for hour, sums in hours.items() if _lies_in(hour, span)]
            covered = self._coverage.covered(row)
            return sorted(found), sorted(asked, key=lambda each: each.at), covered

        moments, asked, covered = await asyncio.to_thread(look)
        workdir = row.summary.workdir
        prompts = [(row.found.id, workdir, each) for each in asked[: span.limit]]
        # of what cannot be read there will never be more
        complete = diary is not None or row.fault is not None
        return self._told(span, moments, prompts, covered, complete=complete)

    async def of_projects(
        self, workdir: str | None, within: list[str] | None, span: Span
    ) -> Timeline:
        """What was done in a directory, or in all of them; each reply and prompt once."""
        complete = await self._usage.current()

        rows = await self._catalog.rows() if workdir is not None else []

        def look() -> tuple[list[Moment], list[Prompt], Covered | None]:
            allowed = _allowed(workdir, within, self._cache.workdirs)
            moments = self._cache.done(span.start, span.end, allowed)
            asked = self._cache.asked(span.start, span.end, allowed, span.limit)
            covered = None
            if workdir is not None and (allowed is None or workdir in allowed):
                covered = self._coverage.covered_together(rows, workdir)
            return moments, asked, covered

        moments, prompts, covered = await asyncio.to_thread(look)
        return self._told(span, moments, prompts, covered, complete=complete)

    def _told(
        self,
        span: Span,
        moments: list[Moment],
        prompts: Iterable[Prompt],
        covered: Covered | None,
        *,
        complete: bool,
    ) -> Timeline:
        by = span.by or step_of(moments)
        buckets = gathered(moments, by)
        total = _total(moments)
        return Timeline(
            by,
            zone(),
            span.after,
            span.before,
            Done(*_amounts(total), **_deeds(total)),
            [Bucket(*_amounts(sums), start=start, **_deeds(sums)) for start, sums in buckets],
            [
                Said(session, each.uuid, each.at, each.text, self._label_of(session), workdir)
                for session, workdir, each in prompts
            ],
            complete,
            completion_of(covered, span, by) if covered is not None else None,
        )


def completion_of(covered: Covered, span: Span, by: Step) -> list[Completion]:
    """Cumulative: what was covered before the span counts in its first entry."""
    length = _length(by)
    items = covered.coverage.items
    done: dict[str, int] = {}
    for number, at in enumerate(covered.since, start=1):
        hour = hour_of(at) if at else ""
        if hour >= span.end:
            break
        # what the checklist itself marks has no time
        done[(hour if hour >= span.start else span.after or "")[:length]] = number
    return [Completion(start, items, each, percent(each, items)) for start, each in done.items()]


def step_of(moments: list[Moment]) -> Step:
    """What was done in an afternoon deserves hours; what took weeks, days."""
    if not moments:
        return "day"
    first, last = (datetime.fromisoformat(f"{moments[end][0]}:00") for end in (0, -1))
    return "hour" if last - first < timedelta(hours=FEW_HOURS) else "day"


def gathered(moments: Iterable[Moment], by: Step) -> list[Moment]:
    """The same in hours or in days."""
    length = _length(by)
    buckets: dict[str, Sums] = {}
    for hour, sums in moments:
        add_up(buckets.setdefault(hour[:length], [0] * WIDTH), sums)
    return list(buckets.items())


def _length(by: Step) -> int:
    return len("2026-03-01T10" if by == "hour" else "2026-03-01")


def _total(moments: Iterable[Moment]) -> Sums:
    total = [0] * WIDTH
    for _, sums in moments:
        add_up(total, sums)
    return total


def _amounts(sums: Sums) -> tuple[int, int, int, int, int, float]:
    replies, given, output, cache_read, cache_write, cost = sums[:6]
    return replies, given, output, cache_read, cache_write, round(cost / NANO, 6)


def _deeds(sums: Sums) -> dict[str, int]:
    return dict(zip(("tools", "edits", "prompts", "compactions"), sums[6:], strict=True))


def _allowed(
    workdir: str | None, within: list[str] | None, workdirs: Callable[[], list[str]]
) -> frozenset[str] | None:
    """The directories to look at; None: all."""
    wanted = None if workdir is None else frozenset({workdir})
    if within is None:
        return wanted
    return inside(workdirs() if wanted is None else wanted, within)


def _lies_in(hour: str, span: Span) -> bool:
    return span.start <= hour < span.end
