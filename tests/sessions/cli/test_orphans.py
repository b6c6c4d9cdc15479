"""Processes that a killed keeper left: known by their mark, whoever started them last."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claudekeeper.sessions.cli.orphans import OWNER_VARIABLE, end_orphans, owner_value

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="environments are read in /proc")


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for process in processes:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def start(home: Path, *command: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        env={**os.environ, OWNER_VARIABLE: owner_value(home)},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )


def test_what_carries_the_mark_of_this_home_is_ended(
    tmp_path: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    ours, others = tmp_path / "ours", tmp_path / "others"
    # one that ends when told, one that does not listen, and one of another keeper
    stubborn = "trap '' TERM; echo ready; while :; do sleep 1000; done"
    started += [start(ours, "sleep", "1000"), start(ours, "sh", "-c", stubborn)]
    started.append(start(others, "sleep", "1000"))
    output = started[1].stdout
    assert output is not None
    assert output.readline() == b"ready\n"
    # the shell that does not listen has a child of its own
    assert end_orphans(ours) >= 2
    assert started[0].wait() != 0
    assert started[1].wait() != 0
    assert started[2].poll() is None
    assert end_orphans(ours) == 0


def test_nobody_ends_who_started_it(tmp_path: Path, started: list[subprocess.Popen[bytes]]) -> None:
    """A keeper can be started from the shell of a session of an earlier one."""
    script = (
        "import sys; from pathlib import Path\n"
        "from claudekeeper.sessions.cli.orphans import end_orphans\n"
        "print(end_orphans(Path(sys.argv[1])))"
    )
    process = start(
        tmp_path, "sh", "-c", '"$@"; echo lives', "sh", sys.executable, "-c", script, str(tmp_path)
    )
    started.append(process)
    output, _ = process.communicate()
    assert output.split() == [b"0", b"lives"]
