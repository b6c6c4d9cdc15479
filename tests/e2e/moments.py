"""The moments at which a turn can break off, and what has to be told after each of them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web
from playwright.async_api import BrowserContext, Locator, Page, expect

from clarvis_ui.server import Clarvis
from claudekeeper.demo.api import ScriptedApi, failure
from claudekeeper.demo.request import read_request
from tests.e2e.conftest import OpenPage
from tests.e2e.stage import Stage, allow, card, prompts, say
from tests.elsewhere.terminal import CLI
from tests.waiting import until

HELD = "held back"
DOWN = "say: never said"
TOO_LONG = "say: more than fits"
WAYS_ON = ("Continue", "Send again", "Choose another directory")


class FailingApi(ScriptedApi):
    """An API that does not answer one prompt, and breaks down in its reply to another."""

    def __init__(self) -> None:
        super().__init__()
        self._broken = False

    async def _messages(self, http: web.Request) -> web.StreamResponse:
        raw = await http.read()
        if HELD.encode() in raw:
            await asyncio.sleep(3600)
        if DOWN.encode() in raw:
            if self._broken:
                return failure(500)
            self._broken = True
        if TOO_LONG.encode() in raw and not read_request(raw).wants_summary:
            error = {"type": "invalid_request_error", "message": "prompt is too long"}
            return web.json_response({"type": "error", "error": error}, status=400)
        return await super()._messages(http)


@dataclass
class Row:
    """A moment: how one comes to it, what breaks then, and what has to be told afterwards."""

    name: str
    # what is said, and what shows that the moment has come
    prompt: str
    ready: Callable[[Row], Awaitable[Any]]
    # what breaks
    breaks: Callable[[Row], Awaitable[Any]]
    # why, as it is told
    reason: str
    way_on: str = "Continue"
    # whether words of Claude stand in no transcript
    streams: bool = False
    heading: str = "Cut off."
    # what is in the way before it is said
    prepare: Callable[[Row], Awaitable[Any]] | None = None
    stage: Stage = field(init=False)
    session: str = field(init=False)
    workdir: Path = field(init=False)
    one: Page = field(init=False)
    other: Page = field(init=False)
    streamed: str = ""

    # ---- to the moment ----

    async def begin(self, stage: Stage, clarvis: Clarvis, context: BrowserContext) -> None:
        """An old session in a directory of its own, in two tabs."""
        self.stage = stage
        self.workdir = stage.home.project(self.name.replace(" ", "-"))
        body = {"workdir": str(self.workdir), "text": f"say: before {self.name}"}
        self.session = str((await stage.ask("POST", "/send", body))["sessionId"])
        self.one, self.other = [await context.new_page() for _ in range(2)]
        for page in (self.one, self.other):
            await page.goto(f"{clarvis.url}/#session={self.session}")
            await expect(page.locator(".reply")).to_have_text([f"before {self.name}"])

    async def come_to_it(self) -> None:
        if self.prepare is not None:
            await self.prepare(self)
        await say(self.one, self.prompt)
        await self.ready(self)
        if self.streams:
            words = self.one.locator(".reply").last
            self.streamed = " ".join((await words.inner_text()).split())
            assert self.streamed

    @property
    def page_of(self) -> str:
        return f"/sessions/{self.session}"

    async def asked(self) -> Any:
        return await self.stage.ask("GET", self.page_of)

    def pid(self) -> int:
        for file in (self.stage.home.config / "sessions").glob("*.json"):
            with contextlib.suppress(OSError, ValueError):
                known = json.loads(file.read_text())
                if known["sessionId"] == self.session and Path(f"/proc/{known['pid']}").exists():
                    return int(known["pid"])
        raise AssertionError("its CLI was not found")

    # ---- what has to be told ----

    async def is_told(self) -> None:
        await self.is_told_on(self.one)
        await self.is_told_on(self.other)
        await self.is_told_by_the_api()
        await self.one.reload()
        await self.is_told_on(self.one)

    async def is_told_on(self, page: Page) -> None:
        said = prompts(page).filter(has_text=self.prompt)
        await expect(page.get_by_text(self.reason).first).to_be_visible()
        await expect(said).to_have_count(1)
        await expect(ways_on(page)).to_have_text([self.way_on])
        await expect(page.locator(".reply[aria-busy=true]")).to_have_count(0)
        await expect(page.locator(".you[data-state=sending]")).to_have_count(0)
        if self.streams:
            column = page.locator(".log .column")
            await expect(column).to_contain_text(self.streamed)
            await expect(column).to_contain_text(self.heading)

    async def is_told_by_the_api(self) -> None:
        page = await self.asked()
        assert self.reason in page["session"]["error"]["message"], page["session"]["error"]
        failed = page["failed"]
        asked_for = [each for each in page["messages"] if each["kind"] == "prompt"]
        asked_for += [each["prompt"] for each in failed if each["prompt"]]
        said = [text for each in asked_for for text in texts(each)]
        assert said.count(self.prompt) == 1, said
        if self.streams:
            words = [text for turn in failed for each in turn["messages"] for text in texts(each)]
            words += [text for each in page["messages"] for text in texts(each)]
            words += [each["text"] for turn in failed for each in turn["blocks"]]
            assert any(self.streamed in " ".join(each.split()) for each in words), words
        assert page["interrupted"] is not None


def texts(message: Any) -> list[str]:
    content = message["content"]
    if isinstance(content, str):
        return [content]
    return [each["text"] for each in content if each["type"] == "text"]


def ways_on(page: Page) -> Locator:
    """What one can do about it; of the buttons at a message, the first."""
    return page.locator(".you-note.bad button:first-of-type, .interrupted > button")


# ---- the moments ----


async def nothing(row: Row) -> None:
    """It comes by itself."""


async def has_begun(row: Row) -> None:
    async def begun() -> bool:
        page = await row.asked()
        return page["turn"] is not None and any(
            row.prompt in texts(each) for each in page["messages"]
        )

    while not await begun():
        pass


async def streams(row: Row) -> None:
    await expect(row.one.locator(".reply[aria-busy=true]")).to_contain_text("The queue keeps")
    await expect(row.other.locator(".reply[aria-busy=true]")).to_contain_text("The queue keeps")


async def breaks_off(row: Row) -> None:
    """The API does, in mid-reply: what came so far is taken back, and it is asked again."""
    await expect(row.one.locator(".reply[aria-busy=true]")).to_contain_text("The queue")


async def asks(row: Row) -> None:
    await expect(allow(row.one)).to_be_enabled()


async def works(row: Row) -> None:
    await allow(row.one).click()
    await expect(card(row.one)).to_have_count(0)
    await until(lambda: (row.workdir / "begun").exists())


async def said_all(row: Row) -> None:
    await expect(row.other.locator(".reply").last).to_have_text("all of it")
    await until(lambda: (row.workdir / "stopping").exists())


async def hook_at_the_end(row: Row) -> None:
    """Between the last message and the end of the turn there is time for this."""
    hook = {"type": "command", "command": "touch stopping; sleep 600"}
    settings = row.workdir / ".claude" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    await row.stage.ask("POST", f"{row.page_of}/close", {})


async def kill_cli(row: Row) -> None:
    os.kill(row.pid(), signal.SIGKILL)


def moments(who: str, breaks: Callable[[Row], Awaitable[Any]], reason: str) -> list[Row]:
    def row(name: str, prompt: str, ready: Callable[[Row], Awaitable[Any]], **more: Any) -> Row:
        return Row(f"{who} {name}", prompt, ready, breaks, reason, **more)

    return [
        row("before the first delta", f"say: {HELD}", has_begun),
        row("in mid delta", "slow: 600", streams, streams=True),
        row("with a prompt open", "run: touch asked; sleep 600", asks),
        row("in a tool", "run: touch begun; sleep 600", lambda each: both(asks, works, each)),
        row("after the last message", "say: all of it", said_all, prepare=hook_at_the_end),
    ]


async def both(
    one: Callable[[Row], Awaitable[Any]], other: Callable[[Row], Awaitable[Any]], row: Row
) -> None:
    await one(row)
    await other(row)


CRASHED = "Claude Code ended unexpectedly"
KEEPER_ENDED = "The keeper ended in the middle of this turn"


async def directory_gone(row: Row) -> None:
    await row.stage.ask("POST", f"{row.page_of}/close", {})
    row.workdir.rename(row.workdir.with_name(f"{row.workdir.name} gone"))


def at_once(name: str, prompt: str, reason: str, **more: Any) -> Row:
    return Row(name, prompt, nothing, nothing, reason, **more)


class Cli:
    """The program that the keeper starts: Claude Code, and not where a file in the way says so."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.whole()

    def whole(self) -> None:
        self.path.write_text(
            "#!/bin/sh\n"
            "if [ -e wait ]; then touch waiting; exec sleep 600; fi\n"
            "if [ -e fail ]; then echo 'no space for caches' >&2; exit 1; fi\n"
            f'exec {CLI} "$@"\n'
        )
        self.path.chmod(0o755)

    async def missing(self, row: Row) -> None:
        await row.stage.ask("POST", f"{row.page_of}/close", {})
        self.path.unlink()


