"""Sockets that systemd opens before we start, and keeps open while we restart."""

from __future__ import annotations

import os
import socket
from collections.abc import MutableMapping

FIRST_DESCRIPTOR = 3


def inherited_sockets(environment: MutableMapping[str, str]) -> dict[str, socket.socket]:
    """The sockets by their name (FileDescriptorName=), or by number where they have none.

    The variables are removed and the sockets not inherited, so that children get neither.
    """
    process = environment.pop("LISTEN_PID", "")
    count = environment.pop("LISTEN_FDS", "")
    names = environment.pop("LISTEN_FDNAMES", "").split(":")
    if process != str(os.getpid()) or not count.isdigit():
        return {}
    sockets: dict[str, socket.socket] = {}
    for number in range(int(count)):
        descriptor = FIRST_DESCRIPTOR + number
        os.set_inheritable(descriptor, False)
        name = names[number] if number < len(names) else ""
        sockets[name if name not in {"", "unknown"} else str(number)] = socket.socket(
            fileno=descriptor
        )
    return sockets
