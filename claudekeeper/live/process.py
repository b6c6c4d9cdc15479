"""The CLI of a session: none or one, started with what was chosen and ended in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any

from claudekeeper.live.client import Client, Ears, Opening
from claudekeeper.live.tasks import Tasks
from claudekeeper.live.world import Choices, World
from claudekeeper.model.errors import KeeperError, ModelRefused, ModeRefused
from claudekeeper.readers.carried import NOTHING

log = logging.getLogger(__name__)


class Process:
    """What a session knows of its CLI."""

    def __init__(self, session_id: str, workdir: str, ears: Ears, world: World) -> None:
        self._session_id = session_id
        self._workdir = workdir
        self._ears = ears
        self._world = world
        self._farewells = Tasks()
        # held while one is ended: it still writes, so the next one has to wait
        self._ending = asyncio.Lock()
        self.client: Client | None = None
        # whether a place is held for one that is about to start, or starting
        self.starting = False
        # whether it ended by itself
        self.gone = False
        # whether another one is needed before the next turn
        self.renew = False
        # what was chosen when it was started; None while there is none
        self.opened: Choices | None = None
        # what it says of itself: commands, models
        self.info: dict[str, Any] = {}
        # what the processes before it used
        self.carried = NOTHING

    @property
    def occupies(self) -> bool:
        """Whether it takes one of the places for CLIs."""
        return self.client is not None or self.starting

    @property
    def pid(self) -> int | None:
        return self.client.pid if self.client is not None else None

    @property
    def last_words(self) -> str:
        return self.client.last_words if self.client is not None else ""

    @property
    def usable(self) -> bool:
        return self.client is not None and not (self.renew or self.gone)

    async def missing(self) -> bool:
        """Whether one has to be started; an old one has come to its end by then."""
        async with self._ending:
            return self.client is None

    def give_place_back(self) -> None:
        self.starting = False
        self._world.places.left()

    async def start(self, chosen: Choices) -> Client:
        """A new one; its place was found before."""
        self.gone = self.renew = False
        client: Client | None = None
        self.opened = chosen
        try:
            opening = Opening(
                session_id=self._session_id,
                workdir=self._workdir,
                resume=await self._world.exists(self._session_id),
                model=chosen.model,
                permission_mode=chosen.permission_mode,
                append_prompt=chosen.appended,
                # what a person changes holds from the next process on
                records_prompt=chosen.system_prompt is None,
                grants=chosen.grants,
            )
            self.carried = NOTHING
            if opening.resume:
                self.carried = await self._world.carried(self._session_id)
            client = await self._world.make_client(opening, self._ears)
            await client.connect()
            self.info = await client.info()
        except BaseException:
            self.opened = None
            if client is not None:
                await self._see_off(client)
            raise
        finally:
            self.give_place_back()
        self.client = client
        return client

    async def tell(self, chosen: Choices, before: Choices) -> None:
        """What is chosen now, to one that was started or told otherwise."""
        client = self.client
        if client is None:
            return
        mode = chosen.permission_mode
        if mode and mode != before.permission_mode:
            if mode == "bypassPermissions" and not client.bypass:
                self.renew = True
            else:
                await _asked(client.set_permission_mode(mode), ModeRefused)
        if chosen.model != before.model:
            await _asked(client.set_model(chosen.model), ModelRefused)

    async def end(self) -> bool:
        """Ends the one there is; False if there was none."""
        async with self._ending:
            client, self.client = self.client, None
            self.gone = False
            self.opened = None
            if client is not None:
                await self._see_off(client)
            return client is not None

    async def finish(self) -> None:
        """Until the last one is gone."""
        await self._farewells.finish()

    async def _see_off(self, client: Client) -> None:
        # whoever waits for it may be cancelled; the process is seen off all the same
        farewell = self._farewells.start(_closed(client), name=f"end:{self._session_id}")
        await asyncio.shield(farewell)


async def _asked(asking: Awaitable[None], refusal: type[KeeperError]) -> None:
    try:
        await asking
    except Exception as error:
        raise refusal(f"{refusal.sentence} It says: {error}") from error


async def _closed(client: Client) -> None:
    try:
        await client.close()
    except Exception:
        log.exception("Claude Code did not end in order")
