"""Where a session stands, put together from its last lines and what the background pass kept."""

from __future__ import annotations

import asyncio
import os
import re
import stat
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import msgspec

from claudekeeper.features.coverage import CoverageBook
from claudekeeper.features.recap import recap_of
from claudekeeper.live.attention import Desk
from claudekeeper.live.catalog import Catalog
from claudekeeper.live.overview import Overview
from claudekeeper.model.closing import (
    MOST_TURNS,
    Closing,
    Question,
    closing_of,
    further_back,
    waiting_question,
)
from claudekeeper.model.errors import SpecificationNotFound
from claudekeeper.model.facts import Facts
from claudekeeper.model.prices import price_of
from claudekeeper.model.readiness import Coverage
from claudekeeper.model.resume import (
    Caution,
    Cost,
    Resume,
    Work,
    next_action,
    outcome_of,
    progress_of,
    tasks_of,
    work_of,
)
from claudekeeper.model.sessions import Session
from claudekeeper.readers.checklist import read_checklist
from claudekeeper.readers.discovery import Row
from claudekeeper.readers.history import History
from claudekeeper.readers.lines import opened
from claudekeeper.readers.specification import (
    Specification,
    find_specification,
    read_specification,
)

IDLE_DAYS = 30
DAY = 86_400
# how the conversation stands is told by its last messages; most of the last turns are among them
LAST = 400
# the rest of these turns is read in pages like this, but no more than so many
PAGE, MOST_PAGES = 1_000, 10
_HEAD = re.compile(r"ref: refs/heads/(\S+)")


class Seen(msgspec.Struct):
    """What the disk tells of a session."""

    closing: Closing
    coverage: Coverage | None
    specification: str | None
    cautions: list[Caution]


