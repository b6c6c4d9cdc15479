"""The arguments of the command line, and the functions that carry them out."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import claudekeeper
from claudekeeper.cli import api_commands, archive_command, doctor, hooks_command, service
from claudekeeper.cli.serve import ServeOptions, serve
from claudekeeper.core.config import config_path, rotate_token
from claudekeeper.core.logs import LogFormat, LogLevel
from claudekeeper.core.paths import keeper_home
from claudekeeper.net.errors import ApiError
from claudekeeper.usage.usage import Grouping


def build_parser() -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(
        prog="claudekeeper", description="Keeps every Claude Code session within reach."
    )
    root.add_argument("--version", action="version", version=claudekeeper.__version__)
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")

    parser = commands.add_parser("serve", help="start the keeper and Clarvis, its page")
    parser.add_argument("--host", help="listen on this address (127.0.0.1)")
    parser.add_argument("--port", type=_parse_port, help="port of the keeper (7433)")
    parser.add_argument("--ui-port", type=_parse_port, help="port of Clarvis (7434)")
    parser.add_argument(
        "--no-ui", dest="ui", action="store_false", help="start the keeper without Clarvis"
    )
    parser.add_argument(
        "--demo",
        action="store_true",
        help="a temporary home with sample sessions and a scripted Claude: no account, no network",
    )
    parser.add_argument(
        "--allow-remote",
        action="store_true",
        help="accept a --host that other machines can reach",
    )
    parser.add_argument("--socket", type=Path, help="a unix socket instead of the keeper's port")
    parser.add_argument("--ui-socket", type=Path, help="a unix socket instead of Clarvis's port")
    parser.add_argument("--tls-cert", metavar="FILE", help="serve TLS with this certificate (PEM)")
    parser.add_argument("--tls-key", metavar="FILE", help="the key of the certificate (PEM)")
    parser.add_argument(
        "--log-format", choices=get_args(LogFormat), help="format of the log (human)"
    )
    parser.add_argument(
        "--log-level", choices=get_args(LogLevel), help="least level of the log (info)"
    )
    parser.set_defaults(run=run_serve)

    parser = commands.add_parser("open", help="print a login link, which works once")
    parser.add_argument("--ui-port", type=_parse_port, help="port of Clarvis (7434)")
    parser.set_defaults(run=api_commands.open_page)

    token = commands.add_parser("token", help="replace the tokens").add_subparsers(
        required=True, metavar="ACTION"
    )
    rotate = token.add_parser(
        "rotate",
        help="make a new token; it ends logins and connections, also those of a running keeper",
    )
    rotate.add_argument(
        "--hooks", action="store_true", help="replace the token of the hooks instead"
    )
    rotate.set_defaults(run=run_rotate)

    commands.add_parser(
        "doctor", help="check this machine, and say how to mend what is wrong"
    ).set_defaults(run=run_doctor)
    _add_service(commands.add_parser("service", help="run the keeper as a service of systemd"))
    archive_command.add_actions(
        commands.add_parser("archive", help="keep transcripts that Claude Code deletes")
    )
    hooks_command.add_actions(
        commands.add_parser(
            "hooks", help="answer the permission prompts of terminal sessions here too"
        )
    )
    _add_api_commands(commands)
    return root


def _add_service(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("install", help="write the systemd units of this user, and start them")
    actions.add_parser("uninstall", help="stop the service, and delete its units")
    actions.add_parser("status", help="whether a keeper runs, and where")
    logs = actions.add_parser("logs", help="show its log in the journal")
    logs.add_argument("-f", "--follow", action="store_true", help="wait for new lines")
    logs.add_argument("-n", "--lines", type=int, default=100, help="number of lines (100)")
    parser.set_defaults(run=run_service)


def _add_api_commands(commands: Any) -> None:
    sessions = commands.add_parser("sessions", help="list the newest sessions")
    sessions.add_argument("-n", "--limit", type=int, default=20, help="how many at most (20)")
    sessions.set_defaults(run=api_commands.sessions)
    search = commands.add_parser("search", help="find words in the messages of all sessions")
    search.add_argument("words", nargs="+", help='words, file names, symbols, "phrases"')
    search.add_argument("-n", "--limit", type=int, default=20, help="how many at most (20)")
    search.add_argument("--workdir", metavar="DIR", help="only in sessions of this directory")
    search.add_argument("--role", choices=("user", "assistant", "system"))
    search.add_argument("--kind", help="prompt, reply, toolResult, decision, …")
    search.add_argument("--after", metavar="TIME", help="such as 2026-11-18")
    search.add_argument("--before", metavar="TIME")
    search.add_argument("--order", choices=("newest", "relevance"))
    search.set_defaults(run=api_commands.search)
    send = commands.add_parser(
        "send",
        help="send a prompt: to the session where it belongs, to a named one, or to a new one",
    )
    send.add_argument("text", help="the prompt; - reads it from standard input")
    send.add_argument("--session", metavar="ID", help="send it to this session")
    send.add_argument("--new", action="store_true", help="send it to a new session")
    send.add_argument(
        "--workdir", metavar="DIR", help="where to look for a session or begin one (this directory)"
    )
    send.add_argument(
        "--interrupt",
        action="store_true",
        help="with --session: stop the turn under way and send this next",
    )
    send.add_argument(
        "--system-prompt",
        metavar="TEXT",
        help="append this to Claude Code's own, from the session's next process on; '' clears it",
    )
    send.set_defaults(run=api_commands.send)
    interrupt = commands.add_parser("interrupt", help="stop the turn under way in a session")
    interrupt.add_argument("session", help="id of the session")
    interrupt.add_argument(
        "--hold", action="store_true", help="hold the queue instead of sending it next"
    )
    interrupt.set_defaults(run=api_commands.interrupt)
    queue = commands.add_parser("queue", help="show the queue of a session, with held messages")
    queue.add_argument("session", help="id of the session")
    queue.add_argument(
        "action",
        nargs="?",
        choices=("show", "send", "discard"),
        default="show",
        help="send or discard held messages; discarded ones are shown a last time",
    )
    queue.add_argument("uuids", nargs="*", metavar="UUID", help="only these messages")
    queue.set_defaults(run=api_commands.queue)
    usage = commands.add_parser("usage", help="show tokens and cost, from the transcripts")
    usage.add_argument(
        "--by", choices=get_args(Grouping), default="day", help="one line for each (day)"
    )
    usage.add_argument("--after", metavar="DAY", help="from this day on, such as 2026-03-01")
    usage.add_argument("--before", metavar="DAY", help="before this day")
    usage.set_defaults(run=api_commands.usage)
    resolve = commands.add_parser("resolve", help="answer an open question, or list all of them")
    resolve.add_argument("id", nargs="?", help="id of the question")
    resolve.add_argument("decision", nargs="?", choices=("allow", "deny"), default="deny")
    resolve.add_argument("--message", help="why it is denied")
    resolve.add_argument("--interrupt", action="store_true", help="with deny: stop the turn too")
    resolve.add_argument(
        "--hold", action="store_true", help="with deny: stop the turn and hold the queue"
    )
    resolve.add_argument(
        "--answer",
        metavar="QUESTION=LABEL",
        action="append",
        type=_parse_answer,
        help="answer to a question of several; can be repeated",
    )
    resolve.add_argument(
        "--further",
        metavar="CEILING=AMOUNT",
        action="append",
        type=_parse_amount,
        help="how much more an item may use (costUsd, turns or hours); can be repeated",
    )
    resolve.set_defaults(run=api_commands.resolve)


def run_serve(options: argparse.Namespace) -> None:
    chosen = {each.name: getattr(options, each.name) for each in fields(ServeOptions)}
    asyncio.run(serve(ServeOptions(**chosen)))


def run_rotate(options: argparse.Namespace) -> None:
    """Replaces a token. It is not printed, since terminals keep what they show."""
    home = keeper_home()
    rotate_token(home, hooks=options.hooks)
    print(f"A new {'hookToken' if options.hooks else 'token'} is in {config_path(home)}.")
    if not options.hooks:
        print("Browsers have to log in again: claudekeeper open")


def run_doctor(_options: argparse.Namespace) -> int:
    findings = doctor.run_checks()
    print(doctor.render_report(findings))
    return int(any(each.verdict == "wrong" for each in findings))


def run_service(options: argparse.Namespace) -> int:
    match options.action:
        case "install":
            print(service.install())
        case "uninstall":
            print(service.uninstall())
        case "logs":
            return service.show_logs(follow=options.follow, lines=options.lines)
        case _:
            text, runs = service.status()
            print(text)
            # 3 means that it does not run, as with systemctl
            return 0 if runs else 3
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    try:
        return options.run(options) or 0
    except ApiError as error:
        print(f"claudekeeper: {error.message}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # the reader of our output went away: write nothing more, also not at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        if error.filename is None:
            raise
        print(f"claudekeeper: {error.filename}: {error.strerror}.", file=sys.stderr)
        return 2


def _parse_answer(text: str) -> str:
    if "=" not in text:
        raise argparse.ArgumentTypeError(f"{text!r} is not QUESTION=LABEL")
    return text


def _parse_amount(text: str) -> tuple[str, float]:
    name, _, amount = text.partition("=")
    try:
        return name, int(amount) if amount.isdecimal() else float(amount)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not CEILING=AMOUNT") from None


def _parse_port(text: str) -> int:
    if not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: a number from 0 to 65535")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
