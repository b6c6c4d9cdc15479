"""Writes what is generated from the contract: the page's types and the golden frames."""

from __future__ import annotations

from tests.contract import golden_frames, page_types


def main() -> None:
    page_types.FILE.write_text(page_types.file_content())
    golden_frames.FILE.write_bytes(golden_frames.file_content())


if __name__ == "__main__":
    main()
