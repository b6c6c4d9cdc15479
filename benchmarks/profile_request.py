"""The time of a request inside the server.

`python -m benchmarks.profile_request PATH COUNT [BODY]` measures it with a middleware around the
keeper's application, which is served over loopback. So it includes everything but parsing the
request and writing the answer to the socket.
"""

from __future__ import annotations

import asyncio
import sys
from http.client import HTTPConnection
from time import perf_counter

import orjson
from aiohttp import web
from aiohttp.typedefs import Handler

from claudekeeper.core.config import load_config
from claudekeeper.core.paths import cache_file, claude_home, keeper_home
from claudekeeper.server.app import create_app
from claudekeeper.server.app_keys import CATALOG
from claudekeeper.server.data_paths import DataPaths


async def measured(path: str, count: int, body: str | None = None) -> list[float]:
    config = load_config(keeper_home())
    projects = claude_home() / "projects"
    paths = DataPaths(projects, keeper_home() / "state.json", cache_file(projects))
    app = create_app(config, paths, "bench")
    taken: list[float] = []

    @web.middleware
    async def measure_time(request: web.Request, handler: Handler) -> web.StreamResponse:
        start = perf_counter()
        try:
            return await handler(request)
        finally:
            taken.append(perf_counter() - start)

    app.middlewares.insert(0, measure_time)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        await app[CATALOG].rows()
        port = runner.addresses[0][1]
        await asyncio.to_thread(_ask, port, path, config.token, count, body)
    finally:
        await runner.cleanup()
    return taken


def _ask(port: int, path: str, token: str, count: int, body: str | None) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    for _ in range(count):
        connection.request("GET" if body is None else "POST", path, body, headers)
        connection.getresponse().read()
    connection.close()


if __name__ == "__main__":
    print(
        orjson.dumps(asyncio.run(measured(sys.argv[1], int(sys.argv[2]), *sys.argv[3:]))).decode()
    )
