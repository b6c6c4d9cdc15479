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

from claudekeeper.analysis.last_turns import (
    MAX_TURNS,
    OpenQuestion,
    SessionEnd,
    extend_turns,
    question_of_call,
    session_end_of,
)
from claudekeeper.analysis.prices import price_of
from claudekeeper.analysis.session_facts import SessionFacts, tasks_of
from claudekeeper.attention.pending_attention import PendingAttention
from claudekeeper.catalog.catalog import Catalog
from claudekeeper.catalog.discovery import SessionRow
from claudekeeper.contract.errors import SpecificationNotFound
from claudekeeper.contract.sessions import Session
from claudekeeper.coverage.checklist_file import read_checklist
from claudekeeper.coverage.coverage_service import CoverageService
from claudekeeper.coverage.readiness import Coverage
from claudekeeper.coverage.specification_file import (
    Specification,
    find_specification,
    read_specification,
)
from claudekeeper.resume.recap_text import render_recap
from claudekeeper.resume.types import (
    ResumeReport,
    ResumeWarning,
    WorkCost,
    WorkDone,
    next_action,
    outcome_of,
    progress_of,
    work_of,
)
from claudekeeper.sessions.session_view import SessionViews
from claudekeeper.transcripts.history import History
from claudekeeper.transcripts.line_reader import open_readonly

IDLE_DAYS = 30
DAY_SECONDS = 86_400
# how the conversation stands is told by its last messages; most of the last turns are among them
LAST_MESSAGES = 400
# the rest of these turns is read in pages like this, but no more than so many
PAGE_MESSAGES, MOST_PAGES = 1_000, 10
_HEAD = re.compile(r"ref: refs/heads/(\S+)")


class ReadTranscript(msgspec.Struct):
    """What the disk tells of a session."""

    session_end: SessionEnd
    coverage: Coverage | None
    specification_path: str | None
    warnings: list[ResumeWarning]


