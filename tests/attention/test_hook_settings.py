"""The keeper's hooks in Claude Code's settings come and go; nothing else changes there."""

from __future__ import annotations

import json
import os
import pty
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from claudekeeper.attention.hook_settings import (
    EVENTS,
    TEMPORARY_PREFIX,
    ClaudeSettingsFile,
    HookSettingsUnusable,
    hook_command,
)
from claudekeeper.cli.instance_lock import hold_instance_lock
from claudekeeper.cli.main import main
from claudekeeper.core.config import load_config
from claudekeeper.core.paths import claude_home, keeper_home

ODD = (
    '\ufeff{\r\n   "model" :"opus","permissions":5,\r\n'
    '\t"hooks": {"Stop":[  {"hooks":[{"type":"command","command":"mine"}]}  ], "New": {"x":null},'
    '"PermissionRequest" : [ ]},\r\n  "unknown": [1,2 ,\r\n3], "": "\\u00e9"\r\n}\r\n\r\n'
)


def settings() -> ClaudeSettingsFile:
    return ClaudeSettingsFile(claude_home(), keeper_home())


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
    assert settings().installed_events() == list(EVENTS)
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
    rest = path.read_bytes().decode()
    assert "hook.py" not in rest
    assert '"model" :"sonnet","permissions":5,\r\n' in rest
    assert '{"hooks":[{"type":"command","command":"mine"}]}' in rest


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
    assert commands == ["mine", hook_command(keeper_home())]


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
    "text",
    [
        "{",
        "[]",
        "null",
        "\ufeff",
        '{"hooks": "x"}',
        '{"hooks": []}',
        '{"hooks": null}',
        '{"hooks": {"Stop": 5}}',
        '{"hooks": {"Stop": []}, "hooks": {}}',
        '{"hooks": {"Stop": [], "Stop": []}}',
        '{"a": NaN}',
        '{"a": 1,}',
        "// comment\n{}",
        '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
)
def test_what_cannot_be_changed_safely_is_left_alone(text: str) -> None:
    path = write(text)
    with pytest.raises(HookSettingsUnusable):
        settings().install()
    assert path.read_text() == text
    assert main(["hooks", "install", "--yes"]) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{\n  "a": 1,\n}', "a comma too many in line 2"),
        ('{\n\n  // mine\n  "a": 1}', "a comment in line 3"),
        ("{}\n/* mine */", "a comment in line 2"),
        ('{"a": 1', "it ends too early"),
        ('{"a": Infinity}', "Infinity is no JSON"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    text: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(text)
    assert main(["hooks", "install", "--yes"]) == 2
    assert words in capsys.readouterr().err


def test_what_is_no_ordinary_file_is_left_alone() -> None:
    path = claude_home() / "settings.json"
    os.mkfifo(path)
    for action in ("install", "uninstall"):
        assert main(["hooks", action, "--yes"]) == 2
    assert path.is_fifo()
    path.unlink()
    path.mkdir()
    assert main(["hooks", "install", "--yes"]) == 2
    assert list(path.iterdir()) == []


def test_who_takes_the_right_to_write_from_it_means_it(capsys: pytest.CaptureFixture[str]) -> None:
    path = write("{}")
    path.chmod(0o444)
    assert main(["hooks", "install", "--yes"]) == 2
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("{}", 0o444)
    assert "read-only" in capsys.readouterr().err
    path.chmod(0o644)
    assert main(["hooks", "install", "--yes"]) == 0
    installed = path.read_text()
    path.chmod(0o444)
    assert main(["hooks", "uninstall", "--yes"]) == 2
    assert path.read_text() == installed


def test_a_file_of_two_names_is_not_parted_from_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write('{"model": "opus"}')
    target = tmp_path / "claude.json"
    target.hardlink_to(path)
    assert main(["hooks", "install", "--yes"]) == 2
    assert "a hard link" in capsys.readouterr().err
    assert target.samefile(path)
    assert path.read_text() == '{"model": "opus"}'
    # as it says: a symbolic link is followed, and stays one
    path.unlink()
    path.symlink_to(target)
    assert main(["hooks", "install", "--yes"]) == 0
    assert path.is_symlink()
    assert "PermissionRequest" in target.read_text()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_stays_theirs() -> None:
    path = write("{}")
    os.chown(path, 12_345, 12_346)
    settings().install()
    settings().uninstall()
    facts = path.stat()
    assert (facts.st_uid, facts.st_gid) == (12_345, 12_346)


def test_a_link_to_nowhere_leads_there_and_to_nowhere_again(tmp_path: Path) -> None:
    link, target = claude_home() / "settings.json", tmp_path / "dotfiles" / "claude.json"
    link.symlink_to(target)
    settings().install()
    assert link.is_symlink()
    assert events_in(target.read_text()).keys() == set(EVENTS)
    settings().uninstall()
    assert link.is_symlink()
    assert not target.exists()


def test_what_was_written_while_a_person_was_asked_stays() -> None:
    path = write("{}")
    earlier = settings()
    path.write_text('{"model": "opus"}')
    with pytest.raises(HookSettingsUnusable, match="meanwhile"):
        earlier.install()
    assert path.read_text() == '{"model": "opus"}'
    settings().install()
    earlier = settings()
    later = path.read_text().replace("opus", "sonnet")
    path.write_text(later)
    with pytest.raises(HookSettingsUnusable, match="meanwhile"):
        earlier.uninstall()
    assert path.read_text() == later


def test_older_hooks_of_ours_do_not_come_back() -> None:
    path = write('{"a": 1}')
    settings().install()
    # as after an update: another place, and something else was changed in between
    older = path.read_text().replace("hook.py", "hook.py --older").replace('"a": 1', '"a": 2')
    path.write_text(older)
    settings().install()
    assert settings().installed_events() == list(EVENTS)
    settings().uninstall()
    assert path.read_text() == '{"a": 2}'


def test_hooks_that_people_added_meanwhile_stay_where_they_are() -> None:
    path = write('{\n\t"model": "opus"\n}')
    settings().install()
    mine = '{"hooks":[{"type":"command","command":"mine"}]}'
    text = path.read_text()
    # before ours, behind ours, and for an event that is none of ours
    text = text.replace('"Stop": [', f'"Stop": [\n{mine},').replace("]\n\t}", f", {mine}]\n\t}}")
    text = text.replace('"hooks": {', f'"hooks": {{"PreToolUse": [{mine}],', 1)
    path.write_text(text)
    settings().uninstall()
    rest = path.read_text()
    groups_of = events_in(rest)
    assert {event: len(groups) for event, groups in groups_of.items()} == {
        "PreToolUse": 1,
        "Stop": 1,
        "SessionEnd": 1,
    }
    assert rest.startswith('{\n\t"model": "opus",')
    assert "hook.py" not in rest


def test_what_nobody_counts_twice_is_kept_though_it_counts_for_nothing() -> None:
    text = '{"a":1,"x":0,"hooks":{"Stop":[]},"x":5}'
    path = write(text)
    settings().install()
    path.write_text(path.read_text() + "\n")
    settings().uninstall()
    assert path.read_text().startswith('{"a":1,"x":0,')
    assert path.read_text().endswith(',"x":5}\n')


def test_odd_bytes_and_endless_numbers_stay_as_they_are() -> None:
    content = b'{"a": "\xff\x80\xed\xa0\x80", "b": ' + b"1" * 6000 + b', "c": -1.50E+400}'
    path = claude_home() / "settings.json"
    path.write_bytes(content)
    assert main(["hooks", "install", "--yes"]) == 0
    assert path.read_bytes().startswith(content[:-1])
    assert main(["hooks", "uninstall", "--yes"]) == 0
    assert path.read_bytes() == content


def test_of_long_lines_the_beginning_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    write(json.dumps({"long": "x" * 100_000, "many": list(range(1000))}))
    assert main(["hooks", "install", "--yes"]) == 0
    output = capsys.readouterr().out
    assert "letters more)" in output
    assert len(output) < 10_000


def test_of_many_lines_those_that_change_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    write(json.dumps({"many": list(range(10_000)), "hooks": {}, "more": [1] * 10_000}, indent=1))
    assert main(["hooks", "install", "--yes"]) == 0
    output = capsys.readouterr().out
    assert '+  "PermissionRequest"' in output
    assert len(output.splitlines()) < 40


def test_a_kill_leaves_the_old_or_the_new_settings() -> None:
    path = write(ODD)
    program = (
        "import os, sys; from claudekeeper.cli.main import main\n"
        "def end(*_):\n  os._exit(9)\n"
        "setattr(os, sys.argv[1], end)\n"
        'main(["hooks", "install", "--yes"])'
    )
    for moment in ("fchmod", "fsync", "replace"):
        ended = subprocess.run([sys.executable, "-c", program, moment], capture_output=True)
        assert ended.returncode == 9, ended.stderr
        assert path.read_bytes().decode() == ODD
    # also between the record of what was there and the settings themselves
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClaudeSettingsFile, "_write", _fail)
        with pytest.raises(KeyboardInterrupt):
            settings().install()
    assert path.read_bytes().decode() == ODD
    leftover = path.parent / f"{TEMPORARY_PREFIX}left"
    leftover.touch()
    settings().install()
    assert not leftover.exists()
    settings().uninstall()
    assert path.read_bytes().decode() == ODD


