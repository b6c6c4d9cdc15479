"""The command line: what there is to type, and who does it."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
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

    serving = commands.add_parser("serve", help="start the keeper and Clarvis, its page")
    serving.add_argument("--host", help="listen on this address (127.0.0.1)")
    serving.add_argument("--port", type=_parse_port, help="port of the keeper (7433)")
    serving.add_argument("--ui-port", type=_parse_port, help="port of Clarvis (7434)")
    serving.add_argument("--no-ui", action="store_true", help="only the keeper, without its page")
    serving.add_argument(
        "--demo",
        action="store_true",
        help="a temporary home with sample sessions and a scripted Claude: no account, no network",
    )
    serving.add_argument(
        "--allow-remote",
        action="store_true",
        help="let --host be an address that other machines can reach",
    )
    serving.add_argument("--socket", type=Path, help="a unix socket instead of the keeper's port")
    serving.add_argument("--ui-socket", type=Path, help="a unix socket instead of Clarvis's port")
    serving.add_argument("--tls-cert", metavar="FILE", help="serve TLS with this certificate (PEM)")
    serving.add_argument("--tls-key", metavar="FILE", help="and this key")
    serving.add_argument(
        "--log-format", choices=get_args(LogFormat), help="the log's lines (human)"
    )
    serving.add_argument("--log-level", choices=get_args(LogLevel), help="what the log says (info)")
    serving.set_defaults(run=run_serve)

    opening = commands.add_parser("open", help="print a link that lets one browser in, once")
    opening.add_argument("--ui-port", type=_parse_port, help="port of Clarvis (7434)")
    opening.set_defaults(run=api_commands.open_page)

    token = commands.add_parser("token", help="replace the secrets").add_subparsers(
        required=True, metavar="ACTION"
    )
    rotating = token.add_parser(
        "rotate", help="a new token: old cookies and open sockets end, also of a running keeper"
    )
    rotating.add_argument("--hooks", action="store_true", help="that of the hooks instead")
    rotating.set_defaults(run=run_rotate)

    commands.add_parser("doctor", help="what is wrong here, and how to mend it").set_defaults(
        run=run_doctor
    )
    _add_service(commands.add_parser("service", help="keep it running, under systemd"))
    archive_command.add_actions(
        commands.add_parser("archive", help="keep what Claude Code would delete")
    )
    hooks_command.add_actions(
        commands.add_parser("hooks", help="prompts of terminal sessions, answered here")
    )
    _add_api_commands(commands)
    return root


def _add_service(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("install", help="write the systemd units of this user, and start them")
    actions.add_parser("uninstall", help="stop it, and take them away")
    actions.add_parser("status", help="whether it runs, and where")
    reading = actions.add_parser("logs", help="what it wrote into the journal")
    reading.add_argument("-f", "--follow", action="store_true", help="and what it writes from now")
    reading.add_argument("-n", "--lines", type=int, default=100, help="how many (100)")
    parser.set_defaults(run=run_service)


def _add_api_commands(commands: Any) -> None:
    listing = commands.add_parser("sessions", help="the newest sessions")
    listing.add_argument("-n", "--limit", type=int, default=20, help="how many (20)")
    listing.set_defaults(run=api_commands.sessions)
    searching = commands.add_parser("search", help="find words in the messages of all sessions")
    searching.add_argument("words", nargs="+", help='words, file names, symbols, "phrases"')
    searching.add_argument("-n", "--limit", type=int, default=20, help="how many (20)")
    searching.add_argument("--workdir", metavar="DIR", help="in sessions of this directory")
    searching.add_argument("--role", choices=("user", "assistant", "system"))
    searching.add_argument("--kind", help="prompt, reply, toolResult, decision, …")
    searching.add_argument("--after", metavar="TIME", help="such as 2026-11-18")
    searching.add_argument("--before", metavar="TIME")
    searching.add_argument("--order", choices=("newest", "relevance"))
    searching.set_defaults(run=api_commands.search)
    sending = commands.add_parser(
        "send", help="say something: to the conversation it belongs to, to a session, or a new one"
    )
    sending.add_argument("text", help="what to say; - reads it from standard input")
    sending.add_argument("--session", metavar="ID", help="to this one")
    sending.add_argument("--new", action="store_true", help="to a new one, whatever it says")
    sending.add_argument("--workdir", metavar="DIR", help="where to look or begin (this directory)")
    sending.add_argument(
        "--interrupt",
        action="store_true",
        help="with --session: stop the turn that runs there and say this next",
    )
    sending.add_argument(
        "--system-prompt",
        metavar="TEXT",
        help="append this to Claude Code's own, from the session's next process on; '' clears it",
    )
    sending.set_defaults(run=api_commands.send)
    stopping = commands.add_parser("interrupt", help="stop the turn that runs in a session")
    stopping.add_argument("session", help="its id")
    stopping.add_argument(
        "--hold", action="store_true", help="hold what waits in line, instead of saying it next"
    )
    stopping.set_defaults(run=api_commands.interrupt)
    waiting = commands.add_parser("queue", help="what waits in line in a session, or is held there")
    waiting.add_argument("session", help="its id")
    waiting.add_argument(
        "action",
        nargs="?",
        choices=("show", "send", "discard"),
        default="show",
        help="send on or discard what is held; discarded words are shown for the last time",
    )
    waiting.add_argument("uuids", nargs="*", metavar="UUID", help="only these messages")
    waiting.set_defaults(run=api_commands.queue)
    using = commands.add_parser("usage", help="tokens and cost, from the transcripts")
    using.add_argument(
        "--by", choices=get_args(Grouping), default="day", help="in lines of what (day)"
    )
    using.add_argument("--after", metavar="DAY", help="from this day on (2026-03-01)")
    using.add_argument("--before", metavar="DAY", help="up to the day before this one")
    using.set_defaults(run=api_commands.usage)
    resolving = commands.add_parser("resolve", help="answer a question, or list the open ones")
    resolving.add_argument("id", nargs="?", help="which")
    resolving.add_argument("decision", nargs="?", choices=("allow", "deny"), default="deny")
    resolving.add_argument("--message", help="why not")
    resolving.add_argument("--interrupt", action="store_true", help="with deny: stop the turn, too")
    resolving.add_argument(
        "--hold", action="store_true", help="the same, and hold what waits in line"
    )
    resolving.add_argument(
        "--answer",
        metavar="QUESTION=LABEL",
        action="append",
        type=_parse_answer,
        help="can be repeated",
    )
    resolving.add_argument(
        "--further",
        metavar="CEILING=AMOUNT",
        action="append",
        type=_parse_amount,
        help="how much further an item may go (costUsd, turns or hours); can be repeated",
    )
    resolving.set_defaults(run=api_commands.resolve)


def run_serve(options: argparse.Namespace) -> None:
    asyncio.run(
        serve(
            ServeOptions(
                host=options.host,
                port=options.port,
                ui_port=options.ui_port,
                socket=options.socket,
                ui_socket=options.ui_socket,
                tls_cert=options.tls_cert,
                tls_key=options.tls_key,
                log_format=options.log_format,
                log_level=options.log_level,
                ui=not options.no_ui,
                demo=options.demo,
                allow_remote=options.allow_remote,
            )
        )
    )


def run_rotate(options: argparse.Namespace) -> None:
    """The new secret is not printed: a terminal remembers what it showed."""
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
            # as systemctl has it: 3 says that it does not run
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
        # the reader of our output went away: nothing more to say, also at exit
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
