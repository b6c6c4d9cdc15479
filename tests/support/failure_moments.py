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
from claudekeeper.demo.messages_api import ScriptedApi, error_response
from claudekeeper.demo.model_request import parse_request
from tests.e2e.conftest import OpenPage
from tests.support.stage import (
    RestartableKeeper,
    allow_button,
    attention_card,
    prompt_texts,
    send_prompt,
)
from tests.support.terminal import CLI
from tests.support.waiting import wait_until

HELD_PROMPT = "held back"
FAILING_PROMPT = "say: never said"
TOO_LONG_PROMPT = "say: more than fits"
REMEDIES = ("Continue", "Send again", "Choose another directory")


class FailingApi(ScriptedApi):
    """An API that does not answer one prompt, and breaks down in its reply to another."""

    def __init__(self) -> None:
        super().__init__()
        self._broken = False

    async def _handle_messages(self, http: web.Request) -> web.StreamResponse:
        raw = await http.read()
        if HELD_PROMPT.encode() in raw:
            await asyncio.sleep(3600)
        if FAILING_PROMPT.encode() in raw:
            if self._broken:
                return error_response(500)
            self._broken = True
        if TOO_LONG_PROMPT.encode() in raw and not parse_request(raw).wants_summary:
            error = {"type": "invalid_request_error", "message": "prompt is too long"}
            return web.json_response({"type": "error", "error": error}, status=400)
        return await super()._handle_messages(http)


@dataclass
class FailureMoment:
    """A moment: how one comes to it, what breaks then, and what has to be told afterwards."""

    name: str
    # what is said, and what shows that the moment has come
    prompt: str
    wait_ready: Callable[[FailureMoment], Awaitable[Any]]
    # what breaks
    break_turn: Callable[[FailureMoment], Awaitable[Any]]
    # why, as it is told
    reason: str
    remedy: str = "Continue"
    # whether words of Claude stand in no transcript
    has_partial: bool = False
    heading: str = "Cut off."
    # what is in the way before it is said
    prepare: Callable[[FailureMoment], Awaitable[Any]] | None = None
    stage: RestartableKeeper = field(init=False)
    session: str = field(init=False)
    workdir: Path = field(init=False)
    first_tab: Page = field(init=False)
    second_tab: Page = field(init=False)
    partial_text: str = ""

    # ---- to the moment ----

    async def open(
        self, stage: RestartableKeeper, clarvis: Clarvis, context: BrowserContext
    ) -> None:
        """An old session in a directory of its own, in two tabs."""
        self.stage = stage
        self.workdir = stage.home.project(self.name.replace(" ", "-"))
        body = {"workdir": str(self.workdir), "text": f"say: before {self.name}"}
        self.session = str((await stage.request("POST", "/send", body))["sessionId"])
        self.first_tab, self.second_tab = [await context.new_page() for _ in range(2)]
        for page in (self.first_tab, self.second_tab):
            await page.goto(f"{clarvis.url}/#session={self.session}")
            await expect(page.locator(".reply")).to_have_text([f"before {self.name}"])

    async def reach(self) -> None:
        if self.prepare is not None:
            await self.prepare(self)
        await send_prompt(self.first_tab, self.prompt)
        await self.wait_ready(self)
        if self.has_partial:
            words = self.first_tab.locator(".reply").last
            self.partial_text = " ".join((await words.inner_text()).split())
            assert self.partial_text

    @property
    def path(self) -> str:
        return f"/sessions/{self.session}"

    async def read_history(self) -> Any:
        return await self.stage.request("GET", self.path)

    def pid(self) -> int:
        for file in (self.stage.home.config / "sessions").glob("*.json"):
            with contextlib.suppress(OSError, ValueError):
                presence = json.loads(file.read_text())
                if (
                    presence["sessionId"] == self.session
                    and Path(f"/proc/{presence['pid']}").exists()
                ):
                    return int(presence["pid"])
        raise AssertionError("its CLI was not found")

    # ---- what has to be told ----

    async def check_shown(self) -> None:
        await self.check_page(self.first_tab)
        await self.check_page(self.second_tab)
        await self.check_api()
        await self.first_tab.reload()
        await self.check_page(self.first_tab)

    async def check_page(self, page: Page) -> None:
        sent_prompt = prompt_texts(page).filter(has_text=self.prompt)
        await expect(page.get_by_text(self.reason).first).to_be_visible()
        await expect(sent_prompt).to_have_count(1)
        await expect(remedy_buttons(page)).to_have_text([self.remedy])
        await expect(page.locator(".reply[aria-busy=true]")).to_have_count(0)
        await expect(page.locator(".you[data-state=sending]")).to_have_count(0)
        if self.has_partial:
            column = page.locator(".log .column")
            await expect(column).to_contain_text(self.partial_text)
            await expect(column).to_contain_text(self.heading)

    async def check_api(self) -> None:
        page = await self.read_history()
        assert self.reason in page["session"]["error"]["message"], page["session"]["error"]
        failed = page["failed"]
        asked_for = [each for each in page["messages"] if each["kind"] == "prompt"]
        asked_for += [each["prompt"] for each in failed if each["prompt"]]
        texts = [text for each in asked_for for text in texts_of(each)]
        assert texts.count(self.prompt) == 1, texts
        if self.has_partial:
            words = [
                text for turn in failed for each in turn["messages"] for text in texts_of(each)
            ]
            words += [text for each in page["messages"] for text in texts_of(each)]
            words += [each["text"] for turn in failed for each in turn["blocks"]]
            assert any(self.partial_text in " ".join(each.split()) for each in words), words
        assert page["interrupted"] is not None


