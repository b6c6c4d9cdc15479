"""The session of 200 MB: its last page, and its whole history."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.corpus.corpus import Corpus
from benchmarks.harness.measure import (
    MEGABYTE,
    Figure,
    at_least,
    at_most,
    below,
    megabytes,
    milliseconds,
    side_by_side,
)

ROUNDS = 4


def last_messages(corpus: Corpus, environment: Mapping[str, str]) -> list[Figure]:
    taken = side_by_side(
        environment,
        {"last-page": [corpus.giant, corpus.giant_id], "sdk-history": [corpus.giant_id]},
        ROUNDS,
    )
    ours, sdk = taken["last-page"], taken["sdk-history"]
    name = f"last {ours.count} messages of a session of {_size(corpus)}"
    return [
        at_least(
            name,
            sdk.seconds / ours.seconds,
            500,
            "get_session_messages()",
            f"{milliseconds(ours.seconds)}; SDK {milliseconds(sdk.seconds)}",
        ),
        below(
            "extra memory for it",
            ours.memory / MEGABYTE,
            10,
            "MB",
            f"SDK {megabytes(sdk.memory)}",
        ),
    ]


def whole_history(corpus: Corpus, environment: Mapping[str, str]) -> list[Figure]:
    taken = side_by_side(
        environment,
        {"whole-history": [corpus.giant, corpus.giant_id], "sdk-history": [corpus.giant_id]},
        ROUNDS,
    )
    ours, sdk = taken["whole-history"], taken["sdk-history"]
    return [
        at_most(
            f"whole history of it, {ours.count:,} messages",
            ours.seconds / sdk.seconds,
            0.2,
            "the SDK's time",
            f"{milliseconds(ours.seconds)}; "
            f"SDK {milliseconds(sdk.seconds)}, which returns {sdk.count:,} messages",
        ),
        at_most(
            "extra memory for it",
            ours.memory / sdk.memory,
            0.3,
            "the SDK's memory",
            f"{megabytes(ours.memory)}; SDK {megabytes(sdk.memory)}",
        ),
    ]


def _size(corpus: Corpus) -> str:
    return f"{corpus.giant.stat().st_size / 1e6:.0f} MB"
