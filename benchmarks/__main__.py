"""`python -m benchmarks`: measures everything, prints a table, writes docs/benchmarks.md."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path

from benchmarks import (
    cold_start,
    fanout,
    follow,
    json_libraries,
    large_history,
    latency,
    leaks,
    listing,
    page,
    watchers,
)
from benchmarks import search as searching
from benchmarks.corpus.corpus import Corpus, CorpusUnusable, Shape, corpus
from benchmarks.harness import report
from benchmarks.harness.measure import ROOT, Figure, isolated

# these need no corpus
WITHOUT_CORPUS: dict[str, Callable[[dict[str, str]], list[Figure]]] = {
    "many-sessions": listing.many_sessions,
    "watchers": watchers.watchers,
    "json": json_libraries.json_libraries,
    "page": lambda _: page.page(),
}


class Bench:
    """A run of the measurements with one corpus."""

    def __init__(self, corpus: Corpus, environment: dict[str, str]) -> None:
        self._corpus = corpus
        self._environment = environment

    @cached_property
    def _cold(self) -> cold_start.ColdStart:
        _say("a first start, until everything is read")
        return cold_start.cold_start(self._environment)

    def subjects(self) -> dict[str, Callable[[], list[Figure]]]:
        corpus, environment = self._corpus, self._environment
        return {
            "first-listing": lambda: listing.first_listing(corpus, environment),
            "restart": lambda: listing.after_restart(corpus, environment, self._cold.cache),
            "first-page": lambda: self._warm(lambda: cold_start.first_page(environment)),
            "route": lambda: self._warm(lambda: cold_start.route(environment)),
            "resume": lambda: self._warm(lambda: cold_start.resume(corpus, environment)),
            "last-messages": lambda: large_history.last_messages(corpus, environment),
            "whole-history": lambda: large_history.whole_history(corpus, environment),
            "memory": lambda: cold_start.idle_memory(corpus, environment, self._cold),
            "health": lambda: cold_start.health(corpus, environment, self._cold),
            "fan-out": lambda: fanout.fan_out(environment),
            "latency": lambda: latency.latency(environment),
            "endurance": lambda: leaks.endurance(environment),
            "follow": lambda: self._warm(lambda: follow.follow(corpus, environment)),
            "search": lambda: searching.search(corpus, environment),
            **{name: partial(work, environment) for name, work in WITHOUT_CORPUS.items()},
        }

    def _warm(self, subject: Callable[[], list[Figure]]) -> list[Figure]:
        """The measurements of a server with a full cache."""
        _ = self._cold
        return subject()


SUBJECTS = (
    "first-listing",
    "restart",
    "first-page",
    "route",
    "resume",
    "last-messages",
    "whole-history",
    "memory",
    "health",
    "fan-out",
    "latency",
    "endurance",
    "follow",
    "many-sessions",
    "watchers",
    "json",
    "search",
    "page",
)


def parser() -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    root.add_argument("--corpus", type=Path, default=ROOT / "benchmarks" / "made", metavar="DIR")
    root.add_argument("--sessions", type=int, default=Shape.sessions, metavar="N")
    root.add_argument("--bytes", type=int, default=Shape.size, metavar="N")
    root.add_argument(
        "--only",
        choices=SUBJECTS,
        help="one subject; docs/benchmarks.md stays, but for the section that "
        f"{' and '.join(report.COMPARED)} have there each",
    )
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    shape = Shape(options.sessions, options.bytes)
    load = os.getloadavg()[0]
    start = time.perf_counter()
    if options.only in WITHOUT_CORPUS:
        with isolated(ROOT) as environment:
            alone = {options.only: WITHOUT_CORPUS[options.only](environment)}
        print(f"\n{report.machine()}\n\n{report.as_text(alone)}\n\n{_since(start)}")
        if options.only in report.COMPARED:
            section = report.as_section(options.only, alone[options.only], load)
            before = report.DOCUMENT.read_text(encoding="utf-8")
            _write(report.with_section(before, section))
        return 0
    try:
        made = corpus(options.corpus.resolve(), shape)
    except CorpusUnusable as error:
        print(error, file=sys.stderr)
        return 2
    _say(f"{made.sessions:,} sessions, {made.size / 1e9:.2f} GB ({_since(start)})")
    figures: dict[str, list[Figure]] = {}
    with isolated(made.home) as environment:
        subjects = Bench(made, environment).subjects()
        for name in [options.only] if options.only else SUBJECTS:
            _say(name)
            figures[name] = subjects[name]()
    print(f"\n{report.machine()}\n\n{report.as_text(figures)}\n\n{_since(start)}")
    if shape != Shape():
        print("the goals are for the corpus as it is without --sessions and --bytes")
    elif options.only is None:
        _write(report.as_document(made, figures, load))
    return 0


def _write(document: str) -> None:
    report.DOCUMENT.write_text(document, encoding="utf-8")
    print(f"written to {report.DOCUMENT.relative_to(ROOT)}")


def _say(what: str) -> None:
    print(f"· {what}", file=sys.stderr, flush=True)


def _since(start: float) -> str:
    return f"{time.perf_counter() - start:.0f} s"


if __name__ == "__main__":
    sys.exit(main())