class ResumeReporter:
    """Says where a session stands."""

    def __init__(
        self,
        catalog: Catalog,
        history: History,
        overview: SessionViews,
        desk: PendingAttention,
        coverage: CoverageService,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._catalog = catalog
        self._history = history
        self._views = overview
        self._attention = desk
        self._coverage = coverage
        self._clock = clock

    async def report(self, row: SessionRow) -> ResumeReport:
        row, facts, beside = await self._catalog.folds.facts(row)
        session = self._views.session(row.file.id, row)
        assert session is not None
        seen = await asyncio.to_thread(self._read_transcript, row, session, facts or SessionFacts())
        seen.session_end.question = self._open_question(session.id) or seen.session_end.question
        work = work_of(facts, beside) if facts is not None else None
        return self._build_report(row, session, facts, work, seen)

    async def specification(self, row: SessionRow) -> Specification:
        """The specification of the session's project."""
        row, facts, _ = await self._catalog.folds.facts(row)
        workdir = row.summary.workdir

        def read() -> Specification:
            path = (
                self._find_specification_path(workdir, facts or SessionFacts()) if workdir else None
            )
            if workdir is None or path is None:
                raise SpecificationNotFound
            return read_specification(workdir, path)

        try:
            return await asyncio.to_thread(read)
        except OSError as error:
            raise SpecificationNotFound from error

    def _read_transcript(
        self, row: SessionRow, session: Session, facts: SessionFacts
    ) -> ReadTranscript:
        closing = self._read_session_end(row, session)
        covered = self._coverage.session_coverage(row)
        workdir = session.workdir
        path = self._find_specification_path(workdir, facts) if workdir is not None else None
        idle = int(self._clock() - _last_activity(row, facts))
        cautions = _warnings(session, idle)
        return ReadTranscript(closing, covered.coverage if covered else None, path, cautions)

    def _find_specification_path(self, workdir: str, facts: SessionFacts) -> str | None:
        checklist = read_checklist(workdir)
        named = checklist.specification if checklist is not None else None
        return find_specification(workdir, named, facts.edits_by_file)

    def _read_session_end(self, row: SessionRow, session: Session) -> SessionEnd:
        if row.fault is not None:
            return SessionEnd([], "nothing")
        path, session_id = Path(row.file.path), row.file.id
        page = self._history.page(path, session_id, limit=LAST_MESSAGES)
        closing = session_end_of([*page.messages, *page.unanswered_prompts])
        for _ in range(MOST_PAGES):
            asked = [turn for turn in closing.turns if turn.prompt is not None]
            if page.before is None or len(asked) >= MAX_TURNS:
                break
            page = self._history.page(path, session_id, limit=PAGE_MESSAGES, before=page.before)
            closing.turns = extend_turns(closing.turns, page.messages)
        if page.before is not None and closing.turns and closing.turns[0].prompt is None:
            closing.turns[0].whole = False
            if len(closing.turns) == 1:
                closing.turns[0].prompt = session.last_prompt
        return closing

    def _open_question(self, session_id: str) -> OpenQuestion | None:
        """One that waits for an answer now."""
        for attention in self._attention.all(session_id):
            if attention.kind in ("permission", "ceiling"):
                title = attention.title or f"May Claude use {attention.tool}?"
                return OpenQuestion("permission", title, attention_id=attention.id)
            question = question_of_call(attention.tool, attention.input)
            question.attention_id = attention.id
            return question
        return None

    def _build_report(
        self,
        row: SessionRow,
        session: Session,
        facts: SessionFacts | None,
        work: WorkDone | None,
        seen: ReadTranscript,
    ) -> ResumeReport:
        known = facts or SessionFacts()
        closing, coverage, cautions = seen.session_end, seen.coverage, seen.warnings
        tasks = tasks_of(known)
        working = session.state in ("running", "starting")
        action = next_action(
            closing,
            tasks,
            working=working,
            coverage=coverage,
            specification=seen.specification_path,
        )
        progress = progress_of(tasks)
        cost = _cost(session, known if facts is not None else None)
        idle = max(0, int(self._clock() - _last_activity(row, known)))
        given_up = session.given_up is not None and not working
        recap = render_recap(
            title=session.display_name,
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
        return ResumeReport(
            session_id=session.id,
            last=known.last_at or session.modified,
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
            specification=seen.specification_path,
        )


def _last_activity(row: SessionRow, facts: SessionFacts) -> float:
    """When something was last said: a file's own time also changes with its title."""
    written = row.file.mtime / 1e9
    try:
        said = datetime.fromisoformat(facts.last_at).timestamp() if facts.last_at else written
    except (ValueError, OverflowError):
        return written
    return min(said, written) if said > 0 else written


def _cost(session: Session, facts: SessionFacts | None) -> WorkCost:
    tokens = facts.context_tokens if facts is not None else None
    price = price_of(session.model)
    # nothing is left in the cache: all of it is written there anew
    dollars = tokens * price.input * price.cache_write / 1e6 if tokens and price else None
    return WorkCost(
        session.cost_usd, tokens, tokens, round(dollars, 4) if dollars is not None else None
    )


def _warnings(session: Session, idle: int) -> list[ResumeWarning]:
    found: list[ResumeWarning] = []
    if idle > IDLE_DAYS * DAY_SECONDS:
        found.append(
            ResumeWarning(
                "idle_long",
                f"Nothing was said here for {idle // DAY_SECONDS} days; much may differ.",
            )
        )
    workdir = session.workdir
    if workdir is None:
        return found
    if not os.path.isdir(workdir):  # noqa: PTH112 - never raises, whatever a transcript says
        found.append(ResumeWarning("directory_gone", f"Its directory is gone: {workdir}"))
        return found
    branch = _git_branch(workdir)
    if branch is not None and session.git_branch not in (None, "HEAD", branch):
        found.append(
            ResumeWarning(
                "branch_moved", f"It was on the branch {session.git_branch}; now it is {branch}."
            )
        )
    return found


def _git_branch(workdir: str) -> str | None:
    """The branch that is checked out; None where that cannot be told."""
    for folder in (Path(workdir), *Path(workdir).parents):
        git = folder / ".git"
        try:
            if git.is_file():
                # a worktree: the file says where its own folder is
                git = folder / _read_start(git).removeprefix("gitdir:").strip()
            head = _read_start(git / "HEAD")
        except (OSError, ValueError):
            continue
        found = _HEAD.match(head)
        return found[1] if found else None
    return None


def _read_start(path: Path) -> str:
    """Of a plain file: a pipe of that name would be waited for, a device read without end."""
    with open_readonly(path) as descriptor:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileNotFoundError(path)
        return os.pread(descriptor, 4096, 0).decode("utf-8", "replace")
