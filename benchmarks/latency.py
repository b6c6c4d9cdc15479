"""The latency that the keeper adds to the SDK alone.

The same scripted turns go through the real CLI in two ways, in turns: to a bare `ClaudeSDKClient`,
which reads `receive_messages()` with partial messages, and through the keeper to a client at its
WebSocket, in another process. Both are timed from the moment at which the scripted API, also
another process, sends a piece of text, or the end of its block. The time of API, CLI and pipe is in
both, so the difference of the medians is what the keeper adds: its work, the socket, and the
client until the event is decoded. Options of the CLI that only the keeper uses count for the
keeper. The pieces come slower than a frame, so that none is joined with the next.

`python -m benchmarks.latency sdk URL` and `… keeper URL` print the times of arrival.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from time import monotonic

import orjson
from aiohttp import ClientSession

from benchmarks.harness.gateway import TOKEN, KeeperCaller, gateway
from benchmarks.harness.measure import Figure, milliseconds, run_module
from benchmarks.harness.scripted_api import Times, scripted
from claudekeeper.demo.home import DemoHome

ROUNDS = 3
PIECES = 300
MESSAGES = 60
# slower than a frame
PACE = 0.025
GOAL = 0.0005


def latency(environment: Mapping[str, str]) -> list[Figure]:
    """Compares the best of several runs, as other work of the machine can only add time."""
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
        arrived: Times = run_module(environment, "benchmarks.latency", way, api.url)
        sent = api.times()
    return {
        what: [at - sent[what][text] for text, at in times.items() if text in sent[what]]
        for what, times in arrived.items()
    }


def _turns() -> list[str]:
    # a few words each, so that no reply ends as soon as its turn begins
    words = "has eight words and a number"
    return [f"count: {PIECES}", *(f"say: Message {n} {words}" for n in range(MESSAGES))]


class Arrivals:
    """The times at which pieces and whole messages arrived."""

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
    """The keeper, with a client in another process that prints the times."""
    async with gateway(url) as caller:
        client = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "benchmarks.latency",
            "client",
            str(caller.port),
            str(caller.workdir),
        )
        await client.wait()


async def client(port: int, workdir: str) -> None:
    """Sends the prompts one after the other, and reads the events from the socket."""
    arrivals, turns = Arrivals(), _turns()
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        ClientSession(f"http://127.0.0.1:{port}", headers=headers) as http,
        http.ws_connect("/ws") as ws,
    ):
        caller = KeeperCaller(http, port, Path(workdir))
        await ws.send_json({"type": "subscribe", "sessions": ["*"]})
        session = await caller.send(turns.pop(0))
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
                await caller.send(turns.pop(0), session)
    arrivals.print()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["sdk", url]:
            asyncio.run(sdk(url))
        case ["keeper", url]:
            asyncio.run(keeper(url))
        case ["client", port, workdir]:
            asyncio.run(client(int(port), workdir))
