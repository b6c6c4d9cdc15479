"""More callers at once than the system has descriptors for."""

from __future__ import annotations

import logging
import time

# of what asyncio says then, a hundred times in a moment
ACCEPTING = "socket.accept() out of system resource"
# seconds in which that is said once
PAUSE = 10.0


class SaidOnce:
    """For the log of asyncio: strangers, who need no token for this, cannot fill it."""

    def __init__(self) -> None:
        self._said = -PAUSE

    def __call__(self, record: logging.LogRecord) -> bool:
        if not str(record.msg).startswith(ACCEPTING):
            return True
        now = time.monotonic()
        if now - self._said < PAUSE:
            return False
        self._said = now
        record.msg, record.args = "no descriptor is left for another caller; it waits", ()
        record.exc_info = None
        return True


# one for all servers of the process: so is the log of asyncio
_said_once = SaidOnce()


def speak_of_it_rarely() -> None:
    logging.getLogger("asyncio").addFilter(_said_once)
