"""`claudekeeper archive`: transcripts that Claude Code deletes after a month."""

from __future__ import annotations

import argparse

from claudekeeper.archive.archive import WARNING_DAYS, Archive, cleanup_days
from claudekeeper.core.paths import claude_home, is_session_id, keeper_home
from claudekeeper.net.errors import ApiError

MEGABYTE = 1_000_000


def add_actions(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    actions.add_parser(
        "on",
        help="keep every transcript: Claude Code deletes those older than cleanupPeriodDays",
    ).set_defaults(run=switch_on)
    actions.add_parser(
        "off", help="keep no more transcripts; those already deleted by Claude Code stay"
    ).set_defaults(run=switch_off)
    actions.add_parser(
        "status", help="what the archive holds, and what Claude Code deletes soon"
    ).set_defaults(run=status)
    restore_parser = actions.add_parser("restore", help="restore a deleted session")
    restore_parser.add_argument("session")
    restore_parser.set_defaults(run=restore)


def switch_on(_options: argparse.Namespace) -> None:
    archive = _archive()
    archive.set_enabled(on=True)
    print(f"Every transcript is kept from now on: {archive.size().kept} so far.")


def switch_off(_options: argparse.Namespace) -> None:
    _archive().set_enabled(on=False)
    print("Nothing more is kept. Deleted sessions that the archive holds stay there.")


def status(_options: argparse.Namespace) -> None:
    archive = _archive()
    size = archive.size()
    print(f"archive:   {'on' if archive.is_enabled else 'off'}")
    print(f"kept:      {size.kept} existing sessions, {size.gone} deleted ones")
    print(f"takes:     {size.cost / MEGABYTE:,.1f} MB beyond what Claude Code uses")
    if size.rewritten:
        print(f"rewritten: {size.rewritten} earlier versions of files")
    settings = claude_home() / "settings.json"
    due = archive.due_deletions(settings)
    if due:
        days = f"{cleanup_days(settings):g}"
        print(
            f"warning:   Claude Code deletes after {days} days: {len(due)} sessions go within "
            f"{WARNING_DAYS} days (claudekeeper archive on)"
        )


def restore(options: argparse.Namespace) -> None:
    if not is_session_id(options.session):
        raise ApiError("Name a session by its id; 'claudekeeper sessions' lists them.")
    print(f"Back at {_archive().restore(options.session)}")


def _archive() -> Archive:
    return Archive(claude_home() / "projects", keeper_home())