def texts_of(message: Any) -> list[str]:
    content = message["content"]
    if isinstance(content, str):
        return [content]
    return [each["text"] for each in content if each["type"] == "text"]


def remedy_buttons(page: Page) -> Locator:
    """What one can do about it; of the buttons at a message, the first."""
    return page.locator(".you-note.bad button:first-of-type, .interrupted > button")


# ---- the moments ----


async def do_nothing(row: FailureMoment) -> None:
    """It comes by itself."""


async def turn_started(row: FailureMoment) -> None:
    async def begun() -> bool:
        page = await row.read_history()
        return page["turn"] is not None and any(
            row.prompt in texts_of(each) for each in page["messages"]
        )

    while not await begun():
        pass


async def reply_streams(row: FailureMoment) -> None:
    await expect(row.first_tab.locator(".reply[aria-busy=true]")).to_contain_text("The queue keeps")
    await expect(row.second_tab.locator(".reply[aria-busy=true]")).to_contain_text(
        "The queue keeps"
    )


async def api_broke_off(row: FailureMoment) -> None:
    """The API does, in mid-reply: what came so far is taken back, and it is asked again."""
    await expect(row.first_tab.locator(".reply[aria-busy=true]")).to_contain_text("The queue")


async def prompt_open(row: FailureMoment) -> None:
    await expect(allow_button(row.first_tab)).to_be_enabled()


async def tool_runs(row: FailureMoment) -> None:
    await allow_button(row.first_tab).click()
    await expect(attention_card(row.first_tab)).to_have_count(0)
    await wait_until(lambda: (row.workdir / "begun").exists())


async def reply_complete(row: FailureMoment) -> None:
    await expect(row.second_tab.locator(".reply").last).to_have_text("all of it")
    await wait_until(lambda: (row.workdir / "stopping").exists())


async def add_stop_hook(row: FailureMoment) -> None:
    """Between the last message and the end of the turn there is time for this."""
    hook = {"type": "command", "command": "touch stopping; sleep 600"}
    settings = row.workdir / ".claude" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    await row.stage.request("POST", f"{row.path}/close", {})


