"""The secrets of config.json: a rotation counts at once, and nothing shows them."""

from __future__ import annotations

import hmac
import json
from pathlib import Path

import pytest

from claudekeeper.cli.main import main
from claudekeeper.core.config import load_config, rotate_token
from claudekeeper.core.credentials import Credentials, CredentialsFile


def test_a_rotated_token_counts_at_once_and_the_rest_of_the_file_stays(tmp_path: Path) -> None:
    before = load_config(tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "port": 1, "later": {"a": 1}}))
    credentials = CredentialsFile(tmp_path)
    assert credentials().scope_of(before.token) == "owner"
    rotate_token(tmp_path)
    assert credentials().scope_of(before.token) is None
    after = load_config(tmp_path)
    assert credentials().scope_of(after.token) == "owner"
    assert after.hook_token == before.hook_token
    assert after.port == 1
    assert json.loads(path.read_text())["later"] == {"a": 1}


def test_the_token_of_hooks_is_rotated_alone(tmp_path: Path) -> None:
    before = load_config(tmp_path)
    rotate_token(tmp_path, hooks=True)
    after = load_config(tmp_path)
    assert after.token == before.token
    assert after.hook_token != before.hook_token


@pytest.mark.parametrize("content", [b"", b"{", b'{"token": "short"}', b"\xff"])
def test_a_file_that_cannot_be_used_changes_nothing(tmp_path: Path, content: bytes) -> None:
    token = load_config(tmp_path).token
    credentials = CredentialsFile(tmp_path)
    (tmp_path / "config.json").write_bytes(content)
    assert credentials().scope_of(token) == "owner"
    (tmp_path / "config.json").unlink()
    assert credentials().scope_of(token) == "owner"


@pytest.mark.parametrize("secret", ["", "x", "token-of-the-owner", "\udcff", "é"])
def test_what_is_no_secret_opens_nothing(secret: str) -> None:
    assert Credentials(b"token-of-the-owner!", None).scope_of(secret) is None
    assert Credentials(b"token-of-the-owner!", b"token-of-hooks").scope_of(secret) is None


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    config = load_config(tmp_path)
    assert config.token not in repr(config)
    assert config.token not in repr(Credentials.from_config(config))


@pytest.mark.usefixtures("no_umask")
def test_rotating_says_where_and_not_what(
    isolated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["token", "rotate"]) == 0
    assert main(["token", "rotate", "--hooks"]) == 0
    output = capsys.readouterr().out
    file = isolated / ".claudekeeper" / "config.json"
    config = load_config(file.parent)
    assert str(file) in output
    assert config.token not in output
    assert str(config.hook_token) not in output
    assert file.stat().st_mode & 0o777 == 0o600


def test_every_secret_is_compared_in_constant_time_whatever_the_first_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[bytes] = []

    def compare(secret: bytes, expected: bytes) -> bool:
        compared.append(expected)
        return secret == expected

    monkeypatch.setattr(hmac, "compare_digest", compare)
    ours = Credentials(b"the-token", b"the-hook-token")
    for secret, scope in (("the-token", "owner"), ("the-hook-token", "hook"), ("the-toke", None)):
        compared.clear()
        assert ours.scope_of(secret) == scope
        assert compared == [b"the-token", b"the-hook-token"]
