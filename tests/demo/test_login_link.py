"""Another login link, for the phone or a quarter of an hour later: what is printed works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import IO

from claudekeeper.demo.home import DemoHome
from tests.support.keeper_process import DEAD_URL
from tests.support.own_process import running

PROGRAM = Path(sys.executable).with_name("claudekeeper")


def read_match(output: IO[bytes], pattern: bytes) -> bytes:
    """Reads up to the line that matches; returns the first group."""
    for line in output:
        if match := re.search(pattern, line):
            return match[1]
    raise AssertionError(f"it ended without {pattern!r}")


def test_the_command_for_another_link_works_as_it_is_printed() -> None:
    with DemoHome() as home:
        # the environment of somebody who has a keeper of his own, and no claudekeeper on the path
        environment = {**os.environ, **home.environment(DEAD_URL), "PATH": os.defpath}
        assert shutil.which("claudekeeper", path=environment["PATH"]) is None
        serve = [str(PROGRAM), "serve", "--demo", "--port", "0", "--ui-port", "0"]
        with running(serve, env=environment) as demo:
            assert demo.stdout is not None
            command = read_match(demo.stdout, rb"once; '(.+ open)' makes")
            link = demo.stdout.readline().strip()
            another = subprocess.check_output(["/bin/sh", "-c", command], env=environment).strip()
    assert another != link
    assert another.split(b"#")[0] == link.split(b"#")[0]
