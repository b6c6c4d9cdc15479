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

from claudekeeper.config import load_config
from claudekeeper.demo.home import DemoHome

# port 9 is "discard": nothing listens there, so a forgotten address fails at once
NOBODY = "http://127.0.0.1:9"
COMMAND = [sys.executable, "-m", "claudekeeper"]


class Keeper:
    """A running `claudekeeper serve`, and what it said."""

    def __init__(
        self,
        home: DemoHome,
        *options: str,
        api_url: str = NOBODY,
        environment: Mapping[str, str] | None = None,
        command: Sequence[str] = COMMAND,
        ports: Sequence[str] = ("--port", "0", "--ui-port", "0"),
        keep: Sequence[int] = (),
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
                pass_fds=keep,
            )
        self.said: list[str] = []
        self.url = self._said_after("claudekeeper listening on ")
        self.page = None if "--no-ui" in options else self._said_after("clarvis listening on ")

    @property
    def token(self) -> str:
        return load_config(self.home.keeper).token

    @property
    def bearer(self) -> dict[str, str]:
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
        return self._said_after("/#login=")

    def link_asked_for(self) -> str:
        """A new login link, as `claudekeeper open` prints it."""
        return self.command("open").stdout.strip()

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Another `claudekeeper` on the same home."""
        return subprocess.run(
            [*COMMAND, *arguments],
            env={**os.environ, **self.home.environment(NOBODY)},
            capture_output=True,
            text=True,
            check=False,
        )

    def stop(self, sign: signal.Signals = signal.SIGTERM) -> int:
        """Send the signal, and wait for the end."""
        if self.process.poll() is None:
            self.process.send_signal(sign)
        code = self.process.wait()
        self._output.close()
        return code

    def kill(self) -> None:
        self.stop(signal.SIGKILL)

    def children(self) -> list[int]:
        """The processes that it started, at any depth."""
        found: list[int] = []
        waiting = [self.pid]
        while waiting:
            mine = [pid for pid, parent in parents().items() if parent == waiting[0]]
            found += mine
            waiting = waiting[1:] + mine
        return found

    @property
    def _output(self) -> IO[str]:
        assert self.process.stdout is not None
        return self.process.stdout

    def _said_after(self, words: str) -> str:
        for line in self._output:
            self.said.append(line)
            if words in line:
                return line.split(words, 1)[1].strip()
        raise AssertionError(f"it ended without saying {words!r}: {self.said} {self.log}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def parents() -> dict[int, int]:
    """Every process of the machine with its parent."""
    found: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            # the name stands in brackets and may contain anything
            fields = status.read_text(errors="replace").rsplit(")", 1)[1].split()
        except OSError:
            continue
        found[int(status.parent.name)] = int(fields[1])
    return found


def is_alive(pid: int) -> bool:
    """Whether it runs; one that waits for its parent to notice its end does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def samples(text: str) -> dict[str, float]:
    """The figures of /metrics by name and labels."""
    found = re.findall(r"^([a-z_]+(?:\{.*\})?) (\S+)$", text, re.MULTILINE)
    return {name: float(value) for name, value in found}


def json_lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]