def _fail(*_: object) -> None:
    raise KeyboardInterrupt


def test_hooks_that_claude_code_is_told_not_to_run_do_not_work(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write('{"disableAllHooks": true}')
    assert main(["hooks", "install", "--yes"]) == 0
    assert main(["hooks", "status"]) == 0
    assert "disableAllHooks" in capsys.readouterr().out.splitlines()[-1]


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


def read_until(terminal: IO[bytes], words: bytes) -> bytes:
    output = b""
    while words not in output:
        output += terminal.read(1000)
    return output


@pytest.mark.parametrize(("answer", "installed"), [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_a_person_is_shown_the_change_and_asked(answer: bytes, installed: bool) -> None:
    path = write('{"model": "opus"}')
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "r+b", buffering=0) as person:
        program = subprocess.Popen(
            [sys.executable, "-m", "claudekeeper", "hooks", "install"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        assert b'+  "hooks": {' in read_until(person, b"[y/N]")
        # nothing is done before the answer
        assert path.read_text() == '{"model": "opus"}'
        person.write(answer)
        program.wait()
    assert ("hook.py" in path.read_text()) == installed
    backup = keeper_home() / "settings.json.backup"
    assert (backup.exists() and backup.read_text() == '{"model": "opus"}') == installed


def test_the_hook_is_silent_without_a_keeper_and_within_one() -> None:
    event = json.dumps({"hook_event_name": "PermissionRequest", "tool_name": "Bash"})
    words = shlex.split(hook_command(keeper_home()))
    for more in ({}, {"CLAUDEKEEPER_SESSION": "x"}):
        ran = subprocess.run(
            words, input=event, capture_output=True, text=True, env={**os.environ, **more}
        )
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    ran = subprocess.run(words, input="no json", capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


@contextmanager
def stop_hook(**environment: str) -> Iterator[tuple[socket.socket, subprocess.Popen[bytes]]]:
    """A hook that runs at the end of a turn, and where it would call its keeper."""
    home = keeper_home()
    load_config(home)
    event = json.dumps({"hook_event_name": "Stop"})
    with socket.create_server(("127.0.0.1", 0)) as keeper, hold_instance_lock(home) as instance:
        instance.announce(keeper=f"http://127.0.0.1:{keeper.getsockname()[1]}")
        hook = subprocess.Popen(
            shlex.split(hook_command(home)),
            stdin=subprocess.PIPE,
            env={**os.environ, **environment},
        )
        assert hook.stdin is not None
        hook.stdin.write(event.encode())
        hook.stdin.close()
        yield keeper, hook


def assert_nobody_calls(keeper: socket.socket) -> None:
    keeper.setblocking(False)
    with pytest.raises(BlockingIOError):
        keeper.accept()


def test_the_hook_of_a_terminal_calls_the_keeper_once() -> None:
    with stop_hook() as (keeper, hook):
        connection, _ = keeper.accept()
        connection.close()
        assert hook.wait() == 0
        assert_nobody_calls(keeper)


def test_the_hook_of_a_session_that_the_keeper_runs_calls_nobody() -> None:
    with stop_hook(CLAUDEKEEPER_SESSION="x") as (keeper, hook):
        assert hook.wait() == 0
        assert_nobody_calls(keeper)


def _is_within(text: str, longer: str) -> bool:
    rest = iter(longer)
    return all(letter in rest for letter in text)
