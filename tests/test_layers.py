"""Imports point only downwards: cli → edge → features → live → readers → model."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ["model", "readers", "live", "features", "edge", "demo", "cli"]
SOURCES = sorted((ROOT / "claudekeeper").rglob("*.py"))
CLARVIS = sorted((ROOT / "clarvis_ui").glob("*.py"))
DOORWAY = sorted((ROOT / "doorway").glob("*.py"))
# beside cli.py: what the command line is made of; every other file at the top is at the bottom
COMMANDS = {
    "__main__",
    "archiving",
    "client",
    "doctor",
    "hooking",
    "service",
    "serving",
    "terminal",
}
MODEL_MAY_USE = {"msgspec", "orjson"}


def imported(source: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def layer(module: str) -> int | None:
    parts = module.split(".")
    if parts[0] != "claudekeeper" or len(parts) < 2 or parts[1] not in LAYERS:
        return None
    return LAYERS.index(parts[1])


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_downwards(source: Path) -> None:
    module = ".".join(source.relative_to(ROOT).with_suffix("").parts)
    own = layer(module)
    if own is None:
        own = LAYERS.index("cli") if source.stem in COMMANDS else 0
    upwards = {name for name in imported(source) if (layer(name) or 0) > own}
    assert not upwards


@pytest.mark.parametrize("source", DOORWAY, ids=lambda path: path.name)
def test_the_doorway_knows_neither_server(source: Path) -> None:
    roots = {name.split(".")[0] for name in imported(source)}
    assert not roots & {"claudekeeper", "clarvis_ui"}


@pytest.mark.parametrize("source", CLARVIS, ids=lambda path: path.name)
def test_clarvis_never_imports_the_keeper(source: Path) -> None:
    assert not {name for name in imported(source) if name.split(".")[0] == "claudekeeper"}


@pytest.mark.parametrize(
    "source", [path for path in SOURCES if path.parent.name == "model"], ids=lambda path: path.name
)
def test_the_model_knows_only_the_standard_library_and_the_decoders(source: Path) -> None:
    import sys

    roots = {name.split(".")[0] for name in imported(source)}
    assert roots <= set(sys.stdlib_module_names) | MODEL_MAY_USE | {"claudekeeper"}


PROGRAMS = [*SOURCES, *CLARVIS, *DOORWAY]
MEASURED = sorted([*(ROOT / "bench").rglob("*.py"), *(ROOT / "pictures").glob("*.py")])
# the hook runs by itself, in any Python that is there; the benchmark compares the libraries
MAY_USE_JSON = {"claudekeeper/hook.py", "bench/json_libraries.py"}


@pytest.mark.parametrize(
    "source", [*PROGRAMS, *MEASURED], ids=lambda path: str(path.relative_to(ROOT))
)
def test_the_standard_json_is_for_the_hook_alone(source: Path) -> None:
    uses = {name for name in imported(source) if name.split(".")[0] in ("json", "_json")}
    may = source.relative_to(ROOT).as_posix() in MAY_USE_JSON
    assert bool(uses) == may


def test_the_hook_needs_nothing_but_python() -> None:
    import sys

    roots = {name.split(".")[0] for name in imported(ROOT / "claudekeeper" / "hook.py")}
    assert roots <= set(sys.stdlib_module_names)


OURS = [*PROGRAMS, *sorted((ROOT / "pictures").glob("*.py"))]
# what aiohttp does by the standard json
BY_AIOHTTP = {"json", "send_json", "receive_json"}


@pytest.mark.parametrize("source", OURS, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_left_to_the_json_of_aiohttp(source: Path) -> None:
    calls = [each for each in ast.walk(ast.parse(source.read_text())) if isinstance(each, ast.Call)]
    assert not [
        ast.unparse(call)
        for call in calls
        if getattr(call.func, "attr", None) in BY_AIOHTTP
        or ast.unparse(call.func) == "web.json_response"
        or any(each.arg in ("json", "json_serialize") for each in call.keywords)
    ]


def untyped(call: ast.Call) -> bool:
    """Whether msgspec is to read what has no type."""
    types = [ast.unparse(each.value) for each in call.keywords if each.arg == "type"]
    match ast.unparse(call.func):
        case "msgspec.json.decode":
            return not types or "Any" in types[0] or types[0] in ("dict", "list", "object")
        case "msgspec.json.Decoder":
            return not (call.args or types)
    return False


# the item's own: numbers of any length come back as they were given
KEPT_AS_GIVEN = {"msgspec.json.decode(values['metadata'], type=dict[str, Any])"}


@pytest.mark.parametrize("source", OURS, ids=lambda path: str(path.relative_to(ROOT)))
def test_msgspec_decodes_what_has_a_type(source: Path) -> None:
    """What has none is for orjson."""
    calls = [each for each in ast.walk(ast.parse(source.read_text())) if isinstance(each, ast.Call)]
    assert {ast.unparse(call) for call in calls if untyped(call)} <= KEPT_AS_GIVEN
