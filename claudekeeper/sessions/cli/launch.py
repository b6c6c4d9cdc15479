"""The command that a CLI is started with: in its own session, and ended with the keeper.

Ctrl-C in a terminal reaches every process that was started there: it would interrupt the turns that
the keeper wants to finish. And a keeper that is killed cannot end its CLIs: the kernel has to. The
SDK has no option for either; two small programs of every Linux do both.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache

# on SIGTERM a CLI writes down what it has and ends its tools; on SIGKILL it would leave them
DEATH_SIGNAL = "TERM"


@cache
def launch_prefix() -> tuple[str, ...]:
    """The words before a command; none where the programs are missing. Blocks the first time."""
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
