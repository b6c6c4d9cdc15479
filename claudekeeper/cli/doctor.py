"""`claudekeeper doctor`: checks of this machine, and remedies."""

from __future__ import annotations

import errno
import importlib.util
import os
import shutil
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from clarvis_ui.roots import Roots, RootsInvalid
from claudekeeper.attention.hook_settings import (
    EVENTS,
    HOOK_MARKER,
    ClaudeSettingsFile,
    HookSettingsUnusable,
)
from claudekeeper.cli import service
from claudekeeper.cli.api_client import ApiClient, Unreachable
from claudekeeper.cli.instance_lock import running_keeper
from claudekeeper.cli.serve import check_settings, cli_version
from claudekeeper.contract.errors import ConfigInvalid
from claudekeeper.core.config import Config, config_path, config_warnings, inspect_config
from claudekeeper.core.config_check import unknown_variables
from claudekeeper.core.paths import cache_folder, claude_home, keeper_home
from claudekeeper.net.addresses import host_in_url, is_loopback
from claudekeeper.net.errors import ApiError

Verdict = Literal["ok", "warning", "wrong"]

# one watch for each folder, and some for other programs
MIN_WATCHES = 8_192
MIN_FREE_BYTES = 200 * 1024 * 1024
CREDENTIAL_VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
VERDICT_MARKS: dict[Verdict, str] = {"ok": "ok  ", "warning": "warn", "wrong": "BAD "}


class Finding(msgspec.Struct, frozen=True):
    """The result of a check; it never contains a secret."""

    subject: str
    verdict: Verdict
    message: str
    remedy: str | None = None


def run_checks() -> list[Finding]:
    """Runs every check by itself, so that one failure hides no other."""
    findings = [finding for check in CHECKS for finding in _run_check(check)]
    # two checks of the same file may find the same fault
    return list(dict.fromkeys(findings))


def render_report(findings: list[Finding]) -> str:
    lines: list[str] = []
    for each in findings:
        lines.append(f"{VERDICT_MARKS[each.verdict]} {each.subject}: {each.message}")
        if each.remedy and each.verdict != "ok":
            lines.append(f"       {each.remedy}")
    return "\n".join(lines)


