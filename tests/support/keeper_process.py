"""The keeper as a program of its own, for tests that look at it from outside.

Everything it needs lies in a `DemoHome`: nothing of the machine's own is read or written. It can
be killed, stopped and started again on the same home.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from claudekeeper.core.config import load_config
from claudekeeper.demo.home import DemoHome

# port 9 is "discard": nothing listens there, so a forgotten address fails at once
DEAD_URL = "http://127.0.0.1:9"
COMMAND = [sys.executable, "-m", "claudekeeper"]


class KeeperProcess:
    """A running `claudekeeper serve`, and what it said."""

    def __init__(
        self,
        home: DemoHome,
        *options: str,
        api_url: str = DEAD_URL,
        environment: Mapping[str, str] | None = None,
        command: Sequence[str] = COMMAND,
        ports: Sequence[str] = ("--port", "0", "--ui-port", "0"),
        inherited_fds: Sequence[int] = (),
    ) -> None:
        self.home = home
        self._log = home.root / "keeper.log"
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "serve", *ports, *options],
                env={**os.environ, **home.environment(api_url), **(environment or {})},
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=home.root,
                umask=0,
                pass_fds=inherited_fds,
            )
        self.output: list[str] = []
        self.url = self._read_output_after("claudekeeper listening on ")
        self.page_url = (
            None if "--no-ui" in options else self._read_output_after("clarvis listening on ")
        )

    @property
    def token(self) -> str:
        return load_config(self.home.keeper).token

    @property
    def auth_headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def log(self) -> str:
        """What it wrote to stderr, of every start on this home."""
        return self._log.read_text(errors="replace")

    def login_code(self) -> str:
        """From the link that it prints."""
        return self._read_output_after("/#login=")

    def new_login_link(self) -> str:
        """A new login link, as `claudekeeper open` prints it."""
        return self.run_command("open").stdout.strip()

    def run_command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Another `claudekeeper` on the same home."""
        return subprocess.run(
            [*COMMAND, *arguments],
            env={**os.environ, **self.home.environment(DEAD_URL)},
            capture_output=True,
            text=True,
            check=False,
        )

    def stop(self, sign: signal.Signals = signal.SIGTERM) -> int:
        """Send the signal, and wait for the end."""
        if self.process.poll() is None:
            self.process.send_signal(sign)
        code = self.process.wait()
        self._stdout.close()
        return code

    def kill(self) -> None:
        self.stop(signal.SIGKILL)

    def descendants(self) -> list[int]:
        """The processes that it started, at any depth."""
        pids: list[int] = []
        waiting = [self.pid]
        while waiting:
            mine = [pid for pid, parent in parent_pids().items() if parent == waiting[0]]
            pids += mine
            waiting = waiting[1:] + mine
        return pids

    @property
    def _stdout(self) -> IO[str]:
        assert self.process.stdout is not None
        return self.process.stdout

    def _read_output_after(self, words: str) -> str:
        for line in self._stdout:
            self.output.append(line)
            if words in line:
                return line.split(words, 1)[1].strip()
        raise AssertionError(f"it ended without saying {words!r}: {self.output} {self.log}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def parent_pids() -> dict[int, int]:
    """Every process of the machine with its parent."""
    pids: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            # the name stands in brackets and may contain anything
            fields = status.read_text(errors="replace").rsplit(")", 1)[1].split()
        except OSError:
            continue
        pids[int(status.parent.name)] = int(fields[1])
    return pids


def is_alive(pid: int) -> bool:
    """Whether it runs; one that waits for its parent to notice its end does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def parse_metrics(text: str) -> dict[str, float]:
    """The figures of /metrics by name and labels."""
    figures = re.findall(r"^([a-z_]+(?:\{.*\})?) (\S+)$", text, re.MULTILINE)
    return {name: float(value) for name, value in figures}


def parse_json_lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]
