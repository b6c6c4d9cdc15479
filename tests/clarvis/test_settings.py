"""The token's file, the names a server answers to, and the addresses that stay on the machine."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from clarvis_ui.settings import (
    LOOPBACK_NAMES,
    Settings,
    SettingsInvalid,
    TokenFile,
    host_names,
    is_loopback,
    keeper_config,
)


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
    assert keeper_config() == isolated / ".claudekeeper" / "config.json"
    assert keeper_config({}) == isolated / ".claudekeeper" / "config.json"


@pytest.mark.parametrize("url", ["", "localhost:7433", "ftp://x", "http://", "http://u:p@x", "/"])
def test_what_is_no_keeper_s_address_is_refused(url: str) -> None:
    with pytest.raises(SettingsInvalid):
        Settings(keeper=url, token=lambda: "abc")


def test_settings_do_not_show_the_token(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("abc-secret")
    assert "abc-secret" not in repr(Settings(keeper="http://127.0.0.1:1", token=TokenFile(path)))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.9.9.9"])
def test_loopback_in_any_spelling(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "0", "", "::ffff:0.0.0.0", "192.0.2.1", "no such name.invalid"]
)
def test_all_other_addresses_in_any_spelling(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "0", "", "::ffff:0.0.0.0"])
def test_a_wildcard_is_nobody_s_name(host: str) -> None:
    assert host_names(host) == LOOPBACK_NAMES


def test_a_server_answers_to_its_address_and_to_added_names() -> None:
    assert host_names("192.0.2.1", ["Desk.lan"]) == LOOPBACK_NAMES | {"192.0.2.1", "desk.lan"}
    assert "[fd00::1]" in host_names("fd00::1")


def test_the_token_file_may_not_be_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_bytes(os.urandom(4) + b"\xff")
    with pytest.raises(SettingsInvalid):
        TokenFile(path)
