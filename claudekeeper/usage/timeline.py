"""The timeline: what was done in a session or project, by hours or days, with the prompts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Literal

import msgspec

from claudekeeper.analysis.activity import SUM_COLUMNS, PromptAt, Sums, add_sums, sums_by_quarter
from claudekeeper.analysis.reply_usage import NANODOLLARS
from claudekeeper.catalog.cache import Cache
from claudekeeper.catalog.catalog import Catalog
from claudekeeper.catalog.discovery import SessionRow
from claudekeeper.catalog.hourly_tables import HourSums, SessionPrompt, hour_of, sums_by_hour
from claudekeeper.catalog.usage_tables import time_zone
from claudekeeper.core.paths import workdirs_in_roots
from claudekeeper.coverage.coverage_service import CoverageService, SessionCoverage
from claudekeeper.coverage.readiness import percent
from claudekeeper.usage.usage import UsageAmount, UsageService

Step = Literal["hour", "day"]

# a span of so many hours is shown by hours
HOURLY_UP_TO_HOURS = 48
# sorts after every hour
END_OF_TIME = "~"


class BucketWork(UsageAmount, rename="camel", kw_only=True):
    """What was done, by subagents too; edits are changes made to files, prompts those of people."""

    prompts: int = 0
    tools: int = 0
    edits: int = 0
    compactions: int = 0


class TimelineBucket(BucketWork, rename="camel", kw_only=True):
    """What was done in one day (`2026-03-01`) or hour (`2026-03-01T10`)."""

    start: str


class PromptLine(msgspec.Struct, rename="camel"):
    """A prompt in short, and the message to jump to; `title` and `workdir` are the session's."""

    session_id: str
    uuid: str
    at: str
    text: str
    title: str | None
    workdir: str | None


class CompletionPoint(msgspec.Struct, rename="camel"):
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
    total: BucketWork
    buckets: list[TimelineBucket]
    prompts: list[PromptLine]
    complete: bool
    # where the project has a checklist: the days or hours in which more of it was covered, and how
    # much was covered before; null for several projects
    completion: list[CompletionPoint] | None = None


class TimelineSpan(msgspec.Struct, frozen=True):
    """The time of a timeline, its steps, and how many prompts it has."""

    after: str | None
    before: str | None
    by: Step | None
    limit: int

    @property
    def start(self) -> str:
        # what has no time is in no span
        return self.after or "!"

    @property
    def end(self) -> str:
        return self.before or END_OF_TIME


class TimelineService:
    """Makes timelines."""

    def __init__(
        self,
        catalog: Catalog,
        cache: Cache,
        usage: UsageService,
        label_of: Callable[[str], str | None],
        coverage: CoverageService,
    ) -> None:
        self._catalog = catalog
        self._cache = cache
        self._usage = usage
        self._label_of = label_of
        self._coverage = coverage

    async def session_timeline(self, row: SessionRow, span: TimelineSpan) -> Timeline:
        """The timeline of a session: its transcript, and what its subagents used."""
        row, diary = await self._catalog.folds.activity(row)

        def read() -> tuple[list[HourSums], list[PromptAt], SessionCoverage | None]:
            hours: dict[str, Sums] = {}
            prompts: list[PromptAt] = []
            if diary is not None:
                hours = sums_by_hour(sums_by_quarter(diary.replies, diary.activity))
                prompts = [each for each in diary.prompts if _is_in_span(hour_of(each.at), span)]
            for hour, sums in self._cache.subagent_activity_by_hour(
                row.file.id, span.start, span.end
            ):
                add_sums(hours.setdefault(hour, [0] * SUM_COLUMNS), sums)
            moments = [(hour, sums) for hour, sums in hours.items() if _is_in_span(hour, span)]
            covered = self._coverage.session_coverage(row)
            return sorted(moments), sorted(prompts, key=lambda each: each.at), covered

        moments, prompts, covered = await asyncio.to_thread(read)
        workdir = row.summary.workdir
        session_prompts = [(row.file.id, workdir, each) for each in prompts[: span.limit]]
        # a transcript that cannot be read has nothing more to come
        complete = diary is not None or row.fault is not None
        return self._build(span, moments, session_prompts, covered, complete=complete)

    async def project_timeline(
        self, workdir: str | None, within: list[str] | None, span: TimelineSpan
    ) -> Timeline:
        """The timeline of a directory, or of all; each reply and prompt counts once."""
        complete = await self._usage.refresh()

        rows = await self._catalog.rows() if workdir is not None else []

        def read() -> tuple[list[HourSums], list[SessionPrompt], SessionCoverage | None]:
            allowed = _allowed_workdirs(workdir, within, self._cache.usage_workdirs)
            moments = self._cache.activity_by_hour(span.start, span.end, allowed)
            prompts = self._cache.first_prompts(span.start, span.end, allowed, span.limit)
            covered = None
            if workdir is not None and (allowed is None or workdir in allowed):
                covered = self._coverage.project_coverage(rows, workdir)
            return moments, prompts, covered

        moments, prompts, covered = await asyncio.to_thread(read)
        return self._build(span, moments, prompts, covered, complete=complete)

    def _build(
        self,
        span: TimelineSpan,
        moments: list[HourSums],
        prompts: Iterable[SessionPrompt],
        covered: SessionCoverage | None,
        *,
        complete: bool,
    ) -> Timeline:
        by = span.by or step_of(moments)
        buckets = group_by_step(moments, by)
        total = _total(moments)
        return Timeline(
            by,
            time_zone(),
            span.after,
            span.before,
            BucketWork(*_amounts(total), **_work_counts(total)),
            [
                TimelineBucket(*_amounts(sums), start=start, **_work_counts(sums))
                for start, sums in buckets
            ],
            [
                PromptLine(session, each.uuid, each.at, each.text, self._label_of(session), workdir)
                for session, workdir, each in prompts
            ],
            complete,
            completion_of(covered, span, by) if covered is not None else None,
        )


