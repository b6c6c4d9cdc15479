"""What can be measured of a page for everybody: contrast, names, room for a finger."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Page

# every text in sight against all that is painted behind it, by the formula of WCAG
LOW_CONTRAST_SCRIPT = """() => {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const drawing = canvas.getContext('2d', { willReadFrequently: true });
  const parts = (colour) => {
    drawing.clearRect(0, 0, 1, 1);
    drawing.fillStyle = colour;
    drawing.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = drawing.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const over = (one, other) =>
    [0, 1, 2].map((i) => one[i] * one[3] + other[i] * (1 - one[3])).concat(1);
  const light = (colour) => {
    const [red, green, blue] = colour.slice(0, 3).map((part) => {
      const value = part / 255;
      return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const above = (element) => {
    const chain = [];
    for (let each = element; each; each = each.parentElement) chain.unshift(each);
    return chain;
  };
  const found = new Set();
  const look = (element, colour, words) => {
    const chain = above(element).map((each) => getComputedStyle(each));
    let behind = [255, 255, 255, 1];
    for (const style of chain) behind = over(parts(style.backgroundColor), behind);
    const opacity = chain.reduce((sum, style) => sum * Number(style.opacity), 1);
    const [red, green, blue, alpha] = parts(colour);
    const ink = over([red, green, blue, alpha * opacity], behind);
    const [dark, bright] = [light(ink), light(behind)].sort((a, b) => a - b);
    const ratio = (bright + 0.05) / (dark + 0.05);
    const place = `${element.tagName} ${element.className}`;
    if (ratio < 4.5) found.add(`${ratio.toFixed(2)} ${place}: ${words.trim().slice(0, 40)}`);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    const words = texts.currentNode.data;
    if (!words.trim() || element.closest('.spoken, script, style')) continue;
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    look(element, getComputedStyle(element).color, words);
  }
  for (const field of document.querySelectorAll('input, textarea')) {
    if (!field.placeholder || !field.checkVisibility({ visibilityProperty: true })) continue;
    look(field, getComputedStyle(field, '::placeholder').color, field.placeholder);
  }
  return [...found];
}"""

# 44 pixels; of a scrolled box the browser may tell a hundred-thousandth less. Left out are words
# of a text that are links, boxes whose label is the target, and the columns of a plot.
SMALL_TARGET_SCRIPT = """() =>
  [...document.querySelectorAll('a, button, input, textarea, select, summary, label, [role]')]
    .filter((e) => e.matches(
      'a, button, input, textarea, select, summary, label.option, [role^=menuitem], [role=option]'))
    .filter((e) => !e.closest('.markdown') && !e.matches('label input, .timeline-column'))
    .filter((e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .map((e) => [e, e.getBoundingClientRect()])
    .filter(([e, box]) => box.width > 1 && (box.height < 43.99 || box.width < 43.99))
    .map(([e, box]) => `${e.outerHTML.slice(0, 80)} ${box.width}x${box.height}`)
"""

AXE_SCRIPT = Path(__file__).parents[2] / "clarvis_ui/web/node_modules/axe-core/axe.min.js"
# What is left out: contrast, which is measured above in light and in dark; the levels of headings,
# which in a text are its writer's; a main part and its heading, as on a phone there may be
# nothing but the list.
DISABLED_RULES = ("color-contrast", "heading-order", "landmark-one-main", "page-has-heading-one")
AXE_OPTIONS = {
    "rules": {name: {"enabled": False} for name in DISABLED_RULES},
    "resultTypes": ["violations"],
}


async def low_contrast_texts(page: Page) -> list[str]:
    """Texts with a contrast below 4.5 to 1, as light and as dark."""
    faults = []
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        faults += [f"{scheme}: {each}" for each in await page.evaluate(LOW_CONTRAST_SCRIPT)]
    await page.emulate_media(color_scheme="light", reduced_motion="reduce")
    return faults


# whoever begins to type there is zoomed in by an iPhone, and not out again
ZOOMED_FIELDS_SCRIPT = """() => [...document.querySelectorAll('input, select, textarea')]
  .filter((field) => field.checkVisibility() && !['checkbox', 'radio'].includes(field.type))
  .filter((field) => Number.parseFloat(getComputedStyle(field).fontSize) < 16)
  .map((field) => field.ariaLabel || field.placeholder || field.className)"""


async def zoomed_fields(page: Page) -> list[str]:
    faults: list[str] = await page.evaluate(ZOOMED_FIELDS_SCRIPT)
    return faults


async def small_targets(page: Page) -> list[str]:
    faults: list[str] = await page.evaluate(SMALL_TARGET_SCRIPT)
    return faults


async def accessibility_faults(page: Page) -> list[str]:
    """What somebody who hears the page, or goes through it by keys, would stumble over."""
    # what is evaluated is not held by the page's own rules for scripts
    await page.evaluate(f"{AXE_SCRIPT.read_text()}; null")
    violations = (await page.evaluate("rules => axe.run(document, rules)", AXE_OPTIONS))[
        "violations"
    ]
    faults = [
        f"{rule['id']}: {node['html'][:120]}" for rule in violations for node in rule["nodes"]
    ]
    return [each for each in faults if not _is_listbox_of_field(each)]


def _is_listbox_of_field(wrong: str) -> bool:
    """Choices below a field that keeps the focus: its arrows move them."""
    return wrong.startswith("scrollable-region-focusable") and 'role="listbox"' in wrong
