"""Makes the resume report of a session, from its last messages and the facts of its full scan."""

from __future__ import annotations

import asyncio
import os
import re
import stat
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import assert_never

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
    RecapText,
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
# the end of a session is read from its last messages; most of the last turns are among them
LAST_MESSAGES = 400
# the rest of these turns is read in so many pages at most
PAGE_MESSAGES, MAX_PAGES = 1_000, 10
_HEAD = re.compile(r"ref: refs/heads/(\S+)")


class ReadTranscript(msgspec.Struct):
    """The parts of a report that are read from the disk."""

    session_end: SessionEnd
    coverage: Coverage | None
    specification_path: str | None
    warnings: list[ResumeWarning]


class ResumeReporter:
    """Makes resume reports."""

    def __init__(
        self,
        catalog: Catalog,
        history: History,
        views: SessionViews,
        attention: PendingAttention,
        coverage: CoverageService,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._catalog = catalog
        self._history = history
        self._views = views
        self._attention = attention
        self._coverage = coverage
        self._clock = clock

    async def report(self, row: SessionRow) -> ResumeReport:
        row, facts, subagents = await self._catalog.folds.facts(row)
        session = self._views.session(row.file.id, row)
        assert session is not None
        transcript = await asyncio.to_thread(
            self._read_transcript, row, session, facts or SessionFacts()
        )
        question = self._open_question(session.id)
        transcript.session_end.question = question or transcript.session_end.question
        work = work_of(facts, subagents) if facts is not None else None
        return self._build_report(row, session, facts, work, transcript)

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
        end = self._read_session_end(row, session)
        covered = self._coverage.session_coverage(row)
        workdir = session.workdir
        path = self._find_specification_path(workdir, facts) if workdir is not None else None
        idle = int(self._clock() - _last_activity(row, facts))
        coverage = covered.coverage if covered else None
        return ReadTranscript(end, coverage, path, _warnings(session, idle))

    def _find_specification_path(self, workdir: str, facts: SessionFacts) -> str | None:
        checklist = read_checklist(workdir)
        named = checklist.specification if checklist is not None else None
        return find_specification(workdir, named, facts.edits_by_file)

    def _read_session_end(self, row: SessionRow, session: Session) -> SessionEnd:
        if row.fault is not None:
            return SessionEnd([], "nothing")
        path, session_id = Path(row.file.path), row.file.id
        page = self._history.page(path, session_id, limit=LAST_MESSAGES)
        end = session_end_of([*page.messages, *page.unanswered_prompts])
        for _ in range(MAX_PAGES):
            complete = [turn for turn in end.turns if turn.prompt is not None]
            if page.before is None or len(complete) >= MAX_TURNS:
                break
            page = self._history.page(path, session_id, limit=PAGE_MESSAGES, before=page.before)
            end.turns = extend_turns(end.turns, page.messages)
        if page.before is not None and end.turns and end.turns[0].prompt is None:
            end.turns[0].whole = False
            if len(end.turns) == 1:
                end.turns[0].prompt = session.last_prompt
        return end

    def _open_question(self, session_id: str) -> OpenQuestion | None:
        """One that waits for an answer now."""
        for attention in self._attention.all(session_id):
            match attention.kind:
                case "permission" | "ceiling":
                    title = attention.title or f"May Claude use {attention.tool}?"
                    return OpenQuestion("permission", title, attention_id=attention.id)
                case "question" | "plan":
                    question = question_of_call(attention.tool, attention.input)
                    question.attention_id = attention.id
                    return question
                case _:
                    assert_never(attention.kind)
        return None

    def _build_report(
        self,
        row: SessionRow,
        session: Session,
        facts: SessionFacts | None,
        work: WorkDone | None,
        transcript: ReadTranscript,
    ) -> ResumeReport:
        is_complete, facts = facts is not None, facts or SessionFacts()
        end, coverage, warnings = transcript.session_end, transcript.coverage, transcript.warnings
        tasks = tasks_of(facts)
        is_working = session.state in ("running", "starting")
        is_given_up = session.given_up is not None and not is_working
        action = next_action(
            end,
            tasks,
            working=is_working,
            coverage=coverage,
            specification=transcript.specification_path,
        )
        report = ResumeReport(
            session_id=session.id,
            last=facts.last_at or session.modified,
            idle_seconds=max(0, int(self._clock() - _last_activity(row, facts))),
            turns=end.turns,
            question=end.question,
            next=action,
            progress=progress_of(tasks),
            coverage=coverage,
            decisions=facts.decisions,
            work=work,
            cost=_cost(session, facts.context_tokens if is_complete else None),
            warnings=warnings,
            choices=["resume", "fresh"] if warnings else ["resume"],
            complete=is_complete,
            recap=RecapText("", ""),
            outcome=outcome_of(action, tasks, coverage, is_given_up=is_given_up),
            specification=transcript.specification_path,
        )
        report.recap = render_recap(
            report,
            title=session.display_name,
            workdir=session.workdir,
            is_given_up=is_given_up,
        )
        return report


def _last_activity(row: SessionRow, facts: SessionFacts) -> float:
    """The time of the last message: that of the file also changes with the title."""
    modified = row.file.mtime / 1e9
    try:
        last = datetime.fromisoformat(facts.last_at).timestamp() if facts.last_at else modified
    except (ValueError, OverflowError):
        return modified
    return min(last, modified) if last > 0 else modified


def _cost(session: Session, tokens: int | None) -> WorkCost:
    price = price_of(session.model)
    # the cache has expired: the whole context is written to it again
    dollars = tokens * price.input * price.cache_write / 1e6 if tokens and price else None
    return WorkCost(
        session.cost_usd, tokens, tokens, round(dollars, 4) if dollars is not None else None
    )


def _warnings(session: Session, idle: int) -> list[ResumeWarning]:
    warnings: list[ResumeWarning] = []
    if idle > IDLE_DAYS * DAY_SECONDS:
        warnings.append(
            ResumeWarning(
                "idle_long",
                f"Nothing was said here for {idle // DAY_SECONDS} days; much may differ.",
            )
        )
    workdir = session.workdir
    if workdir is None:
        return warnings
    if not os.path.isdir(workdir):  # noqa: PTH112 - never raises, whatever a transcript says
        warnings.append(ResumeWarning("directory_gone", f"Its directory is gone: {workdir}"))
        return warnings
    branch = _git_branch(workdir)
    if branch is not None and session.git_branch not in (None, "HEAD", branch):
        warnings.append(
            ResumeWarning(
                "branch_moved", f"It was on the branch {session.git_branch}; now it is {branch}."
            )
        )
    return warnings


def _git_branch(workdir: str) -> str | None:
    """The branch that is checked out; None if it is unknown."""
    for folder in (Path(workdir), *Path(workdir).parents):
        git = folder / ".git"
        try:
            if git.is_file():
                # a worktree: the file has the path of its own folder
                git = folder / _read_start(git).removeprefix("gitdir:").strip()
            head = _read_start(git / "HEAD")
        except (OSError, ValueError):
            continue
        match = _HEAD.match(head)
        return match[1] if match else None
    return None


def _read_start(path: Path) -> str:
    """The beginning of a regular file: a pipe would block, and a device never end."""
    with open_readonly(path) as descriptor:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileNotFoundError(path)
        return os.pread(descriptor, 4096, 0).decode("utf-8", "replace")
