"""How Claude Code's lines looked over time: the order of keys, and which lines there were."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random


@dataclass(frozen=True)
class Era:
    """The habits of a span of versions."""

    versions: tuple[str, ...]
    models: tuple[str, ...]
    # the place (cwd, session, version, branch) stands before the message, or behind it
    place_first: bool
    slug: bool = False
    progress: bool = False
    attachments: bool = False
    requests: bool = False
    # what even a session of one question takes
    least: int = 2_000
    entrypoint: str = "cli"


TERSE = Era(
    ("2.0.19", "2.0.55", "2.0.74"),
    ("claude-sonnet-4-5-20250929", "claude-opus-4-1-20250805"),
    place_first=True,
)
PROGRESS = Era(
    ("2.1.16", "2.1.36", "2.1.50"),
    ("claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929"),
    place_first=True,
    slug=True,
    progress=True,
    least=6_000,
)
ATTACHED = Era(
    ("2.1.121", "2.1.179", "2.1.220", "2.1.237"),
    ("claude-opus-4-6", "claude-sonnet-4-6"),
    place_first=False,
    attachments=True,
    least=45_000,
)
# through the SDK the system prompt and the tools are shorter than in a terminal
CURRENT_SDK = Era(
    ("2.1.325",),
    ("claude-opus-5-5", "claude-sonnet-5-5"),
    place_first=False,
    attachments=True,
    requests=True,
    least=120_000,
    entrypoint="sdk-py",
)
CURRENT = Era(
    ("2.1.325",),
    ("claude-opus-5-5", "claude-sonnet-5-5"),
    place_first=False,
    attachments=True,
    requests=True,
    least=170_000,
)
# most sessions are of the last weeks: Claude Code deletes the old ones
WEIGHTS = {TERSE: 1, PROGRESS: 2, ATTACHED: 4, CURRENT_SDK: 3, CURRENT: 6}


def era_for(size: int, random: Random) -> Era:
    """An era whose shortest session fits into the size."""
    fitting = {era: weight for era, weight in WEIGHTS.items() if era.least <= size} or {TERSE: 1}
    return random.choices(list(fitting), list(fitting.values()))[0]


def place(era: Era, version: str, workdir: str, session: bytes, branch: str, slug: str) -> bytes:
    """The keys that say where a line comes from."""
    entrypoint = "" if era.place_first else f'"entrypoint":"{era.entrypoint}",'
    ending = f',"slug":"{slug}"' if era.slug else ""
    return (
        f'"userType":"external",{entrypoint}"cwd":"{workdir}","sessionId":"'.encode()
        + session
        + f'","version":"{version}","gitBranch":"{branch}"{ending}'.encode()
    )
