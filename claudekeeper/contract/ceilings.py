"""Ceilings of work items: amounts, and what a person allows beyond them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from msgspec import Meta


class Ceilings(msgspec.Struct, rename="camel", frozen=True):
    """How much a work item may use; None is no ceiling."""

    # dollars, over all of its sessions
    cost_usd: Annotated[float, Meta(gt=0)] | None = None
    # dispatches
    turns: Annotated[int, Meta(ge=1)] | None = None
    # since its first dispatch
    hours: Annotated[float, Meta(gt=0)] | None = None

    @property
    def as_dict(self) -> dict[str, float]:
        """The ceilings that are set, by their names in the contract."""
        return {
            field.encode_name: value
            for field in msgspec.structs.fields(self)
            if (value := getattr(self, field.name)) is not None
        }


class AskedCeilings(Ceilings, rename="camel", frozen=True, forbid_unknown_fields=True):
    """Ceilings in a request; an unknown name is refused, since it would be no ceiling."""


class CeilingUsage(msgspec.Struct, frozen=True, rename="camel"):
    """What a work item has used, by the same names."""

    cost_usd: float
    turns: int
    hours: float


def lowest_ceilings(one: Ceilings, other: Ceilings) -> Ceilings:
    """The lower one of each: a request may allow less than config.json, but not more."""
    return _combine(lambda a, b: min(_without_none(a, b), default=None), one, other)


def raise_ceilings(ceilings: Ceilings, allowed: Ceilings) -> Ceilings:
    """The ceilings with what a person allowed beyond them. None stays None."""
    return _combine(lambda a, b: None if a is None else max(_without_none(a, b)), ceilings, allowed)


def reached_ceilings(used: CeilingUsage, ceilings: Ceilings) -> Ceilings:
    """The ceilings that are reached."""
    return _combine(lambda a, so_far: a if a is not None and so_far >= a else None, ceilings, used)


def allowance(used: CeilingUsage, further: Ceilings, before: Ceilings) -> Ceilings:
    """The ceilings after a person allowed so much further use from now on."""
    raised = _combine(lambda a, so_far: None if a is None else so_far + a, further, used)
    return _combine(lambda a, b: b if a is None else a, raised, before)


def _without_none(*amounts: Any) -> list[Any]:
    return [amount for amount in amounts if amount is not None]


def _combine(
    of: Callable[[Any, Any], Any], one: Ceilings, other: Ceilings | CeilingUsage
) -> Ceilings:
    names = Ceilings.__struct_fields__
    return Ceilings(**{name: of(getattr(one, name), getattr(other, name)) for name in names})
