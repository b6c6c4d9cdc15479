"""The scripted API in a process of its own, which records the time of each delta.

`python -m benchmarks.harness.scripted_api PACE` prints its address, and the times once its
input ends.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import Any

import orjson

from benchmarks.harness.measure import ROOT
from claudekeeper.demo import messages_api, reply_events
from claudekeeper.demo.messages_api import ScriptedApi

# the times at which "pieces" of text and whole "messages" (their last piece) were sent
Times = dict[str, dict[str, float]]


class Scripted:
    """The process of the API."""

    def __init__(self, process: subprocess.Popen[bytes], url: str) -> None:
        self._process = process
        self.url = url

    def times(self) -> Times:
        """Ends the process; returns the times, by the clock that all processes share."""
        output, _ = self._process.communicate()
        times: Times = orjson.loads(output)
        return times


@contextmanager
def scripted(environment: Mapping[str, str], pace: float = 0.0) -> Iterator[Scripted]:
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.harness.scripted_api", str(pace)],
        env=environment,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        yield Scripted(process, process.stdout.readline().decode().strip())
    finally:
        process.kill()
        process.wait()


async def serve(pace: float) -> Times:
    times: Times = {"pieces": {}, "messages": {}}
    text = ""

    def encode_event(event: dict[str, Any]) -> bytes:
        """Records the time. At this pace an encoded event is written at once."""
        nonlocal text
        match event:
            case {"type": "content_block_start"}:
                text = ""
            case {"type": "content_block_delta", "delta": {"text": str(piece)}}:
                text += piece
                times["pieces"].setdefault(piece, monotonic())
            case {"type": "content_block_stop"}:
                times["messages"].setdefault(text, monotonic())
        return reply_events.encode_event(event)

    vars(messages_api)["encode_event"] = encode_event
    async with ScriptedApi(pace=pace, max_requests=1) as scripted:
        print(scripted.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)
    return times


if __name__ == "__main__":
    print(orjson.dumps(asyncio.run(serve(float(sys.argv[1])))).decode())
