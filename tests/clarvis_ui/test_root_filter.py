"""Allowed roots where something is done: nothing is started, answered or browsed outside them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from clarvis_ui.roots import Roots
from tests.clarvis_ui.conftest import Browser, MakeBrowser, empty_body, error_code
from tests.support.fake_keeper import NO_ROUTING, FakeKeeper, question, session

NEW = session(77)["id"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    allowed = tmp_path / "a" / "b"
    (allowed / "inner").mkdir(parents=True)
    (tmp_path / "a" / "bc").mkdir()
    (allowed / "way-out").symlink_to(tmp_path / "a" / "bc")
    return allowed


@pytest.fixture
def inside(root: Path) -> dict[str, object]:
    return session(1, workdir=str(root / "inner"))


@pytest.fixture
def outside(root: Path) -> dict[str, object]:
    return session(2, workdir=str(root.parent))


@pytest.fixture
async def keeper(
    inside: dict[str, object], outside: dict[str, object]
) -> AsyncIterator[FakeKeeper]:
    async with FakeKeeper([inside, outside]).serve() as keeper:
        keeper.attention = [question(1, inside), question(2, outside)]
        yield keeper


@pytest.fixture
async def browser(browser_of: MakeBrowser, root: Path) -> Browser:
    return await browser_of(roots=Roots.parse(str(root)))


# ---- sending ----


async def test_a_session_inside_is_sent_to(
    browser: Browser, keeper: FakeKeeper, inside: dict[str, object]
) -> None:
    message = {"sessionId": inside["id"], "text": "go on"}
    answer = await browser.post("/api/send", json=message)
    assert answer.status == 202
    assert json.loads(keeper.bodies[-1]) == message


@pytest.mark.parametrize("chosen", [{}, {"sessionId": NEW}])
async def test_a_session_is_started_inside(
    browser: Browser, keeper: FakeKeeper, root: Path, chosen: dict[str, str]
) -> None:
    message = {"workdir": str(root), "text": "begin", **chosen}
    assert (await browser.post("/api/send", json=message)).status == 202
    assert len(keeper.bodies) == 1


@pytest.mark.parametrize("path", ["..", "../bc", "way-out", "../b/../bc", "\0"])
@pytest.mark.parametrize("more", [{}, {"sessionId": NEW}, {"route": True}])
async def test_nothing_is_started_outside(
    browser: Browser, keeper: FakeKeeper, root: Path, path: str, more: dict[str, object]
) -> None:
    message = {"workdir": f"{root}/{path}", "text": "begin", **more}
    answer = await browser.post("/api/send", json=message)
    assert answer.status == 403
    assert await error_code(answer) == "outside_roots"
    assert not keeper.bodies


@pytest.mark.parametrize("message", [{"text": "x"}, {"text": "x", "route": True}])
async def test_a_message_for_nowhere_is_refused(
    browser: Browser, keeper: FakeKeeper, message: dict[str, object]
) -> None:
    assert (await browser.post("/api/send", json=message)).status == 403
    assert not keeper.bodies


async def test_routing_needs_a_directory_even_from_a_session(
    browser: Browser, keeper: FakeKeeper, inside: dict[str, object]
) -> None:
    message = {"sessionId": inside["id"], "text": "x", "route": True}
    assert (await browser.post("/api/send", json=message)).status == 403
    assert not keeper.bodies


async def test_a_command_is_routed_inside_only(
    browser: Browser, keeper: FakeKeeper, root: Path
) -> None:
    for outside in ({"workdir": str(root.parent)}, {"workdir": f"{root}/way-out"}):
        answer = await browser.post("/api/route", json={"text": "also this", **outside})
        assert answer.status == 403
    # where to look is not the browser's to say
    wider = {"text": "also this", "within": ["/"]}
    assert (await browser.post("/api/route", json=wider)).status == 400
    assert not keeper.bodies
    for inside in ({"text": "also this"}, {"text": "also this", "workdir": str(root)}):
        assert (await browser.post("/api/route", json=inside)).status == 200
        assert json.loads(keeper.bodies[-1]) == {**inside, "within": [str(root)]}


def candidate(row: dict[str, object]) -> dict[str, object]:
    return {"sessionId": row["id"], "workdir": row["workdir"], "title": row["title"]}


async def test_no_candidate_outside_is_named_whatever_the_keeper_says(
    browser: Browser,
    keeper: FakeKeeper,
    inside: dict[str, object],
    outside: dict[str, object],
) -> None:
    keeper.routing = {
        "action": "resume",
        "sessionId": inside["id"],
        "candidates": [candidate(inside), candidate(outside)],
    }
    routing = await (await browser.post("/api/route", json={"text": "also this"})).json()
    assert routing["sessionId"] == inside["id"]
    assert routing["candidates"] == [candidate(inside)]
    keeper.routing["sessionId"] = outside["id"]
    answer = await browser.post("/api/route", json={"text": "also this"})
    assert (answer.status, await error_code(answer)) == (403, "outside_roots")


async def test_why_a_message_is_here_names_no_candidate_outside(
    browser: Browser,
    keeper: FakeKeeper,
    inside: dict[str, object],
    outside: dict[str, object],
) -> None:
    def resumed(row: dict[str, object]) -> dict[str, object]:
        return {"action": "resume", "sessionId": row["id"], "title": row["title"]}

    def routed(target: dict[str, object], reason: str) -> dict[str, object]:
        candidates = [candidate(outside), candidate(inside)]
        routing = {**NO_ROUTING, **target, "reason": reason, "candidates": candidates}
        message = {"uuid": "u", "sessionId": inside["id"], "at": "now", "followed": True}
        return {**message, "routing": routing}

    started = {"action": "new", "sessionId": None, "title": None}
    keeper.routed_messages = [
        routed(resumed(inside), "It says so."),
        routed(resumed(outside), "Both speak of a secret."),
        routed(started, "“A secret” fits best with 0.20."),
    ]
    address = f"/api/sessions/{inside['id']}/routings"
    routings = (await (await browser.get(address)).json())["routings"]
    assert [each["routing"]["candidates"] for each in routings] == [[candidate(inside)]] * 3
    assert routings[0]["routing"]["reason"] == "It says so."
    assert routings[1]["routing"]["sessionId"] is routings[1]["routing"]["title"] is None
    assert "secret" not in json.dumps(routings)
    assert (await browser.get(f"/api/sessions/{outside['id']}/routings")).status == 404


@pytest.mark.parametrize("more", [[], ["workdir"]], ids=["no workdir", "workdir inside"])
@pytest.mark.parametrize("written", [str.lower, str.upper])
async def test_a_session_outside_is_not_sent_to_whatever_is_said_of_its_place(
    browser: Browser,
    keeper: FakeKeeper,
    root: Path,
    more: list[str],
    written: Callable[[str], str],
) -> None:
    outside = "abcdef00-0000-4000-8000-000000000001"
    keeper.rows[outside] = session(9, id=outside, workdir=str(root.parent))
    message = {"sessionId": written(outside), "text": "x", **dict.fromkeys(more, str(root))}
    answer = await browser.post("/api/send", json=message)
    assert answer.status == 404
    assert await error_code(answer) == "session_not_found"
    assert not keeper.bodies


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"sessionId": 7}', b"\xff", b"null"])
async def test_what_cannot_be_understood_is_not_passed_on(
    browser: Browser, keeper: FakeKeeper, body: bytes
) -> None:
    for address in ("/api/send", "/api/route", "/api/resolve"):
        answer = await browser.post(
            address, data=body, headers={"Content-Type": "application/json"}
        )
        assert answer.status == 400
    assert not keeper.bodies


# ---- a session's own addresses ----


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/commands"),
        ("POST", "/interrupt"),
        ("POST", "/continue"),
        ("POST", "/mode"),
        ("POST", "/restore"),
        ("POST", "/fork"),
        ("POST", "/close"),
        ("GET", "/settings"),
        ("GET", "/queue"),
        ("DELETE", "/queue"),
        ("DELETE", "/queue/some-uuid"),
        ("POST", "/queue/send"),
    ],
)
async def test_nothing_is_done_to_a_session_outside(
    browser: Browser,
    keeper: FakeKeeper,
    inside: dict[str, object],
    outside: dict[str, object],
    method: str,
    path: str,
) -> None:
    body = empty_body(method)
    within = await browser.request(method, f"/api/sessions/{inside['id']}{path}", json=body)
    assert within.status == 200
    without = await browser.request(method, f"/api/sessions/{outside['id']}{path}", json=body)
    assert without.status == 404
    assert await error_code(without) == "session_not_found"
    assert f"{outside['id']}{path}" not in "\n".join(each.path for each in keeper.requests)


# ---- questions ----


async def test_questions_of_sessions_outside_are_not_listed(browser: Browser) -> None:
    answer = await (await browser.get("/api/attention")).json()
    assert [each["id"] for each in answer["attention"]] == ["question-1"]
    assert answer["attention"][0]["input"] == {"command": "npm test"}


@pytest.mark.parametrize("number", [2, 3])
async def test_a_question_outside_is_as_one_that_never_was(
    browser: Browser, keeper: FakeKeeper, number: int
) -> None:
    resolve = {"attentionId": f"question-{number}", "decision": "allow"}
    answer = await browser.post("/api/resolve", json=resolve)
    assert answer.status == 404
    assert await error_code(answer) == "attention_not_found"
    assert not keeper.bodies


async def test_a_question_inside_is_answered_once(browser: Browser) -> None:
    resolve = {"attentionId": "question-1", "decision": "allow", "updatedInput": {"a": "b"}}
    assert (await browser.post("/api/resolve", json=resolve)).status == 200
    again = await browser.post("/api/resolve", json=resolve)
    assert again.status == 409


# ---- directories ----


async def test_without_a_path_the_roots_are_listed(
    browser: Browser, keeper: FakeKeeper, root: Path
) -> None:
    answer = await (await browser.get("/api/directories")).json()
    assert answer == {
        "path": None,
        "parent": None,
        "directories": [{"name": "b", "path": str(root)}],
    }
    assert not keeper.requests


async def test_only_what_is_inside_is_browsed(
    browser: Browser, keeper: FakeKeeper, root: Path
) -> None:
    keeper.folders = {str(root): ["inner", "way-out", ".."], f"{root}/inner": []}
    answer = await (await browser.get("/api/directories", params={"path": str(root)})).json()
    assert [entry["name"] for entry in answer["directories"]] == ["inner"]
    assert answer["parent"] is None
    answer = await (await browser.get("/api/directories", params={"path": f"{root}/inner"})).json()
    assert answer["parent"] == str(root)


@pytest.mark.parametrize("path", ["/", "{}/..", "{}/way-out", "{}/../b/../bc", "", "{}/inner\0"])
async def test_nothing_is_browsed_outside(
    browser: Browser, keeper: FakeKeeper, root: Path, path: str
) -> None:
    answer = await browser.get("/api/directories", params={"path": path.format(root)})
    assert answer.status == 404
    assert await error_code(answer) == "directory_not_found"
    assert not keeper.requests


async def test_a_directory_that_is_not_there_is_said_to_be(browser: Browser, root: Path) -> None:
    answer = await browser.get("/api/directories", params={"path": f"{root}/none"})
    assert answer.status == 404


async def test_what_a_new_session_offers_is_asked_only_inside(
    browser: Browser, keeper: FakeKeeper, root: Path
) -> None:
    assert (await browser.get("/api/commands", params={"workdir": str(root)})).status == 200
    for query in ({}, {"workdir": str(root.parent)}):
        answer = await browser.get("/api/commands", params=query)
        assert answer.status == 403
    assert len(keeper.requests) == 1


# ---- what is kept ----


async def test_what_is_about_to_go_is_told_of_inside_only_and_nothing_is_switched(
    browser: Browser,
    keeper: FakeKeeper,
    inside: dict[str, object],
    outside: dict[str, object],
) -> None:
    at = "2025-11-01T00:00:00Z"
    due = [
        {"sessionId": row["id"], "workdir": row["workdir"], "at": at} for row in (inside, outside)
    ]
    keeper.archive["due"] = [*due, {"sessionId": NEW, "workdir": None, "at": at}]
    answer = await (await browser.get("/api/archive")).json()
    # how much is kept of the whole machine is not told
    assert answer == {"on": False, "days": 30, "due": due[:1]}
    assert (await browser.post("/api/archive", json={"on": True})).status == 403
    assert not keeper.bodies


# ---- what is looked for ----


async def test_nothing_is_found_outside(
    browser: Browser,
    keeper: FakeKeeper,
    inside: dict[str, object],
    outside: dict[str, object],
) -> None:
    # a keeper that does not keep to what it was told
    keeper.hits = [
        {"sessionId": row["id"], "workdir": row["workdir"], "snippet": []}
        for row in (inside, outside)
    ]
    answer = await (await browser.get("/api/search?q=heron&within=/")).json()
    assert [hit["sessionId"] for hit in answer["hits"]] == [inside["id"]]
    assert answer["cursor"] == "0:1:0"
    (request,) = keeper.search_queries
    assert request["q"] == "heron"
    assert str(inside["workdir"]).startswith(request["within"])
    assert request["within"] != "/"


# ---- coming back ----


async def test_where_a_session_stands_is_told_of_those_inside(
    browser: Browser,
    keeper: FakeKeeper,
    inside: dict[str, object],
    outside: dict[str, object],
) -> None:
    assert (await browser.get(f"/api/sessions/{inside['id']}/resume")).status == 200
    assert (await browser.post(f"/api/sessions/{inside['id']}/recap", json={})).ok
    assert (await browser.get(f"/api/sessions/{outside['id']}/resume")).status == 404
    assert (await browser.post(f"/api/sessions/{outside['id']}/recap", json={})).status == 404
    assert not [each for each in keeper.requests if each.path.endswith(f"{outside['id']}/resume")]


async def test_specifications_are_read_and_sessions_given_up_inside_only(
    browser: Browser,
    keeper: FakeKeeper,
    inside: dict[str, object],
    outside: dict[str, object],
) -> None:
    assert (await browser.get(f"/api/sessions/{inside['id']}/specification")).status == 200
    assert (await browser.get(f"/api/sessions/{outside['id']}/specification")).status == 404
    mark = {"givenUp": True}
    assert (await browser.patch(f"/api/sessions/{outside['id']}", json=mark)).status == 404
    assert not [each for each in keeper.requests if f"{outside['id']}/spec" in each.path]


async def test_forks_outside_are_absent(
    browser: Browser,
    keeper: FakeKeeper,
    inside: dict[str, object],
    outside: dict[str, object],
) -> None:
    keeper.rows = {str(row["id"]): row for row in (outside, inside)}
    answer = await (await browser.get(f"/api/sessions/{inside['id']}/family")).json()
    (kin,) = answer["sessions"]
    # not even what it is a fork of is named
    assert kin == {**kin, "sessionId": inside["id"], "parent": None, "at": None}
    assert (await browser.get(f"/api/sessions/{outside['id']}/family")).status == 404


@pytest.mark.parametrize("path", ["branch", "branch/work"])
async def test_no_branch_is_put_beside_one_outside(
    browser: Browser,
    keeper: FakeKeeper,
    inside: dict[str, object],
    outside: dict[str, object],
    path: str,
) -> None:
    address = f"/api/sessions/{inside['id']}/{path}?with="
    assert (await browser.get(f"{address}{inside['id']}")).status == 200
    for other in (outside["id"], "", "..", "%2e%2e/health"):
        assert (await browser.get(f"{address}{other}")).status == 404
    assert (await browser.get(f"/api/sessions/{outside['id']}/{path}?with=x")).status == 404
    assert len([each for each in keeper.requests if each.path.endswith(path)]) == 1


async def test_usage_is_asked_for_within_the_roots_whatever_the_page_says(
    browser: Browser, keeper: FakeKeeper, root: Path
) -> None:
    assert (await browser.get("/api/usage", params={"by": "day", "within": "/"})).status == 200
    (request,) = [each for each in keeper.requests if each.path == "/usage"]
    assert dict(request.query) == {"by": "day", "within": str(root.resolve())}


async def test_what_was_done_is_told_of_those_inside(
    browser: Browser,
    keeper: FakeKeeper,
    inside: dict[str, object],
    outside: dict[str, object],
    root: Path,
) -> None:
    # a keeper that does not keep to what it was told
    keeper.hits = [
        {"sessionId": row["id"], "workdir": row["workdir"], "text": "a prompt"}
        for row in (inside, outside)
    ]
    answer = await (await browser.get("/api/timeline?workdir=/code&within=/")).json()
    assert [prompt["sessionId"] for prompt in answer["prompts"]] == [inside["id"]]
    (request,) = [each for each in keeper.requests if each.path == "/timeline"]
    assert dict(request.query) == {"workdir": "/code", "within": str(root.resolve())}
    assert (await browser.get(f"/api/sessions/{inside['id']}/timeline")).status == 200
    assert (await browser.get(f"/api/sessions/{outside['id']}/timeline")).status == 404
