"""Allowed roots: by component, resolved; what lies outside is as if it were not there."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from clarvis_ui.roots import Roots, RootsInvalid
from tests.clarvis_ui.conftest import Browser, MakeBrowser, error_code
from tests.support.fake_keeper import FakeKeeper, session
from tests.support.whole_history import read_pages

OUTSIDE = session(7)["id"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    allowed = tmp_path / "a" / "b"
    (allowed / "inner").mkdir(parents=True)
    (tmp_path / "a" / "bc").mkdir()
    (allowed / "way-out").symlink_to(tmp_path / "a" / "bc")
    (tmp_path / "way-in").symlink_to(allowed)
    return allowed


@pytest.fixture
async def keeper(root: Path) -> AsyncIterator[FakeKeeper]:
    """Of thirty sessions, every third lies within the root."""
    rows = [session(n, workdir=str(root if n % 3 == 0 else root.parent)) for n in range(30)]
    async with FakeKeeper(rows).serve() as keeper:
        yield keeper


@pytest.fixture
async def browser(browser_of: MakeBrowser, root: Path) -> Browser:
    return await browser_of(roots=Roots.parse(str(root)))


def test_unset_allows_everything() -> None:
    assert Roots.parse(None).allows("/anywhere")
    assert Roots.parse(None).allows(None)


@pytest.mark.parametrize("setting", ["", os.pathsep, "  ", "relative/path", f"/a{os.pathsep}b"])
def test_a_setting_that_makes_no_sense_is_refused(setting: str) -> None:
    with pytest.raises(RootsInvalid):
        Roots.parse(setting)


@pytest.mark.parametrize("inside", ["", "inner", "gone/for/good", "inner/../inner", "way-out/../b"])
def test_what_lies_inside_is_allowed(root: Path, inside: str) -> None:
    assert Roots.parse(str(root)).allows(f"{root}/{inside}")


@pytest.mark.parametrize("outside", ["../bc", "..", "way-out", "way-out/x", "../b/../bc", "a\0b"])
def test_what_lies_outside_is_not(root: Path, outside: str) -> None:
    assert not Roots.parse(str(root)).allows(f"{root}/{outside}")


@pytest.mark.parametrize("odd", [None, "", "b", "~", "/", "/" + "x" * 5000])
def test_what_is_nowhere_is_not(root: Path, odd: str | None) -> None:
    assert not Roots.parse(str(root)).allows(odd)


def test_a_loop_of_links_leads_nowhere_else(root: Path) -> None:
    (root.parent / "loop").symlink_to(root.parent / "loop")
    assert not Roots.parse(str(root)).allows(str(root.parent / "loop"))


def test_roots_are_resolved_too(root: Path, tmp_path: Path) -> None:
    assert Roots.parse(str(tmp_path / "way-in")).allows(str(root / "inner"))


def test_several_roots(root: Path, tmp_path: Path) -> None:
    roots = Roots.parse(os.pathsep.join([str(root), str(tmp_path / "a" / "bc")]))
    assert roots.allows(str(root / "way-out"))


async def test_the_list_has_only_what_is_inside(browser: Browser, root: Path) -> None:
    page = await (await browser.get("/api/sessions?limit=200")).json()
    assert len(page["sessions"]) == 10
    assert {row["workdir"] for row in page["sessions"]} == {str(root)}
    assert page["cursor"] is None
    assert page["sessions"][0]["tokens"]["cacheRead"] == 50000


async def test_thinned_pages_are_filled_and_add_up_to_the_whole(browser: Browser) -> None:
    async def get(path: str) -> Any:
        return await (await browser.get(path)).json()

    pages = await read_pages(get, "/api/sessions?limit=4&cursor=0")
    titles = [row["title"] for page in pages for row in page["sessions"]]
    assert titles == [f"Session number {n}" for n in range(27, -1, -3)]
    assert max(len(page["sessions"]) for page in pages) == 4


async def test_a_page_without_a_limit_is_not_empty(browser: Browser) -> None:
    assert (await (await browser.get("/api/sessions")).json())["sessions"]


async def test_the_position_is_the_earliest(browser: Browser, keeper: FakeKeeper) -> None:
    page = await (await browser.get("/api/sessions?limit=5")).json()
    assert len(keeper.requests) > 1
    assert page["position"] == "e:1"


async def test_a_refusal_of_the_keeper_is_passed_on(browser: Browser) -> None:
    answer = await browser.get("/api/sessions?limit=many")
    assert answer.status == 400
    assert await error_code(answer) == "invalid_request"


async def test_a_session_inside_is_shown(browser: Browser) -> None:
    answer = await browser.get(f"/api/sessions/{session(6)['id']}")
    assert (await answer.json())["session"]["title"] == "Session number 6"


@pytest.mark.parametrize("path", ["", "/subagents", "/subagents/abc"])
async def test_a_session_outside_is_as_one_that_is_not_there(browser: Browser, path: str) -> None:
    outside = await browser.get(f"/api/sessions/{OUTSIDE}{path}")
    missing = await browser.get(f"/api/sessions/{session(99)['id']}{path}")
    assert outside.status == missing.status == 404
    assert await outside.json() == await missing.json()
    assert await error_code(outside) == "session_not_found"


async def test_a_session_outside_cannot_be_renamed(browser: Browser, keeper: FakeKeeper) -> None:
    answer = await browser.patch(f"/api/sessions/{OUTSIDE}", json={"name": "mine"})
    assert answer.status == 404
    assert keeper.rows[OUTSIDE]["name"] is None


async def test_where_a_session_lies_is_remembered_for_a_moment(
    browser: Browser, keeper: FakeKeeper
) -> None:
    for _ in range(3):
        await browser.get(f"/api/sessions/{OUTSIDE}")
    assert len(keeper.requests) == 1


async def test_directories_outside_are_not_listed(browser: Browser, root: Path) -> None:
    answer = await (await browser.get("/api/workdirs")).json()
    assert [row["workdir"] for row in answer["workdirs"]] == [str(root)]


async def test_a_keeper_that_is_away_is_said_to_be(browser: Browser, keeper: FakeKeeper) -> None:
    await keeper.stop()
    for path in ("/api/sessions", f"/api/sessions/{OUTSIDE}", "/api/workdirs"):
        assert (await browser.get(path)).status == 502
