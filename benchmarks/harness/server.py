"""A keeper in a process of its own, and a client that keeps its connection open."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import orjson

from benchmarks.harness.measure import MAX_SECONDS, ROOT

LISTENING = "claudekeeper listening on http://127.0.0.1:"
# seconds between two requests: a client without pauses measures itself
PAUSE = 0.002
# seconds in which the process settles before its memory is read
SETTLED = 4.0


class Keeper:
    """A running keeper."""

    def __init__(self, process: subprocess.Popen[str], port: int, token: str) -> None:
        self.process = process
        self.port = port
        self.token = token
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)

    def get(self, path: str) -> tuple[bytes, float]:
        """The answer, and the seconds from the first byte sent to the last one read."""
        start = time.perf_counter()
        self._connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
        answer = self._connection.getresponse()
        content = answer.read()
        seconds = time.perf_counter() - start
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {content[:200]!r}")
        return content, seconds

    def memory(self) -> int:
        """Resident bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) * 1024

    def read_to_the_end(self) -> list[float]:
        """Waits until every session is read; returns the latencies of /health meanwhile."""
        taken = []
        deadline = time.monotonic() + MAX_SECONDS
        while time.monotonic() < deadline:
            content, seconds = self.get("/health")
            taken.append(seconds)
            scan = orjson.loads(content)["scan"]
            if scan["total"] and scan["done"] == scan["total"]:
                return taken
            time.sleep(PAUSE)
        raise TimeoutError("the keeper did not finish reading")

    def idle(self) -> None:
        """Waits until its background work is done."""
        deadline = time.monotonic() + MAX_SECONDS
        while orjson.loads(self.get("/health")[0])["search"]["stage"] != "ready":
            if time.monotonic() > deadline:
                raise TimeoutError("the keeper did not finish its index")
            time.sleep(0.1)
        # everything is counted, and the memory for it released
        time.sleep(SETTLED)

    def healths_while(self, busy: subprocess.Popen[bytes]) -> list[float]:
        """The latencies of /health until the other process ends."""
        taken = []
        deadline = time.monotonic() + MAX_SECONDS
        while busy.poll() is None and time.monotonic() < deadline:
            taken.append(self.get("/health")[1])
            time.sleep(PAUSE)
        return taken

    def close(self) -> None:
        self._connection.close()
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def keeper(environment: Mapping[str, str]) -> Iterator[Keeper]:
    """Starts a keeper, and ends it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "claudekeeper", "serve", "--no-ui", "--port", "0"],
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process.stdout:
        line = process.stdout.readline().strip()
        if not line.startswith(LISTENING):
            process.kill()
            process.wait()
            raise RuntimeError(f"the keeper did not start: {line!r}")
        running = Keeper(process, int(line[len(LISTENING) :]), _token(environment))
        try:
            yield running
        finally:
            running.close()


@contextmanager
def fetching(keeper: Keeper, path: str) -> Iterator[subprocess.Popen[bytes]]:
    """A client in another process that reads a long answer."""
    process = subprocess.Popen(
        [sys.executable, "-c", _FETCH, str(keeper.port), path, keeper.token], cwd=ROOT
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


_FETCH = """
import sys
from http.client import HTTPConnection
port, path, token = sys.argv[1:]
connection = HTTPConnection("127.0.0.1", int(port), timeout=120)
connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
answer = connection.getresponse()
while answer.read(1 << 18):
    pass
"""


def _token(environment: Mapping[str, str]) -> str:
    config: dict[str, Any] = orjson.loads(
        Path(environment["CLAUDEKEEPER_HOME"], "config.json").read_bytes()
    )
    return str(config["token"])
