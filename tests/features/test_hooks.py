from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from claudekeeper.cli import main
from claudekeeper.features.hooks import EVENTS, Settings, SettingsUnusable, command
from claudekeeper.readers.paths import claude_home, keeper_home

ODD = (
    '\ufeff{\r\n   "model" :"opus","permissions":5,\r\n'
    '\t"hooks": {"Stop":[  {"hooks":[{"type":"command","command":"mine"}]}  ], "New": {"x":null},'
    '"PermissionRequest" : [ ]},\r\n  "unknown": [1,2 ,\r\n3], "": "\\u00e9"\r\n}\r\n\r\n'
)


def settings() -> Settings:
    return Settings(claude_home(), keeper_home())


def write(text: str) -> Path:
    path = claude_home() / "settings.json"
    path.write_bytes(text.encode())
    return path


def events_in(text: str) -> dict[str, Any]:
    return dict(json.loads(text.lstrip("\ufeff"))["hooks"])


@pytest.mark.parametrize(
    "text",
    [
        ODD,
        "{}",
        "{ }\n",
        '{"hooks":{}}',
        '{\n  "hooks": {\n  }\n}\n',
        '{"hooks": {"Stop": []}, "a": "ä"}',
        json.dumps({"model": "x", "hooks": {"Stop": [{"hooks": []}]}}, indent="\t"),
    ],
)
def test_install_and_uninstall_leave_every_byte(text: str) -> None:
    path = write(text)
    settings().install()
    installed = path.read_bytes().decode()
    assert settings().installed() == list(EVENTS)
    # what people wrote stands there as they wrote it, in order
    assert _is_within(text, installed)
    settings().uninstall()
    assert path.read_bytes().decode() == text


def test_what_was_changed_meanwhile_stays_changed() -> None:
    path = write(ODD)
    settings().install()
    edited = path.read_bytes().decode().replace('"opus"', '"sonnet"')
    path.write_bytes(edited.encode())
    settings().uninstall()
    left = path.read_bytes().decode()
    assert "hook.py" not in left
    assert '"model" :"sonnet","permissions":5,\r\n' in left
    assert '{"hooks":[{"type":"command","command":"mine"}]}' in left


def test_a_second_install_changes_nothing_and_forgets_nothing() -> None:
    path = write(ODD)
    settings().install()
    once = path.read_bytes()
    settings().install()
    assert path.read_bytes() == once
    settings().uninstall()
    assert path.read_bytes().decode() == ODD


def test_hooks_of_another_place_make_way() -> None:
    old = {"hooks": [{"type": "command", "command": "/old/python /old/claudekeeper/hook.py /h"}]}
    path = write(json.dumps({"hooks": {"Stop": [old, {"hooks": [{"command": "mine"}]}]}}))
    settings().install()
    stops = events_in(path.read_text())["Stop"]
    commands = [hook["command"] for group in stops for hook in group["hooks"]]
    assert commands == ["mine", command(keeper_home())]


def test_a_file_that_was_not_there_is_gone_again() -> None:
    path = claude_home() / "settings.json"
    settings().install()
    assert events_in(path.read_text()).keys() == set(EVENTS)
    assert path.stat().st_mode & 0o777 == 0o600
    settings().uninstall()
    assert not path.exists()


def test_a_link_stays_a_link_and_a_mode_stays_a_mode(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o644)
    link = claude_home() / "settings.json"
    link.symlink_to(real)
    settings().install()
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o644
    assert "PermissionRequest" in real.read_text()


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"hooks": "x"}', '{"hooks": {"Stop": 5}}', "// comment\n{}"]
)
def test_what_cannot_be_changed_safely_is_left_alone(text: str) -> None:
    path = write(text)
    with pytest.raises(SettingsUnusable):
        settings().install()
    assert path.read_text() == text
    assert main(["hooks", "install", "--yes"]) == 2


def test_the_command_shows_the_change_and_asks(capsys: pytest.CaptureFixture[str]) -> None:
    path = write("{}\n")
    # nobody sits at this terminal
    assert main(["hooks", "install"]) == 2
    assert path.read_text() == "{}\n"
    assert '+  "hooks"' in capsys.readouterr().out
    assert main(["hooks", "install", "--yes"]) == 0
    assert main(["hooks", "status"]) == 0
    assert "does not run" in capsys.readouterr().out
    assert main(["hooks", "uninstall", "--yes"]) == 0
    assert path.read_text() == "{}\n"


def test_the_hook_is_silent_without_a_keeper_and_within_one() -> None:
    event = json.dumps({"hook_event_name": "PermissionRequest", "tool_name": "Bash"})
    words = shlex.split(command(keeper_home()))
    for more in ({}, {"CLAUDEKEEPER_SESSION": "x"}):
        ran = subprocess.run(
            words, input=event, capture_output=True, text=True, env={**os.environ, **more}
        )
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    ran = subprocess.run(words, input="no json", capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def _is_within(text: str, longer: str) -> bool:
    rest = iter(longer)
    return all(letter in rest for letter in text)
