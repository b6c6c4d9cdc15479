"""The settings that config.json may have, by their types, and the faults of those it has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import orjson
from msgspec import inspect

# a wrong value here may let a stranger in, so it refuses the start
ACCESS_SETTINGS = frozenset(
    {"token", "hookToken", "host", "port", "uiPort", "allowedHosts", "trustedProxies", "tlsCert",
     "tlsKey"}
)  # fmt: skip
# a wrong value here may let work items do or spend too much
CONVERSATION_GUARDS = frozenset({"enabled", "ceilings"})
SECRET_SETTINGS = frozenset({"token", "hookToken"})
# in the name of a setting: the name of a project
PROJECT_PLACEHOLDER = "NAME"
# from here on one name counts as a misspelling of the other
MIN_SIMILARITY = 0.72
MAX_VALUE_LENGTH = 60
# suggestions for unknown names; a file with more of them would delay the start
MAX_GUESSES = 50

SettingPath = tuple[str, ...]


class Setting(msgspec.Struct, frozen=True):
    """A setting: its dotted name, what it accepts, and its default."""

    name: str
    accepts: str
    default: str


class SettingFault(msgspec.Struct, frozen=True):
    """A fault of one setting, and whether it refuses the start."""

    name: str
    message: str
    refuses_start: bool


def list_settings(of: type) -> list[Setting]:
    return [
        Setting(".".join(path), describe_type(field.type), _describe_default(field))
        for path, field in _walk_fields(inspect.type_info(of))
        if _nested_type(field.type) is None
    ]


def check_settings(of: type, settings: dict[str, Any]) -> tuple[dict[str, Any], list[SettingFault]]:
    """The usable settings, and the faults of the others."""
    root = inspect.type_info(of)
    names = [path for path, _ in _walk_fields(root)]
    wrong: list[SettingFault] = []
    return _check_object(root, settings, (), names, wrong), wrong


def _check_object(
    holder: inspect.Type,
    settings: dict[str, Any],
    path: SettingPath,
    names: list[SettingPath],
    wrong: list[SettingFault],
) -> dict[str, Any]:
    usable: dict[str, Any] = {}
    for name, value in settings.items():
        here = (*path, name)
        kind = _type_of(holder, name)
        if kind is None:
            wrong.append(_unknown_setting(here, names if len(wrong) < MAX_GUESSES else []))
        elif (below := _nested_type(kind)) is not None and isinstance(value, dict):
            usable[name] = _check_object(below, value, here, names, wrong)
        elif _matches(kind, value):
            usable[name] = value
        else:
            wrong.append(_invalid_value(here, kind, value))
    return usable


def _walk_fields(
    holder: inspect.Type, path: SettingPath = ()
) -> Iterator[tuple[SettingPath, inspect.Field]]:
    if isinstance(holder, inspect.DictType):
        yield from _walk_fields(holder.value_type, (*path, PROJECT_PLACEHOLDER))
    elif isinstance(holder, inspect.StructType):
        for field in holder.fields:
            here = (*path, field.encode_name)
            yield here, field
            below = _nested_type(field.type)
            if below is not None:
                yield from _walk_fields(below, here)


def _type_of(holder: inspect.Type, name: str) -> inspect.Type | None:
    if isinstance(holder, inspect.DictType):
        return holder.value_type
    assert isinstance(holder, inspect.StructType)
    return next((each.type for each in holder.fields if each.encode_name == name), None)


def _nested_type(kind: inspect.Type) -> inspect.Type | None:
    """The part of a type that has settings of its own."""
    for each in _union_members(kind):
        if isinstance(each, inspect.StructType | inspect.DictType):
            return each
    return None


def _union_members(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    return kind.types if isinstance(kind, inspect.UnionType) else (kind,)


def _matches(kind: inspect.Type, value: Any) -> bool:
    return any(_matches_one(each, value) for each in _union_members(kind))


def _matches_one(kind: inspect.Type, value: Any) -> bool:
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
            return isinstance(value, list) and all(_matches(kind.item_type, each) for each in value)
    return False


def _in_range(kind: inspect.IntType | inspect.FloatType, value: float) -> bool:
    return (
        (kind.ge is None or value >= kind.ge)
        and (kind.gt is None or value > kind.gt)
        and (kind.le is None or value <= kind.le)
    )


# ---- messages ----


def describe_type(kind: inspect.Type) -> str:
    """What a setting accepts, in words."""
    return " or ".join(_describe_one_type(each) for each in _union_members(kind))


def _describe_one_type(kind: inspect.Type) -> str:
    match kind:
        case inspect.NoneType():
            return "null"
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return f"a whole number{_describe_range(kind)}"
        case inspect.FloatType():
            return f"a number{_describe_range(kind)}"
        case inspect.StrType():
            return "text"
        case inspect.LiteralType():
            return " or ".join(f'"{each}"' for each in kind.values)
        case inspect.VarTupleType():
            return f"a list of {describe_type(kind.item_type)}"
    return "an object"


def _describe_range(kind: inspect.IntType | inspect.FloatType) -> str:
    least = f" from {kind.ge:g}" if kind.ge is not None else ""
    least = f" above {kind.gt:g}" if kind.gt is not None else least
    most = f" up to {kind.le:g}" if kind.le is not None else ""
    return (least + most).replace(" up to", " to") if kind.ge is not None else least + most


def _describe_default(field: inspect.Field) -> str:
    if field.required:
        return "made at the first start"
    return orjson.dumps(field.default).decode()


def _unknown_setting(path: SettingPath, names: list[SettingPath]) -> SettingFault:
    meant = _nearest_setting(path, names) if names else None
    ask = ""
    if meant and ".".join(meant) == ".".join(path):
        ask = f" Write {meant[-1]} into the object {'.'.join(meant[:-1])}."
    elif meant:
        ask = f" Did you mean {'.'.join(meant)}?"
    return SettingFault(
        ".".join(path),
        f"{_printable_name(path)} is not a setting and is ignored.{ask}",
        refuses_start=False,
    )


def _invalid_value(path: SettingPath, kind: inspect.Type, value: Any) -> SettingFault:
    refused = _refuses_start(path, kind)
    value_text = "not" if SECRET_SETTINGS.intersection(path) else f"{_printable_value(value)}, not"
    instead = "" if refused else " Its default is used."
    says = f"{_printable_name(path)} is {value_text} {describe_type(kind)}.{instead}"
    return SettingFault(".".join(path), says, refused)


def _refuses_start(path: SettingPath, kind: inspect.Type) -> bool:
    if path[0] != "conversations":
        return path[0] in ACCESS_SETTINGS
    return bool(CONVERSATION_GUARDS.intersection(path)) or _nested_type(kind) is not None


def _printable_name(path: SettingPath) -> str:
    """A name from the file, without characters that a terminal would obey."""
    return "".join(each if each.isprintable() else "?" for each in ".".join(path))[:200]


def _printable_value(value: Any) -> str:
    try:
        text = orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        # orjson reads deeper nesting than it writes
        text = "…"
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[:MAX_VALUE_LENGTH]}…"


def _nearest_setting(path: SettingPath, names: list[SettingPath]) -> SettingPath | None:
    """The setting that was probably meant: of the same name, else a sibling, else a similar one."""
    # imported only for a wrong name, to save memory in a keeper that runs for months
    import difflib

    def likeness(other: SettingPath) -> float:
        pairs = ((path[-1], other[-1]), (".".join(path), ".".join(other)))
        return max(
            difflib.SequenceMatcher(None, _normalize(one), _normalize(other)).ratio()
            for one, other in pairs
        )

    def rank(other: SettingPath) -> tuple[bool, bool, float]:
        alike = likeness(other)
        return alike == 1.0, alike >= MIN_SIMILARITY and _is_sibling(other, path), alike

    best = max(names, key=rank)
    return _with_project_name(best, path) if likeness(best) >= MIN_SIMILARITY else None


def _is_sibling(setting: SettingPath, path: SettingPath) -> bool:
    return len(setting) == len(path) and all(
        one in (PROJECT_PLACEHOLDER, other)
        for one, other in zip(setting[:-1], path[:-1], strict=True)
    )


def _with_project_name(best: SettingPath, path: SettingPath) -> SettingPath:
    """Puts the name of the project in the place of the placeholder."""
    same = zip(best, path, strict=False)
    project = next(
        (name for part, name in same if part == PROJECT_PLACEHOLDER), PROJECT_PLACEHOLDER
    )
    return tuple(project if each == PROJECT_PLACEHOLDER else each for each in best)


def _normalize(name: str) -> str:
    return re.sub(r"[\W_]", "", name[:MAX_VALUE_LENGTH]).lower()


# ---- the environment ----

OUR_PREFIXES = ("CLAUDEKEEPER_", "CLARVIS_")
PUBLIC_VARIABLES = ("CLARVIS_ALLOWED_ROOTS", "CLAUDEKEEPER_CLI", "CLAUDEKEEPER_HOME")
# set by the keeper for its children, and by tests
INTERNAL_VARIABLES = frozenset(
    {"CLAUDEKEEPER_OWNER", "CLAUDEKEEPER_SESSION", "CLAUDEKEEPER_HOOK_PROBE",
     "CLAUDEKEEPER_CORPUS", "CLARVIS_E2E"}
)  # fmt: skip


def unknown_variables(names: Iterable[str]) -> list[str]:
    """One sentence for each variable that has our prefix and is not ours."""
    ours = {*PUBLIC_VARIABLES, *INTERNAL_VARIABLES}
    return [
        _unknown_setting((name,), [(each,) for each in PUBLIC_VARIABLES]).message
        for name in sorted(names)
        if name.startswith(OUR_PREFIXES) and name not in ours
    ]
