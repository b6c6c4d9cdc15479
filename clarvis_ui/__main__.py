"""`clarvis`: the server of the page alone, for a keeper that runs here or elsewhere."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from claudekeeper.net.addresses import is_loopback
from claudekeeper.net.host_guard import HostGuard, NameInvalid
from claudekeeper.net.listen import ListenAddress, TlsFiles, TlsInvalid
from claudekeeper.net.trusted_proxies import TrustedProxies, TrustedProxyInvalid

from .roots import Roots, RootsInvalid
from .server import run_clarvis
from .settings import (
    DEFAULT_HOST,
    DEFAULT_KEEPER,
    DEFAULT_PORT,
    ClarvisSettings,
    SettingsInvalid,
)
from .token_file import TokenFile, keeper_config_path

ROOTS_VARIABLE = "CLARVIS_ALLOWED_ROOTS"
# the second is for tests of the page
KNOWN_VARIABLES = {ROOTS_VARIABLE, "CLARVIS_E2E"}


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="clarvis", description=__doc__)
    parser.add_argument(
        "--keeper", metavar="URL", default=DEFAULT_KEEPER, help="URL of the keeper (%(default)s)"
    )
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        type=Path,
        help="the keeper's config.json, or a file with its token (~/.claudekeeper/config.json)",
    )
    parser.add_argument("--host", default=DEFAULT_HOST, help="listen on this address (%(default)s)")
    parser.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help="listen on this port (%(default)s)"
    )
    parser.add_argument(
        "--allow-remote",
        action="store_true",
        help="accept a --host that other machines can reach",
    )
    parser.add_argument(
        "--allowed-host",
        metavar="NAME",
        action="append",
        default=[],
        help="a host name that browsers may use for this server; can be repeated",
    )
    parser.add_argument(
        "--trusted-proxy",
        metavar="ADDRESS",
        action="append",
        default=[],
        help="a proxy whose X-Forwarded headers are believed ('unix': on --socket)",
    )
    parser.add_argument("--socket", metavar="PATH", type=Path, help="listen on a unix socket")
    parser.add_argument(
        "--tls-cert", metavar="FILE", type=Path, help="certificate to serve TLS (PEM)"
    )
    parser.add_argument("--tls-key", metavar="FILE", type=Path, help="key of the certificate (PEM)")
    parser.add_argument(
        "--keeper-cert",
        metavar="FILE",
        type=Path,
        help="certificate of the keeper, if no authority signed it",
    )
    return parser


def settings_from(options: argparse.Namespace) -> ClarvisSettings:
    local = options.socket is not None or is_loopback(options.host)
    if not local and not options.allow_remote:
        raise SettingsInvalid(
            f"--host {options.host} can be reached from other machines, and whoever logs in "
            "can run commands on this one; add --allow-remote if that is intended"
        )
    return ClarvisSettings(
        keeper=options.keeper,
        token=TokenFile(options.token_file or keeper_config_path()),
        roots=Roots.parse(os.environ.get(ROOTS_VARIABLE)),
        host_guard=HostGuard(
            options.host, options.allowed_host, TrustedProxies(options.trusted_proxy)
        ),
        keeper_certificate=options.keeper_cert,
    )


def listen_address_from(options: argparse.Namespace) -> ListenAddress:
    if (options.tls_cert is None) != (options.tls_key is None):
        raise SettingsInvalid("--tls-cert and --tls-key belong together")
    tls = TlsFiles(options.tls_cert, options.tls_key) if options.tls_cert else None
    return ListenAddress(options.host, options.port, path=options.socket, tls=tls)


async def serve(settings: ClarvisSettings, address: ListenAddress) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stopped.set)
    async with run_clarvis(settings, address=address) as clarvis:
        print(f"clarvis listening on {clarvis.url}", flush=True)
        print(f"open {clarvis.login_link()}", flush=True)
        await stopped.wait()


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    for name in sorted(os.environ):
        # with a misspelled name every directory would be shown
        if name.startswith("CLARVIS_") and name not in KNOWN_VARIABLES:
            print(
                f"clarvis: {name} is not a setting and is ignored. It is {ROOTS_VARIABLE}.",
                file=sys.stderr,
            )
    try:
        asyncio.run(serve(settings_from(options), listen_address_from(options)))
    except (SettingsInvalid, RootsInvalid, NameInvalid, TrustedProxyInvalid, TlsInvalid) as error:
        print(f"clarvis: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"clarvis: cannot listen on {listen_address_from(options)}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
