"""`claudekeeper service`, with a systemctl that only writes down what it is asked."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from claudekeeper.cli import service
from claudekeeper.cli.instance_lock import hold_instance_lock
from claudekeeper.cli.main import main
from claudekeeper.cli.service import SOCKETS, UNITS, render_unit, unit_folder
from claudekeeper.core.config import Config, load_config

SYSTEMD = Path(__file__).parents[2] / "systemd"
# they would break what Claude Code's tools do
BREAKING = (
    "MemoryDenyWriteExecute",
    "RestrictNamespaces",
    "SystemCallFilter",
    "NoNewPrivileges",
    "PrivateTmp",
    "ProtectHome",
    "ProtectSystem",
    "PrivateDevices",
)
FAKE = """#!/bin/sh
echo "$(basename "$0") $*" >> "{log}"
[ "$2" = is-active ] && echo active
{more}
exit 0
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The first folder on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def put(folder: Path, name: str, more: str = "") -> Path:
    log = folder.parent / "asked"
    (folder / name).write_text(FAKE.format(log=log, more=more))
    (folder / name).chmod(0o755)
    return log


def directives(text: str) -> dict[str, str]:
    lines = [line for line in text.splitlines() if line and line[0] not in "#["]
    return dict(line.split("=", 1) for line in lines)


