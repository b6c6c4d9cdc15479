"""Transcripts are hostile: no script runs, and nobody else is asked for anything."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import expect

from clarvis_ui.server import Clarvis
from tests.e2e.conftest import OpenPage, session_row, set_sessions
from tests.support.contract_messages import message, prompt, reply, text_message, tool_call
from tests.support.fake_keeper import FakeKeeper, session

pytestmark = pytest.mark.asyncio(loop_scope="module")


HOSTILE = [
    "<img src=x onerror=\"window.pwned='img'\">",
    "<script>window.pwned='script'</script>",
    "<svg onload=\"window.pwned='svg'\"><image href='http://evil.test/a.png'/></svg>",
    "<iframe srcdoc=\"<script>parent.pwned='frame'</script>\"></iframe>",
    "[link](javascript:window.pwned='link') ![i](http://evil.test/b.png)",
    "\x1b]8;;http://evil.test/\x1b\\link\x1b]8;;\x1b\\ \x1b[2J \x07",
    "'\"><style>@import url(http://evil.test/c.css)</style>",
    "\u202etxt.exe \u2066 \u0000 \ufeff " + "x" * 300,
]


async def test_hostile_text_stays_text(open_page: OpenPage, keeper: FakeKeeper) -> None:
    everywhere = ("workdir", "project", "title", "firstPrompt", "lastPrompt", "gitBranch", "model")
    unnamed = [dict.fromkeys(everywhere, text) for text in HOSTILE[::2]]
    named = [dict.fromkeys((*everywhere, "name"), text) for text in HOSTILE[1::2]]
    rows = [session(number, **fields) for number, fields in enumerate([*unnamed, *named])]
    broken = {"state": "error", "error": {"code": HOSTILE[0], "message": HOSTILE[0]}}
    set_sessions(keeper, *rows, session(20, **broken))
    page = await open_page()
    for one in [*rows, keeper.rows[session(20)["id"]]]:
        await page.evaluate("id => { location.hash = `#session=${id}` }", one["id"])
        await expect(page.locator("[aria-current=true]")).to_have_attribute(
            "data-session", one["id"]
        )
        await page.get_by_role("button", name="Details").first.click()
        await expect(page.locator(".details")).to_contain_text(one["id"])
        await page.get_by_role("button", name="Close").click()
    assert await page.evaluate("window.pwned") is None
    assert await page.locator("img, iframe, script:not([src]), svg image, style").count() == 0
    # what the page asked for, and of whom, is checked when it closes


def hostile_conversation() -> list[dict[str, Any]]:
    """Everything hostile, in every place of a conversation that shows text."""
    talk = []
    for text in HOSTILE:
        talk += [
            prompt(text),
            reply(f"{text}\n\n# {text}\n\n- {text}\n\n| {text} |\n|-|\n| {text} |\n\n> {text}"),
            reply(f"```{text}\n{text}\n```\n\n[{text}](<javascript:window.pwned='md'>)"),
            message("reply", "assistant", [{"type": "thinking", "thinking": text}]),
            *tool_call("Bash", {"command": text, "description": text}, text),
            *tool_call("Edit", {"file_path": text, "old_string": text, "new_string": text + "!"}),
            *tool_call("Read", {"file_path": text}, text, failed=True),
            *tool_call("WebFetch", {"url": "javascript:window.pwned='url'", "prompt": text}, text),
            *tool_call(f"mcp__{text}__{text}", {text: text}, text),
            *tool_call("TodoWrite", {"todos": [{"content": text, "status": text}]}),
            text_message("notice", text),
            text_message("error", text, role="assistant"),
            text_message("command", f"<command-name>{text}</command-name>", role="user"),
            text_message("compaction", text, role="user"),
        ]
    svg = {"type": "base64", "media_type": "image/svg+xml", "data": "PHN2ZyBvbmxvYWQ9ImEoKSIvPg=="}
    remote = {"type": "url", "url": "http://evil.test/d.png"}
    for source in (svg, remote):
        image = {"type": "image", "source": source}
        talk.append(message("prompt", "user", [image, {"type": "text", "text": "look"}]))
        talk += tool_call("Read", {"file_path": "a.svg"}, [image])
    return [*talk, prompt("the end of it")]


async def test_a_hostile_conversation_stays_text(open_page: OpenPage, keeper: FakeKeeper) -> None:
    one = session(1)
    set_sessions(keeper, one)
    keeper.messages[one["id"]] = hostile_conversation()
    page = await open_page()
    await page.evaluate("id => { location.hash = `#session=${id}` }", one["id"])
    await expect(page.get_by_text("the end of it", exact=True)).to_be_in_viewport()
    # screen by screen to the beginning, with everything unfolded
    seen = await page.evaluate(
        r"""async () => {
          const log = document.querySelector('section.log');
          const frame = () => new Promise(requestAnimationFrame);
          const seen = new Set();
          const bad = 'iframe, script:not([src]), svg image, style, object, embed, base, form';
          for (let turn = 0; turn < 400; turn += 1) {
            for (const fold of log.querySelectorAll('button.fold[aria-expanded=false]')) {
              seen.add(fold.closest('[data-row]').dataset.row);
              fold.click();
            }
            await frame();
            if (log.querySelector(bad)) throw new Error(log.querySelector(bad).outerHTML);
            for (const element of log.querySelectorAll('a, img, [style], [srcdoc]')) {
              const address = element.href ?? element.src ?? 'https://none';
              if (!/^(https?|mailto):|^data:image\/(png|jpeg|gif|webp);/.test(address)) {
                throw new Error(element.outerHTML);
              }
              if (element.localName === 'a' && element.rel !== 'noreferrer noopener') {
                throw new Error(element.outerHTML);
              }
            }
            if (log.scrollTop === 0 && !log.querySelector('.older')) break;
            log.scrollTop -= 400;
            await frame();
          }
          return seen.size;
        }"""
    )
    assert seen > 6 * len(HOSTILE)
    assert await page.evaluate("window.pwned") is None
    assert await page.locator("img").count() == 0


@pytest.mark.parametrize(
    "address",
    [
        "?keeper=http://evil.test",
        "#keeper=http://evil.test&api=//evil.test",
        "#session=http://evil.test/",
        "#session=<img src=x onerror=alert(1)>",
        "#session=%",
    ],
)
async def test_no_address_makes_the_page_talk_to_another(
    open_page: OpenPage, keeper: FakeKeeper, clarvis: Clarvis, address: str
) -> None:
    set_sessions(keeper, session(1))
    page = await open_page()
    await page.goto(f"{clarvis.url}/{address}")
    await page.reload()
    await expect(session_row(page, "Session number 1")).to_be_visible()