def completion_of(covered: SessionCoverage, span: TimelineSpan, by: Step) -> list[CompletionPoint]:
    """Cumulative: what was covered before the span counts in its first entry."""
    length = _key_length(by)
    items = covered.coverage.items
    done: dict[str, int] = {}
    for number, at in enumerate(covered.covered_times, start=1):
        hour = hour_of(at) if at else ""
        if hour >= span.end:
            break
        # items that the checklist itself marks have no time
        done[(hour if hour >= span.start else span.after or "")[:length]] = number
    return [
        CompletionPoint(start, items, each, percent(each, items)) for start, each in done.items()
    ]


def step_of(moments: list[HourSums]) -> Step:
    """Hours for a short time, days for a long one."""
    if not moments:
        return "day"
    first, last = (datetime.fromisoformat(f"{moments[end][0]}:00") for end in (0, -1))
    return "hour" if last - first < timedelta(hours=HOURLY_UP_TO_HOURS) else "day"


def group_by_step(moments: Iterable[HourSums], by: Step) -> list[HourSums]:
    """The same in hours or in days."""
    length = _key_length(by)
    buckets: dict[str, Sums] = {}
    for hour, sums in moments:
        add_sums(buckets.setdefault(hour[:length], [0] * SUM_COLUMNS), sums)
    return list(buckets.items())


def _key_length(by: Step) -> int:
    return len("2026-03-01T10" if by == "hour" else "2026-03-01")


def _total(moments: Iterable[HourSums]) -> Sums:
    total = [0] * SUM_COLUMNS
    for _, sums in moments:
        add_sums(total, sums)
    return total


def _amounts(sums: Sums) -> tuple[int, int, int, int, int, float]:
    replies, input_tokens, output, cache_read, cache_write, cost = sums[:6]
    return replies, input_tokens, output, cache_read, cache_write, round(cost / NANODOLLARS, 6)


def _work_counts(sums: Sums) -> dict[str, int]:
    return dict(zip(("tools", "edits", "prompts", "compactions"), sums[6:], strict=True))


def _allowed_workdirs(
    workdir: str | None, within: list[str] | None, workdirs: Callable[[], list[str]]
) -> frozenset[str] | None:
    """The directories that count; None: all."""
    selected = None if workdir is None else frozenset({workdir})
    if within is None:
        return selected
    return workdirs_in_roots(workdirs() if selected is None else selected, within)


def _is_in_span(hour: str, span: TimelineSpan) -> bool:
    return span.start <= hour < span.end
