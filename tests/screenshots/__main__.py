"""`make screenshots`: every scene in light and dark, on a phone and on a desk.

All pictures go into build/screenshots; those that the documents show go into docs/screenshots too.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright, expect

from clarvis_ui.settings import BUILT_PAGE
from tests.screenshots.compress import reduced
from tests.screenshots.scenes import SCENES, Scene
from tests.screenshots.stage import Stage, staged
from tests.screenshots.variants import DRESSES, index

ROOT = Path(__file__).parents[2]
OUT = ROOT / "build" / "screenshots"
SHOWN = ROOT / "docs" / "screenshots"
FLAGS = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--font-render-hinting=none"]


def shown_pictures() -> set[str]:
    """The pictures that the documents show."""
    documents = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    return {
        name
        for document in documents
        for name in re.findall(r"screenshots/([\w.-]+\.png)", document.read_text())
    }


async def play(browser: Browser, stage: Stage, scene: Scene) -> dict[str, Page]:
    """The scene in every dress, ready to be taken; by the names of the pictures."""
    clarvis = stage.empty if scene.empty else stage.clarvis
    ready = {}
    for dress in DRESSES:
        context = await browser.new_context(
            viewport={"width": dress.width, "height": dress.height},
            color_scheme=dress.scheme,
            reduced_motion="reduce",
            is_mobile=dress.on_a_phone,
            has_touch=dress.on_a_phone,
        )
        page = await context.new_page()
        await page.goto(clarvis.login_link() if scene.logged_in else clarvis.url)
        await scene.play(page, stage)
        ready[dress.picture_of(scene)] = page
    return ready


async def take(ready: dict[str, Page], counting: Page, out: Path) -> None:
    for name, page in ready.items():
        picture = await page.screenshot(animations="disabled", caret="hide")
        await page.context.close()
        (out / name).write_bytes(await reduced(counting, picture))
        if name in shown_pictures():
            shutil.copy(out / name, SHOWN / name)
        print(f"  {name}")


async def take_all(names: list[str], out: Path) -> None:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None or not (BUILT_PAGE / "index.html").is_file():
        sys.exit("Chromium and the built page ('make ui') are needed.")
    expect.set_options(timeout=60_000)
    # those that end the keeper come last
    chosen = [scene for scene in SCENES if not names or scene.name in names]
    with tempfile.TemporaryDirectory() as home:
        own: dict[str, str | float | bool] = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "TMPDIR": home,
            "TZ": "UTC",
        }
        async with staged() as stage, async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=program, args=FLAGS, env=own)
            counting = await browser.new_page()
            last = {}
            for scene in chosen:
                ready = await play(browser, stage, scene)
                if scene.without_keeper is None:
                    await take(ready, counting, out)
                else:
                    last[scene.without_keeper] = ready
            if last:
                await stage.stop_keeper()
            for seen, ready in last.items():
                for page in ready.values():
                    await seen(page)
                await take(ready, counting, out)
            await browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="screenshots", description=__doc__)
    parser.add_argument("names", nargs="*", help="only these scenes")
    parser.add_argument("--out", type=Path, default=OUT, help="where to (%(default)s)")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "README.md").write_text(index())
    asyncio.run(take_all(options.names, options.out))


if __name__ == "__main__":
    main()
