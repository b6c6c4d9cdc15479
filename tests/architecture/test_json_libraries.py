"""msgspec is for JSON that has a type, orjson for JSON that has none; the hook has Python's own."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.sources import BENCHMARKS, SCREENSHOTS, SHIPPED, imported_names, name_of

# the hook runs by itself, in any Python that is there; the benchmark compares the libraries
MAY_USE_JSON = {"claudekeeper/hook.py", "benchmarks/json_libraries.py"}
OURS = [*SHIPPED, *SCREENSHOTS]
# what aiohttp does by the standard json
BY_AIOHTTP = {"json", "send_json", "receive_json"}
# the item's own: numbers of any length come back as they were given
UNTYPED_BY_MSGSPEC = {"msgspec.json.decode(values['metadata'], type=dict[str, Any])"}


@cache
def calls_in(source: Path) -> list[ast.Call]:
    nodes = ast.walk(ast.parse(source.read_text()))
    return [node for node in nodes if isinstance(node, ast.Call)]


def uses_json_of_aiohttp(call: ast.Call) -> bool:
    return (
        getattr(call.func, "attr", None) in BY_AIOHTTP
        or ast.unparse(call.func) == "web.json_response"
        or any(keyword.arg in ("json", "json_serialize") for keyword in call.keywords)
    )


def is_untyped(call: ast.Call) -> bool:
    """Whether msgspec is to read what has no type."""
    types = [ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg == "type"]
    match ast.unparse(call.func):
        case "msgspec.json.decode":
            return not types or "Any" in types[0] or types[0] in ("dict", "list", "object")
        case "msgspec.json.Decoder":
            return not (call.args or types)
    return False


@pytest.mark.parametrize("source", [*OURS, *BENCHMARKS], ids=name_of)
def test_the_standard_json_is_for_the_hook_alone(source: Path) -> None:
    uses = {name for name in imported_names(source) if name.split(".")[0] in ("json", "_json")}
    assert bool(uses) == (name_of(source) in MAY_USE_JSON)


@pytest.mark.parametrize("source", OURS, ids=name_of)
def test_nothing_is_left_to_the_json_of_aiohttp(source: Path) -> None:
    assert not [ast.unparse(call) for call in calls_in(source) if uses_json_of_aiohttp(call)]


@pytest.mark.parametrize("source", OURS, ids=name_of)
def test_msgspec_decodes_what_has_a_type(source: Path) -> None:
    """What has none is for orjson."""
    untyped = {ast.unparse(call) for call in calls_in(source) if is_untyped(call)}
    assert untyped <= UNTYPED_BY_MSGSPEC
