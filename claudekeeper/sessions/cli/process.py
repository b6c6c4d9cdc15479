"""The CLI process of a session: none or one, started with its settings and ended in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any

from claudekeeper.analysis.recorded_cost import NOTHING
from claudekeeper.contract.errors import ModelRefused, ModeRefused
from claudekeeper.core.tasks import Tasks
from claudekeeper.net.errors import ApiError
from claudekeeper.sessions.cli.client import CliClient, CliListener, CliOptions
from claudekeeper.sessions.services import SessionServices
from claudekeeper.sessions.settings import SessionSettings

log = logging.getLogger(__name__)


class CliProcess:
    """What a session knows of its CLI."""

    def __init__(
        self, session_id: str, workdir: str, listener: CliListener, services: SessionServices
    ) -> None:
        self._session_id = session_id
        self._workdir = workdir
        self._listener = listener
        self._services = services
        self._close_tasks = Tasks()
        # held while one is ended: it still writes, so the next one has to wait
        self._end_lock = asyncio.Lock()
        self.client: CliClient | None = None
        # whether a slot is held for one that is about to start, or starting
        self.is_starting = False
        # whether it ended by itself
        self.has_exited = False
        # whether another one is needed before the next turn
        self.needs_restart = False
        # its settings when it was started; None while there is none
        self.start_settings: SessionSettings | None = None
        # what it reports of itself: commands, models
        self.info: dict[str, Any] = {}
        # what the processes before it used
        self.prior_cost = NOTHING

    @property
    def holds_slot(self) -> bool:
        """Whether there is one, or one is about to start."""
        return self.client is not None or self.is_starting

    @property
    def pid(self) -> int | None:
        return self.client.pid if self.client is not None else None

    @property
    def stderr_tail(self) -> str:
        return self.client.stderr_tail if self.client is not None else ""

    @property
    def is_usable(self) -> bool:
        return self.client is not None and not (self.needs_restart or self.has_exited)

    async def needs_start(self) -> bool:
        """Whether one has to be started; an old one has come to its end by then."""
        async with self._end_lock:
            return self.client is None

    def release_slot(self) -> None:
        self.is_starting = False
        self._services.slots.notify_changed()

    async def start(self, settings: SessionSettings) -> CliClient:
        """Starts a new one; it has its slot already."""
        self.has_exited = self.needs_restart = False
        client: CliClient | None = None
        self.start_settings = settings
        try:
            options = CliOptions(
                session_id=self._session_id,
                workdir=self._workdir,
                resume=await self._services.store.exists(self._session_id),
                model=settings.model,
                permission_mode=settings.permission_mode,
                append_prompt=settings.appended_prompt,
                # what a person changes holds from the next process on
                records_prompt=settings.system_prompt is None,
                grants=settings.grants,
            )
            self.prior_cost = NOTHING
            if options.resume:
                self.prior_cost = await self._services.store.prior_cost(self._session_id)
            client = await self._services.make_client(options, self._listener)
            await client.connect()
            self.info = await client.info()
        except BaseException:
            self.start_settings = None
            if client is not None:
                await self._close_client(client)
            raise
        finally:
            self.release_slot()
        self.client = client
        return client

    async def apply_settings(self, settings: SessionSettings, before: SessionSettings) -> None:
        """Apply to the CLI what differs from the settings before."""
        client = self.client
        if client is None:
            return
        mode = settings.permission_mode
        if mode and mode != before.permission_mode:
            if mode == "bypassPermissions" and not client.bypass:
                self.needs_restart = True
            else:
                await _call_cli(client.set_permission_mode(mode), ModeRefused)
        if settings.model != before.model:
            await _call_cli(client.set_model(settings.model), ModelRefused)

    async def end(self) -> bool:
        """Ends the one there is; False if there was none."""
        async with self._end_lock:
            client, self.client = self.client, None
            self.has_exited = False
            self.start_settings = None
            if client is not None:
                await self._close_client(client)
            return client is not None

    async def finish(self) -> None:
        """Until the last one is gone."""
        await self._close_tasks.wait_all()

    async def _close_client(self, client: CliClient) -> None:
        # whoever waits for it may be cancelled; the process is seen off all the same
        farewell = self._close_tasks.start(_close_quietly(client), name=f"end:{self._session_id}")
        await asyncio.shield(farewell)


async def _call_cli(asking: Awaitable[None], refusal: type[ApiError]) -> None:
    try:
        await asking
    except Exception as error:
        raise refusal(f"{refusal.sentence} It says: {error}") from error


async def _close_quietly(client: CliClient) -> None:
    try:
        await client.close()
    except Exception:
        log.exception("Claude Code did not end in order")
