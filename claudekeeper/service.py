"""`claudekeeper service`: the keeper as a service of its user, under systemd."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from claudekeeper.config import Config, load_config
from claudekeeper.instance import running
from claudekeeper.model.errors import KeeperError
from claudekeeper.readers.paths import keeper_home
from doorway.addresses import in_url

SERVICE = "claudekeeper.service"
SOCKETS = ("claudekeeper.socket", "claudekeeper-ui.socket")
UNITS = (SERVICE, *SOCKETS)
# what of the installing shell the service is to know; secrets are none of it
KEPT = ("PATH", "LANG", "CLAUDE_CONFIG_DIR", "CLAUDEKEEPER_HOME", "CLAUDEKEEPER_CLI")
ROOTS = "CLARVIS_ALLOWED_ROOTS"
# beyond the grace of running turns: closing sockets, ending CLIs
STOP_MARGIN = 30
# seconds for an answer that takes none; starting and stopping take what they take
QUICKLY = 10.0

WITHOUT_SYSTEMD = """There is no systemd for users here ({reason}).
The keeper can be kept running in other ways:
  - in a terminal that stays:   tmux new -d -s claudekeeper '{program} serve'
  - from cron at every boot:    @reboot {program} serve
  - on macOS, by launchd:       a LaunchAgent with KeepAlive that runs '{program} serve'
  - in a container:             '{program} serve' as its main process
It needs no privileges, and ends in order on SIGTERM.
Where systemd runs and only this shell does not reach it (su, some ssh):
  export XDG_RUNTIME_DIR=/run/user/{uid}"""


class NoSystemd(KeeperError):
    code = "no_systemd"
    sentence = "There is no systemd for users here."


class ServiceFailed(KeeperError):
    code = "service_failed"
    sentence = "systemd refused."


def install() -> str:
    """Write the units, and start them now and at every login."""
    _require_systemd()
    config = load_config(keeper_home())
    folder = unit_folder()
    folder.mkdir(parents=True, exist_ok=True)
    for name in UNITS:
        (folder / name).write_text(rendered(name, config), encoding="utf-8")
    _systemctl("daemon-reload")
    _systemctl("enable", "--now", *SOCKETS, SERVICE)
    return (
        f"Installed in {folder} and started. It starts again at every login; to start it at every "
        f"boot:\n  loginctl enable-linger {os.environ.get('USER') or '$USER'}\n"
        "Log in with: claudekeeper open"
    )


def uninstall() -> str:
    """Stop it, and take the units away; configuration and state stay."""
    folder = unit_folder()
    present = [name for name in UNITS if (folder / name).exists()]
    if not present:
        return "There is no service to take away."
    if (reason := without_systemd()) is not None:
        raise NoSystemd(f"The units stay in {folder}: systemd does not answer ({reason}).")
    _systemctl("disable", "--now", *present)
    for name in present:
        (folder / name).unlink()
    _systemctl("daemon-reload")
    return f"Stopped and removed. {keeper_home()} stays as it is."


def status() -> tuple[str, bool]:
    """In words, and whether a keeper runs, as a service or otherwise."""
    lines: list[str] = []
    reason = without_systemd()
    if reason is None:
        states = {name: _state(name) for name in UNITS}
        lines += [f"{name}: {state}" for name, state in states.items()]
    else:
        lines.append(f"no systemd for users here ({reason})")
    who = running(keeper_home())
    if who is None:
        lines.append("no keeper runs")
    else:
        places = ", ".join(place for place in (who.keeper, who.clarvis) if place)
        lines.append(f"a keeper runs: pid {who.pid}, since {who.started}, at {places}")
    return "\n".join(lines), who is not None


def show_logs(*, follow: bool, lines: int) -> int:
    """The journal of the service."""
    reason = without_systemd()
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


def rendered(name: str, config: Config, environment: Mapping[str, str] = os.environ) -> str:
    """A unit with everything filled in."""
    text = (_templates() / name).read_text(encoding="utf-8")
    known = {variable: environment[variable] for variable in KEPT if environment.get(variable)}
    if ROOTS in environment:
        # set and empty is not the same as unset
        known[ROOTS] = environment[ROOTS]
    given = "\n".join(f"Environment={_quoted(f'{k}={v}')}" for k, v in known.items())
    for place, value in {
        "PROGRAM": _program(),
        "ENVIRONMENT": given,
        "HOME": _percent(str(keeper_home())),
        "KEEPER": f"{in_url(config.host)}:{config.port}",
        "CLARVIS": f"{in_url(config.host)}:{config.ui_port}",
        "STOP_SECONDS": str(round(config.limits.drain_seconds) + STOP_MARGIN),
    }.items():
        text = text.replace(f"@{place}@", value)
    return text


def unit_folder() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "systemd" / "user"


def without_systemd() -> str | None:
    """Why there is no systemd to talk to; None where there is one."""
    if shutil.which("systemctl") is None:
        return "no systemctl on PATH"
    ran = _run("show-environment", patience=QUICKLY)
    return None if ran.returncode == 0 else ran.stderr.strip() or "systemctl --user fails"


def _require_systemd() -> None:
    reason = without_systemd()
    if reason is not None:
        raise NoSystemd(WITHOUT_SYSTEMD.format(reason=reason, program=_program(), uid=os.getuid()))


def _state(name: str) -> str:
    if not (unit_folder() / name).exists():
        return "not installed"
    return _run("is-active", name, patience=QUICKLY).stdout.strip() or "unknown"


def _systemctl(*arguments: str) -> None:
    ran = _run(*arguments)
    if ran.returncode != 0:
        said = ran.stderr.strip() or ran.stdout.strip()
        raise ServiceFailed(f"'systemctl --user {' '.join(arguments)}' failed: {said}")


def _run(*arguments: str, patience: float | None = None) -> subprocess.CompletedProcess[str]:
    command = ["systemctl", "--user", *arguments]
    try:
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=patience
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", "it does not answer")


def _program() -> str:
    """This very installation, however it was called."""
    beside = Path(sys.executable).with_name("claudekeeper")
    parts = [str(beside)] if beside.exists() else [sys.executable, "-m", "claudekeeper"]
    return " ".join(_quoted(part) if " " in part else _percent(part) for part in parts)


def _quoted(text: str) -> str:
    escaped = _percent(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _percent(text: str) -> str:
    """systemd fills in what follows a percent sign."""
    return text.replace("%", "%%")


def _templates() -> Path:
    """In the wheel beside this file; in the repository beside the package."""
    inside = Path(__file__).parent / "systemd"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "systemd"
