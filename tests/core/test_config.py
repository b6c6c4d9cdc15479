"""config.json: made at the first start, read afterwards, never guessed at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from claudekeeper.contract.errors import ConfigInvalid
from claudekeeper.contract.routing import RoutingSettings
from claudekeeper.core.config import load_config


@pytest.mark.usefixtures("no_umask")
def test_the_first_start_makes_a_token_for_us_alone(tmp_path: Path) -> None:
    config = load_config(tmp_path / "keeper")
    file = tmp_path / "keeper" / "config.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert len(config.token) >= 32
    assert load_config(tmp_path / "keeper") == config


def test_a_file_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    load_config(tmp_path)
    (tmp_path / "config.json").chmod(0o644)
    load_config(tmp_path)
    assert (tmp_path / "config.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"token": 3}', '{"token": "short"}', '{"port": "x"}']
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(ConfigInvalid, match=r"config\.json"):
        load_config(tmp_path)
    assert (tmp_path / "config.json").read_text() == content


def test_settings_without_secrets_are_given_some(tmp_path: Path) -> None:
    """As people write the file by hand, before the first start."""
    file = tmp_path / "config.json"
    file.write_text('{"port": 7000, "mine": {"a": 1}}')
    config = load_config(tmp_path)
    assert (config.port, len(config.token) > 30, len(config.hook_token or "") > 30) == (
        7000,
        True,
        True,
    )
    assert json.loads(file.read_text())["mine"] == {"a": 1}
    assert file.stat().st_mode & 0o777 == 0o600
    assert load_config(tmp_path) == config


def test_routing_and_conversations_are_set_here(tmp_path: Path) -> None:
    before = load_config(tmp_path)
    file = tmp_path / "config.json"
    settings = json.loads(file.read_text())
    settings["routing"] = {"enabled": False, "confidenceThreshold": 0.6, "expiryMinutes": 5}
    settings["conversations"] = {"expiryHours": 1, "strategy": "off"}
    file.write_text(json.dumps(settings))
    now = load_config(tmp_path)
    assert now.token == before.token
    assert now.routing == RoutingSettings(
        enabled=False, confidence_threshold=0.6, expiry_minutes=5, scorer="improved"
    )
    assert (now.conversations.expiry_hours, now.conversations.strategy) == (1, "off")
