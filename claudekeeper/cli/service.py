"""`claudekeeper service`: the keeper as a systemd service of the user."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from claudekeeper.cli.instance_lock import running_keeper
from claudekeeper.core.config import Config, load_config
from claudekeeper.core.paths import keeper_home
from claudekeeper.net.addresses import host_in_url
from claudekeeper.net.errors import ApiError

SERVICE = "claudekeeper.service"
SOCKETS = ("claudekeeper.socket", "claudekeeper-ui.socket")
UNITS = (SERVICE, *SOCKETS)
# variables of the installing shell that the service gets; none is a secret
PASSED_VARIABLES = ("PATH", "LANG", "CLAUDE_CONFIG_DIR", "CLAUDEKEEPER_HOME", "CLAUDEKEEPER_CLI")
ROOTS_VARIABLE = "CLARVIS_ALLOWED_ROOTS"
# seconds beyond those for running turns, to close sockets and CLIs
STOP_MARGIN = 30
# seconds for a query; starting and stopping have no limit
QUERY_SECONDS = 10.0

NO_SYSTEMD_HELP = """There is no systemd for users here ({reason}).
The keeper can be kept running in other ways:
  - in a terminal that stays:   tmux new -d -s claudekeeper '{program} serve'
  - from cron at every boot:    @reboot {program} serve
  - on macOS, by launchd:       a LaunchAgent with KeepAlive that runs '{program} serve'
  - in a container:             '{program} serve' as its main process
It needs no privileges, and ends in order on SIGTERM.
Where systemd runs and only this shell does not reach it (su, some ssh):
  export XDG_RUNTIME_DIR=/run/user/{uid}"""


class NoSystemd(ApiError):
    code = "no_systemd"
    sentence = "There is no systemd for users here."


class ServiceFailed(ApiError):
    code = "service_failed"
    sentence = "systemd refused."


def install() -> str:
    """Writes the units, and starts them now and at every login."""
    _require_systemd()
    config = load_config(keeper_home())
    folder = unit_folder()
    folder.mkdir(parents=True, exist_ok=True)
    for name in UNITS:
        (folder / name).write_text(render_unit(name, config), encoding="utf-8")
    _systemctl("daemon-reload")
    _systemctl("enable", "--now", *SOCKETS, SERVICE)
    return (
        f"Installed in {folder} and started. It starts again at every login; to start it at every "
        f"boot:\n  loginctl enable-linger {os.environ.get('USER') or '$USER'}\n"
        "Log in with: claudekeeper open"
    )


def uninstall() -> str:
    """Stops the service and deletes its units; configuration and state stay."""
    folder = unit_folder()
    present = [name for name in UNITS if (folder / name).exists()]
    if not present:
        return "There is no service to remove."
    if (reason := systemd_problem()) is not None:
        raise NoSystemd(f"The units stay in {folder}: systemd does not answer ({reason}).")
    _systemctl("disable", "--now", *present)
    for name in present:
        (folder / name).unlink()
    _systemctl("daemon-reload")
    return f"Stopped and removed. {keeper_home()} stays as it is."


def status() -> tuple[str, bool]:
    """The state in words, and whether a keeper runs, as a service or otherwise."""
    lines: list[str] = []
    reason = systemd_problem()
    if reason is None:
        states = {name: _unit_state(name) for name in UNITS}
        lines += [f"{name}: {state}" for name, state in states.items()]
    else:
        lines.append(f"no systemd for users here ({reason})")
    keeper = running_keeper(keeper_home())
    if keeper is None:
        lines.append("no keeper runs")
    else:
        addresses = ", ".join(address for address in (keeper.keeper, keeper.clarvis) if address)
        lines.append(f"a keeper runs: pid {keeper.pid}, since {keeper.started}, at {addresses}")
    return "\n".join(lines), keeper is not None


def show_logs(*, follow: bool, lines: int) -> int:
    """Shows the log of the service in the journal."""
    reason = systemd_problem()
    if reason is None and shutil.which("journalctl") is None:
        reason = "no journalctl on PATH"
    if reason is not None:
        raise NoSystemd(
            f"There is no journal of a service here ({reason}). "
            "The log of 'claudekeeper serve' is where its stderr went."
        )
    following = ["--follow"] if follow else []
    command = ["journalctl", "--user", "--unit", SERVICE, "--lines", str(lines), *following]
    return subprocess.run(command, check=False).returncode


def render_unit(name: str, config: Config, environment: Mapping[str, str] = os.environ) -> str:
    """A unit from its template, with all values filled in."""
    text = (_template_folder() / name).read_text(encoding="utf-8")
    variables = {
        variable: environment[variable]
        for variable in PASSED_VARIABLES
        if environment.get(variable)
    }
    if ROOTS_VARIABLE in environment:
        # an empty value differs from an unset variable
        variables[ROOTS_VARIABLE] = environment[ROOTS_VARIABLE]
    environment_lines = "\n".join(f"Environment={_quote(f'{k}={v}')}" for k, v in variables.items())
    for name_in_unit, value in {
        "PROGRAM": _program(),
        "ENVIRONMENT": environment_lines,
        "HOME": _escape_percent(str(keeper_home())),
        "KEEPER": f"{host_in_url(config.host)}:{config.port}",
        "CLARVIS": f"{host_in_url(config.host)}:{config.ui_port}",
        "STOP_SECONDS": str(round(config.limits.drain_seconds) + STOP_MARGIN),
    }.items():
        text = text.replace(f"@{name_in_unit}@", value)
    return text


def unit_folder() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "systemd" / "user"


def systemd_problem() -> str | None:
    """Why systemd cannot be used; None if it can."""
    if shutil.which("systemctl") is None:
        return "no systemctl on PATH"
    ran = _run_systemctl("show-environment", patience=QUERY_SECONDS)
    return None if ran.returncode == 0 else ran.stderr.strip() or "systemctl --user fails"


def _require_systemd() -> None:
    reason = systemd_problem()
    if reason is not None:
        raise NoSystemd(NO_SYSTEMD_HELP.format(reason=reason, program=_program(), uid=os.getuid()))


def _unit_state(name: str) -> str:
    if not (unit_folder() / name).exists():
        return "not installed"
    return _run_systemctl("is-active", name, patience=QUERY_SECONDS).stdout.strip() or "unknown"


def _systemctl(*arguments: str) -> None:
    ran = _run_systemctl(*arguments)
    if ran.returncode != 0:
        reason = ran.stderr.strip() or ran.stdout.strip()
        raise ServiceFailed(f"'systemctl --user {' '.join(arguments)}' failed: {reason}")


def _run_systemctl(
    *arguments: str, patience: float | None = None
) -> subprocess.CompletedProcess[str]:
    command = ["systemctl", "--user", *arguments]
    try:
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=patience
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", "it does not answer")


def _program() -> str:
    """The command that starts this installation."""
    beside = Path(sys.executable).with_name("claudekeeper")
    parts = [str(beside)] if beside.exists() else [sys.executable, "-m", "claudekeeper"]
    return " ".join(_quote(part) if " " in part else _escape_percent(part) for part in parts)


def _quote(text: str) -> str:
    escaped = _escape_percent(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _escape_percent(text: str) -> str:
    """Doubles percent signs, which systemd would expand."""
    return text.replace("%", "%%")


def _template_folder() -> Path:
    """The folder of the templates: in the wheel inside the package, in the repository beside it."""
    package = Path(__file__).parent.parent
    inside = package / "systemd"
    return inside if inside.is_dir() else package.parent / "systemd"
