"""Who logged in while the keeper refused our token stays, once the right one is there; a rotation
ends everybody all the same."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import WSServerHandshakeError

from clarvis_ui.cookie_carryover import CARRY_SECONDS
from tests.clarvis_ui.conftest import Browser, MakeBrowser, ManualClock, error_code
from tests.support.fake_keeper import TOKEN, FakeKeeper


class Ours:
    """Clarvis's own token, which somebody can correct."""

    def __init__(self, token: str) -> None:
        self.token = token

    def __call__(self) -> str:
        return self.token


@pytest.fixture
def ours() -> Ours:
    return Ours("wrong")


@pytest.fixture
async def early(browser_of: MakeBrowser, ours: Ours) -> Browser:
    """Logged in by the link that Clarvis printed, while the keeper refuses it."""
    return await browser_of(token=ours)


async def answer_of(browser: Browser) -> tuple[int, str]:
    answer = await browser.get("/api/sessions")
    return answer.status, "" if answer.ok else await error_code(answer)


async def test_who_came_while_the_token_was_wrong_stays(early: Browser, ours: Ours) -> None:
    assert await answer_of(early) == (502, "keeper_refused")
    ours.token = "wrong again"
    assert await answer_of(early) == (502, "keeper_refused")
    ours.token = TOKEN
    assert await answer_of(early) == (200, "")
    assert await answer_of(early) == (200, "")


async def test_the_line_comes_too(early: Browser, ours: Ours, keeper: FakeKeeper) -> None:
    with pytest.raises(WSServerHandshakeError):
        await early.ws_connect("/api/ws")
    ours.token = TOKEN
    async with early.ws_connect("/api/ws") as line:
        ours.token = keeper.token = "rotated"
        async with asyncio.timeout(10):
            async for _frame in line:
                pass
        assert line.close_code == 4001


async def test_a_rotation_ends_who_was_carried_over(
    early: Browser, ours: Ours, keeper: FakeKeeper
) -> None:
    ours.token = TOKEN
    assert await answer_of(early) == (200, "")
    ours.token = keeper.token = "rotated"
    assert await answer_of(early) == (401, "not_logged_in")


async def test_the_cookie_of_the_right_token_outlives_the_server(
    early: Browser, ours: Ours, browser_of: MakeBrowser
) -> None:
    ours.token = TOKEN
    answer = await early.get("/api/sessions")
    (cookie,) = answer.cookies.values()
    assert cookie["httponly"]
    assert cookie["samesite"] == "Strict"
    restarted = await browser_of(logged_in=False, token=ours)
    headers = {"Cookie": f"{cookie.key}={cookie.value}"}
    assert (await restarted.get("/api/sessions", headers=headers)).status == 200


async def test_a_token_that_was_never_refused_is_rotated_like_any(
    browser_of: MakeBrowser, ours: Ours, keeper: FakeKeeper
) -> None:
    ours.token = TOKEN
    await keeper.stop()
    browser = await browser_of(token=ours)
    ours.token = keeper.token = "rotated while the keeper was away"
    await keeper.start()
    assert await answer_of(browser) == (401, "not_logged_in")


async def test_a_token_that_is_taken_after_all_is_rotated_like_any(
    early: Browser, ours: Ours, keeper: FakeKeeper
) -> None:
    keeper.token = ours.token
    assert await answer_of(early) == (200, "")
    ours.token = keeper.token = "rotated"
    assert await answer_of(early) == (401, "not_logged_in")


async def test_who_holds_the_refused_token_is_not_carried_over(
    browser_of: MakeBrowser, ours: Ours
) -> None:
    """It may have been rotated away because somebody knew it."""
    thief = await browser_of(logged_in=False, token=ours)
    headers = {"Authorization": f"Bearer {ours.token}", "Content-Type": "application/json"}
    minted = await (await thief.post("/login/code", headers=headers)).json()
    assert (await thief.post("/login", json={"code": minted["code"]})).status == 200
    ours.token = TOKEN
    assert await answer_of(thief) == (401, "not_logged_in")


async def test_nobody_waits_for_ever(early: Browser, ours: Ours, clock: ManualClock) -> None:
    clock.now += CARRY_SECONDS + 1
    ours.token = TOKEN
    assert await answer_of(early) == (401, "not_logged_in")


async def test_logging_out_ends_the_waiting(early: Browser, ours: Ours) -> None:
    cookies = {each.key: each.value for each in early.session.cookie_jar}
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
    await early.post("/logout", json={})
    ours.token = TOKEN
    assert (await early.get("/api/sessions", headers=headers)).status == 401


async def test_a_token_that_became_wrong_turns_nobody_out(
    browser_of: MakeBrowser, ours: Ours, keeper: FakeKeeper
) -> None:
    ours.token = TOKEN
    browser = await browser_of(token=ours)
    assert await answer_of(browser) == (200, "")
    ours.token = "a slip of the pen"
    request_count = len(keeper.requests)
    assert await answer_of(browser) == (502, "keeper_refused")
    # nothing was asked for in that person's name
    assert [each.path for each in keeper.requests[request_count:]] == ["/attention"]
    ours.token = TOKEN
    assert await answer_of(browser) == (200, "")


async def test_a_stranger_is_told_nothing_of_the_keeper(
    browser_of: MakeBrowser, ours: Ours
) -> None:
    stranger = await browser_of(logged_in=False, token=ours)
    assert await answer_of(stranger) == (401, "not_logged_in")


async def test_too_many_wrong_tokens_are_still_a_wrong_token(
    early: Browser, keeper: FakeKeeper
) -> None:
    keeper.too_many_attempts = True
    assert await answer_of(early) == (502, "keeper_refused")
