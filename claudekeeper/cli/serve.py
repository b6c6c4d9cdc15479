"""`claudekeeper serve`: the keeper and Clarvis in one process, until a signal ends it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import importlib.util
import logging
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from clarvis_ui.roots import Roots, RootsInvalid
from clarvis_ui.server import Clarvis, run_clarvis
from clarvis_ui.settings import ClarvisSettings, SettingsInvalid
from clarvis_ui.token_file import TokenFile
from claudekeeper.cli.instance_lock import hold_instance_lock
from claudekeeper.cli.sd_notify import Notifier
from claudekeeper.contract.errors import ConfigInvalid
from claudekeeper.core import logs
from claudekeeper.core.config import Config, config_path, config_warnings, load_config
from claudekeeper.core.config_check import unknown_variables
from claudekeeper.core.credentials import CredentialsFile
from claudekeeper.core.paths import cache_file, claude_home, keeper_home
from claudekeeper.core.runtime_options import tune_malloc
from claudekeeper.core.tasks import Tasks
from claudekeeper.core.worker_threads import set_switch_interval
from claudekeeper.net.errors import ApiError
from claudekeeper.net.host_guard import HostGuard, NameInvalid
from claudekeeper.net.listen import ListenAddress, TlsFiles, TlsInvalid, serve_app
from claudekeeper.net.socket_activation import inherited_sockets
from claudekeeper.net.trusted_proxies import TrustedProxies, TrustedProxyInvalid
from claudekeeper.server.app import create_app
from claudekeeper.server.app_keys import SHUTDOWN
from claudekeeper.server.data_paths import DataPaths
from claudekeeper.sessions.cli.orphans import OWNER_VARIABLE, end_orphans
from claudekeeper.sessions.shutdown import Shutdown

T = TypeVar("T")

log = logging.getLogger(__name__)

VERSION_TIMEOUT = 10.0


class AddressInUse(ApiError):
    code = "address_taken"
    sentence = "The address is in use."


@dataclass(frozen=True)
class ServeOptions:
    """The options of the command line; None leaves a value to config.json."""

    host: str | None = None
    port: int | None = None
    ui_port: int | None = None
    # paths of unix sockets, instead of a port
    socket: Path | None = None
    ui_socket: Path | None = None
    tls_cert: str | None = None
    tls_key: str | None = None
    log_format: logs.LogFormat | None = None
    log_level: logs.LogLevel | None = None
    ui: bool = True
    demo: bool = False
    allow_remote: bool = False


async def serve(options: ServeOptions) -> None:
    """Run until SIGINT, SIGTERM, or until the terminal is closed."""
    tune_malloc()
    set_switch_interval()
    logs.set_up_logging(options.log_format or "human", options.log_level or "info")
    # both remove their variables from the environment before any child could inherit them
    notifier = Notifier(os.environ)
    sockets = inherited_sockets(os.environ)
    # a keeper can be started from the shell of a session of another keeper
    os.environ.pop(OWNER_VARIABLE, None)
    stopped, stopped_again = asyncio.Event(), asyncio.Event()

    def handle_signal() -> None:
        (stopped_again if stopped.is_set() else stopped).set()

    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, handle_signal)
    # a keeper started by nohup outlives its terminal
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        loop.add_signal_handler(signal.SIGHUP, handle_signal)
    async with AsyncExitStack() as stack:
        if options.demo:
            await _set_up_demo(stack, stopped)
            if stopped.is_set():
                return
        home = keeper_home()
        config = load_config(home)
        credentials = CredentialsFile(home)
        logs.set_up_logging(
            options.log_format or config.log_format,
            options.log_level or config.log_level,
            lambda: credentials().secrets,
        )
        # as errors, so that no log level hides them
        for warning in config_warnings(home):
            log.error("config.json: %s", warning)
        for warning in unknown_variables(os.environ):
            log.error("environment: %s", warning)
        instance = stack.enter_context(hold_instance_lock(home))
        # processes that a killed keeper left; and at the end those that did not end with us
        await asyncio.to_thread(end_orphans, home)
        stack.push_async_callback(asyncio.to_thread, end_orphans, home)
        address, ui_address = _listen_addresses(options, config, sockets)
        host_guard = _host_guard(config, address.host)
        keeper, shutdown = await stack.enter_async_context(
            _serve_keeper(config, credentials, home, address, host_guard)
        )
        # before the line is printed: its reader may look for the keeper at once
        instance.announce(keeper=keeper)
        print(f"claudekeeper listening on {keeper}", flush=True)
        if options.ui:
            clarvis = await _start_clarvis(stack, home, keeper, ui_address, host_guard)
            instance.announce(clarvis=clarvis.url)
            print(f"clarvis listening on {clarvis.url}", flush=True)
            if not notifier.is_enabled:
                # the output of a service goes to the journal, where no login link belongs
                _print_login_link(clarvis, _open_command(home if options.demo else None))
        notifier.notify_ready(f"listening on {keeper}")
        if notifier.watchdog_interval is not None:
            tasks = Tasks()
            stack.push_async_callback(tasks.close)
            tasks.every(notifier.watchdog_interval, notifier.notify_alive, name="serve:watchdog")
        await stopped.wait()
        notifier.notify_stopping("waiting for running turns")
        await _race(shutdown.drain(config.limits.drain_seconds), stopped_again.wait())


async def _set_up_demo(stack: AsyncExitStack, stopped: asyncio.Event) -> None:
    """Makes a temporary home with sessions, which this process uses from now on."""
    from claudekeeper.demo.start import start_demo

    print("Making a demo: a dozen sample sessions, a few seconds…", flush=True)
    demo = await _race(
        stack.enter_async_context(start_demo(progress=lambda step: print(f"  {step}", flush=True))),
        stopped.wait(),
    )
    if demo is not None:
        os.environ.update(demo.environment)


async def _race(work: Coroutine[Any, Any, T], end: Coroutine[Any, Any, Any]) -> T | None:
    """The result of `work`, or None if `end` came first."""
    loop = asyncio.get_running_loop()
    working, ending = loop.create_task(work, name="work"), loop.create_task(end, name="end")
    try:
        await asyncio.wait({working, ending}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        ending.cancel()
        if not working.done():
            working.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        return await working
    return None


@asynccontextmanager
async def _serve_keeper(
    config: Config,
    credentials: CredentialsFile,
    home: Path,
    address: ListenAddress,
    host_guard: HostGuard,
) -> AsyncIterator[tuple[str, Shutdown]]:
    """Serves the API; yields its URL and its shutdown."""
    projects = claude_home() / "projects"
    paths = DataPaths(projects, home / "state.json", cache_file(projects))
    version = await asyncio.to_thread(cli_version)
    app = create_app(config, paths, version, host_guard=host_guard, credentials=credentials)
    async with AsyncExitStack() as stack:
        with _translate_listen_errors(address, "--port"):
            url = await stack.enter_async_context(serve_app(app, address))
        yield url, app[SHUTDOWN]


async def _start_clarvis(
    stack: AsyncExitStack, home: Path, keeper: str, address: ListenAddress, host_guard: HostGuard
) -> Clarvis:
    try:
        settings = ClarvisSettings(
            keeper=keeper,
            token=TokenFile(config_path(home)),
            roots=Roots.parse(os.environ.get("CLARVIS_ALLOWED_ROOTS")),
            host_guard=host_guard,
            keeper_certificate=address.tls.certificate if address.tls else None,
        )
    except (SettingsInvalid, RootsInvalid) as error:
        raise ConfigInvalid(str(error)) from error
    with _translate_listen_errors(address, "--ui-port"):
        return await stack.enter_async_context(run_clarvis(settings, address=address))


def _open_command(home: Path | None) -> str:
    """The command for another login link, in the shell from which this was started."""
    # a clone is not on the path, and a demo has a home of its own
    started = sys.argv[0]
    off_path = Path(started).name == "claudekeeper" and shutil.which("claudekeeper") is None
    program = shlex.quote(started) if off_path else "claudekeeper"
    variable = "" if home is None else f"CLAUDEKEEPER_HOME={shlex.quote(str(home))} "
    return f"{variable}{program} open"


def _print_login_link(clarvis: Clarvis, open_command: str) -> None:
    print(
        f"\nOpen this link to log in (it works once; '{open_command}' makes another):\n"
        f"  {clarvis.login_link()}",
        flush=True,
    )


@contextlib.contextmanager
def _translate_listen_errors(address: ListenAddress, option: str) -> Iterator[None]:
    try:
        yield
    except TlsInvalid as error:
        raise ConfigInvalid(f"{error}.") from error
    except OSError as error:
        if error.filename not in (None, str(address.path)):
            # the error is about a file, not about the address
            raise
        raise AddressInUse(
            f"Cannot listen on {address} ({error.strerror or error}). "
            + _hint(address, option, taken=error.errno == errno.EADDRINUSE)
        ) from error


def _hint(address: ListenAddress, option: str, *, taken: bool) -> str:
    if address.path is not None:
        option = option.replace("port", "socket")
    if taken:
        return f"Is a keeper running already? Another address can be chosen with {option}."
    return f"Is it an address of this machine (--host), and may it be used ({option})?"


def _listen_addresses(
    options: ServeOptions, config: Config, sockets: Mapping[str, socket.socket]
) -> tuple[ListenAddress, ListenAddress]:
    """The addresses of the keeper and of Clarvis; a socket from systemd takes precedence."""
    host = config.host if options.host is None else options.host
    port = config.port if options.port is None else options.port
    ui_port = config.ui_port if options.ui_port is None else options.ui_port
    tls = _tls_files(options, config)
    keeper = ListenAddress(
        host, port, options.socket, sockets.get("keeper") or sockets.get("0"), tls
    )
    page = ListenAddress(
        host, ui_port, options.ui_socket, sockets.get("clarvis") or sockets.get("1"), tls
    )
    for address in (keeper, page) if options.ui else (keeper,):
        _check_host(address, allowed=options.allow_remote)
    return keeper, page


def _check_host(address: ListenAddress, *, allowed: bool) -> None:
    if address.is_local:
        return
    if not allowed:
        raise ConfigInvalid(
            f"{address.host or 'An empty address'} can be reached from other machines, and whoever "
            "has the token can run commands on this one. If that is intended, add --allow-remote."
        )
    log.warning("listening on %s: other machines can reach this keeper", address.host or "*")
    if address.tls is None:
        log.warning("without TLS the token can be read on the network; see tlsCert, or use a proxy")


def check_settings(config: Config) -> None:
    """Raises ConfigInvalid for settings with which a keeper cannot start."""
    _host_guard(config, config.host)
    tls = _tls_files(ServeOptions(), config)
    try:
        if tls is not None:
            tls.server_context()
    except TlsInvalid as error:
        raise ConfigInvalid(f"{error}.") from error


def _host_guard(config: Config, host: str) -> HostGuard:
    try:
        return HostGuard(host, config.allowed_hosts, TrustedProxies(config.trusted_proxies))
    except NameInvalid as error:
        raise ConfigInvalid(f"allowedHosts in config.json: {error}.") from error
    except TrustedProxyInvalid as error:
        raise ConfigInvalid(f"trustedProxies in config.json: {error}.") from error


def _tls_files(options: ServeOptions, config: Config) -> TlsFiles | None:
    certificate = options.tls_cert or config.tls_cert
    key = options.tls_key or config.tls_key
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise ConfigInvalid("A certificate and its key belong together: tlsCert and tlsKey.")
    return TlsFiles(Path(certificate), Path(key))


def cli_version() -> str:
    """The version of the CLI that sessions run; the SDK is not imported for it."""
    command = os.environ.get("CLAUDEKEEPER_CLI")
    if command:
        try:
            ran = subprocess.run(
                [command, "--version"],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=VERSION_TIMEOUT,
                check=True,
            )
        except (OSError, subprocess.SubprocessError) as error:
            why = str(error).rstrip(".")
            raise ConfigInvalid(f"CLAUDEKEEPER_CLI={command} does not run: {why}.") from error
        version = (ran.stdout.split() or ["unknown"])[0]
        # it is printed to terminals, which obey escape codes
        return version[:64] if version.isprintable() else "unknown"
    spec = importlib.util.find_spec("claude_agent_sdk")
    for folder in spec.submodule_search_locations or () if spec else ():
        with contextlib.suppress(OSError):
            text = Path(folder, "_cli_version.py").read_text(encoding="utf-8")
            if match := re.search(r"""["']([0-9][^"']*)["']""", text):
                return match[1]
    return "unknown"
