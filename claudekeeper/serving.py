"""`claudekeeper serve`: the keeper and Clarvis in one process, until a signal ends them."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import logging
import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from clarvis_ui.roots import Roots, RootsInvalid
from clarvis_ui.server import running
from clarvis_ui.settings import Settings, SettingsInvalid, TokenFile
from claudekeeper.config import Config, config_file, load_config
from claudekeeper.credentials import CredentialsFile
from claudekeeper.edge.app import Places, create_app
from claudekeeper.live.memory import be_frugal
from claudekeeper.model.errors import ConfigInvalid, KeeperError
from claudekeeper.readers.paths import cache_file, claude_home, keeper_home
from doorway.addresses import is_loopback
from doorway.gate import Gate, NameInvalid
from doorway.listening import Place, Tls, TlsInvalid, served
from doorway.proxies import Proxies, ProxyInvalid

log = logging.getLogger(__name__)

VERSION_TIMEOUT = 10.0


class AddressTaken(KeeperError):
    code = "address_taken"
    sentence = "The address is in use."


@dataclass(frozen=True)
class ServeOptions:
    """What the command line says; None leaves it to config.json."""

    host: str | None = None
    port: int | None = None
    ui_port: int | None = None
    # paths of unix sockets, instead of a port
    socket: Path | None = None
    ui_socket: Path | None = None
    tls_cert: str | None = None
    tls_key: str | None = None
    ui: bool = True
    demo: bool = False
    allow_remote: bool = False


async def serve(options: ServeOptions) -> None:
    """Run until SIGINT or SIGTERM."""
    be_frugal()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    # it says at every start of a CLI which one it starts
    logging.getLogger("claude_agent_sdk").setLevel(logging.WARNING)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stopped.set)
    async with AsyncExitStack() as stack:
        if options.demo:
            await _set_up_demo(stack, stopped)
            if stopped.is_set():
                return
        home = keeper_home()
        config = load_config(home)
        host = config.host if options.host is None else options.host
        port = config.port if options.port is None else options.port
        place = Place(host, port, path=options.socket, tls=_tls(options, config))
        _check_host(place, allowed=options.allow_remote)
        gate = _gate(config, host)
        keeper = await stack.enter_async_context(_keeper(config, home, place, gate))
        print(f"claudekeeper listening on {keeper}", flush=True)
        if options.ui:
            port = config.ui_port if options.ui_port is None else options.ui_port
            page = Place(host, port, path=options.ui_socket, tls=place.tls)
            _check_host(page, allowed=options.allow_remote)
            await _start_clarvis(stack, home, keeper, page, gate)
        await stopped.wait()


async def _set_up_demo(stack: AsyncExitStack, stopped: asyncio.Event) -> None:
    """A home of its own, with sessions in it; this process lives there from now on."""
    from claudekeeper.demo.running import demo

    print("Making a demo: a dozen sample sessions, a few seconds…", flush=True)
    setting_up = asyncio.get_running_loop().create_task(
        stack.enter_async_context(demo(progress=lambda step: print(f"  {step}", flush=True))),
        name="demo",
    )
    stopping = asyncio.get_running_loop().create_task(stopped.wait(), name="demo:stop")
    await asyncio.wait({setting_up, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not setting_up.done():
        setting_up.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await setting_up
        return
    os.environ.update((await setting_up).environment)


@asynccontextmanager
async def _keeper(config: Config, home: Path, place: Place, gate: Gate) -> AsyncIterator[str]:
    """Serve the API; yields its address."""
    projects = claude_home() / "projects"
    places = Places(projects, home / "state.json", cache_file(projects))
    version = await asyncio.to_thread(cli_version)
    app = create_app(config, places, version, gate=gate, credentials=CredentialsFile(home))
    async with AsyncExitStack() as stack:
        with _address(place, "--port"):
            url = await stack.enter_async_context(served(app, place))
        yield url


async def _start_clarvis(
    stack: AsyncExitStack, home: Path, keeper: str, place: Place, gate: Gate
) -> None:
    try:
        settings = Settings(
            keeper=keeper,
            token=TokenFile(config_file(home)),
            roots=Roots.parse(os.environ.get("CLARVIS_ALLOWED_ROOTS")),
            gate=gate,
            keeper_certificate=place.tls.certificate if place.tls else None,
        )
    except (SettingsInvalid, RootsInvalid) as error:
        raise ConfigInvalid(str(error)) from error
    with _address(place, "--ui-port"):
        clarvis = await stack.enter_async_context(running(settings, place=place))
    print(f"clarvis listening on {clarvis.url}", flush=True)
    print(
        f"\nOpen this link to log in (it works once; 'claudekeeper open' makes another):\n"
        f"  {clarvis.login_link()}",
        flush=True,
    )


@contextlib.contextmanager
def _address(place: Place, option: str) -> Iterator[None]:
    try:
        yield
    except TlsInvalid as error:
        raise ConfigInvalid(f"{error}.") from error
    except OSError as error:
        raise AddressTaken(
            f"Cannot listen on {place} ({error.strerror or error}). "
            f"Is a keeper running already? Another port can be chosen with {option}."
        ) from error


def _check_host(place: Place, *, allowed: bool) -> None:
    if place.path is not None or is_loopback(place.host):
        return
    if not allowed:
        raise ConfigInvalid(
            f"{place.host or 'An empty address'} can be reached from other machines, and whoever "
            "has the token can run commands on this one. If that is meant, add --allow-remote."
        )
    log.warning("listening on %s: other machines can reach this keeper", place.host or "*")
    if place.tls is None:
        log.warning("without TLS the token can be read on the way; see tlsCert, or use a proxy")


def _gate(config: Config, host: str) -> Gate:
    try:
        return Gate(host, config.allowed_hosts, Proxies(config.trusted_proxies))
    except NameInvalid as error:
        raise ConfigInvalid(f"allowedHosts in config.json: {error}.") from error
    except ProxyInvalid as error:
        raise ConfigInvalid(f"trustedProxies in config.json: {error}.") from error


def _tls(options: ServeOptions, config: Config) -> Tls | None:
    certificate = options.tls_cert or config.tls_cert
    key = options.tls_key or config.tls_key
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise ConfigInvalid("A certificate and its key belong together: tlsCert and tlsKey.")
    return Tls(Path(certificate), Path(key))


def cli_version() -> str:
    """The version of the CLI that sessions will run with; the SDK itself is not imported yet."""
    other = os.environ.get("CLAUDEKEEPER_CLI")
    if other:
        try:
            ran = subprocess.run(
                [other, "--version"],
                capture_output=True,
                text=True,
                timeout=VERSION_TIMEOUT,
                check=True,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise ConfigInvalid(f"CLAUDEKEEPER_CLI={other} does not run: {error}.") from error
        return ran.stdout.split()[0] if ran.stdout.strip() else "unknown"
    spec = importlib.util.find_spec("claude_agent_sdk")
    for folder in spec.submodule_search_locations or () if spec else ():
        with contextlib.suppress(OSError):
            text = Path(folder, "_cli_version.py").read_text(encoding="utf-8")
            if found := re.search(r"""["']([0-9][^"']*)["']""", text):
                return found[1]
    return "unknown"
