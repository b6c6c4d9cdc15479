"""What if: forking at a message, the tree, two branches beside each other, bringing a decision."""

from __future__ import annotations

import pytest
from playwright.async_api import Locator, Page, expect

from tests.e2e.conftest import OpenPage, session_row
from tests.server.routes.test_branches import rewound
from tests.support.stage import RestartableKeeper, message_field, prompt_texts, replies, send_prompt
from tests.support.transcript_writer import SESSION_ID

pytestmark = pytest.mark.asyncio(loop_scope="module")


def side(page: Page, title: str) -> Locator:
    return page.locator(".side").filter(has=page.get_by_role("heading", name=title))


async def test_a_fork_is_made_compared_and_its_decision_brought_back(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    edits = {"permissionMode": "acceptEdits"}
    session = await stage.start_session("write: paint.txt: grey", **edits)
    page = await open_page()
    await session_row(page, "write: paint.txt: grey").click()
    await expect(replies(page)).to_have_text(["I wrote paint.txt."])

    # at any message: in a session of its own, which says whose fork it is
    await replies(page).first.hover()
    await replies(page).first.get_by_role("button", name="What to do with this message").click()
    await page.get_by_role("menuitem", name="Fork from here").click()
    back = page.get_by_role("link", name="Fork of write: paint.txt: grey")
    await expect(back).to_be_visible()
    fork = await page.evaluate("new URLSearchParams(location.hash.slice(1)).get('session')")
    assert fork != session
    await stage.request("POST", f"/sessions/{fork}/mode", edits)
    await send_prompt(page, "edit: paint.txt: grey => red")
    await expect(replies(page).last).to_have_text("I changed paint.txt.")
    await back.click()
    await expect(page.get_by_role("link", name="Fork of")).to_have_count(0)
    for prompt, reply in (
        ("read: paint.txt", "I read"),
        ("edit: paint.txt: red => blue", "I changed"),
        ("write: sky.txt: blue", "I wrote sky.txt."),
    ):
        await send_prompt(page, prompt)
        await expect(replies(page).last).to_contain_text(reply)

    # the tree, and the two beside each other
    await page.get_by_role("link", name="Branches").click()
    tree = page.get_by_role("list", name="Branches", exact=True)
    await expect(tree.locator(".limb")).to_have_count(2)
    await expect(tree).to_contain_text("This conversation")
    await expect(tree).to_contain_text("edit: paint.txt: grey => red")
    await page.get_by_role("link", name="Compare side by side").click()
    await expect(page.get_by_role("button", name="in common")).to_be_visible()
    await expect(side(page, "write: paint.txt: grey").locator(".you-words")).to_have_text(
        ["read: paint.txt", "edit: paint.txt: red => blue", "write: sky.txt: blue"]
    )
    await expect(side(page, "grey => red").locator(".you-words")).to_have_text(
        ["edit: paint.txt: grey => red"]
    )
    files = page.get_by_role("region", name="Files compared")
    await expect(files.get_by_role("button", name="sky.txt created")).to_be_visible()
    await files.get_by_role("button", name="paint.txt").click()
    await expect(files.locator(".diff-line.removed")).to_have_text("-red")
    await expect(files.locator(".diff-line.added")).to_have_text("+blue")
    # the same view after a refresh
    await page.reload()
    await expect(files.get_by_role("button", name="paint.txt")).to_be_visible()
    await page.get_by_role("button", name="in common").click()
    await expect(page.locator(".compared-common .you-words")).to_have_text("write: paint.txt: grey")

    # brought over as words that nobody has sent
    await side(page, "grey => red").get_by_role("button", name="Bring the decision over").click()
    await expect(prompt_texts(page)).to_have_count(4)
    brought = await message_field(page).input_value()
    assert "- edit: paint.txt: grey => red" in brought
    assert "-blue\n+red" in brought
    assert "sky.txt" not in brought


async def test_an_open_tree_grows_as_its_branches_do(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    session = await stage.start_session("say: The seed is sown.")
    page = await open_page()
    await session_row(page, "The seed is sown.").click()
    await page.get_by_role("link", name="Branches").click()
    limbs = page.locator(".limb")
    await expect(page.locator(".branches-none")).to_be_visible()
    # somebody else forks it, and goes on there
    fork = (await stage.request("POST", f"/sessions/{session}/fork", {}))["id"]
    await expect(limbs).to_have_count(2)
    await stage.request("POST", "/send", {"sessionId": fork, "text": "say: It is a tree."})
    await expect(page.locator(".limb[data-kind=session]")).to_contain_text("It is a tree.")


async def test_two_branches_beside_each_other_grow_as_they_do(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    edits = {"permissionMode": "acceptEdits"}
    session = await stage.start_session("say: The walls stand.", **edits)
    page = await open_page()
    await session_row(page, "The walls stand.").click()
    await expect(replies(page)).to_have_text(["The walls stand."])
    fork = (await stage.request("POST", f"/sessions/{session}/fork", {}))["id"]
    await stage.request("POST", f"/sessions/{fork}/mode", edits)
    await page.evaluate(
        "([id, fork]) => { location.hash = `session=${id}&branches&with=${fork}` }", [session, fork]
    )
    await expect(page.locator(".side")).to_have_count(2)
    await expect(page.locator(".side-nothing").first).to_be_visible()
    # both are gone on with by somebody else, while one looks
    for one, words in ((fork, "write: roof.txt: red"), (session, "say: And a door.")):
        await stage.request("POST", "/send", {"sessionId": one, "text": words})
    await expect(page.locator(".side .you-words")).to_have_text(
        ["say: And a door.", "write: roof.txt: red"]
    )
    await expect(page.locator(".side .reply")).to_have_text(["And a door.", "I wrote roof.txt."])
    files = page.get_by_role("region", name="Files compared")
    await expect(files.get_by_role("button", name="roof.txt created")).to_be_visible()


async def test_a_path_that_was_left_is_compared_and_goes_on_in_a_fork(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    rewound()[0].write(stage.transcripts, "-written-by-hand")
    page = await open_page()
    await page.evaluate("id => { location.hash = `session=${id}&branches` }", SESSION_ID)
    branch = page.locator(".limb[data-kind=left]")
    await expect(branch).to_contain_text("red, please")
    await page.get_by_role("link", name="Compare side by side").click()
    await expect(side(page, "red, please")).to_contain_text("It is red.")
    # on a phone there is one at a time
    await page.set_viewport_size({"width": 390, "height": 800})
    switch = page.get_by_role("button", name="red, please", exact=True)
    await switch.click()
    await expect(switch).to_have_attribute("aria-pressed", "true")
    await expect(side(page, "red, please")).to_be_in_viewport()
    await page.locator(".compared-switch button").first.click()
    bring = page.get_by_role("button", name="into a fork of the other")
    await bring.click()
    await expect(page.get_by_role("link", name="Fork of")).to_be_attached()
    await expect(prompt_texts(page).last).to_have_text("red, please")
    assert "sky.py" in await message_field(page).input_value()
    # and stands in the tree below the path that it goes on from
    await page.evaluate("id => { location.hash = `session=${id}&branches` }", SESSION_ID)
    below = page.locator("li:has(> .limb[data-kind=left]) > ul > li > .limb")
    await expect(below).to_have_attribute("data-kind", "session")
