"""Imports point only downwards, from the command line to the contract."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.architecture.sources import CLARVIS, KEEPER, ROOT, imported_names, module_of, name_of

# bottom first; packages of one line do not import each other
ORDER = [
    {"net"},
    {"contract"},
    {"core"},
    {"watcher"},
    {"transcripts"},
    {"analysis"},
    {"catalog"},
    {"coverage"},
    {"events"},
    {"attention"},
    {"archive", "search"},
    {"sessions"},
    {"dispatch", "usage", "routing", "resume", "branches"},
    {"server"},
    {"demo"},
    {"cli"},
]
RANKS = {package: rank for rank, packages in enumerate(ORDER) for package in packages}


def package_of(module: str) -> str | None:
    """The package of the keeper in which a module lies; None for what lies outside of all."""
    parts = module.split(".")
    return parts[1] if parts[0] == "claudekeeper" and len(parts) > 1 and parts[1] in RANKS else None


def test_every_package_has_its_place_in_the_order() -> None:
    folders = {path.name for path in (ROOT / "claudekeeper").iterdir() if list(path.glob("*.py"))}
    assert folders == set(RANKS)


@pytest.mark.parametrize("source", KEEPER, ids=name_of)
def test_imports_point_downwards(source: Path) -> None:
    own = package_of(module_of(source)) or "cli"
    packages = {package_of(name) for name in imported_names(source)} - {None, own}
    assert not {package for package in packages if RANKS[str(package)] >= RANKS[own]}


@pytest.mark.parametrize(
    "source", [path for path in KEEPER if path.parent.name == "net"], ids=name_of
)
def test_net_knows_nothing_of_the_keeper(source: Path) -> None:
    ours = {name for name in imported_names(source) if name.split(".")[0] == "claudekeeper"}
    assert not {name for name in ours if package_of(name) != "net"}


@pytest.mark.parametrize("source", CLARVIS, ids=name_of)
def test_clarvis_imports_only_net_of_the_keeper(source: Path) -> None:
    ours = {name for name in imported_names(source) if name.split(".")[0] == "claudekeeper"}
    assert not {name for name in ours if package_of(name) != "net"}


@pytest.mark.parametrize("package", ["contract", "analysis"])
def test_what_is_pure_knows_only_the_standard_library_and_the_decoders(package: str) -> None:
    sources = [path for path in KEEPER if package_of(module_of(path)) == package]
    roots = {name.split(".")[0] for source in sources for name in imported_names(source)}
    assert roots <= set(sys.stdlib_module_names) | {"msgspec", "orjson", "claudekeeper"}


def test_the_hook_needs_nothing_but_python() -> None:
    roots = {name.split(".")[0] for name in imported_names(ROOT / "claudekeeper" / "hook.py")}
    assert roots <= set(sys.stdlib_module_names)
