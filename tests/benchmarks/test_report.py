"""docs/benchmarks.md: written whole, or one comparison of it."""

from __future__ import annotations

from benchmarks.harness.measure import Figure
from benchmarks.harness.report import COMPARED, DOCUMENT, as_section, with_section

FIGURES = [Figure("an append", "1 ms", details="cheap")]


def test_a_comparison_that_is_new_comes_last() -> None:
    section = as_section("json", FIGURES, 1.0)
    assert with_section("# Benchmarks\n\nwords\n", section) == f"# Benchmarks\n\nwords\n\n{section}"


def test_an_older_one_is_replaced_and_nothing_else() -> None:
    older, other, newer = (
        as_section("watchers", [Figure("old", "2 ms")], 2.0),
        as_section("json", FIGURES, 1.0),
        as_section("watchers", FIGURES, 3.0),
    )
    document = f"# Benchmarks\n\nwords\n\n{older}\n{other}"
    assert with_section(document, newer) == f"# Benchmarks\n\nwords\n\n{newer}\n{other}"


def test_the_page_has_every_comparison() -> None:
    text = DOCUMENT.read_text()
    assert all(f"\n## {heading}\n" in text for heading in COMPARED.values())
