"""The whole demo: a temporary home, the scripted API behind it, and the samples in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from claudekeeper.demo.home import DemoHome, remove_abandoned
from claudekeeper.demo.messages_api import ScriptedApi
from claudekeeper.demo.sample_sessions import Progress, Sample, make_samples

# about as fast as people are used to from the real service
PACE_SECONDS = 0.02
# nobody asks a demo what the model saw, and requests are large
MOST_REQUESTS = 5


class RunningDemo(msgspec.Struct, frozen=True):
    home: DemoHome
    api: ScriptedApi
    samples: list[Sample]

    @property
    def api_url(self) -> str:
        return self.api.url

    @property
    def environment(self) -> dict[str, str]:
        """For `os.environ` of the keeper, and so for every CLI that it starts."""
        return self.home.environment(self.api.url)


@asynccontextmanager
async def start_demo(progress: Progress = lambda _: None) -> AsyncIterator[RunningDemo]:
    """Set everything up, and take it all away again, whatever happens in between."""
    await asyncio.to_thread(remove_abandoned)
    with DemoHome() as home:
        async with ScriptedApi(most_requests=MOST_REQUESTS) as api:
            samples = await make_samples(home, api.url, progress)
            # only now: the samples are in a hurry, people are not
            api.pace = PACE_SECONDS
            yield RunningDemo(home, api, samples)
