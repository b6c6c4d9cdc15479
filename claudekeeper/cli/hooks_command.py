"""`claudekeeper hooks`: prompts of terminal sessions answered through the keeper."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

import orjson

from claudekeeper.attention.hook_settings import (
    EVENTS,
    ClaudeSettingsFile,
    difference,
    hook_command,
)
from claudekeeper.cli.instance_lock import running_keeper
from claudekeeper.core.paths import claude_home, keeper_home
from claudekeeper.hook import PROBE
from claudekeeper.net.errors import ApiError

PROBE_SECONDS = 10.0


class NotConfirmed(ApiError):
    code = "not_agreed"
    sentence = "Nothing was changed."


def add_actions(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    for name, words, run in (
        ("install", "answer prompts of terminal sessions here too", install),
        ("uninstall", "remove our hooks from Claude Code's settings", uninstall),
    ):
        action = actions.add_parser(name, help=words)
        action.add_argument("--yes", action="store_true", help="do not ask for confirmation")
        action.set_defaults(run=run)
    actions.add_parser("status", help="what is installed, and whether it works").set_defaults(
        run=status
    )


def install(options: argparse.Namespace) -> None:
    settings = _settings()
    after = settings.with_hooks()
    if after == settings.text:
        print(f"The hooks are in {settings.path} already.")
        return
    settings.check_writable()
    _confirm(options, difference(settings.text, after, settings.path), "Add these hooks?")
    settings.install()
    print(f"Installed. The former settings are kept in {keeper_home()}.")
    print("Running sessions use the hooks after their next start.")


def uninstall(options: argparse.Namespace) -> None:
    settings = _settings()
    after = settings.text_after_uninstall()
    if after == (settings.text or ""):
        print(f"None of our hooks are in {settings.path}.")
        return
    settings.check_writable()
    _confirm(options, difference(settings.text, after, settings.path), "Remove them?")
    settings.uninstall()
    print("Removed.")


def status(_options: argparse.Namespace) -> None:
    settings = _settings()
    installed = settings.installed_events()
    missing = [event for event in EVENTS if event not in installed]
    print(f"settings:  {settings.path}")
    print(f"installed: {', '.join(installed) or 'none'}")
    if missing:
        print(f"missing:   {', '.join(missing)} (claudekeeper hooks install)")
    if settings.hooks_disabled():
        print('works:     no: "disableAllHooks" in the settings keeps Claude Code from running any')
    elif running_keeper(keeper_home()) is None:
        print("keeper:    does not run: terminals ask as without hooks")
    elif installed:
        print(f"works:     {_probe()}")
    if missing:
        raise SystemExit(1)


def _probe() -> str:
    """Runs the hook as Claude Code does, with an event that raises no question."""
    event = {"hook_event_name": "Notification", "session_id": "", "message": "a test"}
    try:
        ran = subprocess.run(
            ["/bin/sh", "-c", hook_command(keeper_home())],
            input=orjson.dumps(event).decode(),
            capture_output=True,
            text=True,
            env={**os.environ, PROBE: "1"},
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"no: {error}"
    if ran.stdout == "200":
        return "yes"
    return f"no: {ran.stderr.strip() or ran.stdout or 'the hook wrote nothing'}"


def _settings() -> ClaudeSettingsFile:
    return ClaudeSettingsFile(claude_home(), keeper_home())


def _confirm(options: argparse.Namespace, change: str, question: str) -> None:
    print(change)
    if options.yes:
        return
    if not sys.stdin.isatty():
        raise NotConfirmed("Nothing was changed: without a terminal, add --yes.")
    if input(f"{question} [y/N] ").strip().lower() not in ("y", "yes"):
        raise NotConfirmed