async def exits_at_once(row: Row) -> None:
    await row.stage.ask("POST", f"{row.page_of}/close", {})
    (row.workdir / "fail").touch()


async def starts_slowly(row: Row) -> None:
    await row.stage.ask("POST", f"{row.page_of}/close", {})
    (row.workdir / "wait").touch()


async def starts(row: Row) -> None:
    await until(lambda: (row.workdir / "waiting").exists())


def while_it_starts(who: str) -> Row:
    never = {"way_on": "Send again", "heading": "Not sent.", "prepare": starts_slowly}
    name = f"{who} while it starts"
    return Row(name, "say: are you there", starts, nothing, KEEPER_ENDED, **never)


# ---- all at once ----


async def all_of(rows: Sequence[Row], act: Callable[[Row], Awaitable[Any]]) -> None:
    """For all rows at once; what is wrong is said for each of them."""
    done = await asyncio.gather(*(act(row) for row in rows), return_exceptions=True)
    wrong = [
        f"{row.name}: {result}"
        for row, result in zip(rows, done, strict=True)
        if isinstance(result, BaseException)
    ]
    assert not wrong, "\n\n".join(wrong)


async def set_the_stage(
    rows: Sequence[Row], stage: Stage, clarvis: Clarvis, open_page: OpenPage
) -> None:
    page = await open_page(clarvis.login_link())
    await all_of(rows, lambda row: row.begin(stage, clarvis, page.context))
