"""Names survive, whatever happens to the file they stand in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from claudekeeper.contract.errors import StateUnwritable
from claudekeeper.contract.grants import Grants
from claudekeeper.core.atomic_files import replace_file
from claudekeeper.sessions.preferences import Preferences
from claudekeeper.sessions.settings import SessionSettings


def loaded(path: Path) -> Preferences:
    preferences = Preferences(path)
    preferences.load()
    return preferences


async def test_a_name_is_there_after_a_restart(tmp_path: Path) -> None:
    await loaded(tmp_path / "state.json").rename("s1", "Hats")
    assert loaded(tmp_path / "state.json").name_of("s1") == "Hats"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"names": 3}', b"\xff\x00"])
def test_a_corrupt_file_is_kept_aside_and_begun_anew(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(content)
    assert loaded(path).name_of("s1") is None
    (aside,) = tmp_path.glob("state.json.corrupt-*")
    assert aside.read_bytes() == content


async def test_fields_of_a_newer_version_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text('{"names": {"s0": "Old"}, "theme": {"dark": true}}')
    await loaded(path).rename("s1", "Hats")
    assert json.loads(path.read_text()) == {
        "names": {"s0": "Old", "s1": "Hats"},
        "theme": {"dark": True},
    }


async def test_a_full_disk_keeps_the_old_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    preferences = loaded(tmp_path / "state.json")
    await preferences.rename("s1", "Hats")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        with pytest.raises(StateUnwritable, match="No space left"):
            await preferences.rename("s1", "Caps")
    assert preferences.name_of("s1") == "Hats"
    assert loaded(tmp_path / "state.json").name_of("s1") == "Hats"
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]


@pytest.mark.usefixtures("no_umask")
def test_what_is_written_is_for_us_alone_whatever_the_umask(tmp_path: Path) -> None:
    replace_file(tmp_path / "new" / "state.json", b"{}")
    assert (tmp_path / "new" / "state.json").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


# forks a writer, kills it somewhere in the middle, looks at what is there; two hundred times
KILLER = """
import json, os, signal, sys
from pathlib import Path
from claudekeeper.core.atomic_files import replace_file
from claudekeeper.sessions.settings import SessionSettings
from claudekeeper.contract.grants import Grants
path = Path(sys.argv[1])
replace_file(path, b'{"names":{"s":"0"}}')
for kill in range(200):
    told, tells = os.pipe()
    writer = os.fork()
    if writer == 0:
        number = 0
        while True:
            number += 1
            os.write(tells, b".")
            name = str(kill * 1000 + number) + "x" * (number * 997 % 5000)
            replace_file(path, b'{"names":{"s":"' + name.encode() + b'"}}')
    for _ in range(kill % 3 + 1):
        os.read(told, 1)
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
    os.close(told)
    os.close(tells)
    assert json.loads(path.read_bytes())["names"]["s"]
"""


def test_two_hundred_killed_writers_leave_the_old_or_the_new(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    subprocess.run([sys.executable, "-c", KILLER, str(path)], check=True)
    assert loaded(path).name_of("s")
    # and nothing of theirs lies around when the next one has started
    assert [each.name for each in tmp_path.iterdir()] == ["state.json"]


async def test_what_was_chosen_is_there_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    preferences = loaded(path)
    await preferences.rename("s1", "Hats")
    preferences.store_settings("s1", SessionSettings(model="opus", permission_mode="plan"))
    allowed = SessionSettings(grants=Grants(allow=("Read(//tmp/**)",)))
    preferences.store_settings("s3", allowed)
    preferences.store_settings("s2", SessionSettings(model="haiku"))
    preferences.store_settings("s2", SessionSettings())
    await preferences.wait_until_saved()
    again = loaded(path)
    assert again.settings_of("s1") == SessionSettings(model="opus", permission_mode="plan")
    assert again.settings_of("s2") == SessionSettings()
    assert again.settings_of("s3") == allowed
    assert again.name_of("s1") == "Hats"
    assert json.loads(path.read_text())["choices"] == {
        "s1": {"model": "opus", "permissionMode": "plan"},
        "s3": {"grants": {"allow": ["Read(//tmp/**)"]}},
    }


async def test_how_much_is_told_is_remembered_and_what_is_unknown_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    preferences = loaded(path)
    assert preferences.recap is None
    await preferences.set_recap("dive")
    await preferences.rename("a", "name")
    again = loaded(path)
    assert (again.recap, again.name_of("a")) == ("dive", "name")
    await again.set_recap(None)
    assert loaded(path).recap is None
    path.write_text('{"names": {}, "recap": "sung"}')
    newer = loaded(path)
    assert newer.recap is None
    await newer.rename("a", "name")
    assert '"recap":"sung"' in path.read_text()
