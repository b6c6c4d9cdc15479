"""The start of a demo: a temporary home, the scripted API, and the sample sessions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from claudekeeper.demo.home import DemoHome, remove_abandoned
from claudekeeper.demo.messages_api import ScriptedApi
from claudekeeper.demo.sample_sessions import Progress, Sample, make_samples

# about as fast as the real service
PACE_SECONDS = 0.02
# requests are large, and only tests read them
MAX_REQUESTS = 5


class RunningDemo(msgspec.Struct, frozen=True):
    home: DemoHome
    api: ScriptedApi
    samples: list[Sample]

    @property
    def api_url(self) -> str:
        return self.api.url

    @property
    def environment(self) -> dict[str, str]:
        """The variables of the keeper, and so of every CLI that it starts."""
        return self.home.environment(self.api.url)


@asynccontextmanager
async def start_demo(progress: Progress = lambda _: None) -> AsyncIterator[RunningDemo]:
    """Sets everything up, and removes it at the end, whatever happens in between."""
    await asyncio.to_thread(remove_abandoned)
    with DemoHome() as home:
        async with ScriptedApi(max_requests=MAX_REQUESTS) as api:
            samples = await make_samples(home, api.url, progress)
            # only after the samples, which need no pace
            api.pace = PACE_SECONDS
            yield RunningDemo(home, api, samples)