async def kill_cli(row: FailureMoment) -> None:
    os.kill(row.pid(), signal.SIGKILL)


def failure_moments(
    who: str, breaks: Callable[[FailureMoment], Awaitable[Any]], reason: str
) -> list[FailureMoment]:
    def row(
        name: str, prompt: str, ready: Callable[[FailureMoment], Awaitable[Any]], **more: Any
    ) -> FailureMoment:
        return FailureMoment(f"{who} {name}", prompt, ready, breaks, reason, **more)

    return [
        row("before the first delta", f"say: {HELD_PROMPT}", turn_started),
        row("in mid delta", "slow: 600", reply_streams, has_partial=True),
        row("with a prompt open", "run: touch asked; sleep 600", prompt_open),
        row(
            "in a tool",
            "run: touch begun; sleep 600",
            lambda each: both(prompt_open, tool_runs, each),
        ),
        row("after the last message", "say: all of it", reply_complete, prepare=add_stop_hook),
    ]


async def both(
    one: Callable[[FailureMoment], Awaitable[Any]],
    other: Callable[[FailureMoment], Awaitable[Any]],
    row: FailureMoment,
) -> None:
    await one(row)
    await other(row)


CRASHED = "Claude Code ended unexpectedly"
KEEPER_ENDED = "The keeper ended in the middle of this turn"


async def directory_gone(row: FailureMoment) -> None:
    await row.stage.request("POST", f"{row.path}/close", {})
    row.workdir.rename(row.workdir.with_name(f"{row.workdir.name} gone"))


def immediate_failure(name: str, prompt: str, reason: str, **more: Any) -> FailureMoment:
    return FailureMoment(name, prompt, do_nothing, do_nothing, reason, **more)


class CliScript:
    """The program that the keeper starts: Claude Code, and not where a file in the way says so."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.write()

    def write(self) -> None:
        self.path.write_text(
            "#!/bin/sh\n"
            "if [ -e wait ]; then touch waiting; exec sleep 600; fi\n"
            "if [ -e fail ]; then echo 'no space for caches' >&2; exit 1; fi\n"
            f'exec {CLI} "$@"\n'
        )
        self.path.chmod(0o755)

    async def remove(self, row: FailureMoment) -> None:
        await row.stage.request("POST", f"{row.path}/close", {})
        self.path.unlink()


async def make_cli_exit(row: FailureMoment) -> None:
    await row.stage.request("POST", f"{row.path}/close", {})
    (row.workdir / "fail").touch()


async def make_cli_wait(row: FailureMoment) -> None:
    await row.stage.request("POST", f"{row.path}/close", {})
    (row.workdir / "wait").touch()


async def cli_starts(row: FailureMoment) -> None:
    await wait_until(lambda: (row.workdir / "waiting").exists())


def failure_while_starting(who: str) -> FailureMoment:
    never = {"remedy": "Send again", "heading": "Not sent.", "prepare": make_cli_wait}
    name = f"{who} while it starts"
    return FailureMoment(name, "say: are you there", cli_starts, do_nothing, KEEPER_ENDED, **never)


# ---- all at once ----


async def for_all(
    rows: Sequence[FailureMoment], act: Callable[[FailureMoment], Awaitable[Any]]
) -> None:
    """For all rows at once; what is wrong is said for each of them."""
    done = await asyncio.gather(*(act(row) for row in rows), return_exceptions=True)
    wrong = [
        f"{row.name}: {result}"
        for row, result in zip(rows, done, strict=True)
        if isinstance(result, BaseException)
    ]
    assert not wrong, "\n\n".join(wrong)


async def open_all(
    rows: Sequence[FailureMoment], stage: RestartableKeeper, clarvis: Clarvis, open_page: OpenPage
) -> None:
    page = await open_page(clarvis.login_link())
    await for_all(rows, lambda row: row.open(stage, clarvis, page.context))
