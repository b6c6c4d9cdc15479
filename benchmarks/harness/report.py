"""The figures as a table: on the terminal, and in docs/benchmarks.md."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.corpus.corpus import Corpus
from benchmarks.harness.measure import ROOT, Figure

DOCUMENT = ROOT / "docs" / "benchmarks.md"
# measurements without corpus and goal, each a section that can be measured alone
COMPARED = {"watchers": "Watchers", "json": "JSON libraries"}
_SECTION = re.compile(r"^(?=## )", re.MULTILINE)
_MET = {True: "met", False: "**missed**", None: ""}


def machine() -> str:
    """The machine in one line."""
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return (
        f"{os.cpu_count()} cores, {model}, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}"
    )


def as_text(figures: Mapping[str, Sequence[Figure]]) -> str:
    """The table for the terminal."""
    rows = [("work", "measured", "goal", "", "for information")]
    rows += [
        (each.work, each.measured, each.goal, _MET[each.met].strip("*"), each.details)
        for subject in figures.values()
        for each in subject
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join(
        "  ".join([*(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)), row[4]])
        for row in rows
    )


def as_document(corpus: Corpus, figures: Mapping[str, Sequence[Figure]], load: float) -> str:
    """The document docs/benchmarks.md."""
    today = datetime.now(UTC).date().isoformat()
    giant = f"{corpus.giant.stat().st_size / 1e6:.0f} MB"
    table = "\n".join(
        f"| {each.work} | {each.measured} | {each.goal} | {_MET[each.met]} | {each.details} |"
        for name, subject in figures.items()
        if name not in COMPARED
        for each in subject
    )
    document = f"""# Benchmarks

Written by `make bench`; do not edit.

- {today}, {machine()}; load when it began: {load:.1f}
- {corpus.sessions:,} sessions, {corpus.size / 1e9:.1f} GB, one of them {giant}; all of it in the
  page cache
- What is compared is measured in turns, each in a process of its own, in processor time, the best
  of several. A ratio is worth more than the times beside it, which are this machine's on this day.

| work | measured | goal | | for information |
| --- | --- | --- | --- | --- |
{table}

- *a bare read*: open each file, ask for its size, read its first and last 64 KB, close it
- *inside it*: from the first middleware to the finished answer, without reading the request and
  writing to the socket
- *extra memory*: the peak of resident memory above what the process had before the work

The sessions are made up by `benchmarks/corpus/corpus.py`: the same numbers give the same bytes.
A smaller run: `make bench ARGS='--sessions 500 --bytes 300000000'`.
"""
    for name, subject in figures.items():
        if name in COMPARED:
            document = with_section(document, as_section(name, subject, load))
    return document


def as_section(name: str, figures: Sequence[Figure], load: float) -> str:
    """A section for one comparison, with its own date and load."""
    today = datetime.now(UTC).date().isoformat()
    table = "\n".join(f"| {each.work} | {each.measured} | {each.details} |" for each in figures)
    return f"""## {COMPARED[name]}

- {today}, {machine()}; load when it began: {load:.1f}
- `python -m benchmarks --only {name}` measures it again and writes this section

| work | measured | for information |
| --- | --- | --- |
{table}
"""


def with_section(document: str, section: str) -> str:
    """The document with this section instead of an older one of its name, else at the end."""
    parts = [part.rstrip() + "\n" for part in _SECTION.split(document)]
    heading = section.partition("\n")[0]
    for number, part in enumerate(parts):
        if part.partition("\n")[0] == heading:
            parts[number] = section
            break
    else:
        parts.append(section)
    return "\n".join(parts)
