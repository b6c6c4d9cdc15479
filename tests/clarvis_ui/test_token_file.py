"""The token file: read again when it is replaced, refused when it holds no token."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from clarvis_ui.settings import ClarvisSettings, SettingsInvalid
from clarvis_ui.token_file import TokenFile, keeper_config_path


def replace(path: Path, text: str) -> None:
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


@pytest.mark.parametrize(
    "text", ["abc", "abc\n", '{"token": "abc"}', '{"port": 1, "token": "abc"}']
)
def test_a_token_is_read_from_either_kind_of_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    assert TokenFile(path)() == "abc"


@pytest.mark.parametrize(
    "text", ["", "\n", "{", "{}", '{"token": 1}', '{"token": ""}', "two words", "a\nb", "\0", "é"]
)
def test_a_file_without_a_token_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    with pytest.raises(SettingsInvalid, match="token"):
        TokenFile(path)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match=r"config\.json"):
        TokenFile(tmp_path / "config.json")


def test_a_rotated_token_counts_at_once(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"token": "old"}))
    token = TokenFile(path)
    replace(path, json.dumps({"token": "new"}))
    assert token() == "new"


def test_a_half_written_file_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"token": "old"}))
    token = TokenFile(path)
    replace(path, '{"tok')
    assert token() == "old"
    path.unlink()
    assert token() == "old"
    replace(path, json.dumps({"token": "new"}))
    assert token() == "new"


def test_the_keeper_s_file_is_found(isolated: Path) -> None:
    assert keeper_config_path() == isolated / ".claudekeeper" / "config.json"
    assert keeper_config_path({}) == isolated / ".claudekeeper" / "config.json"


def test_settings_do_not_show_the_token(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("abc-secret")
    assert "abc-secret" not in repr(
        ClarvisSettings(keeper="http://127.0.0.1:1", token=TokenFile(path))
    )


def test_the_token_file_may_not_be_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_bytes(os.urandom(4) + b"\xff")
    with pytest.raises(SettingsInvalid):
        TokenFile(path)
