"""`claudekeeper serve`: the keeper and Clarvis in one process, until a signal ends them."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import ipaddress
import logging
import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from clarvis_ui.roots import Roots, RootsInvalid
from clarvis_ui.server import running
from clarvis_ui.settings import Settings, SettingsInvalid, TokenFile, host_names
from claudekeeper.config import Config, config_file, load_config
from claudekeeper.edge.app import Places, create_app
from claudekeeper.live.memory import be_frugal
from claudekeeper.model.errors import ConfigInvalid, KeeperError
from claudekeeper.readers.paths import cache_file, claude_home, keeper_home

log = logging.getLogger(__name__)

# a client that holds a stream open must not hold up a restart
SHUTDOWN_TIMEOUT = 2.0
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
        host = options.host or config.host
        _check_host(host, allowed=options.allow_remote)
        keeper = await stack.enter_async_context(
            _keeper(config, home, host, config.port if options.port is None else options.port)
        )
        print(f"claudekeeper listening on {keeper}", flush=True)
        if options.ui:
            port = config.ui_port if options.ui_port is None else options.ui_port
            await _start_clarvis(stack, config, home, keeper, host, port)
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
async def _keeper(config: Config, home: Path, host: str, port: int) -> AsyncIterator[str]:
    """Serve the API; yields its address."""
    projects = claude_home() / "projects"
    places = Places(projects, home / "state.json", cache_file(projects))
    app = create_app(config, places, await asyncio.to_thread(cli_version))
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_TIMEOUT)
    await runner.setup()
    try:
        with _address(host, port, "--port"):
            await web.TCPSite(runner, host, port).start()
        yield f"http://{_in_url(_reachable(host))}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def _start_clarvis(
    stack: AsyncExitStack, config: Config, home: Path, keeper: str, host: str, port: int
) -> None:
    try:
        settings = Settings(
            keeper=keeper,
            token=TokenFile(config_file(home)),
            roots=Roots.parse(os.environ.get("CLARVIS_ALLOWED_ROOTS")),
            hosts=host_names(host, config.allowed_hosts),
        )
    except (SettingsInvalid, RootsInvalid) as error:
        raise ConfigInvalid(str(error)) from error
    with _address(host, port, "--ui-port"):
        clarvis = await stack.enter_async_context(running(settings, host, port))
    print(f"clarvis listening on {clarvis.url}", flush=True)
    print(
        f"\nOpen this link to log in (it works once; 'claudekeeper open' makes another):\n"
        f"  {clarvis.login_link()}",
        flush=True,
    )


@contextlib.contextmanager
def _address(host: str, port: int, option: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise AddressTaken(
            f"Cannot listen on {host}:{port} ({error.strerror or error}). "
            f"Is a keeper running already? Another port can be chosen with {option}."
        ) from error


def _check_host(host: str, *, allowed: bool) -> None:
    if is_loopback(host):
        return
    if not allowed:
        raise ConfigInvalid(
            f"{host} can be reached from other machines, and whoever has the token can run "
            "commands on this one. If that is meant, add --allow-remote."
        )
    log.warning("listening on %s: other machines can reach this keeper", host)


def is_loopback(host: str) -> bool:
    """Only what is certainly loopback counts; '0', '::' and unknown names do not."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _reachable(host: str) -> str:
    """An address to go to on this machine: a wildcard is none."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host
    if not address.is_unspecified:
        return host
    return "127.0.0.1" if address.version == 4 else "::1"


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


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
