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

from claudekeeper.features.routing import decide
from claudekeeper.features.routing_book import RoutingBook
from claudekeeper.features.starting import starts_work
from claudekeeper.features.talk import Heard, Talk, hear
from claudekeeper.live.catalog import Catalog
from claudekeeper.live.overview import Overview
from claudekeeper.live.registry import Registry
from claudekeeper.live.session import LiveSession
from claudekeeper.model.commands import PermissionMode, Route, Send
from claudekeeper.model.errors import SessionElsewhere, WorkdirMissing
from claudekeeper.model.routing import Fit, Routed, Routing, RoutingSettings
from claudekeeper.model.sessions import Session, now
from claudekeeper.readers.discovery import Found, Row, look_again
from claudekeeper.readers.sayings import Said, Sayings
from claudekeeper.readers.written_mode import written_mode

log = logging.getLogger(__name__)

MOST_CANDIDATES = 20
# sessions whose words are read to find these
MOST_LOOKED_AT = 60
# a file that was written of late with words older than this was opened again, or copied
OPENED_AGAIN = 24 * 3600.0
# answers that are remembered until a message is sent by them
REMEMBERED = 1_000
# conversations whose words are kept taken apart
KEPT = 64
MOST_WORKDIRS = 50_000

# of one version of a transcript
Words = tuple[Found, Said, Heard]


