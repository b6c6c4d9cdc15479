"""Search in all sessions: the index compared with ripgrep, its size, and its cost.

`python -m benchmarks.search INDEX COUNT QUERY` prints the time of each search, from opening the
index to the finished page, which the server does in a thread.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from statistics import median
from time import perf_counter

import orjson

from benchmarks.corpus.corpus import Corpus
from benchmarks.harness.measure import (
    MEGABYTE,
    Figure,
    at_most,
    below,
    megabytes,
    milliseconds,
    run,
    run_module,
)

ROUNDS = 21
SCANS = 3
PAGE = 50
# a phrase in at most so many messages is rare
RARE = 5
# a word of tool names, paths and much output
COMMON = "ledger"
# questions of the corpus: words of every session in a unique order
_QUESTION = re.compile(rb'"content":"(?:Why is it that|Find out whether) ([a-z -]{40,120})\?')
_WORDS = 6


def search(corpus: Corpus, environment: Mapping[str, str]) -> list[Figure]:
    index = Path(environment["HOME"]) / "words.db"
    bare = run(environment, "bare-extraction", corpus.projects)
    built = run(environment, "build-index", corpus.projects, index)
    size = index.stat().st_size
    times = f"{built.seconds:.0f} s; the extraction alone {bare.seconds:.0f} s"
    figures = [
        at_most(
            f"building the index of {built.count:,} messages, in processor time",
            built.seconds / bare.seconds,
            5,
            "the bare extraction of their words",
            times,
        ),
        below("memory of the process that builds it", built.memory / MEGABYTE, 150, "MB", "peak"),
        at_most("size of the index", size / corpus.size, 0.15, "the corpus", megabytes(size)),
    ]
    phrase = _rare_phrase(corpus, environment, index)
    figures += _against_ripgrep(
        corpus, environment, index, f"a phrase of common words in few messages: “{phrase}”", phrase
    )
    return figures + _against_ripgrep(
        corpus, environment, index, f"the newest {PAGE} of a common word: “{COMMON}”", COMMON
    )


def _against_ripgrep(
    corpus: Corpus, environment: Mapping[str, str], index: Path, name: str, words: str
) -> list[Figure]:
    query = f'"{words}"' if " " in words else words
    # in turns, so that both run under the same load
    ours: list[float] = []
    scans: list[float] = []
    hits = 0
    for _ in range(SCANS):
        taken, hits = _searched(environment, index, query)
        ours += taken
        if ripgrep := shutil.which("rg"):
            scans.append(_scanned(ripgrep, words, corpus.projects))
    here = median(ours)
    details = f"{milliseconds(here)}, median of {len(ours)}; {hits} found"
    if not scans:
        return [Figure(name, milliseconds(here), details=f"{details}; ripgrep is not installed")]
    scan = min(scans)
    details += f"; ripgrep {milliseconds(scan)}, the best of {SCANS}"
    return [at_most(name, here / scan, 0.05, "ripgrep's time", details)]


def _scanned(ripgrep: str, words: str, projects: Path) -> float:
    """The least time of a scan: lines are counted, not printed."""
    command = [ripgrep, "--no-config", "--ignore-case", "--fixed-strings", "--count", words]
    start = perf_counter()
    subprocess.run([*command, str(projects)], stdout=subprocess.DEVNULL, check=True)
    return perf_counter() - start


def _searched(
    environment: Mapping[str, str], index: Path, query: str, rounds: int = ROUNDS
) -> tuple[list[float], int]:
    answer = run_module(environment, "benchmarks.search", index, rounds, query)
    return answer["seconds"], answer["found"]


def _rare_phrase(corpus: Corpus, environment: Mapping[str, str], index: Path) -> str:
    for path in corpus.transcripts():
        for question in _QUESTION.findall(path.read_bytes()):
            phrase = " ".join(question.decode().split()[:_WORDS])
            _, hits = _searched(environment, index, f'"{phrase}"', 1)
            if 0 < hits <= RARE:
                return phrase
    raise LookupError("every phrase of this corpus is common")


def main() -> None:
    from claudekeeper.search.query import parse
    from claudekeeper.search.searcher import Searcher, SearchFilters
    from claudekeeper.search.store import open_read_only
    from claudekeeper.transcripts.history import History

    index, count, words = sys.argv[1:]
    seconds: list[float] = []
    hits = 0
    for _ in range(int(count)):
        start = perf_counter()
        with closing(open_read_only(Path(index))) as database:
            page = Searcher(database, parse(words), SearchFilters(), History()).find_newest(
                PAGE, None
            )
        seconds.append(perf_counter() - start)
        hits = len(page.hits)
    print(orjson.dumps({"seconds": seconds, "found": hits}).decode())


if __name__ == "__main__":
    main()
