"""A code works once and for a while; a cookie lasts until it is old, ended or the token is new."""

from __future__ import annotations

from datetime import datetime
from http.cookies import Morsel

import pytest
from aiohttp import ClientResponse

from clarvis_ui.errors import WrongCode
from clarvis_ui.login import CODE_LIFETIME, COOKIE_LIFETIME, MAX_FAILURES, Codes, Login
from clarvis_ui.server import LOGIN
from claudekeeper.net.errors import TooManyAttempts
from claudekeeper.net.host_guard import HostGuard
from claudekeeper.net.trusted_proxies import TrustedProxies
from tests.clarvis_ui.conftest import Browser, MakeBrowser, ManualClock, error_code
from tests.support.fake_keeper import TOKEN, FakeKeeper

BEARER = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}


def minted(browser: Browser) -> str:
    return browser.server.app[LOGIN].codes.mint().text  # type: ignore[attr-defined,no-any-return]


def cookie_of(answer: ClientResponse) -> Morsel[str]:
    (cookie,) = answer.cookies.values()
    return cookie


def test_a_code_is_forgiving_of_how_it_is_typed(clock: ManualClock) -> None:
    codes = Codes(clock)
    code = codes.mint().text
    codes.redeem(f"  {code.lower().replace('-', '').replace('0', 'o').replace('1', 'l')} ")


def test_old_codes_give_way_to_new_ones(clock: ManualClock) -> None:
    codes = Codes(clock)
    first = codes.mint().text
    for _ in range(32):
        codes.mint()
    with pytest.raises(WrongCode):
        codes.redeem(first)


async def test_a_code_opens_the_door(stranger: Browser) -> None:
    assert (await stranger.get("/api/health")).status == 401
    assert (await stranger.post("/login", json={"code": minted(stranger)})).status == 200
    assert (await stranger.get("/api/health")).status == 200


async def test_a_code_works_once(stranger: Browser) -> None:
    code = minted(stranger)
    await stranger.post("/login", json={"code": code})
    again = await stranger.post("/login", json={"code": code})
    assert again.status == 401
    assert await error_code(again) == "wrong_code"


async def test_a_code_expires(stranger: Browser, clock: ManualClock) -> None:
    code = minted(stranger)
    clock.now += CODE_LIFETIME + 1
    assert (await stranger.post("/login", json={"code": code})).status == 401


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b'{"code": 7}', b'{"code": "x", "more": 1}', b"\xff", b"{"]
)
async def test_a_login_that_makes_no_sense_is_refused(stranger: Browser, body: bytes) -> None:
    answer = await stranger.post("/login", data=body, headers={"Content-Type": "application/json"})
    assert answer.status == 400
    assert await error_code(answer) == "invalid_request"


async def test_a_huge_login_is_refused(stranger: Browser) -> None:
    assert (await stranger.post("/login", json={"code": "x" * 10_000})).status == 413


async def test_the_cookie_is_for_this_page_only(stranger: Browser) -> None:
    cookie = cookie_of(await stranger.post("/login", json={"code": minted(stranger)}))
    assert cookie["httponly"]
    assert cookie["samesite"] == "Strict"
    assert cookie["path"] == "/"
    assert cookie["domain"] == ""
    assert not cookie["secure"]
    assert cookie["max-age"] == str(COOKIE_LIFETIME)


async def test_behind_tls_the_cookie_is_secure(browser_of: MakeBrowser) -> None:
    gate = HostGuard(proxies=TrustedProxies(["127.0.0.1"]))
    stranger = await browser_of(logged_in=False, host_guard=gate)
    headers = {"X-Forwarded-Proto": "https"}
    answer = await stranger.post("/login", json={"code": minted(stranger)}, headers=headers)
    assert cookie_of(answer)["secure"]


async def test_who_is_no_trusted_proxy_is_not_believed(stranger: Browser) -> None:
    headers = {"X-Forwarded-Proto": "https"}
    answer = await stranger.post("/login", json={"code": minted(stranger)}, headers=headers)
    assert not cookie_of(answer)["secure"]


