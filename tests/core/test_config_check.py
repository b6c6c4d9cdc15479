"""Settings: each one is described as it is, and none is ignored in silence."""

from __future__ import annotations

import ast
import json
import re
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claudekeeper.cli.main import main
from claudekeeper.contract.errors import ConfigInvalid
from claudekeeper.core.config import Config, config_warnings, load_config
from claudekeeper.core.config_check import (
    PUBLIC_VARIABLES,
    check_settings,
    list_settings,
    unknown_variables,
)
from claudekeeper.core.paths import keeper_home
from claudekeeper.demo.home import DemoHome
from claudekeeper.sessions.preferences import StateFile
from tests.support.keeper_process import KeeperProcess

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "settings.md").read_text()
TOKEN = "a-token-that-is-long-enough"


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without code marks around them."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip().strip("`") for cell in line.strip("| ").split(" | ")] for line in lines]


def test_every_setting_is_described_and_nothing_else() -> None:
    described = rows("config.json")
    real = [[each.name, each.accepts, each.default] for each in list_settings(Config)]
    assert [row[:3] for row in described] == real
    assert all(len(row) == 4 and row[3] for row in described)


def test_every_default_is_what_it_says() -> None:
    config = msgspec.to_builtins(Config(token=TOKEN))
    fixed = [row for row in rows("config.json") if "NAME" not in row[0] and row[0] != "token"]
    for name, _, default, _ in fixed:
        value = reduce(getitem, name.split("."), config)
        assert json.dumps(value).replace("()", "[]") == default, name


def test_every_variable_is_described() -> None:
    described = {row[0] for row in rows("The environment")}
    assert described == {*PUBLIC_VARIABLES, "CLAUDE_CONFIG_DIR"}
    assert all(len(row) == 4 and all(row) for row in rows("The environment"))
    assert not unknown_variables(described)


def strings_in(source: Path) -> list[str]:
    nodes = ast.walk(ast.parse(source.read_text()))
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return [value for value in constants if isinstance(value, str)]


def test_every_variable_of_ours_in_the_program_is_known() -> None:
    variables = set()
    for folder in ("claudekeeper", "clarvis_ui"):
        for source in (ROOT / folder).rglob("*.py"):
            for text in strings_in(source):
                variables |= set(re.findall(r"^(?:CLAUDEKEEPER|CLARVIS)_[A-Z_]+[A-Z]$", text))
    assert variables >= set(PUBLIC_VARIABLES)
    assert not unknown_variables(variables)


def test_every_field_of_the_state_is_described() -> None:
    fields = [field.encode_name for field in msgspec.structs.fields(StateFile)]
    assert sorted(row[0] for row in rows("state.json")) == sorted(fields)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("routing.confidence_threshold", "routing.confidenceThreshold"),
        ("routing.Enabled", "routing.enabled"),
        ("conversations.enable", "conversations.enabled"),
        ("conversation.enabled", "conversations"),
        ("confidenceThreshold", "routing.confidenceThreshold"),
        ("limits.live-sessions", "limits.liveSessions"),
        ("limit.liveSessions", "limits"),
        ("allowed_hosts", "allowedHosts"),
        ("tokn", "token"),
        ("conversations.projects.shop.ceiling.turns", "conversations.projects.shop.ceilings"),
        ("conversations.projects.shop.sweepSeconds", "conversations.sweepSeconds"),
        ("conversations.ceilings.costUSD", "conversations.ceilings.costUsd"),
    ],
)
def test_the_nearest_right_name_is_said(name: str, meant: str) -> None:
    value: Any = 1
    for part in reversed(name.split(".")):
        value = {part: value}
    _, wrong = check_settings(Config, value)
    (says,) = [each.message for each in wrong]
    assert says.endswith(f"Did you mean {meant}?")


def test_a_dotted_name_is_told_where_to_stand() -> None:
    _, (wrong,) = check_settings(Config, {"routing.scorer": "plain"})
    assert wrong.message.endswith("Write scorer into the object routing.")


def test_what_nothing_is_like_is_named_all_the_same() -> None:
    _, (wrong,) = check_settings(Config, {"colour\n\x1b": {"a": "secret"}})
    assert wrong.message == "colour?? is not a setting and is ignored."


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("routing.confidenceThreshold", 45, "is 45, not a number from 0 to 1."),
        ("routing.expiryMinutes", 0, "is 0, not a number above 0 up to 1440."),
        ("routing.scorer", "Improved", 'is "Improved", not "improved" or "plain".'),
        ("limits.liveSessions", "10", 'is "10", not a whole number from 1 to 1000.'),
        ("limits.liveSessions", 2.5, "is 2.5, not a whole number"),
        ("limits.idleSeconds", True, "is true, not a number from 1."),
        ("limits", [], "is [], not an object."),
        ("archive", "yes", 'is "yes", not true or false.'),
        ("conversations.threshold", None, "is null, not a number above 0 up to 1."),
        ("logLevel", "verbose", 'is "verbose", not "debug" or'),
    ],
)
def test_a_wrong_value_is_named_and_its_default_used(
    tmp_path: Path, name: str, value: Any, says: str
) -> None:
    config = load_with(tmp_path, name, value)
    assert config == Config(token=TOKEN, hook_token=config.hook_token, port=7000)
    (sentence,) = config_warnings(tmp_path)
    assert sentence.startswith(f"{name} {says}")
    assert sentence.endswith("Its default is used.")


def test_a_wrong_value_of_a_project_is_named_too(tmp_path: Path) -> None:
    config = load_with(tmp_path, "conversations.projects.shop.strategy", "x")
    assert (config.token, config.port) == (TOKEN, 7000)
    (sentence,) = config_warnings(tmp_path)
    assert sentence.startswith('conversations.projects.shop.strategy is "x", not "off" or')
    assert sentence.endswith("Its default is used.")


def load_with(folder: Path, name: str, value: Any) -> Config:
    """The configuration with this value of a setting, whose name may have several parts."""
    setting = reduce(lambda inner, part: {part: inner}, reversed(name.split(".")), value)
    content = {"token": TOKEN, "port": 7000, **setting}
    (folder / "config.json").write_text(json.dumps(content))
    return load_config(folder)


@pytest.mark.parametrize(
    "settings",
    [
        {"port": "7433"},
        {"uiPort": 70_000},
        {"host": None},
        {"allowedHosts": "box"},
        {"trustedProxies": [1]},
        {"tlsKey": 5},
        {"hookToken": 5},
        {"conversations": {"enabled": "no"}},
        {"conversations": {"ceilings": {"turns": "5"}}},
        {"conversations": {"projects": {"shop": {"ceilings": {"costUsd": -1}}}}},
        {"conversations": {"projects": []}},
        {"conversations": 1},
    ],
)
def test_what_guards_is_not_guessed_at(tmp_path: Path, settings: dict[str, Any]) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"token": TOKEN, **settings}))
    with pytest.raises(ConfigInvalid, match=r"config\.json is not usable"):
        load_config(tmp_path)


def test_a_value_is_named_however_deep_it_goes() -> None:
    deep: Any = 1
    for _ in range(300):
        deep = [deep]
    _, (wrong,) = check_settings(Config, {"limits": deep})
    assert wrong.message == "limits is …, not an object. Its default is used."


def test_of_a_file_that_is_no_keeper_s_every_name_is_named() -> None:
    """Which setting each may have meant is not sought for ever."""
    _, wrong = check_settings(Config, {f"limit{number}": 1 for number in range(10_000)})
    assert len(wrong) == 10_000
    assert wrong[0].message == "limit0 is not a setting and is ignored. Did you mean limits?"
    assert wrong[-1].message == "limit9999 is not a setting and is ignored."


def test_a_long_name_is_not_compared_whole() -> None:
    _, (wrong,) = check_settings(Config, {"routing " * 100_000: 1})
    assert wrong.message.startswith("routing routing")
    assert len(wrong.message) < 300


def test_a_secret_is_not_shown() -> None:
    _, wrong = check_settings(Config, {"token": ["secret"], "hookToken": {"a": "secret"}})
    assert not [each for each in wrong if "secret" in each.message]


names = st.sampled_from(
    [part for each in list_settings(Config) for part in each.name.split(".")] + ["other"]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2000) | st.floats(-2, 2) | st.sampled_from(
        ["plain", "off", "json", "debug", ""]
    ),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


# a machine at work takes its time
@settings(deadline=None)
@given(content=st.dictionaries(names, values, max_size=6))
def test_what_is_left_can_always_be_used(content: dict[str, Any]) -> None:
    usable, wrong = check_settings(Config, content)
    config = msgspec.convert({**usable, "token": TOKEN}, Config)
    assert wrong or config == msgspec.json.decode(
        msgspec.json.encode({**content, "token": TOKEN}), type=Config
    )


MISSPELLED = {"routing": {"confidence_threshold": 0.6}, "limits": {"liveSessions": 0}}
SAID = [
    "routing.confidence_threshold is not a setting and is ignored.",
    "Did you mean routing.confidenceThreshold?",
    "limits.liveSessions is 0, not a whole number from 1 to 1000. Its default is used.",
    "CLARVIS_ALLOWED_ROOT is not a setting and is ignored. Did you mean CLARVIS_ALLOWED_ROOTS?",
]


def test_the_doctor_says_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = keeper_home()
    home.mkdir()
    (home / "config.json").write_text(json.dumps(MISSPELLED))
    monkeypatch.setenv("CLARVIS_ALLOWED_ROOT", "/code")
    main(["doctor"])
    names = capsys.readouterr().out
    assert not [each for each in SAID if each not in names]


@pytest.mark.parametrize("level", ["info", "error"])
def test_a_start_says_it_and_serves(level: str) -> None:
    with DemoHome() as home:
        home.keeper.mkdir(exist_ok=True)
        (home.keeper / "config.json").write_text(json.dumps({**MISSPELLED, "logLevel": level}))
        with KeeperProcess(
            home, "--no-ui", environment={"CLARVIS_ALLOWED_ROOT": "/code"}
        ) as keeper:
            assert not [each for each in SAID if each not in keeper.log]


def test_a_number_may_be_written_without_a_point(tmp_path: Path) -> None:
    settings = {"token": TOKEN, "limits": {"idleSeconds": 5}, "conversations": {"expiryHours": 2}}
    (tmp_path / "config.json").write_text(json.dumps(settings))
    config = load_config(tmp_path)
    assert (config.limits.idle_seconds, config.conversations.expiry_hours) == (5, 2)
    assert config_warnings(tmp_path) == []
