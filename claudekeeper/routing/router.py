"""Routing over what is on disk and what runs: finding the candidates, deciding, sending."""

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
    CandidateScore,
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

MOST_CANDIDATES = 20
# sessions whose words are read to find these
MOST_EXAMINED = 60
# a file that was written of late with words older than this was opened again, or copied
REOPENED_SECONDS = 24 * 3600.0
# answers that are remembered until a message is sent by them
MOST_DECISIONS = 1_000
# conversations whose words are kept taken apart
MOST_CACHED = 64
MOST_WORKDIRS = 50_000

# of one version of a transcript
SessionWords = tuple[TranscriptFile, SpokenWords, CandidateWords]


class Router:
    """Says where a command belongs, and can send it there."""

    def __init__(
        self,
        catalog: Catalog,
        overview: SessionViews,
        registry: SessionManager,
        settings: RoutingSettings,
        book: RoutingLog,
        *,
        belongs_to_item: Callable[[str], bool] = lambda _: False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._catalog = catalog
        self._views = overview
        self._manager = registry
        self._settings = settings
        self._decision_log = book
        # whether a session belongs to somebody who would be disturbed
        self._belongs_to_item = belongs_to_item
        self._clock = clock
        self._transcript_words = TranscriptWords()
        self._words_cache: OrderedDict[str, tuple[SpokenWords, CandidateWords]] = OrderedDict()
        self._read_lock = Lock()
        # of sessions by id: to ask thousands of packed rows for it takes its time
        self._workdir_cache: dict[str, str | None] = {}
        self._send_lock = asyncio.Lock()
        self._decisions: BoundedDict[str, RoutingDecision] = BoundedDict(MOST_DECISIONS)

    async def route(self, wish: RouteRequest) -> RoutingDecision:
        """Where it belongs; nothing is sent."""
        settings = self._settings
        if wish.scorer is not None:
            settings = msgspec.structs.replace(settings, scorer=wish.scorer)
        talks = await self._find_candidates(wish.workdir, wish.within) if settings.enabled else []
        routing = decide(wish.text, talks, settings)
        if starts_work(wish.text):
            for fit in routing.candidates:
                fit.leaves_plan_for = await self._mode_after_plan(fit.session_id)
        routing.id = str(uuid4())
        self._decisions[routing.id] = routing
        return routing

    async def send(self, wish: SendRequest) -> tuple[LiveSession, RoutedMessage]:
        """One at a time: what one command resumes is no candidate for the next any more."""
        assert wish.uuid is not None
        async with self._send_lock:
            if (known := self._decision_log.get(wish.uuid)) is not None:
                again = msgspec.structs.replace(wish, session_id=known.session_id, workdir=None)
                return await self._manager.send(again), known
            routing = await self.route(RouteRequest(text=wish.prompt_text, workdir=wish.workdir))
            if routing.session_id is None and wish.workdir is None:
                raise WorkdirMissing(
                    "No recent conversation fits; say where to begin a new one ('workdir')."
                )
            wish, left = await self._leave_plan_mode(routing.session_id, wish)
            session = await self._send_to(routing.session_id, wish)
            return session, self._log_decision(wish, session.id, routing, left=left)

    async def send_to_chosen(self, wish: SendRequest) -> tuple[LiveSession, RoutedMessage | None]:
        """A message that goes where a person wants it, who had asked where it belongs."""
        assert wish.uuid is not None
        async with self._send_lock:
            if (known := self._decision_log.get(wish.uuid)) is not None:
                return await self._manager.send(wish), known
            # of one that is older than the keeper, nothing is known any more
            routing = self._decisions.get((wish.routing or "").lower())
            wish, left = await self._leave_plan_mode(wish.session_id, wish)
            session = await self._manager.send(wish)
            if routing is None:
                return session, None
            followed = routing.session_id == (None if wish.session_id is None else session.id)
            # in a copy of it, it goes on as it was meant to
            followed = followed or (wish.fork and routing.session_id is not None)
            return session, self._log_decision(
                wish, session.id, routing, followed=followed, left=left
            )

    async def _mode_after_plan(self, session_id: str) -> PermissionMode | None:
        row = await self._catalog.row(session_id)
        written = await asyncio.to_thread(written_mode, Path(row.file.path)) if row else None
        return self._manager.mode_after_plan(session_id, written)

    async def _leave_plan_mode(
        self, session_id: str | None, wish: SendRequest
    ) -> tuple[SendRequest, PermissionMode | None]:
        """A session that plans leaves plan mode where the message says so, in its words."""
        if (
            session_id is None
            or wish.permission_mode is not None
            or not starts_work(wish.prompt_text)
        ):
            return wish, None
        mode = await self._mode_after_plan(session_id)
        return (msgspec.structs.replace(wish, permission_mode=mode), mode) if mode else (wish, None)

    def _log_decision(
        self,
        wish: SendRequest,
        session_id: str,
        routing: RoutingDecision,
        *,
        followed: bool = True,
        left: str | None = None,
    ) -> RoutedMessage:
        assert wish.uuid is not None
        routed = RoutedMessage(
            uuid=wish.uuid,
            session_id=session_id,
            at=now_iso(),
            routing=routing,
            followed=followed,
            left_plan_for=left,
        )
        self._decision_log.add(routed)
        # the sentence has words of the message in it, so the log has the cause instead
        told = {
            "uuid": wish.uuid,
            "sessionId": session_id,
            "action": routing.action,
            "confidence": routing.confidence,
            "reason": routing.cause,
            "scorer": routing.scorer,
            "threshold": routing.threshold,
            "candidates": [_score_entry(fit) for fit in routing.candidates],
            "followed": followed,
            "leftPlanFor": left,
        }
        log.info(
            "routed %s to %s: %s %.2f (%s, %s), candidates %s%s%s",
            wish.uuid,
            session_id,
            routing.action,
            routing.confidence,
            routing.cause,
            routing.scorer,
            " ".join(f"{fit.session_id}={fit.score:.2f}" for fit in routing.candidates) or "none",
            "" if followed else ", the person chose otherwise",
            f", left plan mode for {left}" if left else "",
            extra={"routing": told},
        )
        return routed

    async def _send_to(self, session_id: str | None, wish: SendRequest) -> LiveSession:
        """What somebody has open in a terminal is gone on with in a copy: one writer each."""
        known = self._views.session(session_id) if session_id is not None else None
        if known is None or known.origin != "terminal":
            # it may have been opened just now: the disk knows it then, and nobody was told yet
            with contextlib.suppress(SessionElsewhere):
                return await self._manager.send(
                    msgspec.structs.replace(wish, session_id=session_id)
                )
        assert session_id is not None
        copy = await self._manager.fork(session_id)
        await self._catalog.row(copy)
        return await self._manager.send(msgspec.structs.replace(wish, session_id=copy))

    # ---- candidates ----

    async def _find_candidates(
        self, workdir: str | None, within: list[str] | None
    ) -> list[Candidate]:
        since = self._clock() - self._settings.expiry_minutes * 60
        rows = await self._catalog.rows()
        recent = list(takewhile(lambda row: row.file.mtime / 1e9 >= since, rows))
        places = (
            await asyncio.to_thread(_workdir_spellings, workdir) if workdir is not None else None
        )
        if within is not None:
            known = {self._workdir(row) for row in recent}
            below = await asyncio.to_thread(workdirs_in_roots, known, within)
            places = below if places is None else places & below
        idle = (row for row in recent if self._may_be_candidate(row, places))
        looked_at = islice(idle, MOST_EXAMINED)
        talks: list[Candidate] = []
        # what failed, or is about to run, takes nobody's place
        while len(talks) < MOST_CANDIDATES and (rows := list(islice(looked_at, MOST_CANDIDATES))):
            heard = await asyncio.to_thread(self._read_all_words, [row.file for row in rows])
            talks += self._candidates_since(since, zip(rows, heard, strict=True))
        return talks[:MOST_CANDIDATES]

    def _may_be_candidate(self, row: SessionRow, places: frozenset[str] | None) -> bool:
        """Asked of thousands: what can be told without looking closely."""
        if places is not None and self._workdir(row) not in places:
            return False
        return self._views.state(row) == "idle" and not self._belongs_to_item(row.file.id)

    def _idle_session(self, row: SessionRow) -> Session | None:
        """The session, if nobody is at work there and nothing went wrong."""
        session = self._views.session(row.file.id, row)
        if session is None or session.state != "idle" or session.error or session.attention:
            return None
        return session

    def _workdir(self, row: SessionRow) -> str | None:
        """The first one of a session names it, and stays."""
        if (known := self._workdir_cache.get(row.file.id)) is None:
            if len(self._workdir_cache) >= MOST_WORKDIRS:
                self._workdir_cache.clear()
            known = self._workdir_cache[row.file.id] = row.summary.workdir
        return known

    def _read_all_words(self, found: Sequence[TranscriptFile]) -> list[SessionWords | None]:
        """Blocks where a transcript is new or has grown; None for one that is gone."""
        with self._read_lock:
            words = [self._read_words(new) if (new := stat_again(each)) else None for each in found]
            while len(self._words_cache) > MOST_CACHED:
                self._words_cache.popitem(last=False)
            return words

    def _read_words(self, found: TranscriptFile) -> SessionWords:
        said = self._transcript_words.read(found)
        known = self._words_cache.get(found.path)
        if known is None or known[0] is not said:
            known = self._words_cache[found.path] = (said, parse_words(said.prompts, said.reply))
        self._words_cache.move_to_end(found.path)
        return found, *known

    def _candidates_since(
        self, since: float, heard: Iterable[tuple[SessionRow, SessionWords | None]]
    ) -> list[Candidate]:
        now = self._clock()
        talks = []
        for row, words in heard:
            # what began to run, or went wrong, in the meantime is free no more
            session = self._idle_session(row)
            if words is None or session is None:
                continue
            found, said, listened = words
            last = _last_activity(found, said)
            if said.ended_in_error or last < since or not said.prompts:
                continue
            talks.append(
                Candidate(
                    session_id=session.id,
                    title=session.display_name,
                    workdir=session.workdir,
                    seconds_ago=max(0.0, now - last),
                    words=listened,
                )
            )
        return talks


def _score_entry(fit: CandidateScore) -> dict[str, str | float]:
    return {"sessionId": fit.session_id, "score": fit.score}


def _last_activity(found: TranscriptFile, said: SpokenWords) -> float:
    written = found.mtime / 1e9
    if said.last_at is None or written - said.last_at > REOPENED_SECONDS:
        return written
    return min(written, said.last_at)


def _workdir_spellings(workdir: str) -> frozenset[str]:
    """How a directory may be spelt in a transcript."""
    return frozenset({workdir, os.path.normpath(workdir), os.path.realpath(workdir)})
