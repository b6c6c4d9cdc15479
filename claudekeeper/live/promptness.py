"""Telling at once: whatever is read in threads, the loop is not kept waiting for it."""

from __future__ import annotations

import sys

# seconds for which a thread may go on while another one, most often the loop, has something to do;
# Python's own 5 ms are longer than all else between the CLI's pipe and a client
SHARE = 0.0005


def be_prompt() -> None:
    sys.setswitchinterval(SHARE)
