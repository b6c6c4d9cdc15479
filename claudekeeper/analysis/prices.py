"""Prices of tokens, in dollars a million: the list prices that Claude Code uses as well."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from claudekeeper.transcripts.entries import EntryUsage


class Price(NamedTuple):
    input: float
    output: float
    # relative to input: reading from the cache, and writing to it for five minutes or an hour
    cache_read: float = 0.1
    cache_write: float = 1.25
    cache_write_hour: float = 2.0


# the first name that is in the id of a model counts, so the narrower ones come first
PRICES: tuple[tuple[str, Price], ...] = (
    ("opus-5-5", Price(4, 20, cache_read=0.05)),
    ("opus-5", Price(5, 25)),
    ("opus-4-5", Price(5, 25)),
    ("opus-4-6", Price(5, 25)),
    ("opus-4-7", Price(5, 25)),
    ("opus-4-8", Price(5, 25)),
    ("opus", Price(15, 75)),
    ("sonnet-5", Price(2, 10)),
    ("sonnet", Price(3, 15)),
    ("3-5-haiku", Price(0.8, 4)),
    ("3-haiku", Price(0.25, 1.25)),
    ("haiku", Price(1, 5)),
    ("fable", Price(10, 50)),
    ("mythos", Price(10, 50)),
)
# how many times as much the fast mode of a model costs, found in the same way
FAST_MULTIPLIERS: tuple[tuple[str, float], ...] = (("opus-5", 2), ("opus-4-8", 2), ("opus", 6))


@lru_cache(maxsize=256)
def price_of(model: str | None) -> Price | None:
    """The price of a model; None if it is unknown."""
    if not model:
        return None
    return next((price for name, price in PRICES if name in model), None)


def cost_of(model: str | None, usage: EntryUsage) -> float:
    """Dollars for one reply; 0 if the price is unknown."""
    price = price_of(model)
    if price is None:
        return 0.0
    written = usage.cache_creation_input_tokens or 0
    for_an_hour = usage.cache_creation.ephemeral_1h_input_tokens if usage.cache_creation else 0
    for_an_hour = min(for_an_hour or 0, written)
    paid_as_input = (
        (usage.input_tokens or 0)
        + (usage.cache_read_input_tokens or 0) * price.cache_read
        + (written - for_an_hour) * price.cache_write
        + for_an_hour * price.cache_write_hour
    )
    standard = (paid_as_input * price.input + (usage.output_tokens or 0) * price.output) / 1_000_000
    return standard * _fast_multiplier(model or "") if usage.speed == "fast" else standard


def _fast_multiplier(model: str) -> float:
    return next((times for name, times in FAST_MULTIPLIERS if name in model), 1)