async def test_wrong_codes_use_up_a_budget_that_comes_back(
    stranger: Browser, clock: ManualClock
) -> None:
    for _ in range(MAX_FAILURES):
        assert (await stranger.post("/login", json={"code": "wrong"})).status == 401
    refused = await stranger.post("/login", json={"code": minted(stranger)})
    assert refused.status == 429
    assert await error_code(refused) == "too_many_attempts"
    clock.now += int(refused.headers["Retry-After"])
    assert (await stranger.post("/login", json={"code": minted(stranger)})).status == 200


async def test_failed_logins_do_not_disturb_who_is_in(browser: Browser) -> None:
    for _ in range(MAX_FAILURES + 1):
        await browser.post("/login", json={"code": "wrong"})
    assert (await browser.get("/api/health")).status == 200


async def test_wrong_tokens_and_wrong_codes_share_the_budget(stranger: Browser) -> None:
    wrong = BEARER | {"Authorization": "Bearer wrong"}
    for _ in range(MAX_FAILURES):
        assert (await stranger.post("/login/code", headers=wrong)).status == 401
    assert (await stranger.post("/login/code", headers=wrong)).status == 429
    assert (await stranger.post("/login", json={"code": "wrong"})).status == 429


def test_the_right_token_is_never_turned_away(clock: ManualClock) -> None:
    login = Login(lambda: TOKEN, clock)
    for _ in range(MAX_FAILURES):
        with pytest.raises(WrongCode):
            login.redeem("wrong")
    with pytest.raises(TooManyAttempts):
        login.redeem("wrong")
    assert login.mint_for_owner(f"Bearer {TOKEN}").text


async def test_the_token_mints_a_link_that_works(stranger: Browser) -> None:
    answer = await stranger.post("/login/code", headers=BEARER)
    assert answer.status == 200
    minted = await answer.json()
    port = stranger.server.port
    assert minted["url"] == f"http://127.0.0.1:{port}/#login={minted['code']}"
    assert datetime.fromisoformat(minted["expires"]).tzinfo is not None
    assert (await stranger.post("/login", json={"code": minted["code"]})).status == 200


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer ", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x", "Bearer \xe9"],
)
async def test_no_code_without_the_token(stranger: Browser, authorization: str) -> None:
    answer = await stranger.post("/login/code", headers=BEARER | {"Authorization": authorization})
    assert answer.status == 401


async def test_no_code_for_the_cookie_alone(browser: Browser) -> None:
    assert (await browser.post("/login/code", json={})).status == 401


async def test_a_cookie_ends_with_its_time(browser: Browser, clock: ManualClock) -> None:
    clock.now += COOKIE_LIFETIME + 1
    assert (await browser.get("/api/health")).status == 401


async def test_a_new_token_ends_all_cookies(browser: Browser, keeper: FakeKeeper) -> None:
    assert (await browser.get("/api/health")).status == 200
    keeper.token = "rotated"
    assert (await browser.get("/api/health")).status == 401


async def test_a_cookie_survives_a_restart(browser: Browser, browser_of: MakeBrowser) -> None:
    cookie = browser.server.app[LOGIN].cookies.issue()  # type: ignore[attr-defined]
    name = browser.server.app[LOGIN].cookies.name  # type: ignore[attr-defined]
    restarted = await browser_of(logged_in=False)
    answer = await restarted.get("/api/health", headers={"Cookie": f"{name}={cookie}"})
    assert answer.status == 200


async def test_logging_out_ends_the_cookie_and_its_copies(stranger: Browser) -> None:
    cookie = cookie_of(await stranger.post("/login", json={"code": minted(stranger)}))
    copy = {"Cookie": f"{cookie.key}={cookie.value}"}
    response = await stranger.post("/logout", json={})
    assert cookie_of(response)["max-age"] == "0"
    assert (await stranger.get("/api/health")).status == 401
    assert (await stranger.get("/api/health", headers=copy)).status == 401


@pytest.mark.parametrize("value", ["", ".", "..", "99999999999.x.y", "x.y.z", "\xe9.\xe9.\xe9"])
async def test_a_made_up_cookie_opens_nothing(stranger: Browser, value: str) -> None:
    name = stranger.server.app[LOGIN].cookies.name  # type: ignore[attr-defined]
    answer = await stranger.get("/api/health", headers={"Cookie": f"{name}={value}"})
    assert answer.status == 401