def _run_check(check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    name = check.__name__.removeprefix("_")
    try:
        yield from check()
    except ConfigInvalid as error:
        mend = "Mend it, or move it aside: the next start makes a new one."
        yield Finding("config", "wrong", error.message, mend)
    except (ApiError, OSError) as error:
        yield Finding(name, "wrong", str(error), "Move what is there aside, or mend its rights.")


def _check_cli() -> Iterator[Finding]:
    try:
        version = cli_version()
    except ConfigInvalid as error:
        yield Finding("cli", "wrong", error.message, "Unset CLAUDEKEEPER_CLI, or mend the path.")
        return
    which = os.environ.get("CLAUDEKEEPER_CLI") or "bundled with the SDK"
    says = f"Claude Code {version} ({which})"
    if version.split(".")[0] in ("0", "1"):
        mend = "Unset CLAUDEKEEPER_CLI to use the one that came with the SDK."
        yield Finding("cli", "warning", f"{says} is older than what the SDK speaks to", mend)
    else:
        yield Finding("cli", "ok", says)


def _check_sdk() -> Iterator[Finding]:
    from importlib import metadata  # imported here, so that `serve` does not load it

    try:
        version = metadata.version("claude-agent-sdk")
    except metadata.PackageNotFoundError:
        yield Finding("sdk", "wrong", "claude-agent-sdk is missing", "Install claudekeeper again.")
        return
    yield Finding("sdk", "ok", f"claude-agent-sdk {version}")


def _check_credentials() -> Iterator[Finding]:
    """Whether there are credentials; never what they are."""
    named = [name for name in CREDENTIAL_VARIABLES if os.environ.get(name)]
    file = claude_home() / ".credentials.json"
    environment_file = keeper_home() / "environment"
    if named:
        yield Finding("credentials", "ok", f"{named[0]} is set")
    elif file.is_file():
        yield Finding("credentials", "ok", f"{file} exists")
    elif names := _variables_in(environment_file) & set(CREDENTIAL_VARIABLES):
        yield Finding(
            "credentials", "ok", f"{min(names)} is in {environment_file}, for the service"
        )
    else:
        yield Finding(
            "credentials",
            "warning",
            "there are none in the environment or in Claude Code's folder",
            f"Run '{_claude_command()}' once and log in, or put ANTHROPIC_API_KEY=… into "
            f"{environment_file} (mode 0600) for the service.",
        )


def _claude_command() -> str:
    """The command that starts Claude Code here; the SDK has one too."""
    if os.environ.get("CLAUDEKEEPER_CLI"):
        return os.environ["CLAUDEKEEPER_CLI"]
    spec = importlib.util.find_spec("claude_agent_sdk")
    bundled = Path(spec.origin or "").parent / "_bundled" / "claude" if spec else Path()
    return str(bundled) if shutil.which("claude") is None and bundled.is_file() else "claude"


def _variables_in(environment: Path) -> set[str]:
    try:
        lines = environment.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return set()
    return {line.partition("=")[0].strip() for line in lines if line.partition("=")[2].strip()}


def _check_permissions() -> Iterator[Finding]:
    home = keeper_home()
    files = [
        each for folder in (home, cache_folder()) for each in folder.glob("*") if each.is_file()
    ]
    open_ones = [each for each in sorted(files) if each.stat().st_mode & 0o077]
    # whoever can write in a folder can replace our files
    open_ones += [
        each for each in (home, cache_folder()) if each.exists() and each.stat().st_mode & 0o022
    ]
    for each in open_ones:
        mode = stat.filemode(each.stat().st_mode)
        mend = f"chmod {700 if each.is_dir() else 600} {each}"
        yield Finding("permissions", "wrong", f"{each} is {mode}", mend)
    projects = claude_home() / "projects"
    if projects.exists() and not os.access(projects, os.R_OK | os.X_OK):
        mend = "Run the keeper as the user who runs Claude Code."
        yield Finding("permissions", "wrong", f"{projects} cannot be read", mend)
    elif not open_ones:
        yield Finding("permissions", "ok", "only this user can read configuration and state")


def _check_settings() -> Iterator[Finding]:
    """The settings that a start would refuse or ignore."""
    home = keeper_home()
    config, _ = inspect_config(home)
    for says in config_warnings(home):
        mend = f"Correct it in {config_path(home)}; docs/settings.md has every setting."
        yield Finding("config", "warning", says, mend)
    for says in unknown_variables(os.environ):
        yield Finding("environment", "warning", says, "docs/settings.md has every variable.")
    if not is_loopback(config.host):
        says = f"{config.host} can be reached from other machines"
        mend = "A start needs --allow-remote for it. Behind a proxy, 127.0.0.1 is enough."
        yield Finding("config", "warning", says, mend)
    try:
        check_settings(config)
    except ConfigInvalid as error:
        yield Finding("config", "wrong", error.message, f"Mend it in {config_path(home)}.")
    else:
        yield Finding("config", "ok", f"{config_path(home)} can be used")


def _check_roots() -> Iterator[Finding]:
    """The directories that Clarvis may show."""
    setting = os.environ.get("CLARVIS_ALLOWED_ROOTS")
    if setting is None:
        return
    try:
        roots = Roots.parse(setting)
    except RootsInvalid as error:
        mend = "Clarvis does not start before; unset it to show everything."
        yield Finding("environment", "wrong", f"{error}.", mend)
        return
    missing = [path for path in roots.paths or () if not path.is_dir()]
    for path in missing:
        says = f"{path} of CLARVIS_ALLOWED_ROOTS is not a directory"
        yield Finding("environment", "warning", says, "Correct it, or make the directory.")
    if not missing:
        yield Finding("environment", "ok", "CLARVIS_ALLOWED_ROOTS can be used")


def _check_ports() -> Iterator[Finding]:
    home = keeper_home()
    config, _ = inspect_config(home)
    who = running_keeper(home)
    if who is not None:
        try:
            health = ApiClient(home).call_keeper("GET", "/health")
        except Unreachable as error:
            mend = "Read its log ('claudekeeper service logs'), then restart it."
            yield Finding("keeper", "wrong", f"pid {who.pid} runs: {error.message}", mend)
            return
        yield Finding("keeper", "ok", f"pid {who.pid} answers at {who.keeper}")
        if health["status"] != "ok":
            reason = health["watching"]["reason"]
            mend = "Nothing is lost: it polls for changes, and recovers by itself."
            yield Finding("keeper", "warning", f"it is {health['status']}: {reason}", mend)
        return
    for name, port in (("port", config.port), ("uiPort", config.ui_port)):
        yield _check_port(name, config, port)


def _check_port(name: str, config: Config, port: int) -> Finding:
    host = config.host.strip("[]")
    address = f"{host_in_url(host)}:{port}"
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            mend = f"End the program that uses it, or choose another {name} in config.json."
            return Finding("ports", "wrong", f"{address} is in use", mend)
        mend = f"Choose another host or {name} in config.json; 127.0.0.1 always exists."
        return Finding("ports", "wrong", f"{address} cannot be used ({error.strerror})", mend)
    return Finding("ports", "ok", f"{address} is free")


def _check_watches() -> Iterator[Finding]:
    limit = Path("/proc/sys/fs/inotify/max_user_watches")
    if not limit.exists():
        yield Finding("watching", "ok", "this system has no known limit of watches")
        return
    allowed = int(limit.read_text())
    projects = claude_home() / "projects"
    needed = sum(1 for each in projects.rglob("*") if each.is_dir()) if projects.exists() else 0
    says = f"{allowed} watches are allowed, about {needed} are needed"
    if allowed < max(MIN_WATCHES, 2 * needed):
        mend = f"sudo sysctl fs.inotify.max_user_watches={max(65_536, 4 * needed)}"
        yield Finding("watching", "warning", says, f"{mend}; until then changes come by polling.")
    else:
        yield Finding("watching", "ok", says)


def _check_disk() -> Iterator[Finding]:
    for about, folder in (("home", keeper_home()), ("transcripts", claude_home())):
        existing = next(each for each in (folder, *folder.parents) if each.exists())
        free = shutil.disk_usage(existing).free
        says = f"{free // 2**20} MB are free for {about} ({folder})"
        low = free < MIN_FREE_BYTES
        mend = "Make room: names, settings and transcripts cannot be written on a full disk."
        yield Finding("disk", "warning" if low else "ok", says, mend)


def _check_hooks() -> Iterator[Finding]:
    try:
        settings = ClaudeSettingsFile(claude_home(), keeper_home())
        installed = settings.installed_events()
        others = HOOK_MARKER in (settings.text or "")
        disabled = settings.hooks_disabled()
    except HookSettingsUnusable as error:
        mend = "Mend the file: Claude Code ignores hooks that it cannot read."
        yield Finding("hooks", "wrong", error.message, mend)
        return
    missing = [event for event in EVENTS if event not in installed]
    if installed and disabled:
        says = f'"disableAllHooks" in {settings.path} keeps Claude Code from running them'
        yield Finding("hooks", "warning", says, "Take it out, or: claudekeeper hooks uninstall")
    elif not missing:
        yield Finding("hooks", "ok", "prompts of terminal sessions reach the keeper")
    elif installed or others:
        says = "the installed ones belong to another keeper or version"
        yield Finding("hooks", "warning", says, "claudekeeper hooks install")
    else:
        yield Finding("hooks", "ok", "none are installed")


def _check_service() -> Iterator[Finding]:
    reason = service.systemd_problem()
    if reason is not None:
        yield Finding("service", "ok", f"no systemd for users here ({reason})")
        return
    text, runs = service.status()
    first = text.splitlines()[0]
    mend = "claudekeeper service install"
    yield Finding("service", "ok" if runs else "warning", first, mend)


CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    _check_cli,
    _check_sdk,
    _check_credentials,
    _check_permissions,
    _check_settings,
    _check_roots,
    _check_ports,
    _check_watches,
    _check_disk,
    _check_hooks,
    _check_service,
)
