"""The corpus of sessions for the measurements: 5,000 of them, 3 GB, one of them 200 MB.

The same numbers give the same bytes. The text is random; the kinds of lines, their order, sizes
and links are like those of real sessions.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

import orjson

from benchmarks.corpus.format_versions import CURRENT, PROGRESS, TERSE, era_for
from benchmarks.corpus.random_text import Words
from benchmarks.corpus.transcript import write_session, write_subagent

# raise it when the same numbers give other bytes
VERSION = 3
MANIFEST = "manifest.json"
DAY = 86_400_000
# sessions are at most a month old, as Claude Code deletes older ones
END = 1_780_000_000_000
MEDIAN = 150_000
LARGEST = 60_000_000
SMALLEST = 2_500
SUBAGENTS = 0.06

_OWNERS = ("mara", "jonas", "aiko", "lucia")
_PROJECTS = (
    *("ledger-api", "web-shop", "invoices", "search-ui", "infra", "reports", "mobile-app"),
    *("image-service", "docs-site", "billing", "auth", "gateway", "importer", "scheduler"),
    *("design-system", "analytics", "chat-widget", "data-lake", "cli-tools", "mail-sender"),
    *("backoffice", "telemetry", "storefront", "notes", "playground", "tickets", "booking"),
    *("translations", "maps", "größen"),
)


class CorpusUnusable(Exception):
    """The folder contains files that this generator did not write."""


@dataclass(frozen=True)
class Shape:
    """The numbers that determine a corpus."""

    sessions: int = 5_000
    size: int = 3_000_000_000
    seed: int = 7

    @property
    def giant(self) -> int:
        """The size of the one session that is far larger than the others."""
        return self.size // 15

    @property
    def folders(self) -> int:
        return max(2, min(120, self.sessions * 120 // 5_000))


@dataclass(frozen=True)
class Corpus:
    """A corpus on disk."""

    home: Path
    sessions: int
    size: int
    giant_id: str
    giant: Path

    @property
    def projects(self) -> Path:
        return self.home / "projects"

    def transcripts(self) -> list[Path]:
        """Every main transcript."""
        return sorted(self.projects.glob("*/????????-*.jsonl"))


def corpus(folder: Path, shape: Shape) -> Corpus:
    """The corpus in this folder, written first if needed."""
    manifest = folder / MANIFEST
    total = {"version": VERSION, **asdict(shape)}
    try:
        content = orjson.loads(manifest.read_bytes())
    except (OSError, ValueError):
        content = None
    if content is None or content["wanted"] != total:
        _clear(folder, content is not None)
        content = {"wanted": total, **_write(folder, shape)}
        # written last: a corpus without it is incomplete
        manifest.write_bytes(
            orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        )
    return Corpus(
        folder, content["sessions"], content["size"], content["giantId"], folder / content["giant"]
    )


def _clear(folder: Path, ours: bool) -> None:
    unfinished = (folder / f".{MANIFEST}").exists()
    if folder.exists() and any(folder.iterdir()) and not (ours or unfinished):
        raise CorpusUnusable(f"{folder} is not empty and not a corpus: choose another folder.")
    shutil.rmtree(folder / "projects", ignore_errors=True)
    (folder / MANIFEST).unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f".{MANIFEST}").touch()


def _write(folder: Path, shape: Shape) -> dict[str, object]:
    words = Words(shape.seed)
    random = Random(f"corpus:{shape.seed}")
    workdirs = _workdirs(shape.folders)
    busy = [1 / (rank + 3) for rank in range(len(workdirs))]
    sizes = [shape.giant, *_sizes(shape, random)]
    total = 0
    giant: tuple[str, str] = ("", "")
    for number, size in enumerate(sizes):
        # each session has its own random numbers, so that a change of one changes no other
        own = Random(f"session:{shape.seed}:{number}")
        session = str(_uuid(own))
        workdir = random.choices(workdirs, busy)[0] if number else workdirs[0]
        project = folder / "projects" / re.sub(r"[^a-zA-Z0-9]", "-", workdir)
        project.mkdir(parents=True, exist_ok=True)
        path = project / f"{session}.jsonl"
        era = CURRENT if number == 0 else era_for(size, own)
        start = END - own.randrange(30 * DAY)
        with path.open("wb", buffering=0) as file:
            total += write_session(
                file, words, own, era, session.encode(), workdir, size=size, start=start
            )
        if own.random() < SUBAGENTS:
            beside = era in (TERSE, PROGRESS)
            total += _write_subagents(words, own, path, workdir, beside=beside, start=start)
        moment = (start + own.randrange(DAY)) * 1_000_000
        os.utime(path, ns=(moment, moment))
        if number == 0:
            giant = (session, str(path.relative_to(folder)))
    return {"sessions": len(sizes), "size": total, "giantId": giant[0], "giant": giant[1]}


def _sizes(shape: Shape, random: Random) -> list[int]:
    """Log-normal sizes with the given sum: most are small, a few tens of megabytes."""
    number = shape.sessions - 1
    average = (shape.size - shape.giant) / max(number, 1)
    median = min(MEDIAN, average / 2)
    # bisection for the spread that gives the average
    draws = [random.gauss(0, 1) for _ in range(number)]
    low, high = 0.0, 4.0
    for _ in range(40):
        spread = (low + high) / 2
        sizes = [_bounded(median * 2.718281828 ** (spread * draw)) for draw in draws]
        low, high = (spread, high) if sum(sizes) < average * number else (low, spread)
    return sizes


def _bounded(size: float) -> int:
    return int(min(max(size, SMALLEST), LARGEST))


def _write_subagents(
    words: Words, random: Random, path: Path, workdir: str, *, beside: bool, start: int
) -> int:
    """Writes files of subagents, which no listing may take for sessions."""
    total = 0
    session = path.stem
    folder = path.parent if beside else path.parent / session / "subagents"
    folder.mkdir(parents=True, exist_ok=True)
    for _ in range(random.randrange(1, 4)):
        agent = f"{random.getrandbits(32):08x}"
        with (folder / f"agent-{agent}.jsonl").open("wb", buffering=0) as file:
            total += write_subagent(
                file,
                words,
                random,
                TERSE if beside else CURRENT,
                session.encode(),
                workdir,
                agent=agent.encode(),
                size=random.randrange(2_000, 60_000),
                start=start,
            )
    return total


def _workdirs(number: int) -> list[str]:
    names = [
        f"/home/{owner}/code/{project}{suffix}"
        for suffix in ("", "/.worktrees/next")
        for owner in _OWNERS
        for project in _PROJECTS
    ]
    return names[:number]


def _uuid(random: Random) -> str:
    digits = random.randbytes(16).hex()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:]}"
