"""The command line: `claudekeeper serve`, `claudekeeper open`."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args
from urllib import error as urlerror
from urllib import request as urlrequest

import msgspec

import claudekeeper
from claudekeeper.config import config_file, load_config, rotate_token
from claudekeeper.logs import Format, Level
from claudekeeper.model.errors import KeeperError
from claudekeeper.readers.paths import keeper_home
from claudekeeper.serving import ServeOptions, serve


def parser() -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(
        prog="claudekeeper", description="Keeps every Claude Code session within reach."
    )
    root.add_argument("--version", action="version", version=claudekeeper.__version__)
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")

    serving = commands.add_parser("serve", help="start the keeper and Clarvis, its page")
    serving.add_argument("--host", help="listen on this address (127.0.0.1)")
    serving.add_argument("--port", type=_port, help="port of the keeper (7433)")
    serving.add_argument("--ui-port", type=_port, help="port of Clarvis (7434)")
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
    serving.add_argument("--log-format", choices=get_args(Format), help="the log's lines (human)")
    serving.add_argument("--log-level", choices=get_args(Level), help="what the log says (info)")
    serving.set_defaults(run=run_serve)

    opening = commands.add_parser("open", help="print a link that lets one browser in, once")
    opening.add_argument("--ui-port", type=_port, help="port of Clarvis (7434)")
    opening.set_defaults(run=run_open)

    token = commands.add_parser("token", help="replace the secrets").add_subparsers(
        required=True, metavar="ACTION"
    )
    rotating = token.add_parser(
        "rotate", help="a new token: old cookies and open sockets end, also of a running keeper"
    )
    rotating.add_argument("--hooks", action="store_true", help="that of the hooks instead")
    rotating.set_defaults(run=run_rotate)
    return root


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
    print(f"A new {'hookToken' if options.hooks else 'token'} is in {config_file(home)}.")
    if not options.hooks:
        print("Browsers have to log in again: claudekeeper open")


def run_open(options: argparse.Namespace) -> None:
    """Ask the running Clarvis for a login link; the token proves that this is its owner."""
    config = load_config(keeper_home())
    address = f"http://127.0.0.1:{options.ui_port or config.ui_port}"
    ask = urlrequest.Request(  # noqa: S310 - a fixed http address
        f"{address}/login/code",
        method="POST",
        data=b"{}",
        headers={"Authorization": f"Bearer {config.token}", "Content-Type": "application/json"},
    )
    # a proxy of the environment has no business between this machine and itself
    opener = urlrequest.build_opener(urlrequest.ProxyHandler({}))
    try:
        with opener.open(ask, timeout=10) as answer:
            print(msgspec.json.decode(answer.read())["url"])
    except urlerror.HTTPError as error:
        raise KeeperError(
            f"Clarvis at {address} refused ({error.code}). Does it run with {keeper_home()}?"
        ) from error
    except OSError as error:
        raise KeeperError(
            f"Nothing answers at {address}. Start it with: claudekeeper serve"
        ) from error


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    try:
        options.run(options)
    except KeeperError as error:
        print(f"claudekeeper: {error.message}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # the reader of our output went away: nothing more to say, also at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _port(text: str) -> int:
    if not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: a number from 0 to 65535")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
