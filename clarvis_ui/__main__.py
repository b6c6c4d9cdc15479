"""`clarvis`: only the page's server, for a keeper that runs already, here or elsewhere."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from .roots import Roots, RootsInvalid
from .server import running
from .settings import (
    DEFAULT_HOST,
    DEFAULT_KEEPER,
    DEFAULT_PORT,
    Settings,
    SettingsInvalid,
    TokenFile,
    host_names,
    is_loopback,
    keeper_config,
)


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="clarvis", description=__doc__)
    parser.add_argument(
        "--keeper", metavar="URL", default=DEFAULT_KEEPER, help="where the keeper is (%(default)s)"
    )
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        type=Path,
        help="the keeper's config.json, or a file with its token (~/.claudekeeper/config.json)",
    )
    parser.add_argument("--host", default=DEFAULT_HOST, help="listen here (%(default)s)")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="and here (%(default)s)")
    parser.add_argument(
        "--allow-remote",
        action="store_true",
        help="let --host be an address that other machines can reach",
    )
    parser.add_argument(
        "--allowed-host",
        metavar="NAME",
        action="append",
        default=[],
        help="a name under which browsers may call this server; can be repeated",
    )
    return parser


def settings_from(options: argparse.Namespace) -> Settings:
    if not options.allow_remote and not is_loopback(options.host):
        raise SettingsInvalid(
            f"--host {options.host} can be reached from other machines, and whoever logs in "
            "can run commands on this one; add --allow-remote if that is meant"
        )
    return Settings(
        keeper=options.keeper,
        token=TokenFile(options.token_file or keeper_config()),
        roots=Roots.parse(os.environ.get("CLARVIS_ALLOWED_ROOTS")),
        hosts=host_names(options.host, options.allowed_host),
    )


async def serve(settings: Settings, host: str, port: int) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stopped.set)
    async with running(settings, host, port) as clarvis:
        print(f"clarvis listening on {clarvis.url}", flush=True)
        print(f"open {clarvis.login_link()}", flush=True)
        await stopped.wait()


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    try:
        asyncio.run(serve(settings_from(options), options.host, options.port))
    except (SettingsInvalid, RootsInvalid) as error:
        print(f"clarvis: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"clarvis: cannot listen on {options.host}:{options.port}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
