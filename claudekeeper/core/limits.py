"""The limits of config.json: how much runs at once, and how long it may idle."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


class Limits(msgspec.Struct, rename="camel", frozen=True):
    """`limits` in config.json."""

    # CLI processes at once; one takes about 100 MB
    live_sessions: Annotated[int, Meta(ge=1, le=1000)] = 10
    # an idle CLI is closed after this time; the next message starts it again
    idle_seconds: Annotated[float, Meta(ge=1)] = 900.0
    # how long a running turn may take when the keeper shuts down
    drain_seconds: Annotated[float, Meta(ge=0, le=600)] = 10.0
