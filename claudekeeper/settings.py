"""What config.json may hold, told by its types: every setting, and what is wrong with one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import orjson
from msgspec import inspect

# what is wrong in one of these may let somebody in: no start
DOORS = frozenset(
    {"token", "hookToken", "host", "port", "uiPort", "allowedHosts", "trustedProxies", "tlsCert",
     "tlsKey"}
)  # fmt: skip
# or lets items of work do what they were not to do, or spend what was not to be spent
GUARDS = frozenset({"enabled", "ceilings"})
SECRET = frozenset({"token", "hookToken"})
# stands for the name of a project
ANY = "NAME"
# how alike two names are, so that one is taken for the other misspelled
ALIKE = 0.72
SHOWN = 60
# a file with more names that are none was not written for a keeper: what each of them was to be
# is not worth a late start
MOST_GUESSED = 50

Path = tuple[str, ...]


class Setting(msgspec.Struct, frozen=True):
    """One setting: its dotted name, what it takes, and what holds without it."""

    name: str
    takes: str
    default: str


class Wrong(msgspec.Struct, frozen=True):
    """What is wrong with one setting, and whether a start is refused for it."""

    name: str
    says: str
    refused: bool


def every_setting(of: type) -> list[Setting]:
    return [
        Setting(".".join(path), takes(field.type), _default(field))
        for path, field in _fields(inspect.type_info(of))
        if _below(field.type) is None
    ]


def examine(of: type, given: dict[str, Any]) -> tuple[dict[str, Any], list[Wrong]]:
    """What can be used of it, and what is wrong with the rest."""
    root = inspect.type_info(of)
    names = [path for path, _ in _fields(root)]
    wrong: list[Wrong] = []
    return _usable(root, given, (), names, wrong), wrong


def _usable(
    holder: inspect.Type, given: dict[str, Any], path: Path, names: list[Path], wrong: list[Wrong]
) -> dict[str, Any]:
    usable: dict[str, Any] = {}
    for name, value in given.items():
        here = (*path, name)
        kind = _kind_of(holder, name)
        if kind is None:
            wrong.append(_unknown(here, names if len(wrong) < MOST_GUESSED else []))
        elif (below := _below(kind)) is not None and isinstance(value, dict):
            usable[name] = _usable(below, value, here, names, wrong)
        elif _fits(kind, value):
            usable[name] = value
        else:
            wrong.append(_misfit(here, kind, value))
    return usable


def _fields(holder: inspect.Type, path: Path = ()) -> Iterator[tuple[Path, inspect.Field]]:
    if isinstance(holder, inspect.DictType):
        yield from _fields(holder.value_type, (*path, ANY))
    elif isinstance(holder, inspect.StructType):
        for field in holder.fields:
            here = (*path, field.encode_name)
            yield here, field
            below = _below(field.type)
            if below is not None:
                yield from _fields(below, here)


def _kind_of(holder: inspect.Type, name: str) -> inspect.Type | None:
    if isinstance(holder, inspect.DictType):
        return holder.value_type
    assert isinstance(holder, inspect.StructType)
    return next((each.type for each in holder.fields if each.encode_name == name), None)


def _below(kind: inspect.Type) -> inspect.Type | None:
    """What holds further settings."""
    for each in _choices(kind):
        if isinstance(each, inspect.StructType | inspect.DictType):
            return each
    return None


def _choices(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    return kind.types if isinstance(kind, inspect.UnionType) else (kind,)


def _fits(kind: inspect.Type, value: Any) -> bool:
    return any(_fits_one(each, value) for each in _choices(kind))


def _fits_one(kind: inspect.Type, value: Any) -> bool:
    match kind:
        case inspect.NoneType():
            return value is None
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.IntType():
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            return is_whole and _in_range(kind, value)
        case inspect.FloatType():
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            return is_number and _in_range(kind, value)
        case inspect.StrType():
            return isinstance(value, str)
        case inspect.LiteralType():
            return value in kind.values
        case inspect.VarTupleType():
            return isinstance(value, list) and all(_fits(kind.item_type, each) for each in value)
    return False


def _in_range(kind: inspect.IntType | inspect.FloatType, value: float) -> bool:
    return (
        (kind.ge is None or value >= kind.ge)
        and (kind.gt is None or value > kind.gt)
        and (kind.le is None or value <= kind.le)
    )


# ---- in words ----


def takes(kind: inspect.Type) -> str:
    """What a setting takes, as one would say it."""
    return " or ".join(_takes_one(each) for each in _choices(kind))


def _takes_one(kind: inspect.Type) -> str:
    match kind:
        case inspect.NoneType():
            return "null"
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return f"a whole number{_range(kind)}"
        case inspect.FloatType():
            return f"a number{_range(kind)}"
        case inspect.StrType():
            return "text"
        case inspect.LiteralType():
            return " or ".join(f'"{each}"' for each in kind.values)
        case inspect.VarTupleType():
            return f"a list of {takes(kind.item_type)}"
    return "an object"


def _range(kind: inspect.IntType | inspect.FloatType) -> str:
    least = f" from {kind.ge:g}" if kind.ge is not None else ""
    least = f" above {kind.gt:g}" if kind.gt is not None else least
    most = f" up to {kind.le:g}" if kind.le is not None else ""
    return (least + most).replace(" up to", " to") if kind.ge is not None else least + most


def _default(field: inspect.Field) -> str:
    if field.required:
        return "made at the first start"
    return orjson.dumps(field.default).decode()


def _unknown(path: Path, names: list[Path]) -> Wrong:
    meant = _nearest(path, names) if names else None
    ask = ""
    if meant and ".".join(meant) == ".".join(path):
        ask = f" Write {meant[-1]} into the object {'.'.join(meant[:-1])}."
    elif meant:
        ask = f" Did you mean {'.'.join(meant)}?"
    return Wrong(".".join(path), f"{_said(path)} is no setting and is ignored.{ask}", refused=False)


def _misfit(path: Path, kind: inspect.Type, value: Any) -> Wrong:
    refused = _guards(path, kind)
    shown = "not" if SECRET.intersection(path) else f"{_shown(value)}, not"
    instead = "" if refused else " Its default is used."
    says = f"{_said(path)} is {shown} {takes(kind)}.{instead}"
    return Wrong(".".join(path), says, refused)


def _guards(path: Path, kind: inspect.Type) -> bool:
    if path[0] != "conversations":
        return path[0] in DOORS
    return bool(GUARDS.intersection(path)) or _below(kind) is not None


def _said(path: Path) -> str:
    """A name as people wrote it, on one line."""
    return "".join(each if each.isprintable() else "?" for each in ".".join(path))[:200]


def _shown(value: Any) -> str:
    try:
        text = orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        # it reads deeper than it writes
        text = "…"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _nearest(path: Path, names: list[Path]) -> Path | None:
    """The setting that was meant: one of this name, else one beside it, else any that is alike."""
    # only where something is wrong: a keeper that idles for months does without
    import difflib

    def likeness(known: Path) -> float:
        pairs = ((path[-1], known[-1]), (".".join(path), ".".join(known)))
        return max(
            difflib.SequenceMatcher(None, _plain(said), _plain(meant)).ratio()
            for said, meant in pairs
        )

    def rank(known: Path) -> tuple[bool, bool, float]:
        alike = likeness(known)
        return alike == 1.0, alike >= ALIKE and _is_beside(known, path), alike

    best = max(names, key=rank)
    return _as_said(best, path) if likeness(best) >= ALIKE else None


def _is_beside(known: Path, path: Path) -> bool:
    return len(known) == len(path) and all(
        one in (ANY, other) for one, other in zip(known[:-1], path[:-1], strict=True)
    )


def _as_said(best: Path, path: Path) -> Path:
    """With the name of the project that was meant."""
    same = zip(best, path, strict=False)
    project = next((said for known, said in same if known == ANY), ANY)
    return tuple(project if each == ANY else each for each in best)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name[:SHOWN]).lower()


# ---- the environment ----

OURS = ("CLAUDEKEEPER_", "CLARVIS_")
VARIABLES = ("CLARVIS_ALLOWED_ROOTS", "CLAUDEKEEPER_CLI", "CLAUDEKEEPER_HOME")
# what the keeper tells its own children, and what tests are told
INTERNAL = frozenset(
    {"CLAUDEKEEPER_OWNER", "CLAUDEKEEPER_SESSION", "CLAUDEKEEPER_HOOK_PROBE",
     "CLAUDEKEEPER_CORPUS", "CLARVIS_E2E"}
)  # fmt: skip


def unknown_variables(names: Iterable[str]) -> list[str]:
    """Variables that look like ours and are none, in a sentence each."""
    known = {*VARIABLES, *INTERNAL}
    return [
        _unknown((name,), [(each,) for each in VARIABLES]).says
        for name in sorted(names)
        if name.startswith(OURS) and name not in known
    ]
