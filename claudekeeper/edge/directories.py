"""Directories of this machine, for whoever begins a session."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import msgspec
from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.wire import DirectoriesQuery, query_of, reply
from claudekeeper.model.errors import DirectoryUnreadable

MOST = 2_000


class Directory(msgspec.Struct):
    name: str
    path: str


class Directories(msgspec.Struct):
    """What lies below a directory; hidden ones are left out."""

    path: str
    parent: str | None
    directories: list[Directory]


async def list_directories(request: web.Request) -> web.Response:
    query = query_of(request, DirectoriesQuery)
    return reply(await asyncio.to_thread(_below, query.path or str(Path.home())))


def _below(path: str) -> Directories:
    # without links and dots, so that a picker's way up is the way it came
    path = os.path.normpath(path)
    try:
        with os.scandir(path) as entries:
            names = [entry.name for entry in entries if _is_offered(entry)]
    except (OSError, ValueError) as error:
        raise DirectoryUnreadable from error
    names.sort(key=str.casefold)
    here = Path(path)
    return Directories(
        path,
        str(here.parent) if here.parent != here else None,
        [Directory(name, str(here / name)) for name in names[:MOST]],
    )


def _is_offered(entry: os.DirEntry[str]) -> bool:
    try:
        # a name that is no text cannot be sent back
        entry.name.encode()
        return not entry.name.startswith(".") and entry.is_dir()
    except (OSError, UnicodeEncodeError):
        return False


ENDPOINTS = [
    Endpoint(
        "GET",
        "/directories",
        list_directories,
        "Subdirectories of a directory (the home directory unless told), for a picker",
        Directories,
        query=DirectoriesQuery,
        failures=(DirectoryUnreadable,),
    )
]
