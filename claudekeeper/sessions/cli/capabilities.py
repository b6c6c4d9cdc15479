"""The capabilities of a session: slash commands, models, modes. A CLI has to be asked for them."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import Any
from uuid import uuid4

import msgspec

from claudekeeper.contract.attention import DEFAULT_DENIAL_MESSAGE, Answer
from claudekeeper.contract.errors import WorkdirMissing
from claudekeeper.contract.requests import PERMISSION_MODES
from claudekeeper.core.bounded import BoundedDict
from claudekeeper.core.keyed_locks import KeyedLocks
from claudekeeper.sessions.cli.client import CliOptions, MakeClient, PermissionRequest

log = logging.getLogger(__name__)

# seconds for which an answer holds: people add commands while they work
FRESH_SECONDS = 300.0
# directories whose answers are cached, and CLIs that are asked at once
MAX_DIRECTORIES = 256
MAX_CLIS = 2


class SlashCommand(msgspec.Struct, rename="camel", frozen=True):
    name: str
    description: str = ""
    argument_hint: str = ""


class Model(msgspec.Struct, rename="camel", frozen=True):
    value: str
    display_name: str = ""
    description: str = ""


class Capabilities(msgspec.Struct, rename="camel", frozen=True):
    """What can be typed after a slash, and chosen for a session."""

    commands: list[SlashCommand]
    models: list[Model]
    modes: list[str]


class CapabilityCache:
    """Asks a CLI in a directory, and remembers for a while."""

    def __init__(self, make_client: MakeClient) -> None:
        self._make_client = make_client
        self._cache: BoundedDict[str, tuple[float, Capabilities]] = BoundedDict(MAX_DIRECTORIES)
        # one CLI at a time for a directory, and few in all: any directory can be asked for
        self._locks = KeyedLocks()
        self._cli_limit = asyncio.Semaphore(MAX_CLIS)

    async def of_directory(self, workdir: str) -> Capabilities:
        """Starts a CLI for a moment where nothing is known yet."""
        # any path can be asked for, and a transcript can say anything of its directory
        if not await asyncio.to_thread(_is_directory, workdir):
            raise WorkdirMissing
        async with self._locks.hold(workdir):
            loop = asyncio.get_running_loop()
            since, offer = self._cache.get(workdir, (0.0, None))
            if offer is None or loop.time() - since > FRESH_SECONDS:
                async with self._cli_limit:
                    offer = capabilities_of(await self._query_cli(workdir))
                self._cache[workdir] = loop.time(), offer
            return offer

    async def _query_cli(self, workdir: str) -> dict[str, Any]:
        options = CliOptions(session_id=str(uuid4()), workdir=workdir, resume=False)
        client = await self._make_client(options, _NullListener())
        try:
            await client.connect()
            return await client.info()
        finally:
            await client.close()


def _is_directory(workdir: str) -> bool:
    return workdir.startswith("/") and os.path.isdir(workdir)  # noqa: PTH112 - never raises


def capabilities_of(info: dict[str, Any]) -> Capabilities:
    """The capabilities in what a CLI reports at its start; unknown shapes are left out."""
    return Capabilities(
        _convert_each(info.get("commands"), SlashCommand),
        _convert_each(info.get("models"), Model),
        [*PERMISSION_MODES],
    )


def _convert_each(values: object, type_: Any) -> list[Any]:
    converted = []
    for value in values if isinstance(values, list) else []:
        try:
            converted.append(msgspec.convert(value, type_))
        except msgspec.ValidationError as error:
            log.debug("left out of what a session offers: %s", error)
    return converted


class _NullListener:
    """A CLI that is only asked for its capabilities sends no messages."""

    def handle_message(self, raw: dict[str, Any]) -> None: ...
    def handle_exit(self, error: Exception | None) -> None: ...
    async def request_permission(self, question: PermissionRequest) -> Answer:
        return Answer(
            decision="deny",
            by="keeper",
            input=question.input,
            message=DEFAULT_DENIAL_MESSAGE,
            permissions=[],
        )
