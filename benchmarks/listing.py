"""The list of sessions: the first one ever, after a restart, and with many sessions."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.cold_start import first_page
from benchmarks.corpus.corpus import Corpus, Shape, corpus
from benchmarks.harness.measure import ROOT, Figure, at_least, at_most, milliseconds, side_by_side

ROUNDS = 9
# four times as many as elsewhere, in as many bytes
MANY = Shape(sessions=20_000)


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


def many_sessions(environment: Mapping[str, str]) -> list[Figure]:
    """The first listing and a page of it: what a session costs must not grow with their number."""
    with tempfile.TemporaryDirectory(prefix="made-", dir=ROOT / "benchmarks") as folder:
        made = corpus(Path(folder), MANY)
        environment = {**environment, "CLAUDE_CONFIG_DIR": folder}
        works = {"bare-read": [made.projects], "first-listing": [made.projects]}
        taken = side_by_side(environment, works, ROUNDS)
        ours, bare = taken["first-listing"], taken["bare-read"]
        return [
            at_most(
                f"first listing ever, {ours.count:,} sessions",
                ours.seconds / bare.seconds,
                1.2,
                "a bare read",
                f"{milliseconds(ours.seconds)}; bare read {milliseconds(bare.seconds)}",
            ),
            *first_page(environment, f", {ours.count:,} sessions"),
        ]
