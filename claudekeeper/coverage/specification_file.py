"""The specification written from a project's checklist: its file, and its text."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable

import msgspec

from claudekeeper.core.timestamps import iso_from_ns
from claudekeeper.transcripts.line_reader import open_readonly

MAX_BYTES = 1024 * 1024
# the usual names
_STEMS = ("SPECIFICATION", "specification", "Specification", "SPEC", "spec")
USUAL_NAMES = tuple(f"{folder}{stem}.md" for folder in ("", "docs/") for stem in _STEMS)
_SPECIFICATION_NAME = re.compile(
    r"(?:\A|[-_.])spec(?:ification)?s?(?:[-_.].*)?\.(?:md|markdown|txt)\Z", re.IGNORECASE
)


class Specification(msgspec.Struct, rename="camel"):
    """The file, below the working directory, and its text; `cut`: the file is longer."""

    path: str
    text: str
    modified: str
    size: int
    cut: bool


def find_specification(
    workdir: str, named: str | None = None, written: Iterable[str] = ()
) -> str | None:
    """The file below a directory: the one that the checklist names, one of the usual names, or one
    that the session wrote with such a name. Blocks."""
    candidates = [named] if named else []
    candidates += USUAL_NAMES
    candidates += [path for path in written if _SPECIFICATION_NAME.search(os.path.basename(path))]
    paths = (_path_inside(workdir, candidate) for candidate in candidates)
    return next((path for path in paths if path is not None), None)


def read_specification(workdir: str, path: str) -> Specification:
    """Read the file of `find_specification`; raises OSError if it is gone. Blocks."""
    with open_readonly(os.path.join(workdir, path)) as descriptor:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise FileNotFoundError(path)
        text = os.pread(descriptor, MAX_BYTES, 0).decode("utf-8", "replace")
    return Specification(
        path, text, iso_from_ns(status.st_mtime_ns), status.st_size, status.st_size > MAX_BYTES
    )


def _path_inside(workdir: str, path: str) -> str | None:
    """The path below the directory; None if there is no such file, or it is outside."""
    try:
        root = os.path.realpath(workdir)
        real = os.path.realpath(os.path.join(root, path))
        if not real.startswith(root.rstrip("/") + "/") or not os.path.isfile(real):
            return None
    except (OSError, ValueError):
        return None
    return os.path.relpath(real, root)
