"""The router: finds the candidates of a command, decides between them, and sends it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from itertools import islice, takewhile
from pathlib import Path
from threading import Lock
from uuid import uuid4

import msgspec

from claudekeeper.analysis.recorded_mode import written_mode
from claudekeeper.catalog.catalog import Catalog
from claudekeeper.catalog.discovery import SessionRow
from claudekeeper.contract.errors import SessionElsewhere, WorkdirMissing
from claudekeeper.contract.requests import PermissionMode, RouteRequest, SendRequest
from claudekeeper.contract.routing import (
    RoutedMessage,
    RoutingDecision,
    RoutingSettings,
)
from claudekeeper.contract.sessions import Session
from claudekeeper.core.bounded import BoundedDict
from claudekeeper.core.paths import workdirs_in_roots
from claudekeeper.core.timestamps import now_iso
from claudekeeper.routing.candidate import Candidate, CandidateWords, parse_words
from claudekeeper.routing.decide import decide
from claudekeeper.routing.decision_log import RoutingLog
from claudekeeper.routing.start_words import starts_work
from claudekeeper.routing.transcript_words import SpokenWords, TranscriptWords
from claudekeeper.sessions.manager import SessionManager
from claudekeeper.sessions.session import LiveSession
from claudekeeper.sessions.session_view import SessionViews
from claudekeeper.transcripts.layout import TranscriptFile, stat_again

log = logging.getLogger(__name__)

MAX_CANDIDATES = 20
# sessions whose words are read to find these
MAX_EXAMINED = 60
# a file written recently whose last words are older than this was only opened again, or copied
REOPENED_SECONDS = 24 * 3600.0
# decisions that wait for their message
MAX_DECISIONS = 1_000
# conversations whose words are cached
MAX_CACHED = 64
MAX_WORKDIRS = 50_000

# of one version of a transcript
SessionWords = tuple[TranscriptFile, SpokenWords, CandidateWords]


class Router:
    """Decides where a command belongs, and sends it there."""

    def __init__(
        self,
        catalog: Catalog,
        views: SessionViews,
        manager: SessionManager,
        settings: RoutingSettings,
        decision_log: RoutingLog,
        *,
        belongs_to_item: Callable[[str], bool] = lambda _: False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._catalog = catalog
        self._views = views
        self._manager = manager
        self._settings = settings
        self._decision_log = decision_log
        # whether a session is the conversation of a work item: others must not disturb it
        self._belongs_to_item = belongs_to_item
        self._clock = clock
        self._transcript_words = TranscriptWords()
        self._words_cache: OrderedDict[str, tuple[SpokenWords, CandidateWords]] = OrderedDict()
        self._read_lock = Lock()
        # by session: unpacking thousands of rows for it takes time
        self._workdir_cache: dict[str, str | None] = {}
        self._send_lock = asyncio.Lock()
        self._decisions: BoundedDict[str, RoutingDecision] = BoundedDict(MAX_DECISIONS)

    async def route(self, request: RouteRequest) -> RoutingDecision:
        """Decide where a command belongs; nothing is sent."""
        settings = self._settings
        if request.scorer is not None:
            settings = msgspec.structs.replace(settings, scorer=request.scorer)
        candidates: list[Candidate] = []
        if settings.enabled:
            candidates = await self._find_candidates(request.workdir, request.within)
        # in a thread, as the first call reads the phrase files
        decision = await asyncio.to_thread(decide, request.text, candidates, settings)
        if await asyncio.to_thread(starts_work, request.text):
            for score in decision.candidates:
                score.leaves_plan_for = await self._mode_after_plan(score.session_id)
        decision.id = str(uuid4())
        self._decisions[decision.id] = decision
        return decision

    async def send(self, request: SendRequest) -> tuple[LiveSession, RoutedMessage]:
        """Send a message where it belongs. One at a time: a session that one message resumes is no
        candidate for the next one."""
        assert request.uuid is not None
        async with self._send_lock:
            if (routed := self._decision_log.get(request.uuid)) is not None:
                repeated = msgspec.structs.replace(
                    request, session_id=routed.session_id, workdir=None
                )
                return await self._manager.send(repeated), routed
            decision = await self.route(
                RouteRequest(text=request.prompt_text, workdir=request.workdir)
            )
            if decision.session_id is None and request.workdir is None:
                raise WorkdirMissing(
                    "No recent conversation fits; say where to begin a new one ('workdir')."
                )
            request, new_mode = await self._leave_plan_mode(decision.session_id, request)
            session = await self._send_to(decision.session_id, request)
            return session, self._log_decision(request, session.id, decision, new_mode=new_mode)

    async def send_to_chosen(
        self, request: SendRequest
    ) -> tuple[LiveSession, RoutedMessage | None]:
        """Send a message where a person chose, after a decision that they may have followed."""
        assert request.uuid is not None
        async with self._send_lock:
            if (routed := self._decision_log.get(request.uuid)) is not None:
                return await self._manager.send(request), routed
            # None for a decision of an earlier keeper
            decision = self._decisions.get((request.routing or "").lower())
            request, new_mode = await self._leave_plan_mode(request.session_id, request)
            session = await self._manager.send(request)
            if decision is None:
                return session, None
            chosen = None if request.session_id is None else session.id
            # a fork of the session goes on with it
            is_fork = request.fork and decision.session_id is not None
            followed = decision.session_id == chosen or is_fork
            return session, self._log_decision(
                request, session.id, decision, followed=followed, new_mode=new_mode
            )

    async def _mode_after_plan(self, session_id: str) -> PermissionMode | None:
        row = await self._catalog.row(session_id)
        recorded = await asyncio.to_thread(written_mode, Path(row.file.path)) if row else None
        return self._manager.mode_after_plan(session_id, recorded)

    async def _leave_plan_mode(
        self, session_id: str | None, request: SendRequest
    ) -> tuple[SendRequest, PermissionMode | None]:
        """The request with the mode after plan mode, if its words start the planned work."""
        if (
            session_id is None
            or request.permission_mode is not None
            or not await asyncio.to_thread(starts_work, request.prompt_text)
        ):
            return request, None
        mode = await self._mode_after_plan(session_id)
        if mode is None:
            return request, None
        return msgspec.structs.replace(request, permission_mode=mode), mode

    def _log_decision(
        self,
        request: SendRequest,
        session_id: str,
        decision: RoutingDecision,
        *,
        followed: bool = True,
        new_mode: str | None = None,
    ) -> RoutedMessage:
        assert request.uuid is not None
        routed = RoutedMessage(
            uuid=request.uuid,
            session_id=session_id,
            at=now_iso(),
            routing=decision,
            followed=followed,
            left_plan_for=new_mode,
        )
        self._decision_log.add(routed)
        # the reason quotes words of the message, so the log has the cause instead
        fields = {
            "uuid": request.uuid,
            "sessionId": session_id,
            "action": decision.action,
            "confidence": decision.confidence,
            "reason": decision.cause,
            "scorer": decision.scorer,
            "threshold": decision.threshold,
            "candidates": [
                {"sessionId": score.session_id, "score": score.score}
                for score in decision.candidates
            ],
            "followed": followed,
            "leftPlanFor": new_mode,
        }
        log.info(
            "routed %s to %s: %s %.2f (%s, %s), candidates %s%s%s",
            request.uuid,
            session_id,
            decision.action,
            decision.confidence,
            decision.cause,
            decision.scorer,
            " ".join(f"{score.session_id}={score.score:.2f}" for score in decision.candidates)
            or "none",
            "" if followed else ", the person chose otherwise",
            f", left plan mode for {new_mode}" if new_mode else "",
            extra={"routing": fields},
        )
        return routed

    async def _send_to(self, session_id: str | None, request: SendRequest) -> LiveSession:
        """Send to a session, or to a fork if it is open in a terminal: each has one writer."""
        view = self._views.session(session_id) if session_id is not None else None
        if view is None or view.origin != "terminal":
            # a terminal may have opened it just now, before the view says so
            with contextlib.suppress(SessionElsewhere):
                return await self._manager.send(
                    msgspec.structs.replace(request, session_id=session_id)
                )
        assert session_id is not None
        fork_id = await self._manager.fork(session_id)
        await self._catalog.row(fork_id)
        return await self._manager.send(msgspec.structs.replace(request, session_id=fork_id))

    # ---- candidates ----

    async def _find_candidates(
        self, workdir: str | None, within: list[str] | None
    ) -> list[Candidate]:
        since = self._clock() - self._settings.expiry_minutes * 60
        rows = await self._catalog.rows()
        recent = list(takewhile(lambda row: row.file.mtime / 1e9 >= since, rows))
        workdirs = (
            await asyncio.to_thread(_workdir_spellings, workdir) if workdir is not None else None
        )
        if within is not None:
            all_workdirs = {self._workdir(row) for row in recent}
            inside = await asyncio.to_thread(workdirs_in_roots, all_workdirs, within)
            workdirs = inside if workdirs is None else workdirs & inside
        idle = (row for row in recent if self._may_be_candidate(row, workdirs))
        examined = islice(idle, MAX_EXAMINED)
        candidates: list[Candidate] = []
        # rows that turn out to be no candidates are replaced by the next ones
        while len(candidates) < MAX_CANDIDATES and (rows := list(islice(examined, MAX_CANDIDATES))):
            words = await asyncio.to_thread(self._read_all_words, [row.file for row in rows])
            candidates += self._candidates_since(since, zip(rows, words, strict=True))
        return candidates[:MAX_CANDIDATES]

    def _may_be_candidate(self, row: SessionRow, workdirs: frozenset[str] | None) -> bool:
        """Whether a session may be a candidate; cheap, as there are thousands."""
        if workdirs is not None and self._workdir(row) not in workdirs:
            return False
        return self._views.state(row) == "idle" and not self._belongs_to_item(row.file.id)

    def _idle_session(self, row: SessionRow) -> Session | None:
        """The session, if it is idle, without an error and without a question."""
        session = self._views.session(row.file.id, row)
        if session is None or session.state != "idle" or session.error or session.attention:
            return None
        return session

    def _workdir(self, row: SessionRow) -> str | None:
        """The working directory of a session: the first one, so it never changes."""
        if (workdir := self._workdir_cache.get(row.file.id)) is None:
            if len(self._workdir_cache) >= MAX_WORKDIRS:
                self._workdir_cache.clear()
            workdir = self._workdir_cache[row.file.id] = row.summary.workdir
        return workdir

    def _read_all_words(self, files: Sequence[TranscriptFile]) -> list[SessionWords | None]:
        """The words of each transcript; None for one that is gone. Blocks."""
        with self._read_lock:
            words = [
                self._read_words(current) if (current := stat_again(file)) else None
                for file in files
            ]
            while len(self._words_cache) > MAX_CACHED:
                self._words_cache.popitem(last=False)
            return words

    def _read_words(self, file: TranscriptFile) -> SessionWords:
        spoken = self._transcript_words.read(file)
        cached = self._words_cache.get(file.path)
        if cached is None or cached[0] is not spoken:
            cached = (spoken, parse_words(spoken.prompts, spoken.reply))
            self._words_cache[file.path] = cached
        self._words_cache.move_to_end(file.path)
        return file, *cached

    def _candidates_since(
        self, since: float, rows: Iterable[tuple[SessionRow, SessionWords | None]]
    ) -> list[Candidate]:
        now = self._clock()
        candidates = []
        for row, words in rows:
            # it may have begun to run, or failed, while the words were read
            session = self._idle_session(row)
            if words is None or session is None:
                continue
            file, spoken, candidate_words = words
            last = _last_activity(file, spoken)
            if spoken.ended_in_error or last < since or not spoken.prompts:
                continue
            candidates.append(
                Candidate(
                    session_id=session.id,
                    title=session.display_name,
                    workdir=session.workdir,
                    seconds_ago=max(0.0, now - last),
                    words=candidate_words,
                )
            )
        return candidates


def _last_activity(file: TranscriptFile, spoken: SpokenWords) -> float:
    modified = file.mtime / 1e9
    if spoken.last_at is None or modified - spoken.last_at > REOPENED_SECONDS:
        return modified
    return min(modified, spoken.last_at)


def _workdir_spellings(workdir: str) -> frozenset[str]:
    """The ways in which a transcript may spell a directory."""
    return frozenset({workdir, os.path.normpath(workdir), os.path.realpath(workdir)})
