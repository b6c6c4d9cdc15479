"""How a CLI is started: apart from the keeper's terminal, and tied to the keeper's life.

Ctrl-C in a terminal is for whoever was started there, children included: the turns that the keeper
wants to see through would be interrupted. And a keeper that is killed cannot end anything: the
system has to. The SDK lets us choose neither, but two small programs of every Linux do both.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache

# told to end, a CLI writes down what there is and ends its tools; killed, it would leave them
DEATH_SIGNAL = "TERM"


@cache
def launch_prefix() -> tuple[str, ...]:
    """The words before a command; none where they are not understood. Blocks the first time."""
    if sys.platform != "linux":
        return ()
    prefix: tuple[str, ...] = ()
    for words in (("setsid",), ("setpriv", "--pdeathsig", DEATH_SIGNAL)):
        program = shutil.which(words[0])
        if program is not None and _works((program, *words[1:], "true")):
            prefix += (program, *words[1:])
    return prefix


def _works(command: tuple[str, ...]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
