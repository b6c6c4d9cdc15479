"""The units under a real systemd of a user, in a mount namespace where the machine seems booted.

Needs systemd and the right to make a namespace, as root in a container has; else it is skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from claudekeeper.core.config import load_config
from claudekeeper.demo.home import DemoHome
from tests.security.raw_requests import send_request
from tests.support.keeper_process import DEAD_URL

SYSTEMD = Path("/lib/systemd/systemd")
# what a user's systemd looks for before it runs is made where only this test sees it
BOOTED = "mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system && exec sleep infinity"
PATIENCE = 400


def possible() -> bool:
    if not SYSTEMD.exists() or shutil.which("unshare") is None or shutil.which("nsenter") is None:
        return False
    return subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


pytestmark = [
    pytest.mark.skipif(not possible(), reason="no systemd, or no right to make a namespace"),
    pytest.mark.timeout(300),
]


class User:
    """Somebody with a systemd, and a keeper's home."""

    def __init__(self, home: DemoHome, namespace: int) -> None:
        self.home = home
        self._namespace = namespace
        runtime = home.root / "run"
        runtime.mkdir(mode=0o700, exist_ok=True)
        self._environment = {
            **{name: value for name, value in home.environment(DEAD_URL).items() if value},
            "PATH": os.environ["PATH"],
            "XDG_RUNTIME_DIR": str(runtime),
            "USER": "somebody",
        }

    def start(self, *command: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["nsenter", f"--mount=/proc/{self._namespace}/ns/mnt", "--", *command],
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *command: str) -> str:
        program = self.start(*command)
        return program.communicate()[0]

    def keeper(self, *arguments: str) -> str:
        return self.run(sys.executable, "-m", "claudekeeper", *arguments)

    def unit(self, field: str) -> str:
        return self.run(
            "systemctl", "--user", "show", "claudekeeper.service", "-p", field, "--value"
        ).strip()

    def other_than(self, field: str, value: str) -> str:
        """What it says when it no longer says this."""
        for _ in range(PATIENCE):
            if (now := self.unit(field)) != value:
                return now
        raise AssertionError(f"{field} is still {value}")


@pytest.fixture
def home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        yield home


@pytest.fixture
def user(home: DemoHome) -> Iterator[User]:
    namespace = subprocess.Popen(["unshare", "-m", "--propagation", "private", "sh", "-c", BOOTED])
    line = Path(f"/proc/{namespace.pid}/cmdline")
    # the shell's own line names it, too
    while namespace.poll() is None and not line.read_bytes().startswith(b"sleep"):
        pass
    user = User(home, namespace.pid)
    manager = user.start(str(SYSTEMD), "--user")
    for _ in range(PATIENCE):
        if "running" in user.run("systemctl", "--user", "is-system-running"):
            break
        if manager.poll() is not None:
            manager.communicate()
            namespace.kill()
            namespace.wait()
            pytest.skip("systemd does not run for a user here")
    yield user
    user.run("systemctl", "--user", "stop", "claudekeeper.service")
    manager.terminate()
    manager.communicate()
    namespace.kill()
    namespace.wait()


def statuses_until_end(program: subprocess.Popen[str], url: str) -> set[int]:
    """What a caller gets while the program runs."""
    statuses = set()
    try:
        while program.poll() is None:
            statuses.add(send_request(url, "GET", "/health").status)
    finally:
        program.communicate()
    return statuses


def free_ports(count: int) -> list[int]:
    lines = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [line.getsockname()[1] for line in lines]
    for line in lines:
        line.close()
    return ports


def test_the_units_under_a_real_systemd(user: User) -> None:
    load_config(user.home.keeper)
    file = user.home.keeper / "config.json"
    port, page = free_ports(2)
    file.write_text(json.dumps({**json.loads(file.read_text()), "port": port, "uiPort": page}))
    url = f"http://127.0.0.1:{port}"

    output = user.keeper("service", "install")
    assert "Installed in" in output, output
    # it is started when it serves, and not before
    assert (user.unit("Type"), user.unit("SubState")) == ("notify", "running")
    assert send_request(url, "GET", "/health").status == 200
    assert "claudekeeper.service: active" in user.keeper("service", "status")

    # killed: it comes again, and who calls meanwhile is answered
    first = user.unit("MainPID")
    os.kill(int(first), signal.SIGKILL)
    assert send_request(url, "GET", "/health").status == 200
    assert user.other_than("MainPID", first) not in ("", "0", first)
    assert user.unit("NRestarts") == "1"

    # restarted: nobody is refused
    restarting = user.start("systemctl", "--user", "restart", "claudekeeper.service")
    assert statuses_until_end(restarting, url) <= {200}

    # stopped: the sockets stay, and who calls starts it
    user.run("systemctl", "--user", "stop", "claudekeeper.service")
    assert user.unit("ActiveState") == "inactive"
    assert send_request(f"http://127.0.0.1:{page}", "GET", "/").status == 200
    assert user.unit("ActiveState") == "active"

    assert "Stopped and removed" in user.keeper("service", "uninstall")
    with closing(socket.socket()) as line:
        assert line.connect_ex(("127.0.0.1", port)) != 0
    assert file.exists()
