"""The sources that the tests of the architecture look at."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
KEEPER = sorted((ROOT / "claudekeeper").rglob("*.py"))
CLARVIS = sorted((ROOT / "clarvis_ui").glob("*.py"))
SHIPPED = [*KEEPER, *CLARVIS]
BENCHMARKS = sorted((ROOT / "benchmarks").rglob("*.py"))
SCREENSHOTS = sorted((ROOT / "tests" / "screenshots").glob("*.py"))
PAGE = ROOT / "clarvis_ui" / "web" / "src"


def name_of(source: Path) -> str:
    """The path from the root, as tests show it."""
    return source.relative_to(ROOT).as_posix()


def module_of(source: Path) -> str:
    parts = source.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imported_names(source: Path) -> set[str]:
    """Every name that a file imports, with the module it comes from."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names
