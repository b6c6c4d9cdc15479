"""A dozen believable sessions, written by the real CLI against the scripted API."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import msgspec

from claudekeeper.demo.cli_driver import CliConversation, SimulatedPerson, open_conversation
from claudekeeper.demo.home import DemoHome
from claudekeeper.demo.sample_image import phone_screenshot
from claudekeeper.demo.sample_projects import PROJECTS
from claudekeeper.net.errors import ApiError

Progress = Callable[[str], None]
# ten times what they take on a slow machine
TIMEOUT_SECONDS = 300


class SampleFailed(ApiError):
    code, status = "samples_failed", 500
    sentence = "The sample sessions could not be made."


class Sample(msgspec.Struct, frozen=True):
    """A session that was made."""

    title: str
    session_id: str
    workdir: Path


class SampleWriter:
    """Where samples are made: it starts the CLIs and keeps count."""

    def __init__(self, home: DemoHome, api_url: str, progress: Progress) -> None:
        self._home = home
        self._environment = home.environment(api_url)
        self._progress = progress
        self.samples: list[Sample] = []

    def open_conversation(
        self,
        project: str,
        *,
        person: SimulatedPerson | None = None,
        environment: dict[str, str] | None = None,
        **options: Any,
    ) -> AbstractAsyncContextManager[CliConversation]:
        merged = {**self._environment, **(environment or {})}
        return open_conversation(merged, self._home.project(project), person=person, **options)

    def add_sample(self, title: str, project: str, talk: CliConversation) -> None:
        self.samples.append(Sample(title, talk.session_id, self._home.project(project)))
        self._progress(f"sample session {len(self.samples)} of {SAMPLE_COUNT}: {title}")


async def login_and_its_fork(studio: SampleWriter) -> None:
    title = "Fix the auth bug in login"
    async with studio.open_conversation("payments-api") as talk:
        await talk.run_turn(title)
        await talk.run_turn("Yes, add a test for an expired token")
        studio.add_sample(title, "payments-api", talk)
    original = talk.session_id
    title = "Compare the passwords in constant time instead"
    async with studio.open_conversation("payments-api", resume=original, fork_session=True) as talk:
        await talk.run_turn(title)
        studio.add_sample(title, "payments-api", talk)


async def retry_queue(studio: SampleWriter) -> None:
    title = "Retry queue with backoff"
    async with studio.open_conversation("payments-api", model="sonnet") as talk:
        await talk.run_turn(title)
        studio.add_sample(title, "payments-api", talk)


async def typed_handlers(studio: SampleWriter) -> None:
    title = "Add types to all payment handlers"
    async with studio.open_conversation("payments-api", permission_mode="acceptEdits") as talk:
        await talk.run_turn(title)
        studio.add_sample(title, "payments-api", talk)


async def slow_export(studio: SampleWriter) -> None:
    title = "Why does the nightly export time out?"
    async with studio.open_conversation("payments-api") as talk:
        await talk.run_turn(title)
        studio.add_sample(title, "payments-api", talk)


async def phone_button(studio: SampleWriter) -> None:
    title = "The checkout button overlaps the price on phones"
    async with studio.open_conversation("website") as talk:
        await talk.run_image_turn(phone_screenshot(), title)
        studio.add_sample(title, "website", talk)


async def bundle(studio: SampleWriter) -> None:
    title = "What can we drop from the bundle?"
    async with studio.open_conversation("website", model="haiku") as talk:
        await talk.run_turn(title)
        studio.add_sample(title, "website", talk)


async def accessible_form(studio: SampleWriter) -> None:
    title = "Make the sign-up form accessible"
    async with studio.open_conversation("website") as talk:
        await talk.run_turn(title)
        await talk.run_turn("/compact")
        await talk.run_turn("The password field as well")
        studio.add_sample(title, "website", talk)


async def dark_mode(studio: SampleWriter) -> None:
    title = "Switch the whole site to dark mode"
    async with studio.open_conversation("website", include_partial_messages=True) as talk:
        await talk.run_interrupted_turn(title)
        await talk.run_turn("Stop, only the header for now")
        studio.add_sample(title, "website", talk)


async def postgres(studio: SampleWriter) -> None:
    title = "Upgrade to Postgres 17"
    async with studio.open_conversation("infra", permission_mode="plan") as talk:
        await talk.run_turn(title)
        studio.add_sample(title, "infra", talk)


async def backups(studio: SampleWriter) -> None:
    title = "Set up nightly backups"
    async with studio.open_conversation("infra") as talk:
        await talk.run_turn(title)
        studio.add_sample(title, "infra", talk)


async def rotated_keys(studio: SampleWriter) -> None:
    title = "Rotate the API keys"
    careful = SimulatedPerson(
        lambda _, given: (
            "Not yet, the old key is still used by the shop."
            if "rm " in str(given.get("command"))
            else None
        )
    )
    async with studio.open_conversation("infra", person=careful) as talk:
        await talk.run_turn(title)
        studio.add_sample(title, "infra", talk)


async def disk_alerts(studio: SampleWriter) -> None:
    title = "Disk alerts, 3 am"
    impatient = {"CLAUDE_CODE_MAX_RETRIES": "0"}
    async with studio.open_conversation("infra", environment=impatient) as talk:
        await talk.run_turn("Check the disk alerts from last night")
        await talk.run_turn("Try again, please")
        await talk.run_turn(f"/rename {title}")
        studio.add_sample(title, "infra", talk)


# Each lane is one CLI at a time. Within payments-api and website some samples change the same
# files, so they share a lane; the long one has a lane to itself.
LANES: list[list[Callable[[SampleWriter], Awaitable[None]]]] = [
    [typed_handlers, postgres, backups],
    [login_and_its_fork, retry_queue, slow_export],
    [accessible_form, dark_mode, phone_button, bundle, disk_alerts, rotated_keys],
]
SAMPLE_COUNT = 13


async def make_samples(home: DemoHome, api_url: str, progress: Progress) -> list[Sample]:
    """Make all samples, three at a time; `progress` is told of each."""
    studio = SampleWriter(home, api_url, progress)
    for project in PROJECTS:
        await asyncio.to_thread(home.project, project)

    async def work(lane: list[Callable[[SampleWriter], Awaitable[None]]]) -> None:
        for sample in lane:
            await sample(studio)

    try:
        async with asyncio.timeout(TIMEOUT_SECONDS), asyncio.TaskGroup() as group:
            for number, lane in enumerate(LANES, 1):
                group.create_task(work(lane), name=f"samples:{number}")
    except TimeoutError as late:
        raise SampleFailed(
            f"The sample sessions were not ready after {TIMEOUT_SECONDS} s."
        ) from late
    except ExceptionGroup as failures:
        reason = failures.exceptions[0]
        raise SampleFailed(f"The sample sessions could not be made: {reason}") from failures
    return studio.samples
