"""Addresses in any spelling."""

from __future__ import annotations

import pytest

from claudekeeper.net.addresses import (
    host_in_url,
    host_name,
    is_loopback,
    is_wildcard,
    parse_host_name,
    reachable_host,
)

WILDCARDS = ["0.0.0.0", "::", "[::]", "0", "", "::ffff:0.0.0.0", "0x0", "0.0", "00", "0:0::0"]


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "LOCALHOST", "::1", "[::1]", "127.9.9.9", "::ffff:127.0.0.1"]
)
def test_loopback_in_any_spelling(host: str) -> None:
    assert is_loopback(host)
    assert not is_wildcard(host)


@pytest.mark.parametrize(
    "host", [*WILDCARDS, "192.0.2.1", "127.1", "2130706433", "box", "localhost.evil.test", "a b"]
)
def test_all_other_addresses_in_any_spelling(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize("host", WILDCARDS)
def test_a_wildcard_in_any_spelling_is_no_place_to_go(host: str) -> None:
    assert is_wildcard(host)
    assert reachable_host(host) in {"127.0.0.1", "::1"}


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("localhost:7433", "localhost"),
        ("[::1]:7433", "[::1]"),
        ("LOCALHOST", "localhost"),
        ("localhost:x", None),
        ("localhost.", None),
        ("localhost/evil", None),
        ("evil@localhost", None),
        ("localhost?x", None),
        ("localhost:1:2", None),
        ("", None),
    ],
)
def test_the_name_in_a_host_header(host: str, name: str | None) -> None:
    assert host_name(host) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Box.tail.net", "box.tail.net"),
        ("fd00::1", "[fd00::1]"),
        ("[fd00::1]", "[fd00::1]"),
        ("box:443", None),
        ("https://box", None),
        ("*", None),
    ],
)
def test_a_configured_name(text: str, name: str | None) -> None:
    assert parse_host_name(text) == name


def test_an_address_in_a_url() -> None:
    assert host_in_url("::1") == "[::1]"
    assert host_in_url("[::1]") == "[::1]"
    assert host_in_url("127.0.0.1") == "127.0.0.1"