class Resuming:
    """Says where a session stands."""

    def __init__(
        self,
        catalog: Catalog,
        history: History,
        overview: Overview,
        desk: Desk,
        coverage: CoverageBook,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._catalog = catalog
        self._history = history
        self._overview = overview
        self._desk = desk
        self._coverage = coverage
        self._clock = clock

    async def of(self, row: Row) -> Resume:
        row, facts, beside = await self._catalog.facts(row)
        session = self._overview.session(row.found.id, row)
        assert session is not None
        seen = await asyncio.to_thread(self._look, row, session, facts or Facts())
        seen.closing.question = self._open_question(session.id) or seen.closing.question
        work = work_of(facts, beside) if facts is not None else None
        return self._put_together(row, session, facts, work, seen)

    async def specification(self, row: Row) -> Specification:
        """The specification of the session's project."""
        row, facts, _ = await self._catalog.facts(row)
        workdir = row.summary.workdir

        def read() -> Specification:
            path = self._specification(workdir, facts or Facts()) if workdir else None
            if workdir is None or path is None:
                raise SpecificationNotFound
            return read_specification(workdir, path)

        try:
            return await asyncio.to_thread(read)
        except OSError as error:
            raise SpecificationNotFound from error

    def _look(self, row: Row, session: Session, facts: Facts) -> Seen:
        closing = self._closing(row, session)
        covered = self._coverage.covered(row)
        workdir = session.workdir
        path = self._specification(workdir, facts) if workdir is not None else None
        idle = int(self._clock() - _last(row, facts))
        cautions = _cautions(session, idle)
        return Seen(closing, covered.coverage if covered else None, path, cautions)

    def _specification(self, workdir: str, facts: Facts) -> str | None:
        checklist = read_checklist(workdir)
        named = checklist.specification if checklist is not None else None
        return find_specification(workdir, named, facts.files)

    def _closing(self, row: Row, session: Session) -> Closing:
        if row.fault is not None:
            return Closing([], "nothing")
        path, session_id = Path(row.found.path), row.found.id
        page = self._history.page(path, session_id, limit=LAST)
        closing = closing_of([*page.messages, *page.left_waiting])
        for _ in range(MOST_PAGES):
            asked = [turn for turn in closing.turns if turn.prompt is not None]
            if page.before is None or len(asked) >= MOST_TURNS:
                break
            page = self._history.page(path, session_id, limit=PAGE, before=page.before)
            closing.turns = further_back(closing.turns, page.messages)
        if page.before is not None and closing.turns and closing.turns[0].prompt is None:
            closing.turns[0].whole = False
            if len(closing.turns) == 1:
                closing.turns[0].prompt = session.last_prompt
        return closing

    def _open_question(self, session_id: str) -> Question | None:
        """One that waits for an answer now."""
        for attention in self._desk.all(session_id):
            if attention.kind in ("permission", "ceiling"):
                title = attention.title or f"May Claude use {attention.tool}?"
                return Question("permission", title, attention_id=attention.id)
            question = waiting_question(attention.tool, attention.input)
            question.attention_id = attention.id
            return question
        return None

    def _put_together(
        self,
        row: Row,
        session: Session,
        facts: Facts | None,
        work: Work | None,
        seen: Seen,
    ) -> Resume:
        known = facts or Facts()
        closing, coverage, cautions = seen.closing, seen.coverage, seen.cautions
        tasks = tasks_of(known)
        working = session.state in ("running", "starting")
        action = next_action(
            closing,
            tasks,
            working=working,
            coverage=coverage,
            specification=seen.specification,
        )
        progress = progress_of(tasks)
        cost = _cost(session, known if facts is not None else None)
        idle = max(0, int(self._clock() - _last(row, known)))
        given_up = session.given_up is not None and not working
        recap = recap_of(
            title=session.called,
            idle_seconds=idle,
            turns=closing.turns,
            next_action=action,
            progress=progress,
            decisions=known.decisions,
            work=work,
            cost=cost,
            warnings=cautions,
            workdir=session.workdir,
            coverage=coverage,
            given_up=given_up,
        )
        return Resume(
            session_id=session.id,
            last=known.last or session.modified,
            idle_seconds=idle,
            turns=closing.turns,
            question=closing.question,
            next=action,
            progress=progress,
            coverage=coverage,
            decisions=known.decisions,
            work=work,
            cost=cost,
            warnings=cautions,
            choices=["resume", "fresh"] if cautions else ["resume"],
            complete=facts is not None,
            recap=recap,
            outcome=outcome_of(action, tasks, coverage, given_up=given_up),
            specification=seen.specification,
        )


def _last(row: Row, facts: Facts) -> float:
    """When something was last said: a file's own time also changes with its title."""
    written = row.found.mtime / 1e9
    try:
        said = datetime.fromisoformat(facts.last).timestamp() if facts.last else written
    except (ValueError, OverflowError):
        return written
    return min(said, written) if said > 0 else written


def _cost(session: Session, facts: Facts | None) -> Cost:
    tokens = facts.context if facts is not None else None
    price = price_of(session.model)
    # nothing is left in the cache: all of it is written there anew
    dollars = tokens * price.input * price.cache_write / 1e6 if tokens and price else None
    return Cost(
        session.cost_usd, tokens, tokens, round(dollars, 4) if dollars is not None else None
    )


def _cautions(session: Session, idle: int) -> list[Caution]:
    found: list[Caution] = []
    if idle > IDLE_DAYS * DAY:
        found.append(
            Caution("idle_long", f"Nothing was said here for {idle // DAY} days; much may differ.")
        )
    workdir = session.workdir
    if workdir is None:
        return found
    if not os.path.isdir(workdir):  # noqa: PTH112 - never raises, whatever a transcript says
        found.append(Caution("directory_gone", f"Its directory is gone: {workdir}"))
        return found
    branch = _branch(workdir)
    if branch is not None and session.git_branch not in (None, "HEAD", branch):
        found.append(
            Caution(
                "branch_moved", f"It was on the branch {session.git_branch}; now it is {branch}."
            )
        )
    return found


def _branch(workdir: str) -> str | None:
    """The branch that is checked out; None where that cannot be told."""
    for folder in (Path(workdir), *Path(workdir).parents):
        git = folder / ".git"
        try:
            if git.is_file():
                # a worktree: the file says where its own folder is
                git = folder / _beginning(git).removeprefix("gitdir:").strip()
            head = _beginning(git / "HEAD")
        except (OSError, ValueError):
            continue
        found = _HEAD.match(head)
        return found[1] if found else None
    return None


def _beginning(path: Path) -> str:
    """Of a plain file: a pipe of that name would be waited for, a device read without end."""
    with opened(path) as descriptor:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileNotFoundError(path)
        return os.pread(descriptor, 4096, 0).decode("utf-8", "replace")
