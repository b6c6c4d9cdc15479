"""The formats of transcripts over time: the order of keys, and the kinds of lines."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random


@dataclass(frozen=True)
class Era:
    """The format of a range of versions."""

    versions: tuple[str, ...]
    models: tuple[str, ...]
    # whether cwd, session, version and branch come before the message or after it
    origin_first: bool
    slug: bool = False
    progress: bool = False
    attachments: bool = False
    requests: bool = False
    # the bytes of the shortest session
    least: int = 2_000
    entrypoint: str = "cli"


TERSE = Era(
    ("2.0.19", "2.0.55", "2.0.74"),
    ("claude-sonnet-4-5-20250929", "claude-opus-4-1-20250805"),
    origin_first=True,
)
PROGRESS = Era(
    ("2.1.16", "2.1.36", "2.1.50"),
    ("claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929"),
    origin_first=True,
    slug=True,
    progress=True,
    least=6_000,
)
ATTACHED = Era(
    ("2.1.121", "2.1.179", "2.1.220", "2.1.237"),
    ("claude-opus-4-6", "claude-sonnet-4-6"),
    origin_first=False,
    attachments=True,
    least=45_000,
)
# through the SDK the system prompt and the tools are shorter than in a terminal
CURRENT_SDK = Era(
    ("2.1.325",),
    ("claude-opus-5-5", "claude-sonnet-5-5"),
    origin_first=False,
    attachments=True,
    requests=True,
    least=120_000,
    entrypoint="sdk-py",
)
CURRENT = Era(
    ("2.1.325",),
    ("claude-opus-5-5", "claude-sonnet-5-5"),
    origin_first=False,
    attachments=True,
    requests=True,
    least=170_000,
)
# most sessions are from the last weeks, as Claude Code deletes old ones
WEIGHTS = {TERSE: 1, PROGRESS: 2, ATTACHED: 4, CURRENT_SDK: 3, CURRENT: 6}


def era_for(size: int, random: Random) -> Era:
    """A random era whose shortest session is not above the size."""
    fitting = {era: weight for era, weight in WEIGHTS.items() if era.least <= size} or {TERSE: 1}
    return random.choices(list(fitting), list(fitting.values()))[0]


def origin_keys(
    era: Era, version: str, workdir: str, session: bytes, branch: str, slug: str
) -> bytes:
    """The keys for the origin of a line: cwd, session, version, branch."""
    entrypoint = "" if era.origin_first else f'"entrypoint":"{era.entrypoint}",'
    ending = f',"slug":"{slug}"' if era.slug else ""
    return (
        f'"userType":"external",{entrypoint}"cwd":"{workdir}","sessionId":"'.encode()
        + session
        + f'","version":"{version}","gitBranch":"{branch}"{ending}'.encode()
    )
