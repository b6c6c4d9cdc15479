"""A person at a real terminal: the real CLI inside of tmux, against the scripted API."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import claude_agent_sdk
import pytest

from tests.support.waiting import wait_for, wait_until

CLI = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
PROMPT_SIGN = "❯"


class Tmux:
    """A server of its own: no other session of the machine is touched."""

    def __init__(self, folder: Path) -> None:
        self._socket = str(folder / "tmux.sock")

    def run(self, *arguments: str) -> str:
        ran = subprocess.run(
            ["tmux", "-S", self._socket, "-f", "/dev/null", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        return ran.stdout

    def stop(self) -> None:
        self.run("kill-server")


class Terminal:
    """One window with Claude Code in it."""

    def __init__(self, tmux: Tmux, workdir: Path, environment: Mapping[str, str]) -> None:
        self._tmux = tmux
        self._workdir = workdir
        self._environment = environment
        self._name = f"t{uuid4().hex[:8]}"

    async def start(self, *arguments: str) -> Terminal:
        """Start Claude Code; returns when it waits for a prompt."""
        words = ["env", "-i", *(f"{name}={value}" for name, value in self._environment.items())]
        words += [str(CLI), "--permission-mode", "default", *arguments]
        size = ("-x", "150", "-y", "50")
        where = ("-c", str(self._workdir))
        await asyncio.to_thread(
            self._tmux.run, "new-session", "-d", "-s", self._name, *size, *where, *words
        )
        await self.wait_for_text(PROMPT_SIGN)
        return self

    async def type_line(self, text: str) -> None:
        """Type a line; the key that sends it comes when the line stands there."""
        await self.press("-l", text)
        await self.wait_for_text(text)
        await self.press("Enter")

    async def press(self, *keys: str) -> None:
        await asyncio.to_thread(self._tmux.run, "send-keys", "-t", self._name, *keys)

    async def screen(self) -> str:
        return await asyncio.to_thread(self._tmux.run, "capture-pane", "-p", "-t", self._name)

    async def confirm(self, prompt: str) -> None:
        """Press Enter until the prompt is gone: one that has just appeared takes no keys yet.

        Nothing tells that a key was lost, so the next one comes after a while.
        """
        while prompt in await self.screen():
            await self.press("Enter")
            await asyncio.sleep(0.2)

    async def escape_prompt(self, prompt: str) -> None:
        """Press Esc, again only after a while: pressed twice it would open a list to rewind to."""
        while True:
            await self.press("Escape")
            for _ in range(50):
                if prompt not in await self.screen():
                    return
                await asyncio.sleep(0.1)

    async def switch_to_mode(self, mode: str) -> None:
        """Press shift and tab until the terminal says that it is in this mode.

        The next key comes when the mode has changed: pressed before, it would lead past the one
        that is wanted. A key may be lost, so nobody waits for that without end.
        """
        while mode not in (screen := await self.screen()):
            before = mode_shown_on(screen)
            await self.press("BTab")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(10):
                    await wait_for(self.screen, lambda now, was=before: mode_shown_on(now) != was)

    async def wait_for_text(self, text: str) -> None:
        await wait_for(self.screen, lambda screen: text in screen)

    async def wait_until_gone(self, text: str) -> None:
        await wait_for(self.screen, lambda screen: text not in screen)


def mode_shown_on(screen: str) -> str:
    """The permission mode below the field; the default mode has no name there."""
    match = re.search(r"(\S+ \S+) on \(shift\+tab", screen)
    return match[1] if match else ""


def prepare_claude_home(
    workdir: Path, environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """A Claude Code that asks nothing at its first start; returns its environment."""
    home = Path(environment["CLAUDE_CONFIG_DIR"])
    settled: dict[str, Any] = {
        "hasCompletedOnboarding": True,
        "lastOnboardingVersion": "9.9.9",
        "theme": "dark",
        # it says so when a person lets it wait: after a minute, unless told
        "messageIdleNotifThresholdMs": 1_000,
        "customApiKeyResponses": {"approved": [environment["ANTHROPIC_API_KEY"]], "rejected": []},
        "projects": {
            str(workdir): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        },
    }
    (home / ".claude.json").write_text(json.dumps(settled))
    wanted = ("HOME", "CLAUDE", "ANTHROPIC_", "DISABLE_", "XDG_")
    fields = {name: value for name, value in environment.items() if name.startswith(wanted)}
    return {
        **fields,
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "CLAUDE_CODE_TMPDIR": str(home.parent / "t"),
    }


def presence_files() -> list[Any]:
    """What running Claude Codes say of themselves."""
    folder = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "sessions"
    presences = []
    for path in folder.glob("*.json"):
        try:
            presences.append(json.loads(path.read_text()))
        except (OSError, ValueError):
            continue  # just being written
    return presences


async def wait_for_only_presence() -> Any:
    await wait_until(lambda: len(presence_files()) == 1)
    return presence_files()[0]
