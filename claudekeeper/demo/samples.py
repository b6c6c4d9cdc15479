"""A dozen believable sessions, written by the real CLI against the scripted API."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import msgspec

from claudekeeper.demo.home import DemoHome
from claudekeeper.demo.pictures import phone_screenshot
from claudekeeper.demo.projects import PROJECTS
from claudekeeper.demo.talk import Person, Talk, talking
from claudekeeper.model.errors import KeeperError

Progress = Callable[[str], None]
# ten times what they take on a slow machine
PATIENCE = 300


class SamplesFailed(KeeperError):
    code, status = "samples_failed", 500
    sentence = "The sample sessions could not be made."


class Sample(msgspec.Struct, frozen=True):
    """A session that was made."""

    title: str
    session_id: str
    workdir: Path


class Studio:
    """Where samples are made: it starts the CLIs and keeps count."""

    def __init__(self, home: DemoHome, api_url: str, progress: Progress) -> None:
        self._home = home
        self._environment = home.environment(api_url)
        self._progress = progress
        self.made: list[Sample] = []

    def talk(
        self,
        project: str,
        *,
        person: Person | None = None,
        environment: dict[str, str] | None = None,
        **options: Any,
    ) -> AbstractAsyncContextManager[Talk]:
        merged = {**self._environment, **(environment or {})}
        return talking(merged, self._home.project(project), person=person, **options)

    def finished(self, title: str, project: str, talk: Talk) -> None:
        self.made.append(Sample(title, talk.session_id, self._home.project(project)))
        self._progress(f"sample session {len(self.made)} of {SAMPLE_COUNT}: {title}")


async def login_and_its_fork(studio: Studio) -> None:
    title = "Fix the auth bug in login"
    async with studio.talk("payments-api") as talk:
        await talk.say(title)
        await talk.say("Yes, add a test for an expired token")
        studio.finished(title, "payments-api", talk)
    original = talk.session_id
    title = "Compare the passwords in constant time instead"
    async with studio.talk("payments-api", resume=original, fork_session=True) as talk:
        await talk.say(title)
        studio.finished(title, "payments-api", talk)


async def retry_queue(studio: Studio) -> None:
    title = "Retry queue with backoff"
    async with studio.talk("payments-api", model="sonnet") as talk:
        await talk.say(title)
        studio.finished(title, "payments-api", talk)


async def typed_handlers(studio: Studio) -> None:
    title = "Add types to all payment handlers"
    async with studio.talk("payments-api", permission_mode="acceptEdits") as talk:
        await talk.say(title)
        studio.finished(title, "payments-api", talk)


async def slow_export(studio: Studio) -> None:
    title = "Why does the nightly export time out?"
    async with studio.talk("payments-api") as talk:
        await talk.say(title)
        studio.finished(title, "payments-api", talk)


async def phone_button(studio: Studio) -> None:
    title = "The checkout button overlaps the price on phones"
    async with studio.talk("website") as talk:
        await talk.show(phone_screenshot(), title)
        studio.finished(title, "website", talk)


async def bundle(studio: Studio) -> None:
    title = "What can we drop from the bundle?"
    async with studio.talk("website", model="haiku") as talk:
        await talk.say(title)
        studio.finished(title, "website", talk)


async def accessible_form(studio: Studio) -> None:
    title = "Make the sign-up form accessible"
    async with studio.talk("website") as talk:
        await talk.say(title)
        await talk.say("/compact")
        await talk.say("The password field as well")
        studio.finished(title, "website", talk)


async def dark_mode(studio: Studio) -> None:
    title = "Switch the whole site to dark mode"
    async with studio.talk("website", include_partial_messages=True) as talk:
        await talk.interrupted(title)
        await talk.say("Stop, only the header for now")
        studio.finished(title, "website", talk)


async def postgres(studio: Studio) -> None:
    title = "Upgrade to Postgres 17"
    async with studio.talk("infra", permission_mode="plan") as talk:
        await talk.say(title)
        studio.finished(title, "infra", talk)


async def backups(studio: Studio) -> None:
    title = "Set up nightly backups"
    async with studio.talk("infra") as talk:
        await talk.say(title)
        studio.finished(title, "infra", talk)


async def rotated_keys(studio: Studio) -> None:
    title = "Rotate the API keys"
    careful = Person(
        lambda _, given: (
            "Not yet, the old key is still used by the shop."
            if "rm " in str(given.get("command"))
            else None
        )
    )
    async with studio.talk("infra", person=careful) as talk:
        await talk.say(title)
        studio.finished(title, "infra", talk)


async def disk_alerts(studio: Studio) -> None:
    title = "Disk alerts, 3 am"
    impatient = {"CLAUDE_CODE_MAX_RETRIES": "0"}
    async with studio.talk("infra", environment=impatient) as talk:
        await talk.say("Check the disk alerts from last night")
        await talk.say("Try again, please")
        await talk.say(f"/rename {title}")
        studio.finished(title, "infra", talk)


# Each lane is one CLI at a time. Within payments-api and website some samples change the same
# files, so they share a lane; the long one has a lane to itself.
LANES: list[list[Callable[[Studio], Awaitable[None]]]] = [
    [typed_handlers, postgres, backups],
    [login_and_its_fork, retry_queue, slow_export],
    [accessible_form, dark_mode, phone_button, bundle, disk_alerts, rotated_keys],
]
SAMPLE_COUNT = 13


async def make_samples(home: DemoHome, api_url: str, progress: Progress) -> list[Sample]:
    """Make all samples, three at a time; `progress` is told of each."""
    studio = Studio(home, api_url, progress)
    for project in PROJECTS:
        await asyncio.to_thread(home.project, project)

    async def work(lane: list[Callable[[Studio], Awaitable[None]]]) -> None:
        for sample in lane:
            await sample(studio)

    try:
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
            for number, lane in enumerate(LANES, 1):
                group.create_task(work(lane), name=f"samples:{number}")
    except TimeoutError as late:
        raise SamplesFailed(f"The sample sessions were not ready after {PATIENCE} s.") from late
    except ExceptionGroup as failures:
        reason = failures.exceptions[0]
        raise SamplesFailed(f"The sample sessions could not be made: {reason}") from failures
    return studio.made
