"""What a session offers: slash commands, models, modes. A CLI has to be asked for it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import OrderedDict
from typing import Any
from uuid import uuid4
from weakref import WeakValueDictionary

import msgspec

from claudekeeper.live.client import MakeClient, Opening, Question
from claudekeeper.model.attention import DENIED, Answer
from claudekeeper.model.commands import MODES
from claudekeeper.model.errors import WorkdirMissing

log = logging.getLogger(__name__)

# seconds for which an answer holds: people add commands while they work
FRESH = 300.0
# directories whose answers are kept, and CLIs that are asked at once
REMEMBERED = 256
AT_ONCE = 2


class Command(msgspec.Struct, rename="camel", frozen=True):
    name: str
    description: str = ""
    argument_hint: str = ""


class Model(msgspec.Struct, rename="camel", frozen=True):
    value: str
    display_name: str = ""
    description: str = ""


class Offer(msgspec.Struct, rename="camel", frozen=True):
    """What can be typed after a slash, and chosen for a session."""

    commands: list[Command]
    models: list[Model]
    modes: list[str]


class Abilities:
    """Asks a CLI in a directory, and remembers for a while."""

    def __init__(self, make_client: MakeClient) -> None:
        self._make_client = make_client
        self._known: OrderedDict[str, tuple[float, Offer]] = OrderedDict()
        # one at a time a directory, and few in all: every directory of the machine can be asked for
        self._asking: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._places = asyncio.Semaphore(AT_ONCE)

    async def in_directory(self, workdir: str) -> Offer:
        """Starts a CLI for a moment where nothing is known yet."""
        # any path can be asked for, and a transcript can say anything of its directory
        if not await asyncio.to_thread(_is_directory, workdir):
            raise WorkdirMissing
        lock = self._asking.setdefault(workdir, asyncio.Lock())
        async with lock:
            loop = asyncio.get_running_loop()
            since, offer = self._known.get(workdir, (0.0, None))
            if offer is None or loop.time() - since > FRESH:
                async with self._places:
                    offer = offer_of(await self._ask(workdir))
                self._known[workdir] = loop.time(), offer
                self._known.move_to_end(workdir)
                while len(self._known) > REMEMBERED:
                    self._known.popitem(last=False)
            return offer

    async def _ask(self, workdir: str) -> dict[str, Any]:
        opening = Opening(session_id=str(uuid4()), workdir=workdir, resume=False)
        client = await self._make_client(opening, _Deaf())
        try:
            await client.connect()
            return await client.info()
        finally:
            await client.close()


def _is_directory(workdir: str) -> bool:
    return workdir.startswith("/") and os.path.isdir(workdir)  # noqa: PTH112 - never raises


def offer_of(info: dict[str, Any]) -> Offer:
    """Out of what a CLI says of itself at its start; what is odd is left out."""
    return Offer(_each(info.get("commands"), Command), _each(info.get("models"), Model), [*MODES])


def _each(given: object, type_: Any) -> list[Any]:
    found = []
    for value in given if isinstance(given, list) else []:
        try:
            found.append(msgspec.convert(value, type_))
        except msgspec.ValidationError as error:
            log.debug("left out of what a session offers: %s", error)
    return found


class _Deaf:
    """Nothing is said to a CLI that is only asked what it can."""

    def hear(self, raw: dict[str, Any]) -> None: ...
    def ended(self, error: Exception | None) -> None: ...
    async def ask(self, question: Question) -> Answer:
        return Answer(
            decision="deny", by="keeper", input=question.input, message=DENIED, permissions=[]
        )
