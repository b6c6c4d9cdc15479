"""Notifications to systemd: ready, alive, stopping.

Each is a datagram of lines to the socket that NOTIFY_SOCKET names. Without it nothing is sent.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import MutableMapping

log = logging.getLogger(__name__)


class Notifier:
    """Removes its variables from the environment, so that no child notifies in our name."""

    def __init__(self, environment: MutableMapping[str, str]) -> None:
        self._address = environment.pop("NOTIFY_SOCKET", "")
        interval = environment.pop("WATCHDOG_USEC", "")
        watched = environment.pop("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        # half of the time that systemd allows; None without a watchdog
        self.watchdog_interval = (
            int(interval) / 1e6 / 2 if watched and self._address and interval.isdigit() else None
        )

    @property
    def is_enabled(self) -> bool:
        return bool(self._address)

    def notify_ready(self, status: str) -> None:
        self._send("READY=1", f"STATUS={status}", f"MAINPID={os.getpid()}")

    def notify_stopping(self, status: str) -> None:
        self._send("STOPPING=1", f"STATUS={status}")

    async def notify_alive(self) -> None:
        """Called by the event loop: a loop that hangs sends nothing, and systemd restarts us."""
        self._send("WATCHDOG=1")

    def _send(self, *lines: str) -> None:
        if not self._address:
            return
        address = self._address
        if address.startswith("@"):
            # an abstract socket of Linux
            address = f"\0{address[1:]}"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            try:
                sender.sendto("\n".join(lines).encode(), address)
            except OSError as error:
                log.warning("systemd could not be told %s: %s", lines[0], error)
