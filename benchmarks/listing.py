"""The first list of sessions: without a cache, and after a restart."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.corpus.corpus import Corpus
from benchmarks.harness.measure import Figure, at_least, at_most, milliseconds, side_by_side

ROUNDS = 9


def first_listing(corpus: Corpus, environment: Mapping[str, str]) -> list[Figure]:
    projects = corpus.projects
    taken = side_by_side(
        environment,
        {"bare-read": [projects], "first-listing": [projects], "sdk-listing": []},
        ROUNDS,
    )
    ours, bare, sdk = taken["first-listing"], taken["bare-read"], taken["sdk-listing"].seconds
    times = f"{milliseconds(ours.seconds)}; bare read {milliseconds(bare.seconds)}"
    name = f"first listing ever, {ours.count:,} sessions"
    return [
        at_most(name, ours.seconds / bare.seconds, 2.0, "a bare read", times),
        at_least(name, sdk / ours.seconds, 10, "list_sessions()", f"SDK {milliseconds(sdk)}"),
    ]


def after_restart(corpus: Corpus, environment: Mapping[str, str], cache: Path) -> list[Figure]:
    """Measures with the cache of a server that has read everything."""
    projects = corpus.projects
    taken = side_by_side(
        environment,
        {
            "bare-read": [projects],
            "listing-after-restart": [projects, cache],
            "bare-stat": [projects],
        },
        ROUNDS,
    )
    ours, bare = taken["listing-after-restart"], taken["bare-read"]
    stat = taken["bare-stat"].seconds / bare.seconds
    times = (
        f"{milliseconds(ours.seconds)}; bare read {milliseconds(bare.seconds)}; "
        f"a bare stat of each {stat:.2f} ×"
    )
    name = "listing after a restart, every file's stat verified"
    return [at_most(name, ours.seconds / bare.seconds, 0.35, "a bare read", times)]
