"""What the gateway adds to what the SDK alone delivers.

The same scripted turns go through the real CLI in two ways, in turns: to a bare `ClaudeSDKClient`,
which reads `receive_messages()` with partial messages, and through the keeper to one client at its
WebSocket, which is a process of its own. Both are timed from the same zero: the moment at which the
scripted API, again another process, sends a piece of text, or the end of the block that makes it a
message. What the line to the API, the CLI and its pipe take is therefore in both, and the
difference of the medians is what the gateway adds: its own work, the socket, and what the client
does until it has the event decoded. What the keeper asks more of the CLI than the bare client does
(to repeat what it writes) counts as the gateway's. Pieces come slower than a frame, so that none is
held back to be joined with the next: that is meant, and no latency.

`python -m benchmarks.latency sdk URL` and `… keeper URL` print when what arrived.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from time import monotonic

import orjson
from aiohttp import ClientSession

from benchmarks.harness.gateway import TOKEN, Talker, gateway
from benchmarks.harness.measure import LONGEST, ROOT, Figure, milliseconds
from benchmarks.harness.scripted_api import Times, scripted
from claudekeeper.demo.home import DemoHome

ROUNDS = 3
PIECES = 300
MESSAGES = 60
# slower than a frame
PACE = 0.025
GOAL = 0.0005


def latency(environment: Mapping[str, str]) -> list[Figure]:
    """Of each way the best of several runs: other work on the machine can only add to it."""
    taken: dict[str, list[dict[str, list[float]]]] = {"sdk": [], "keeper": []}
    for _ in range(ROUNDS):
        for way, runs in taken.items():
            runs.append(_run(environment, way))
    figures = []
    for what, name in (("pieces", "a piece of text"), ("messages", "a whole message")):
        alone, through = (min(median(run[what]) for run in taken[way]) for way in taken)
        figures.append(
            Figure(
                f"what the gateway adds to the SDK, {name}",
                milliseconds(through - alone),
                "under 0.5 ms",
                through - alone < GOAL,
                f"medians of {len(taken['keeper'][0][what])}, from the API's sending: "
                f"{milliseconds(through)} to a client's hands, {milliseconds(alone)} by the SDK",
            )
        )
    return figures


def _run(environment: Mapping[str, str], way: str) -> dict[str, list[float]]:
    with scripted(environment, PACE) as api:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.latency", way, api.url],
            env=environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            timeout=LONGEST,
            check=True,
        )
        sent = api.times()
    got: Times = orjson.loads(done.stdout)
    return {
        what: [at - sent[what][text] for text, at in times.items() if text in sent[what]]
        for what, times in got.items()
    }


def _turns() -> list[str]:
    # a few words each: nobody's reply ends in the moment in which its turn begins
    words = "has eight words and a number"
    return [f"count: {PIECES}", *(f"say: Message {n} {words}" for n in range(MESSAGES))]


class Arrivals:
    """When which piece and which whole message was there."""

    def __init__(self) -> None:
        self._times: Times = {"pieces": {}, "messages": {}}

    def piece(self, text: str) -> None:
        self._times["pieces"].setdefault(text, monotonic())

    def message(self, text: str) -> None:
        self._times["messages"].setdefault(text, monotonic())

    def print(self) -> None:
        print(orjson.dumps(self._times).decode(), flush=True)


async def sdk(url: str) -> None:
    """The SDK alone, as its documentation shows it."""
    from claude_agent_sdk import (
        AssistantMessage,
        ClaudeAgentOptions,
        ClaudeSDKClient,
        ResultMessage,
        StreamEvent,
        TextBlock,
    )

    arrivals, turns = Arrivals(), _turns()
    with DemoHome() as home:
        os.environ.update(home.environment(url))
        options = ClaudeAgentOptions(
            cwd=home.project("scratch"),
            system_prompt={"type": "preset", "preset": "claude_code"},
            setting_sources=["user", "project", "local"],
            include_partial_messages=True,
        )
        async with ClaudeSDKClient(options) as client:
            await client.query(turns.pop(0))
            async for message in client.receive_messages():
                if isinstance(message, StreamEvent):
                    delta = message.event.get("delta", {})
                    if delta.get("type") == "text_delta":
                        arrivals.piece(delta["text"])
                elif isinstance(message, AssistantMessage):
                    arrivals.message(
                        "".join(
                            each.text for each in message.content if isinstance(each, TextBlock)
                        )
                    )
                elif isinstance(message, ResultMessage):
                    if not turns:
                        break
                    await client.query(turns.pop(0))
    arrivals.print()


async def keeper(url: str) -> None:
    """The keeper, and one client in a process of its own, which prints what it had when."""
    async with gateway(url) as talker:
        client = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "benchmarks.latency",
            "client",
            str(talker.port),
            str(talker.workdir),
        )
        await client.wait()


async def client(port: int, workdir: str) -> None:
    """Says the same, one turn after the other, and hears it from the socket."""
    arrivals, turns = Arrivals(), _turns()
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        ClientSession(f"http://127.0.0.1:{port}", headers=headers) as http,
        http.ws_connect("/ws") as ws,
    ):
        talker = Talker(http, port, Path(workdir))
        await ws.send_json({"type": "subscribe", "sessions": ["*"]})
        session = await talker.send(turns.pop(0))
        async for frame in ws:
            event = orjson.loads(frame.data)
            if event["type"] == "message/delta":
                arrivals.piece(event["text"])
            elif event["type"] == "message/added" and event["message"]["role"] == "assistant":
                content = event["message"]["content"]
                arrivals.message("".join(block.get("text", "") for block in content))
            elif event["type"] == "turn/finished":
                if not turns:
                    break
                await talker.send(turns.pop(0), session)
    arrivals.print()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["sdk", url]:
            asyncio.run(sdk(url))
        case ["keeper", url]:
            asyncio.run(keeper(url))
        case ["client", port, workdir]:
            asyncio.run(client(int(port), workdir))
