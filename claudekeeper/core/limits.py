"""How much may run at once, and for how long for nothing: what config.json may say of it."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


class Limits(msgspec.Struct, rename="camel", frozen=True):
    """`limits` in config.json."""

    # CLI processes at once; one takes about 100 MB
    live_sessions: Annotated[int, Meta(ge=1, le=1000)] = 10
    # a CLI that has nothing to do is ended after so long, and comes back with the next message
    idle_seconds: Annotated[float, Meta(ge=1)] = 900.0
    # how long a running turn may still take when the keeper is asked to end
    drain_seconds: Annotated[float, Meta(ge=0, le=600)] = 10.0