def test_install_writes_the_units_and_starts_them(
    programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = put(programs, "systemctl")
    assert main(["service", "install"]) == 0
    calls = log.read_text().splitlines()
    assert calls[-2:] == [
        "systemctl --user daemon-reload",
        f"systemctl --user enable --now {' '.join(SOCKETS)} claudekeeper.service",
    ]
    for name in UNITS:
        assert not re.search(r"@[A-Z_]+@", (unit_folder() / name).read_text())
    assert "loginctl enable-linger" in capsys.readouterr().out


def test_uninstall_takes_them_away_and_leaves_the_rest(
    programs: Path, isolated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(programs, "systemctl")
    main(["service", "install"])
    token = load_config(isolated / ".claudekeeper").token
    assert main(["service", "uninstall"]) == 0
    assert not list(unit_folder().iterdir())
    assert load_config(isolated / ".claudekeeper").token == token
    assert main(["service", "uninstall"]) == 0
    assert "no service" in capsys.readouterr().out


def test_status_says_what_runs_and_where(
    programs: Path, isolated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(programs, "systemctl")
    assert main(["service", "status"]) == 3
    assert "claudekeeper.service: not installed" in capsys.readouterr().out
    main(["service", "install"])
    with hold_instance_lock(isolated / ".claudekeeper") as instance:
        instance.announce(keeper="http://127.0.0.1:1")
        assert main(["service", "status"]) == 0
    output = capsys.readouterr().out
    assert "claudekeeper.service: active" in output
    assert f"pid {os.getpid()}" in output


def test_logs_are_those_of_the_journal(programs: Path) -> None:
    put(programs, "systemctl")
    log = put(programs, "journalctl")
    assert main(["service", "logs", "-n", "5", "-f"]) == 0
    expected = "journalctl --user --unit claudekeeper.service --lines 5 --follow"
    assert log.read_text().splitlines()[-1] == expected


def test_without_systemd_other_ways_are_named(
    programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(programs))
    assert main(["service", "install"]) == 2
    output = capsys.readouterr().err
    assert "no systemctl" in output
    assert "tmux" in output
    assert f"XDG_RUNTIME_DIR=/run/user/{os.getuid()}" in output
    assert not unit_folder().exists()
    # each is answered with what is of use there
    assert main(["service", "logs"]) == 2
    assert "where its stderr went" in capsys.readouterr().err
    assert main(["service", "uninstall"]) == 0
    assert "no service" in capsys.readouterr().out


def test_units_that_systemd_may_still_run_are_not_taken_from_it(
    programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(programs, "systemctl")
    assert main(["service", "install"]) == 0
    put(programs, "systemctl", 'echo "Failed to connect to bus" >&2; exit 1')
    assert main(["service", "uninstall"]) == 2
    assert f"The units stay in {unit_folder()}" in capsys.readouterr().err
    assert {each.name for each in unit_folder().iterdir()} >= set(UNITS)


def test_a_systemd_that_does_not_answer_is_no_systemd(
    programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(programs, "systemctl", 'echo "Failed to connect to bus" >&2; exit 1')
    assert main(["service", "install"]) == 2
    assert "Failed to connect to bus" in capsys.readouterr().err


def test_one_that_never_answers_is_not_waited_for(
    programs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "QUERY_SECONDS", 0.1)
    put(programs, "systemctl", "exec sleep 600")
    assert main(["service", "status"]) == 3
    assert "does not answer" in capsys.readouterr().out


def test_what_systemd_refuses_is_said(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(programs, "systemctl", '[ "$2" = enable ] && { echo "Unit is masked" >&2; exit 1; }')
    assert main(["service", "install"]) == 2
    assert "Unit is masked" in capsys.readouterr().err


def test_the_service_is_as_promised() -> None:
    unit = render_unit("claudekeeper.service", Config(token="x" * 16))
    unit_directives = directives(unit)
    assert unit_directives["Type"] == "notify"
    assert unit_directives["UMask"] == "0077"
    assert unit_directives["LimitCORE"] == "0"
    assert unit_directives["OOMPolicy"] == "continue"
    assert unit_directives["Restart"] == "on-failure"
    assert unit_directives["ExecStart"].endswith("claudekeeper serve")
    assert {"WatchdogSec", "StartLimitBurst", "TimeoutStopSec"} <= unit_directives.keys()
    assert not unit_directives.keys() & set(BREAKING)


def unexplained_directives(unit: str) -> Iterator[str]:
    """Those without a comment before them, or before the run of them that they belong to."""
    is_explained = False
    for line in unit.splitlines():
        if line.startswith("#"):
            is_explained = True
        elif line.startswith("["):
            # what a unit is called and when it is wanted needs no words
            is_explained = line in {"[Install]", "[Socket]", "[Unit]"}
        elif line and line[0] != "@" and not is_explained:
            yield line


@pytest.mark.parametrize("name", UNITS)
def test_every_directive_of_the_unit_is_explained(name: str) -> None:
    unit = (SYSTEMD / name).read_text()
    assert list(unexplained_directives("[Service]\nType=notify")) == ["Type=notify"]
    assert list(unexplained_directives(unit)) == []


def test_the_installing_shell_is_remembered_without_its_secrets() -> None:
    shell = {
        "PATH": '/opt/a b/bin:/100%/"x"',
        "CLAUDE_CONFIG_DIR": "/c",
        "ANTHROPIC_API_KEY": "sk-secret",
        "CLARVIS_ALLOWED_ROOTS": "",
    }
    unit = render_unit("claudekeeper.service", Config(token="the-token-itself!"), shell)
    assert r'Environment="PATH=/opt/a b/bin:/100%%/\"x\""' in unit
    assert 'Environment="CLAUDE_CONFIG_DIR=/c"' in unit
    assert 'Environment="CLARVIS_ALLOWED_ROOTS="' in unit
    assert "sk-secret" not in unit
    assert "the-token-itself!" not in unit


def test_no_variable_can_add_a_directive() -> None:
    odd = {"PATH": '/bin\nExecStartPre="/bin/evil %h\\'}
    text = render_unit("claudekeeper.service", Config(token="t" * 20), odd)
    assert 'Environment="PATH=/bin\\nExecStartPre=\\"/bin/evil %%h\\\\"' in text
    assert "ExecStartPre" not in directives(text)


def test_the_sockets_are_where_config_json_says() -> None:
    config = Config(token="x" * 16, host="::1", port=1, ui_port=2)
    keeper = directives(render_unit("claudekeeper.socket", config))
    page = directives(render_unit("claudekeeper-ui.socket", config))
    assert (keeper["ListenStream"], keeper["FileDescriptorName"]) == ("[::1]:1", "keeper")
    assert (page["ListenStream"], page["FileDescriptorName"]) == ("[::1]:2", "clarvis")
    assert page["Service"] == "claudekeeper.service"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_itself_understands_the_units(tmp_path: Path) -> None:
    """It names every directive that it does not know, or whose value it cannot read."""
    for name in UNITS:
        (tmp_path / name).write_text(render_unit(name, Config(token="x" * 16)))
    verified = subprocess.run(
        ["systemd-analyze", "--user", "verify", *(str(tmp_path / name) for name in UNITS)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "SYSTEMD_LOG_LEVEL": "warning"},
        capture_output=True,
        text=True,
        check=False,
    )
    ours = [line for line in verified.stderr.splitlines() if "claudekeeper" in line]
    assert (verified.returncode, ours) == (0, []), verified.stderr
