"""Reading a list or a history page by page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from yarl import URL


async def read_pages(
    get: Callable[[str], Awaitable[Any]], path: str, cursor: str = "cursor"
) -> list[Any]:
    """All pages from `path` on. The field named by `cursor` of a page is the query of the next."""
    pages = [await get(path)]
    while (value := pages[-1][cursor]) is not None:
        pages.append(await get(str(URL(path).update_query({cursor: value}))))
    return pages
