"""Another login link, for the phone or a quarter of an hour later: what is printed works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from claudekeeper.demo.home import DemoHome
from tests.support.keeper_process import DEAD_URL

PROGRAM = Path(sys.executable).with_name("claudekeeper")


def test_the_command_for_another_link_works_as_it_is_printed() -> None:
    with DemoHome() as home:
        # the environment of somebody who has a keeper of his own, and no claudekeeper on the path
        environment = {**os.environ, **home.environment(DEAD_URL), "PATH": os.defpath}
        assert shutil.which("claudekeeper", path=environment["PATH"]) is None
        serving = subprocess.Popen(
            [PROGRAM, "serve", "--demo", "--port", "0", "--ui-port", "0"],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert serving.stdout is not None
        try:
            output = ""
            while (printed := re.search(r"once; '(.+ open)' makes", output)) is None:
                line = serving.stdout.readline()
                assert line, output
                output += line
            link = serving.stdout.readline().strip()
            another = subprocess.check_output(
                ["/bin/sh", "-c", printed[1]], env=environment, text=True
            ).strip()
        finally:
            serving.terminate()
            serving.communicate()
    assert another != link
    assert another.split("#")[0] == link.split("#")[0]
