"""More callers at once than the system has descriptors for."""

from __future__ import annotations

import logging
import time

# of what asyncio says then, a hundred times in a moment
ACCEPT_FAILURE = "socket.accept() out of system resource"
# seconds in which that is said once
LOG_INTERVAL = 10.0


class LoggedOnce:
    """For the log of asyncio: strangers, who need no token for this, cannot fill it."""

    def __init__(self) -> None:
        self._last_logged = -LOG_INTERVAL

    def __call__(self, record: logging.LogRecord) -> bool:
        if not str(record.msg).startswith(ACCEPT_FAILURE):
            return True
        now = time.monotonic()
        if now - self._last_logged < LOG_INTERVAL:
            return False
        self._last_logged = now
        record.msg, record.args = "no descriptor is left for another caller; it waits", ()
        record.exc_info = None
        return True


# one for all servers of the process: so is the log of asyncio
_log_filter = LoggedOnce()


def limit_accept_error_logs() -> None:
    logging.getLogger("asyncio").addFilter(_log_filter)
