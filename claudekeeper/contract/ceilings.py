"""How much an item of work may use: amounts, and what a person allows beyond them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from msgspec import Meta


class Ceilings(msgspec.Struct, rename="camel", frozen=True):
    """The most that an item may use; what is not given has no ceiling."""

    # dollars, over all of its sessions
    cost_usd: Annotated[float, Meta(gt=0)] | None = None
    # dispatches
    turns: Annotated[int, Meta(ge=1)] | None = None
    # since its first dispatch
    hours: Annotated[float, Meta(gt=0)] | None = None

    @property
    def as_dict(self) -> dict[str, float]:
        """Those that there are, by their names in the contract."""
        return {
            field.encode_name: value
            for field in msgspec.structs.fields(self)
            if (value := getattr(self, field.name)) is not None
        }


class AskedCeilings(Ceilings, rename="camel", frozen=True, forbid_unknown_fields=True):
    """Ceilings as a request says them: a misspelled one is none, so it is refused."""


class CeilingUsage(msgspec.Struct, frozen=True, rename="camel"):
    """What an item has used, by the same names."""

    cost_usd: float
    turns: int
    hours: float


def lowest_ceilings(one: Ceilings, other: Ceilings) -> Ceilings:
    """The lower one of each: a request may ask for less than config.json allows, not for more."""
    return _combine(lambda a, b: min(known) if (known := _without_none(a, b)) else None, one, other)


def raise_ceilings(ceilings: Ceilings, allowed: Ceilings) -> Ceilings:
    """With what a person allowed beyond them; what has no ceiling gets none by that."""
    return _combine(lambda a, b: None if a is None else max(_without_none(a, b)), ceilings, allowed)


def reached_ceilings(used: CeilingUsage, ceilings: Ceilings) -> Ceilings:
    """Those ceilings that are reached."""
    return _combine(lambda most, so_far: most if most is not None and so_far >= most else None,
                 ceilings, used)  # fmt: skip


def allowance(used: CeilingUsage, further: Ceilings, before: Ceilings) -> Ceilings:
    """What is allowed in all, once a person said how much further it may go from now on."""
    more = _combine(lambda a, so_far: None if a is None else so_far + a, further, used)
    return _combine(lambda a, b: b if a is None else a, more, before)


def _without_none(*amounts: Any) -> list[Any]:
    return [amount for amount in amounts if amount is not None]


def _combine(
    of: Callable[[Any, Any], Any], one: Ceilings, other: Ceilings | CeilingUsage
) -> Ceilings:
    names = Ceilings.__struct_fields__
    return Ceilings(**{name: of(getattr(one, name), getattr(other, name)) for name in names})