class Router:
    """Says where a command belongs, and can send it there."""

    def __init__(
        self,
        catalog: Catalog,
        overview: Overview,
        registry: Registry,
        settings: RoutingSettings,
        book: RoutingBook,
        *,
        taken: Callable[[str], bool] = lambda _: False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._catalog = catalog
        self._overview = overview
        self._registry = registry
        self._settings = settings
        self._book = book
        # whether a session belongs to somebody who would be disturbed
        self._taken = taken
        self._clock = clock
        self._sayings = Sayings()
        self._heard: OrderedDict[str, tuple[Said, Heard]] = OrderedDict()
        self._listening = Lock()
        # of sessions by id: to ask thousands of packed rows for it takes its time
        self._workdirs: dict[str, str | None] = {}
        self._sending = asyncio.Lock()
        self._answers: OrderedDict[str, Routing] = OrderedDict()

    async def find(self, wish: Route) -> Routing:
        """Where it belongs; nothing is sent."""
        settings = self._settings
        if wish.scorer is not None:
            settings = msgspec.structs.replace(settings, scorer=wish.scorer)
        talks = await self._talks(wish.workdir, wish.within) if settings.enabled else []
        routing = decide(wish.text, talks, settings)
        if starts_work(wish.text):
            for fit in routing.candidates:
                fit.leaves_plan_for = await self._mode_after_plan(fit.session_id)
        routing.id = str(uuid4())
        self._answers[routing.id] = routing
        while len(self._answers) > REMEMBERED:
            self._answers.popitem(last=False)
        return routing

    async def send(self, wish: Send) -> tuple[LiveSession, Routed]:
        """One at a time: what one command resumes is no candidate for the next any more."""
        assert wish.uuid is not None
        async with self._sending:
            if (known := self._book.get(wish.uuid)) is not None:
                again = msgspec.structs.replace(wish, session_id=known.session_id, workdir=None)
                return await self._registry.send(again), known
            routing = await self.find(Route(text=wish.words, workdir=wish.workdir))
            if routing.session_id is None and wish.workdir is None:
                raise WorkdirMissing(
                    "No recent conversation fits; say where to begin a new one ('workdir')."
                )
            wish, left = await self._out_of_plan(routing.session_id, wish)
            session = await self._send_to(routing.session_id, wish)
            return session, self._keep(wish, session.id, routing, left=left)

    async def send_chosen(self, wish: Send) -> tuple[LiveSession, Routed | None]:
        """A message that goes where a person wants it, who had asked where it belongs."""
        assert wish.uuid is not None
        async with self._sending:
            if (known := self._book.get(wish.uuid)) is not None:
                return await self._registry.send(wish), known
            # of one that is older than the keeper, nothing is known any more
            routing = self._answers.get((wish.routing or "").lower())
            wish, left = await self._out_of_plan(wish.session_id, wish)
            session = await self._registry.send(wish)
            if routing is None:
                return session, None
            followed = routing.session_id == (None if wish.session_id is None else session.id)
            # in a copy of it, it goes on as it was meant to
            followed = followed or (wish.fork and routing.session_id is not None)
            return session, self._keep(wish, session.id, routing, followed=followed, left=left)

    async def _mode_after_plan(self, session_id: str) -> PermissionMode | None:
        row = await self._catalog.row(session_id)
        written = await asyncio.to_thread(written_mode, Path(row.found.path)) if row else None
        return self._registry.mode_after_plan(session_id, written)

    async def _out_of_plan(
        self, session_id: str | None, wish: Send
    ) -> tuple[Send, PermissionMode | None]:
        """A session that plans leaves plan mode where the message says so, in its words."""
        if session_id is None or wish.permission_mode is not None or not starts_work(wish.words):
            return wish, None
        mode = await self._mode_after_plan(session_id)
        return (msgspec.structs.replace(wish, permission_mode=mode), mode) if mode else (wish, None)

    def _keep(
        self,
        wish: Send,
        session_id: str,
        routing: Routing,
        *,
        followed: bool = True,
        left: str | None = None,
    ) -> Routed:
        assert wish.uuid is not None
        routed = Routed(
            uuid=wish.uuid,
            session_id=session_id,
            at=now(),
            routing=routing,
            followed=followed,
            left_plan_for=left,
        )
        self._book.keep(routed)
        # the sentence has words of the message in it, so the log has the cause instead
        told = {
            "uuid": wish.uuid,
            "sessionId": session_id,
            "action": routing.action,
            "confidence": routing.confidence,
            "reason": routing.cause,
            "scorer": routing.scorer,
            "threshold": routing.threshold,
            "candidates": [_score(fit) for fit in routing.candidates],
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

    async def _send_to(self, session_id: str | None, wish: Send) -> LiveSession:
        """What somebody has open in a terminal is gone on with in a copy: one writer each."""
        known = self._overview.session(session_id) if session_id is not None else None
        if known is None or known.origin != "terminal":
            # it may have been opened just now: the disk knows it then, and nobody was told yet
            with contextlib.suppress(SessionElsewhere):
                return await self._registry.send(
                    msgspec.structs.replace(wish, session_id=session_id)
                )
        assert session_id is not None
        copy = await self._registry.fork(session_id)
        await self._catalog.row(copy)
        return await self._registry.send(msgspec.structs.replace(wish, session_id=copy))

    # ---- candidates ----

    async def _talks(self, workdir: str | None, within: list[str] | None) -> list[Talk]:
        since = self._clock() - self._settings.expiry_minutes * 60
        rows = await self._catalog.rows()
        recent = list(takewhile(lambda row: row.found.mtime / 1e9 >= since, rows))
        places = await asyncio.to_thread(_places, workdir) if workdir is not None else None
        if within is not None:
            known = {self._workdir(row) for row in recent}
            below = await asyncio.to_thread(inside, known, within)
            places = below if places is None else places & below
        idle = (row for row in recent if self._may_be_free(row, places))
        looked_at = islice(idle, MOST_LOOKED_AT)
        talks: list[Talk] = []
        # what failed, or is about to run, takes nobody's place
        while len(talks) < MOST_CANDIDATES and (rows := list(islice(looked_at, MOST_CANDIDATES))):
            heard = await asyncio.to_thread(self._listen, [row.found for row in rows])
            talks += self._said_since(since, zip(rows, heard, strict=True))
        return talks[:MOST_CANDIDATES]

    def _may_be_free(self, row: Row, places: frozenset[str] | None) -> bool:
        """Asked of thousands: what can be told without looking closely."""
        if places is not None and self._workdir(row) not in places:
            return False
        return self._overview.state(row) == "idle" and not self._taken(row.found.id)

    def _free(self, row: Row) -> Session | None:
        """The session, if nobody is at work there and nothing went wrong."""
        session = self._overview.session(row.found.id, row)
        if session is None or session.state != "idle" or session.error or session.attention:
            return None
        return session

    def _workdir(self, row: Row) -> str | None:
        """The first one of a session names it, and stays."""
        if (known := self._workdirs.get(row.found.id)) is None:
            if len(self._workdirs) >= MOST_WORKDIRS:
                self._workdirs.clear()
            known = self._workdirs[row.found.id] = row.summary.workdir
        return known

    def _listen(self, found: Sequence[Found]) -> list[Words | None]:
        """Blocks where a transcript is new or has grown; None for one that is gone."""
        with self._listening:
            words = [self._words(new) if (new := look_again(each)) else None for each in found]
            while len(self._heard) > KEPT:
                self._heard.popitem(last=False)
            return words

    def _words(self, found: Found) -> Words:
        said = self._sayings.of(found)
        known = self._heard.get(found.path)
        if known is None or known[0] is not said:
            known = self._heard[found.path] = (said, hear(said.commands, said.reply))
        self._heard.move_to_end(found.path)
        return found, *known

    def _said_since(self, since: float, heard: Iterable[tuple[Row, Words | None]]) -> list[Talk]:
        now = self._clock()
        talks = []
        for row, words in heard:
            # what began to run, or went wrong, in the meantime is free no more
            session = self._free(row)
            if words is None or session is None:
                continue
            found, said, listened = words
            last = _last_word(found, said)
            if said.failed or last < since or not said.commands:
                continue
            talks.append(
                Talk(
                    session_id=session.id,
                    title=session.called,
                    workdir=session.workdir,
                    seconds_ago=max(0.0, now - last),
                    heard=listened,
                )
            )
        return talks


def _score(fit: Fit) -> dict[str, str | float]:
    return {"sessionId": fit.session_id, "score": fit.score}


def _last_word(found: Found, said: Said) -> float:
    written = found.mtime / 1e9
    if said.last is None or written - said.last > OPENED_AGAIN:
        return written
    return min(written, said.last)


def inside(workdirs: Iterable[str | None], roots: Iterable[str]) -> frozenset[str]:
    """Those that lie below one of the roots, compared as they are and by component."""
    real = [place for root in roots if (place := _real(root)) is not None]

    def lies_inside(workdir: str) -> bool:
        path = _real(workdir)
        return path is not None and any(path.is_relative_to(root) for root in real)

    return frozenset(each for each in workdirs if each is not None and lies_inside(each))


def _real(place: str) -> Path | None:
    """Where a path leads; None where it is none: a transcript can say anything of its directory."""
    if "\0" in place or not Path(place).is_absolute():
        return None
    try:
        return Path(place).resolve()
    except (OSError, RuntimeError):  # a loop of links, a component that is too long
        return None


def _places(workdir: str) -> frozenset[str]:
    """How a directory may be spelt in a transcript."""
    return frozenset({workdir, os.path.normpath(workdir), os.path.realpath(workdir)})
