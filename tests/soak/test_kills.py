"""Claude Code is killed at random moments, under a real browser: no word is lost, and each time it
is said why.

`make test` kills it a few times; `make kills` (KILLS) 200 times.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from clarvis_ui.server import Clarvis, run_clarvis
from clarvis_ui.settings import ClarvisSettings
from claudekeeper.demo.home import DemoHome
from claudekeeper.demo.messages_api import ScriptedApi
from tests.e2e.conftest import OpenPage, chromium, module_fixture, open_page  # noqa: F401
from tests.support.stage import TIMEOUT_MS, RestartableKeeper, prompt_texts, send_prompt
from tests.support.waiting import wait_until

pytestmark = pytest.mark.asyncio(loop_scope="module")
KILLS = int(os.environ.get("KILLS", "3"))
OF_A_SESSION = 10
AT_ONCE = 4
# seconds after the message, or after its start, in which it is killed
LATEST = 3.0
# what is being written, whenever it changes on the page: all of it has to stay
WATCH = """
window.streamed = [];
new MutationObserver(() => {
  const words = document.querySelector('.reply[aria-busy=true]')?.innerText;
  if (!words) return;
  const last = window.streamed.at(-1);
  if (last !== undefined && words.startsWith(last)) window.streamed.pop();
  window.streamed.push(words);
}).observe(document, { subtree: true, childList: true, characterData: true });
"""
# something was written; on a busy machine it may be over by the time one looks
SPEAKS = "n => window.streamed.length > 0 || document.querySelectorAll('.reply').length > n"
STREAMED = ("slow:", "think:")
TURNS = [
    "slow: 3\nsay: round {0} is over",
    "slow: 2\nsay: {0}",
    "say: round {0} is short",
    "think: about round {0}\nslow: 1",
    "run: sleep 0.4; echo {0}\nslow: 1",
    "write: asked-{0}.txt: this asks\nsay: round {0} asked",
]


@module_fixture
async def stage() -> AsyncIterator[RestartableKeeper]:
    expect.set_options(timeout=TIMEOUT_MS)
    async with ScriptedApi(pace=0.02) as api:
        with DemoHome() as home:
            stage = RestartableKeeper(home, api)
            settings = stage.workdir / ".claude" / "settings.json"
            settings.parent.mkdir(exist_ok=True)
            settings.write_text(
                json.dumps({"permissions": {"allow": ["Bash(sleep:*)", "Bash(echo:*)"]}})
            )
            await stage.start()
            yield stage
            await stage.stop()


@module_fixture
async def clarvis(stage: RestartableKeeper) -> AsyncIterator[Clarvis]:
    async with run_clarvis(ClarvisSettings(keeper=stage.url, token=stage.token), port=0) as clarvis:
        yield clarvis


class Kills:
    """The rounds, and what was found in them."""

    def __init__(self, stage: RestartableKeeper, url: str) -> None:
        self.stage = stage
        self.url = url
        self.random = random.Random(16)
        self.finds: Counter[str] = Counter()
        self.wrong: list[str] = []


class Sitting:
    """Somebody at two tabs, who goes on talking."""

    def __init__(self, kills: Kills, one: Page, other: Page) -> None:
        self.stage = kills.stage
        self.url = kills.url
        self.random = kills.random
        self.finds = kills.finds
        self.wrong = kills.wrong
        self.one = one
        self.other = other
        self.session = ""

    async def sit(self, numbers: Iterator[int]) -> None:
        rounds = 0
        while self.finds["killed"] < KILLS:
            number = next(numbers)
            if rounds % OF_A_SESSION == 0:
                await self.begin(number)
            rounds += 1
            await self.round(number)
            if number % 20 == 19:
                print(dict(self.finds), flush=True)  # noqa: T201 - for who started a long one

    async def begin(self, number: int) -> None:
        self.session = await self.stage.start_session(f"say: session of round {number}")
        for page in (self.one, self.other):
            await page.goto(f"{self.url}/#session={self.session}")
            await expect(page.locator(".reply")).to_have_text([f"session of round {number}"])

    async def round(self, number: int) -> None:
        prompt = self.random.choice(TURNS).format(number)
        await self.one.evaluate("window.streamed = []")
        replies = await self.one.locator(".reply").count()
        await send_prompt(self.one, prompt)
        await wait_until(self.is_running)
        if prompt.startswith(STREAMED) and self.random.random() < 0.6:
            # else most would be killed before they have said anything
            await self.one.wait_for_function(SPEAKS, arg=replies, timeout=TIMEOUT_MS)
        await asyncio.sleep(self.random.uniform(0, LATEST))
        killed = self.kill()
        page = await self.at_rest()
        error = page["session"]["error"]
        self.finds["killed" if killed else "nothing to kill"] += 1
        self.finds[f"ended: {error['code'] if error else 'done'}"] += 1
        if error is None and not is_answered(page, prompt):
            self.wrong.append(f"round {number} ended in silence: {prompt}")
        streamed = [" ".join(each.split()) for each in await self.one.evaluate("window.streamed")]
        self.finds["streamed words"] += sum(len(each.split()) for each in streamed)
        await self.other.reload()
        for name, tab in (("open tab", self.one), ("after a reload", self.other)):
            await self.check(f"round {number}, {name}", tab, prompt, streamed, error)

    def is_running(self) -> bool:
        return self.pid() is not None

    def kill(self) -> bool:
        pid = self.pid()
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                return True
        return False

    def pid(self) -> int | None:
        for file in (self.stage.home.config / "sessions").glob("*.json"):
            with contextlib.suppress(OSError, ValueError, KeyError):
                presence = json.loads(file.read_text())
                if (
                    presence["sessionId"] == self.session
                    and Path(f"/proc/{presence['pid']}").exists()
                ):
                    return int(presence["pid"])
        return None

    async def at_rest(self) -> Any:
        """A question that was asked before the kill, or after it, is refused."""
        while True:
            page = await self.stage.request("GET", f"/sessions/{self.session}")
            if page["turn"] is None and page["session"]["state"] == "idle" and not page["queue"]:
                return page
            for question in (await self.stage.request("GET", "/attention"))["attention"]:
                answer = {"attentionId": question["id"], "decision": "deny", "message": "no"}
                with contextlib.suppress(AssertionError):
                    await self.stage.request("POST", "/resolve", answer)

    async def check(
        self, where: str, tab: Page, prompt: str, streamed: list[str], error: Any
    ) -> None:
        first, *_ = prompt.split("\n")
        sent_prompt = prompt_texts(tab).filter(has_text=prompt)
        column = tab.locator(".log .column")
        await self.holds("lost prompt", where, expect(sent_prompt).to_have_count(1), first)
        for words in streamed:
            await self.holds("lost words", where, expect(column).to_contain_text(words), words)
        if error is None:
            return
        reason = error["message"].split("\n")[0]
        await self.holds(
            "no reason", where, expect(tab.locator("main")).to_contain_text(reason), ""
        )
        ways = tab.locator(".you-note.bad button:first-of-type, .interrupted > button").last
        await self.holds("no way on", where, expect(ways).to_be_visible(), "")

    async def holds(self, name: str, where: str, expected: Any, what: str) -> None:
        try:
            await expected
        except AssertionError:
            self.finds[name] += 1
            self.wrong.append(f"{name} in {where}: {what}")


def is_answered(page: Any, prompt: str) -> bool:
    """Whether Claude's last words stand behind this prompt; then nothing broke off."""
    prompts = [text_of(message) for message in page["messages"] if message["kind"] == "prompt"]
    last = page["messages"][-1]
    return prompts[-1:] == [prompt] and last["kind"] == "reply" and last["model"] != "<synthetic>"


def text_of(message: Any) -> str:
    return "".join(block.get("text", "") for block in message["content"])


@pytest.mark.timeout(7200)
async def test_whenever_it_is_killed_no_word_is_lost_and_it_is_said_why(
    open_page: OpenPage,  # noqa: F811
    stage: RestartableKeeper,
    clarvis: Clarvis,
) -> None:
    first = await open_page(clarvis.login_link())
    await first.context.add_init_script(WATCH)
    kills = Kills(stage, clarvis.url)
    expect.set_options(timeout=30_000)
    sittings = [
        Sitting(kills, await first.context.new_page(), await first.context.new_page())
        for _ in range(min(AT_ONCE, KILLS))
    ]
    numbers = itertools.count()
    await asyncio.gather(*(sitting.sit(numbers) for sitting in sittings))
    print(dict(kills.finds))  # noqa: T201 - the same
    assert not kills.wrong, "\n".join(kills.wrong)
