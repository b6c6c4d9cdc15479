"""The built page and its files.

Only plain names in two folders are served, so no path leads out of them. A missing, hidden or
linked file gives 404.
"""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path

from aiohttp import web

from claudekeeper.net.errors import NotFound

PLAIN_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
CACHE_FOREVER = "public, max-age=31536000, immutable"
CACHE_REVALIDATE = "no-cache"
# our own table, as those of machines differ, and with nosniff a wrong type breaks the page
MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}

NOT_BUILT_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Clarvis has not been built</title>
<h1>Clarvis has not been built</h1>
<p>The server runs, but its page is missing. In the repository, run <code>make ui</code>
(it needs Node.js 20 or newer), then reload. A released wheel carries the page already.</p>
</html>
"""


def is_plain_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


class StaticFiles:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/", self.serve_page),
            web.get(f"/assets/{{name:{PLAIN_NAME}}}", self.serve_asset),
            web.get(f"/{{name:{PLAIN_NAME}}}", self.serve_file),
        ]

    async def serve_page(self, _request: web.Request) -> web.StreamResponse:
        index = self._folder / "index.html"
        if not await asyncio.to_thread(is_plain_file, index):
            return web.Response(text=NOT_BUILT_PAGE, content_type="text/html", status=503)
        return await self._serve(index, CACHE_REVALIDATE)

    async def serve_asset(self, request: web.Request) -> web.StreamResponse:
        """Serves a file whose name changes with its content, so that it is cached for good."""
        return await self._serve(
            self._folder / "assets" / request.match_info["name"], CACHE_FOREVER
        )

    async def serve_file(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(self._folder / request.match_info["name"], CACHE_REVALIDATE)

    async def _serve(self, path: Path, caching: str) -> web.StreamResponse:
        if not await asyncio.to_thread(is_plain_file, path):
            raise NotFound
        kind = MEDIA_TYPES.get(path.suffix, "application/octet-stream")
        headers = {"Cache-Control": caching, "Content-Type": kind}
        return web.FileResponse(path, headers=headers)
