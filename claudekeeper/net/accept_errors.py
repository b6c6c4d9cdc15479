"""The log of asyncio when there are more connections than file descriptors."""

from __future__ import annotations

import logging
import time

# the message of asyncio, which it repeats a hundred times a moment
ACCEPT_FAILURE = "socket.accept() out of system resource"
# seconds in which it is logged once
LOG_INTERVAL = 10.0


class LoggedOnce:
    """A filter for the log of asyncio, which strangers could fill without a token."""

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


# one for all servers of the process, as they share the log of asyncio
_log_filter = LoggedOnce()


def limit_accept_error_logs() -> None:
    logging.getLogger("asyncio").addFilter(_log_filter)
