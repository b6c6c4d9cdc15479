"""The sample sessions, written by the real CLI with the scripted API."""

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
# ten times the duration on a slow machine
TIMEOUT_SECONDS = 300


class SampleFailed(ApiError):
    code, status = "samples_failed", 500
    sentence = "The sample sessions could not be made."


class Sample(msgspec.Struct, frozen=True):
    """A finished sample session."""

    title: str
    session_id: str
    workdir: Path


class SampleWriter:
    """Starts CLIs for the samples, and lists the finished ones."""

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

    def add_sample(self, title: str, project: str, conversation: CliConversation) -> None:
        self.samples.append(Sample(title, conversation.session_id, self._home.project(project)))
        self._progress(f"sample session {len(self.samples)} of {SAMPLE_COUNT}: {title}")


MakeSample = Callable[[SampleWriter], Awaitable[None]]


def one_turn(title: str, project: str, **options: Any) -> MakeSample:
    """A sample of one turn, whose prompt is the title."""

    async def make(writer: SampleWriter) -> None:
        async with writer.open_conversation(project, **options) as conversation:
            await conversation.run_turn(title)
            writer.add_sample(title, project, conversation)

    return make


async def login_and_its_fork(writer: SampleWriter) -> None:
    title = "Fix the auth bug in login"
    async with writer.open_conversation("payments-api") as conversation:
        await conversation.run_turn(title)
        await conversation.run_turn("Yes, add a test for an expired token")
        writer.add_sample(title, "payments-api", conversation)
    fork = one_turn(
        "Compare the passwords in constant time instead",
        "payments-api",
        resume=conversation.session_id,
        fork_session=True,
    )
    await fork(writer)


async def phone_button(writer: SampleWriter) -> None:
    title = "The checkout button overlaps the price on phones"
    async with writer.open_conversation("website") as conversation:
        await conversation.run_image_turn(phone_screenshot(), title)
        writer.add_sample(title, "website", conversation)


async def accessible_form(writer: SampleWriter) -> None:
    title = "Make the sign-up form accessible"
    async with writer.open_conversation("website") as conversation:
        await conversation.run_turn(title)
        await conversation.run_turn("/compact")
        await conversation.run_turn("The password field as well")
        writer.add_sample(title, "website", conversation)


async def dark_mode(writer: SampleWriter) -> None:
    title = "Switch the whole site to dark mode"
    async with writer.open_conversation("website", include_partial_messages=True) as conversation:
        await conversation.run_interrupted_turn(title)
        await conversation.run_turn("Stop, only the header for now")
        writer.add_sample(title, "website", conversation)


async def disk_alerts(writer: SampleWriter) -> None:
    title = "Disk alerts, 3 am"
    impatient = {"CLAUDE_CODE_MAX_RETRIES": "0"}
    async with writer.open_conversation("infra", environment=impatient) as conversation:
        await conversation.run_turn("Check the disk alerts from last night")
        await conversation.run_turn("Try again, please")
        await conversation.run_turn(f"/rename {title}")
        writer.add_sample(title, "infra", conversation)


def refuse_removal(_tool: str, tool_input: dict[str, Any]) -> str | None:
    is_removal = "rm " in str(tool_input.get("command"))
    return "Not yet, the old key is still used by the shop." if is_removal else None


# Each lane runs one CLI at a time. Samples that change the same files of payments-api or website
# share a lane.
LANES: list[list[MakeSample]] = [
    [
        one_turn(
            "Add types to all payment handlers", "payments-api", permission_mode="acceptEdits"
        ),
        one_turn("Upgrade to Postgres 17", "infra", permission_mode="plan"),
        one_turn("Set up nightly backups", "infra"),
    ],
    [
        login_and_its_fork,
        one_turn("Retry queue with backoff", "payments-api", model="sonnet"),
        one_turn("Why does the nightly export time out?", "payments-api"),
    ],
    [
        accessible_form,
        dark_mode,
        phone_button,
        one_turn("What can we drop from the bundle?", "website", model="haiku"),
        disk_alerts,
        one_turn("Rotate the API keys", "infra", person=SimulatedPerson(refuse_removal)),
    ],
]
SAMPLE_COUNT = 13


async def make_samples(home: DemoHome, api_url: str, progress: Progress) -> list[Sample]:
    """Makes all samples, three at a time; calls `progress` after each."""
    writer = SampleWriter(home, api_url, progress)
    for project in PROJECTS:
        await asyncio.to_thread(home.project, project)

    async def work(lane: list[MakeSample]) -> None:
        for sample in lane:
            await sample(writer)

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
    return writer.samples
