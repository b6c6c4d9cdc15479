"""Directories of this machine, for whoever begins a session."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import msgspec
from aiohttp import web

from claudekeeper.contract.errors import DirectoryUnreadable
from claudekeeper.net.responses import json_response
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.schemas import DirectoriesQuery, parse_query

MOST_DIRECTORIES = 2_000


class Directory(msgspec.Struct):
    name: str
    path: str


class Directories(msgspec.Struct):
    """What lies below a directory; hidden ones are left out."""

    path: str
    parent: str | None
    directories: list[Directory]


async def list_directories(request: web.Request) -> web.Response:
    query = parse_query(request, DirectoriesQuery)
    return json_response(await asyncio.to_thread(_subdirectories, query.path or str(Path.home())))


def _subdirectories(path: str) -> Directories:
    # without links and dots, so that a picker's way up is the way it came
    path = os.path.normpath(path)
    try:
        with os.scandir(path) as entries:
            names = [entry.name for entry in entries if _is_listable(entry)]
    except (OSError, ValueError) as error:
        raise DirectoryUnreadable from error
    names.sort(key=str.casefold)
    here = Path(path)
    return Directories(
        path,
        str(here.parent) if here.parent != here else None,
        [Directory(name, str(here / name)) for name in names[:MOST_DIRECTORIES]],
    )


def _is_listable(entry: os.DirEntry[str]) -> bool:
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
        "The subdirectories of a directory; the home directory by default",
        Directories,
        query_type=DirectoriesQuery,
        errors=(DirectoryUnreadable,),
    )
]
