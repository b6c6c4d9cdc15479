"""`claudekeeper doctor`: each finding with its remedy, and no secret."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from claudekeeper.cli.doctor import Finding, run_checks
from claudekeeper.cli.instance_lock import hold_instance_lock
from claudekeeper.cli.main import main
from claudekeeper.core.config import load_config

SECRET = "sk-very-secret"


@pytest.fixture(autouse=True)
def other_ports(isolated: Path) -> None:
    """A machine on which the usual ports may be taken by whoever runs the tests."""
    load_config(isolated / ".claudekeeper")
    file = isolated / ".claudekeeper" / "config.json"
    ports = []
    for _ in range(2):
        with socket.create_server(("127.0.0.1", 0)) as free:
            ports.append(free.getsockname()[1])
    text = file.read_text().rstrip().removesuffix("}").rstrip()
    file.write_text(f'{text}, "port": {ports[0]}, "uiPort": {ports[1]}}}')
    file.chmod(0o600)


def findings_about(about: str) -> list[Finding]:
    return [each for each in run_checks() if each.subject == about]


def test_a_healthy_machine(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    assert main(["doctor"]) == 0
    output = capsys.readouterr().out
    assert "BAD" not in output
    assert "Claude Code 2." in output
    assert "claude-agent-sdk 0." in output
    assert "ANTHROPIC_API_KEY is set" in output
    assert SECRET not in output


def test_missing_credentials_are_a_warning_with_a_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    (finding,) = findings_about("credentials")
    assert finding.verdict == "warning"
    assert "log in" in str(finding.remedy)


def test_who_has_no_claude_on_the_path_is_told_of_the_bundled_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("PATH", str(tmp_path))
    (finding,) = findings_about("credentials")
    program = str(finding.remedy).split("'")[1]
    assert program.endswith("_bundled/claude")
    assert Path(program).is_file()
    (tmp_path / "claude").write_text("#!/bin/sh\n")
    (tmp_path / "claude").chmod(0o755)
    (finding,) = findings_about("credentials")
    assert str(finding.remedy).startswith("Run 'claude' once")


def test_a_login_of_claude_code_is_seen_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, isolated: Path
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    (isolated / ".claude" / ".credentials.json").write_text(SECRET)
    (finding,) = findings_about("credentials")
    assert finding.verdict == "ok"
    assert SECRET not in str(finding)


def test_another_cli_that_does_not_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLAUDEKEEPER_CLI", "/nowhere/claude")
    assert main(["doctor"]) == 1
    assert "CLAUDEKEEPER_CLI" in capsys.readouterr().out


def test_credentials_for_the_service_alone_are_seen_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, isolated: Path
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    file = isolated / ".claudekeeper" / "environment"
    file.write_text("ANTHROPIC_API_KEY=\n")
    assert findings_about("credentials")[0].verdict == "warning"
    file.write_text(f"# mine\nANTHROPIC_API_KEY={SECRET}\n")
    (finding,) = findings_about("credentials")
    assert finding.verdict == "ok"
    assert SECRET not in str(finding)


def test_a_cli_that_is_too_old(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\necho '1.0.17 (Claude Code)'\n")
    program.chmod(0o700)
    monkeypatch.setenv("CLAUDEKEEPER_CLI", str(program))
    (finding,) = findings_about("cli")
    assert (finding.verdict, "older" in finding.message) == ("warning", True)


def test_hooks_that_claude_code_does_not_run(isolated: Path) -> None:
    settings = isolated / ".claude" / "settings.json"
    settings.write_text('{"disableAllHooks": true}')
    assert findings_about("hooks")[0].verdict == "ok"
    assert main(["hooks", "install", "--yes"]) == 0
    (finding,) = findings_about("hooks")
    assert (finding.verdict, "disableAllHooks" in finding.message) == ("warning", True)


def test_files_that_others_can_read(isolated: Path) -> None:
    state = isolated / ".claudekeeper" / "state.json"
    state.write_text("{}")
    state.chmod(0o644)
    (finding,) = findings_about("permissions")
    assert finding.verdict == "wrong"
    assert finding.remedy == f"chmod 600 {state}"


def test_folders_that_others_can_write_to(isolated: Path) -> None:
    home = isolated / ".claudekeeper"
    home.chmod(0o777)
    (finding,) = findings_about("permissions")
    assert (finding.verdict, finding.remedy) == ("wrong", f"chmod 700 {home}")


def test_a_port_that_another_program_has(isolated: Path) -> None:
    port = load_config(isolated / ".claudekeeper").port
    with socket.create_server(("127.0.0.1", port)):
        findings = findings_about("ports")
    assert [each.verdict for each in findings] == ["wrong", "ok"]
    assert str(port) in findings[0].message


def test_a_keeper_that_runs_and_does_not_answer(isolated: Path) -> None:
    with hold_instance_lock(isolated / ".claudekeeper") as instance:
        instance.announce(keeper="http://127.0.0.1:9")
        (finding,) = findings_about("keeper")
    assert finding.verdict == "wrong"
    assert "restart" in str(finding.remedy)


def test_a_configuration_that_cannot_be_used_hides_nothing_else(isolated: Path) -> None:
    (isolated / ".claudekeeper" / "config.json").write_text("{")
    findings = run_checks()
    assert "wrong" in {each.verdict for each in findings if "config.json" in each.message}
    assert {"cli", "sdk", "disk", "watching", "hooks"} <= {each.subject for each in findings}


def test_hooks_that_cannot_be_read(isolated: Path) -> None:
    (isolated / ".claude" / "settings.json").write_text("{")
    assert findings_about("hooks")[0].verdict == "wrong"


def test_hooks_that_are_not_those_of_this_installation(isolated: Path) -> None:
    settings = isolated / ".claude" / "settings.json"
    assert main(["hooks", "install", "--yes"]) == 0
    assert findings_about("hooks")[0].message == "prompts of terminal sessions reach the keeper"
    settings.write_text(settings.read_text().replace("-IS", "-IB"))
    (finding,) = findings_about("hooks")
    assert (finding.verdict, finding.remedy) == ("warning", "claudekeeper hooks install")


def test_few_watches_and_little_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("claudekeeper.cli.doctor.MIN_WATCHES", 10**12)
    monkeypatch.setattr("claudekeeper.cli.doctor.MIN_FREE_BYTES", 10**18)
    assert "sysctl fs.inotify.max_user_watches=" in str(findings_about("watching")[0].remedy)
    assert {each.verdict for each in findings_about("disk")} == {"warning"}


def with_settings(home: Path, **more: object) -> None:
    file = home / ".claudekeeper" / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **more}))


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"tlsCert": "/nowhere/c.pem", "tlsKey": "/nowhere/k.pem"}, "/nowhere/c.pem"),
        ({"tlsCert": "/nowhere/c.pem"}, "belong together"),
        ({"allowedHosts": ["http://box"]}, "allowedHosts"),
        ({"trustedProxies": ["everybody"]}, "trustedProxies"),
        ({"port": 99999}, "port"),
        ({"token": "a token that nobody can send"}, "token"),
    ],
)
def test_settings_that_a_start_would_refuse(isolated: Path, more: Any, says: str) -> None:
    with_settings(isolated, **more)
    wrong = [each for each in findings_about("config") if each.verdict == "wrong"]
    assert wrong
    assert says in wrong[0].message
    assert wrong[0].remedy


@pytest.mark.parametrize("more", [{"allowedHost": ["box"]}, {"host": "0.0.0.0"}])
def test_settings_that_may_not_be_meant(isolated: Path, more: dict[str, Any]) -> None:
    with_settings(isolated, **more)
    assert [each.verdict for each in findings_about("config")] == ["warning", "ok"]


@pytest.mark.parametrize("host", ["::1", "[::1]"])
def test_an_address_in_brackets_is_one(isolated: Path, host: str) -> None:
    with_settings(isolated, host=host)
    assert {each.verdict for each in findings_about("ports")} == {"ok"}


def test_an_address_that_is_none_is_not_called_taken(isolated: Path) -> None:
    with_settings(isolated, host="no such place")
    for finding in findings_about("ports"):
        assert "cannot be used" in finding.message
        assert "host" in str(finding.remedy)


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo], ids=["a folder", "a pipe"])
def test_something_else_than_a_config(isolated: Path, make: Callable[[Path], None]) -> None:
    file = isolated / ".claudekeeper" / "config.json"
    file.unlink()
    make(file)
    (finding,) = findings_about("config")
    assert "not an ordinary file" in finding.message
    assert "aside" in str(finding.remedy)


@pytest.mark.parametrize(
    ("roots", "verdict", "says"),
    [
        ("code/shop", "wrong", "must hold absolute paths, not 'code/shop'"),
        ("", "wrong", "names no directory"),
        (
            "/:/no/such/place",
            "warning",
            "/no/such/place of CLARVIS_ALLOWED_ROOTS is not a directory",
        ),
        ("/", "ok", "CLARVIS_ALLOWED_ROOTS can be used"),
    ],
)
def test_roots_that_a_start_would_refuse(
    monkeypatch: pytest.MonkeyPatch, roots: str, verdict: str, says: str
) -> None:
    monkeypatch.setenv("CLARVIS_ALLOWED_ROOTS", roots)
    (finding,) = findings_about("environment")
    assert finding.verdict == verdict
    assert says in finding.message


def test_who_looks_leaves_nothing_behind(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDEKEEPER_HOME", str(isolated / "new"))
    run_checks()
    assert not (isolated / "new").exists()


def test_a_cli_that_prints_garbage(
    isolated: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = isolated / "claude"
    program.write_text("#!/bin/sh\nprintf '\\033[2J\\377\\376 x'\n")
    program.chmod(0o755)
    monkeypatch.setenv("CLAUDEKEEPER_CLI", str(program))
    main(["doctor"])
    assert "Claude Code unknown" in capsys.readouterr().out
