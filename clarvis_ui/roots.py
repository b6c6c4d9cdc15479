"""CLARVIS_ALLOWED_ROOTS: the directories whose sessions Clarvis may show.

Paths are compared resolved and by component: /a/b allows /a/b/c, but neither /a/bc nor a link
from inside /a/b to outside. Of a deleted directory the existing part is resolved.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self


class RootsInvalid(ValueError):
    """The value of CLARVIS_ALLOWED_ROOTS is invalid; a guess could show too much."""


@dataclass(frozen=True, slots=True)
class Roots:
    """Directories; None allows all. The methods block: call them in a thread."""

    paths: tuple[Path, ...] | None = None

    @classmethod
    def parse(cls, setting: str | None) -> Self:
        """Reads CLARVIS_ALLOWED_ROOTS: unset allows all, empty is invalid."""
        if setting is None:
            return cls()
        paths = [Path(part).expanduser() for part in setting.split(os.pathsep) if part.strip()]
        if not paths:
            raise RootsInvalid(
                "CLARVIS_ALLOWED_ROOTS is set but names no directory; unset it to allow all"
            )
        for path in paths:
            if not path.is_absolute():
                raise RootsInvalid(
                    f"CLARVIS_ALLOWED_ROOTS must hold absolute paths, not {str(path)!r}"
                )
        return cls(tuple(path.resolve() for path in paths))

    @property
    def allows_all(self) -> bool:
        return self.paths is None

    def allows(self, workdir: str | None) -> bool:
        if self.paths is None:
            return True
        if workdir is None or not Path(workdir).is_absolute() or "\0" in workdir:
            return False
        try:
            resolved = Path(workdir).resolve()
        except (OSError, RuntimeError):  # a loop of links, too long a component
            return False
        return any(resolved.is_relative_to(root) for root in self.paths)

    def filter_allowed(self, workdirs: Iterable[str | None]) -> frozenset[str | None]:
        """The workdirs that may be shown, each resolved once."""
        return frozenset(workdir for workdir in set(workdirs) if self.allows(workdir))
