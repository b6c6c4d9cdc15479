"""Host and Origin, with and without a proxy in front."""

from __future__ import annotations

import pytest
from aiohttp.test_utils import make_mocked_request
from multidict import CIMultiDict

from claudekeeper.net.host_guard import HostGuard, HostRefused, NameInvalid, OriginRefused
from claudekeeper.net.trusted_proxies import Caller, TrustedProxies, TrustedProxyInvalid

BEHIND = HostGuard(
    allowed_hosts=["box.tail.net"], proxies=TrustedProxies(["127.0.0.1", "10.0.0.0/8"])
)
ALONE = HostGuard(allowed_hosts=["box.tail.net"])


def came(gate: HostGuard, *headers: tuple[str, str], remote: str = "127.0.0.1") -> Caller:
    request = make_mocked_request("GET", "/", headers=CIMultiDict(headers))
    return gate.check(request.clone(remote=remote))


def test_a_server_answers_to_its_address_and_to_added_names() -> None:
    assert {"localhost", "127.0.0.1", "[::1]", "192.0.2.1", "desk.lan"} == HostGuard(
        "192.0.2.1", ["Desk.lan"]
    ).names
    assert "[fd00::1]" in HostGuard("fd00::1").names


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "0", "", "::ffff:0.0.0.0"])
def test_a_wildcard_is_nobody_s_name(host: str) -> None:
    assert HostGuard(host).names == HostGuard().names


@pytest.mark.parametrize("name", ["https://box", "box:1", "*", "", "a b"])
def test_what_is_no_name_cannot_be_configured(name: str) -> None:
    with pytest.raises(NameInvalid, match="scheme"):
        HostGuard(allowed_hosts=[name])


def test_what_is_no_address_is_no_proxy() -> None:
    with pytest.raises(TrustedProxyInvalid, match="unix"):
        TrustedProxies(["everybody"])


def test_headers_of_a_stranger_mean_nothing() -> None:
    caller = came(
        ALONE,
        ("Host", "localhost:1"),
        ("X-Forwarded-Proto", "https"),
        ("X-Forwarded-For", "192.0.2.9"),
        ("X-Forwarded-Host", "evil.test"),
        remote="192.0.2.7",
    )
    assert caller == Caller(None, ("localhost:1",), "192.0.2.7")


def test_a_trusted_proxy_says_how_the_caller_came() -> None:
    caller = came(
        BEHIND,
        ("Host", "127.0.0.1:7433"),
        ("Origin", "https://box.tail.net"),
        ("X-Forwarded-Proto", "https"),
        ("X-Forwarded-For", "1.1.1.1, 192.0.2.9, 10.1.1.1"),
        ("X-Forwarded-Host", "box.tail.net"),
    )
    assert caller.scheme == "https"
    assert caller.authority == "box.tail.net"
    # what stands before the last stranger may be made up
    assert caller.address == "192.0.2.9"


@pytest.mark.parametrize(
    "forwarded", ["evil.test", "box.tail.net, evil.test", "evil.test, localhost"]
)
def test_what_a_proxy_passes_on_is_checked_too(forwarded: str) -> None:
    with pytest.raises(HostRefused):
        came(BEHIND, ("Host", "localhost"), ("X-Forwarded-Host", forwarded))


def test_a_forwarded_name_saves_no_foreign_host() -> None:
    for gate in (ALONE, BEHIND):
        with pytest.raises(HostRefused):
            came(gate, ("Host", "evil.test"), ("X-Forwarded-Host", "localhost"))


def test_two_hosts_are_refused() -> None:
    with pytest.raises(HostRefused):
        came(ALONE, ("Host", "localhost"), ("Host", "localhost"))


@pytest.mark.parametrize("origin", ["http://box.tail.net", "https://box.tail.net"])
def test_a_configured_name_may_stand_behind_tls_that_we_do_not_see(origin: str) -> None:
    assert came(ALONE, ("Host", "box.tail.net"), ("Origin", origin)).authority == "box.tail.net"


def test_a_trusted_proxy_with_tls_has_no_page_without() -> None:
    with pytest.raises(OriginRefused):
        came(
            BEHIND,
            ("Host", "box.tail.net"),
            ("X-Forwarded-Proto", "https"),
            ("Origin", "http://box.tail.net"),
        )


@pytest.mark.parametrize(
    "origin",
    ["https://localhost:1", "http://localhost:2", "http://localhost", "null", "", "localhost:1"],
)
def test_only_the_page_at_this_very_address_is_ours(origin: str) -> None:
    with pytest.raises(OriginRefused):
        came(ALONE, ("Host", "localhost:1"), ("Origin", origin))


def test_whoever_reaches_the_unix_socket_can_be_a_trusted_proxy() -> None:
    headers = (("Host", "localhost"), ("X-Forwarded-Proto", "https"))
    assert came(HostGuard(proxies=TrustedProxies(["unix"])), *headers, remote="").scheme == "https"
    assert came(ALONE, *headers, remote="").scheme is None
