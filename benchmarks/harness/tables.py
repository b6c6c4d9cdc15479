"""A table of figures, on the terminal and in its document."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.harness.measure import ROOT

_TABLE = re.compile(r"(?<=<!-- measured -->\n).*?(?=<!-- end -->)", re.DOTALL)


def tell(table: str, document: Path) -> None:
    print(table)
    text = document.read_text(encoding="utf-8")
    document.write_text(_TABLE.sub(lambda _: f"\n{table}\n\n", text), encoding="utf-8")
    print(f"\nwritten to {document.relative_to(ROOT)}")
