"""What is shown in each picture: where to go, and what must be seen before it is taken."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from playwright.async_api import Page, Route, expect

from tests.screenshots.edge_cases import write_odd_measures
from tests.screenshots.sample_month import TITLE, write_a_month
from tests.screenshots.stage import (
    ASKING,
    COLD,
    EDITING,
    ELSEWHERE,
    PLANNING,
    REMOVING,
    REPLYING,
    Stage,
)

Play = Callable[[Page, Stage], Awaitable[None]]


@dataclass(frozen=True)
class Scene:
    name: str
    caption: str
    play: Play
    # whether it is taken of the Clarvis that may show nothing
    empty: bool = False
    logged_in: bool = True
    # what is seen once the keeper is gone; null where it stays
    without_keeper: Callable[[Page], Awaitable[None]] | None = None


async def open_session(page: Page, stage: Stage, title: str) -> None:
    await page.evaluate("id => { location.hash = `session=${id}` }", stage.sessions[title])
    await expect(page.get_by_role("heading", level=1).first).to_be_visible()


def session(title: str, sign: str) -> Play:
    """A session, once `sign` can be read in it."""

    async def play(page: Page, stage: Stage) -> None:
        await open_session(page, stage, title)
        await expect(page.locator("main").get_by_text(sign).last).to_be_visible()

    return play


async def sessions(page: Page, _stage: Stage) -> None:
    await expect(page.locator(".row").first).to_be_visible()


async def by_time(page: Page, stage: Stage) -> None:
    await sessions(page, stage)
    await page.get_by_role("button", name="Recent").click()
    await expect(page.get_by_role("heading", name="Today")).to_be_visible()


async def nothing_found(page: Page, stage: Stage) -> None:
    await sessions(page, stage)
    await page.get_by_label("Filter sessions").fill("a word that nobody said")
    await expect(page.get_by_text("Nothing matches")).to_be_visible()


async def first_run(page: Page, _stage: Stage) -> None:
    await expect(page.get_by_text("No sessions yet")).to_be_visible()


async def login(page: Page, _stage: Stage) -> None:
    await expect(page.get_by_role("heading", name="Log in to Clarvis")).to_be_visible()


async def new_session(page: Page, stage: Stage) -> None:
    await sessions(page, stage)
    await page.get_by_role("button", name="New").click()
    await page.get_by_label("First prompt").fill("Add a test for tokens that expired")
    await expect(page.get_by_role("option", name="ask first")).to_be_attached()


async def directories(page: Page, stage: Stage) -> None:
    await new_session(page, stage)
    await page.get_by_role("button", name="Directory").click()
    await expect(page.get_by_label("Filter directories")).to_be_visible()


async def inbox(page: Page, _stage: Stage) -> None:
    await page.evaluate("location.hash = 'inbox'")
    for sign in ("rm keys/old.txt", "Keep the old volume"):
        await expect(page.locator("main").get_by_text(sign).first).to_be_visible()


async def diff(page: Page, stage: Stage) -> None:
    await open_session(page, stage, QUEUE)
    await page.locator("main").get_by_text("Edited").first.click()
    await expect(page.locator("main .diff").first).to_be_visible()


async def details(page: Page, stage: Stage) -> None:
    await open_session(page, stage, QUEUE)
    await page.get_by_role("button", name="Details").click()
    await expect(page.get_by_text("Go on in a terminal")).to_be_visible()


async def tree(page: Page, stage: Stage) -> None:
    await page.evaluate("id => { location.hash = `session=${id}&branches` }", stage.sessions[LOGIN])
    await expect(page.locator(".limb")).to_have_count(2)


async def compared(page: Page, stage: Stage) -> None:
    await tree(page, stage)
    await page.get_by_role("link", name="Compare side by side").click()
    await expect(page.locator(".side .you-words").first).to_be_attached()


async def broken(page: Page, stage: Stage) -> None:
    await sessions(page, stage)
    await page.get_by_label("Filter sessions").fill("untitled")
    await page.locator(".row").first.click()
    await expect(page.locator("main").get_by_text("The transcript is empty").first).to_be_visible()


async def recap(page: Page, stage: Stage) -> None:
    await open_session(page, stage, COLD)
    await expect(page.get_by_role("region", name="Where were we")).to_be_visible()


async def find(page: Page, stage: Stage) -> None:
    await session(QUEUE, "The queue now waits")(page, stage)
    await page.keyboard.press("Control+f")
    await page.keyboard.type("queue")
    await expect(page.get_by_role("search").get_by_role("status").last).to_contain_text(" of ")


async def loading(page: Page, stage: Stage) -> None:
    async def never(_route: Route) -> None:
        """It is on its way."""

    await page.route(f"**/api/sessions/{stage.sessions[QUEUE]}?*", never)
    await open_session(page, stage, QUEUE)
    await expect(page.get_by_role("status", name="Loading the conversation")).to_be_visible()


async def command_bar(page: Page, stage: Stage) -> None:
    await session(LOGIN, "test_an_expired_token")(page, stage)
    await page.keyboard.press("Control+k")
    dialog = page.get_by_role("dialog", name="Say what you want")
    await dialog.locator("textarea").fill("go on with the retry queue")
    option = dialog.get_by_role("option", name="Retry queue with backoff")
    await expect(option.first).to_be_visible()


def fragment(address: str, sign: str) -> Play:
    """A page of its own, once what `sign` selects is there."""

    async def play(page: Page, stage: Stage) -> None:
        await sessions(page, stage)
        await page.evaluate("fragment => { location.hash = fragment }", address)
        await expect(page.locator(sign).first).to_be_visible()

    return play


async def open_odd_measures(page: Page, stage: Stage) -> None:
    projects = stage.demo.home.config / "projects"
    workdir = stage.demo.home.root / "code" / "invoices"
    session_id = await asyncio.to_thread(write_odd_measures, projects, workdir)
    await page.evaluate("id => { location.hash = `session=${id}` }", session_id)


async def sixty_files(page: Page, stage: Stage) -> None:
    await open_odd_measures(page, stage)
    await page.get_by_role("button", name="Edited 60 files").click()
    await page.get_by_role("button", name="Edited readers/reader_03.py").click()
    await expect(page.locator("main .diff").first).to_be_visible()


async def keys(page: Page, stage: Stage) -> None:
    await session(QUEUE, "The queue now waits")(page, stage)
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()


async def odd_measures(page: Page, stage: Stage) -> None:
    await open_odd_measures(page, stage)
    await page.get_by_role("button", name="Ran python import.py").click()
    await expect(page.get_by_role("button", name="Show all 10,000 lines")).to_be_attached()


async def could_not_be_sent(page: Page) -> None:
    await is_away(page)
    await page.get_by_label("Message", exact=True).fill("And write down why it waits")
    await page.get_by_role("button", name="Send", exact=True).click()
    await expect(page.get_by_role("button", name="Send again")).to_be_visible()


async def is_away(page: Page) -> None:
    await expect(page.get_by_text("The keeper does not answer")).to_be_visible()


async def timeline(page: Page, stage: Stage) -> None:
    projects = stage.demo.home.config / "projects"
    workdir = stage.demo.home.root / "code" / "greenhouse"
    session_id = await asyncio.to_thread(write_a_month, projects, workdir)
    # a day in its middle, with what was asked then
    day = "from=2026-11-11&to=2026-11-12"
    await page.evaluate(
        "fragment => { location.hash = fragment }", f"timeline&of={session_id}&{day}"
    )
    await expect(page.get_by_role("list", name="Prompts").get_by_role("link")).not_to_have_count(0)
    await expect(page.get_by_role("link", name=TITLE).last).to_be_visible()


LOGIN = "Fix the auth bug in login"
QUEUE = "Retry queue with backoff"

SCENES = [
    Scene("sessions", "Every session, by project, with what each one wants or does", sessions),
    Scene("by-time", "The same in the order of time", by_time),
    Scene("nothing-found", "A filter that finds nothing", nothing_found),
    Scene("first-run", "Nobody has used Claude Code here yet", first_run, empty=True),
    Scene("login", "A browser that is not logged in", login, logged_in=False),
    Scene("new-session", "A new session: the prompt is enough", new_session),
    Scene("directories", "Where it shall begin", directories),
    Scene("inbox", "Everything that waits, in one place", inbox),
    Scene("conversation", "A conversation to read", session(QUEUE, "The queue now waits")),
    Scene("diff", "A tool call unfolded", diff),
    Scene("details", "What is known of a session, and how to go on in a terminal", details),
    Scene(
        "markdown", "A reply with a table", session("What can we drop from the bundle?", "lodash")
    ),
    Scene(
        "subagents",
        "Subagents in their calls",
        session("Why does the nightly export time out?", "row by row"),
    ),
    Scene(
        "compaction",
        "A compaction, and what came before it",
        session("Make the sign-up form accessible", "compacted"),
    ),
    Scene(
        "picture",
        "A prompt with a picture",
        session("The checkout button overlaps the price on phones", "absolutely"),
    ),
    Scene(
        "interrupted",
        "An interruption",
        session("Switch the whole site to dark mode", "Only the header"),
    ),
    Scene("api-error", "An error of the service", session("Disk alerts, 3 am", "woken somebody")),
    Scene("branches", "The ways that were taken from one conversation", tree),
    Scene("compared", "Two branches side by side, from where they part", compared),
    Scene("recap", "Coming back after a while: where were we?", recap),
    Scene("find", "Find in a conversation", find),
    Scene("keys", "What there is to press", keys),
    Scene("loading", "A conversation that is on its way", loading),
    Scene("terminal", "A session that a terminal has open", session(ELSEWHERE, "in a terminal")),
    Scene("command-bar", "Say what you want, from anywhere", command_bar),
    Scene("search", "Search in all messages", fragment("search=export", ".search-hits a")),
    Scene("usage", "What was used", fragment("usage", ".usage-days svg")),
    Scene("archive", "What is kept of what Claude Code deletes", fragment("archive", "main h1")),
    Scene("broken", "A transcript that cannot be read", broken),
    Scene("edit", "May it change this file?", session(EDITING, "Allow")),
    Scene("command", "May it run this command?", session(REMOVING, "Allow")),
    Scene("question", "A question", session(ASKING, "Object storage")),
    Scene("plan", "A plan", session(PLANNING, "Keep the old volume")),
    Scene(
        "replying",
        "A reply as it comes, and a message that waits its turn",
        session(REPLYING, "also say how to measure it"),
    ),
    Scene(
        "keeper-away",
        "The keeper is away; the page says so and comes back by itself",
        session(QUEUE, "The queue now waits"),
        without_keeper=is_away,
    ),
    Scene(
        "unsent",
        "A message that could not be sent, with why",
        session(QUEUE, "The queue now waits"),
        without_keeper=could_not_be_sent,
    ),
    # the last bring sessions of their own
    Scene("sixty-files", "A change of sixty files is one line that unfolds", sixty_files),
    Scene(
        "odd-measures",
        "A title of 300 characters, right to left, ten thousand lines",
        odd_measures,
    ),
    Scene("timeline", "What was done when, and what was discussed then", timeline),
]
