"""What is shown in each picture: where to go, and what must be seen before it is taken."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from playwright.async_api import Page, expect

from pictures.stage import ASKING, EDITING, PLANNING, REPLYING, RUNNING_COMMAND, Stage

Play = Callable[[Page, Stage], Awaitable[None]]


@dataclass(frozen=True)
class Scene:
    name: str
    play: Play
    # whether it is taken of the Clarvis that may show nothing
    empty: bool = False
    logged_in: bool = True
    # what is seen once the keeper is gone; null where it stays
    without_keeper: Callable[[Page], Awaitable[None]] | None = None


async def open_session(page: Page, stage: Stage, title: str) -> None:
    await page.evaluate("id => { location.hash = `session=${id}` }", stage.sessions[title])
    await expect(page.get_by_role("heading", level=1, name=title)).to_be_visible()


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


async def is_away(page: Page) -> None:
    await expect(page.get_by_text("The keeper does not answer")).to_be_visible()


SCENES = [
    Scene("sessions", sessions),
    Scene("by-time", by_time),
    Scene("nothing-found", nothing_found),
    Scene("first-run", first_run, empty=True),
    Scene("login", login, logged_in=False),
    Scene("new-session", new_session),
    Scene("directories", directories),
    Scene("conversation", session("Retry queue with backoff", "Retry")),
    Scene("edit", session(EDITING, "Allow")),
    Scene("command", session(RUNNING_COMMAND, "Allow")),
    Scene("question", session(ASKING, "Postgres")),
    Scene("plan", session(PLANNING, "Write the migration")),
    Scene("replying", session(REPLYING, "also say how to measure it")),
    Scene("keeper-away", session("Retry queue with backoff", "Retry"), without_keeper=is_away),
]
