"""Everybody can use it: axe over every panel and dialog in every look, focus that is never lost, Escape, and reduced motion."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.browser.conftest import COLOUR_RULES, OpenEditor, axe, becomes
from tests.browser.views import DIALOGS, Open, Screen, every_view, opener

pytestmark = pytest.mark.browser

LOOKS = {
    "en": (("dark", "normal"), ("light", "more")),
    "ru": (("light", "normal"), ("dark", "more")),
}
"""Themes and contrasts by language: in the first look of each every rule is checked, in the others those of colours."""


@pytest_asyncio.fixture(loop_scope="session")
async def screen(open_calm: OpenEditor) -> Open:
    return opener(open_calm)


@pytest.mark.parametrize("locale", LOOKS)
async def test_no_panel_and_no_dialog_breaks_a_rule(screen: Open, locale: str) -> None:
    here = await screen(context={"locale": locale})
    found = {}
    async for name, part in every_view(here):
        rules: Sequence[str] = ()
        for theme, contrast in LOOKS[locale]:
            await wear(here, theme, contrast)
            found[name, theme, contrast] = await axe(here.page, part, rules)
            rules = COLOUR_RULES
    assert {place: wrong for place, wrong in found.items() if wrong} == {}


async def wear(here: Screen, theme: str, contrast: str) -> None:
    """Give the page a look; returns when it has it."""
    await here.show(theme=theme, contrast=contrast)
    await expect(here.page.locator(f"html[data-theme={theme}][data-contrast={contrast}]")).to_be_attached()


async def test_no_menu_and_no_page_of_a_run_or_a_chat_breaks_a_rule(screen: Open) -> None:
    here = await screen()
    page = here.page
    await here.show(dock="run", dockHeight=360, left="sessions")
    found: dict[str, Any] = {}

    async def check(name: str) -> None:
        await wear(here, "dark", "normal")
        found[name] = await axe(page)
        await wear(here, "light", "normal")
        found[f"{name}, light"] = await axe(page, rules=COLOUR_RULES)

    pages = page.locator(".run-tabs")
    await pages.get_by_role("tab", name="History").click()
    await page.locator(".run-line .run-link").first.click()
    await pages.get_by_role("tab", name="Timeline").click()
    await page.locator(".run-row-name").first.click()
    await expect(page.locator(".run-row-selected")).to_have_count(1)
    for name in ("Timeline", "Node", "History"):
        await pages.get_by_role("tab", name=name).click()
        await check(name)
    await here.show(dock="variables")
    for name in ("At this node", "Stored", "Writes of the page"):
        await page.get_by_role("tab", name=name).click()
        await check(name)
    await page.get_by_role("button", name="Menu", exact=True).click()
    await check("main menu")
    await expect(page.get_by_role("menu")).to_be_visible()
    await page.keyboard.press("Escape")
    for place in (".doc-tab-front", ".react-flow__node", ".react-flow__pane"):
        await page.locator(place).first.click(button="right", force=place == ".react-flow__pane", position={"x": 12, "y": 12})
        await expect(page.get_by_role("menu")).to_be_visible()
        await check(place)
        await expect(page.get_by_role("menu")).to_be_visible()
        await page.keyboard.press("Escape")
    assert {place: wrong for place, wrong in found.items() if wrong} == {}


SMALL_TEXT = """(part) => {
  const walker = document.createTreeWalker(document.querySelector(part), NodeFilter.SHOW_TEXT);
  const small = new Set();
  while (walker.nextNode()) {
    const {parentElement: element, data} = walker.currentNode;
    const isSeen = data.trim() && element.checkVisibility() && !element.closest('.visually-hidden');
    const size = parseFloat(getComputedStyle(element).fontSize);
    if (isSeen && size < 11) small.add(`${size}px: ${data.trim().slice(0, 40)} (${element.className})`);
  }
  return [...small];
}"""


async def test_no_text_is_smaller_than_eleven_pixels(screen: Open) -> None:
    here = await screen()
    await becomes(lambda: here.page.evaluate("getComputedStyle(document.documentElement).fontSize"), "16px")
    async for name, part in every_view(here):
        await becomes(partial(here.page.evaluate, SMALL_TEXT, part), [], name)


async def test_every_dialog_closes_with_escape_and_gives_the_focus_back(screen: Open) -> None:
    here = await screen()
    page = here.page
    opener = page.get_by_role("button", name="Menu")
    for kind in DIALOGS:
        await opener.focus()
        await here.open_dialog(kind)
        await becomes(lambda: page.evaluate("document.querySelector('dialog').contains(document.activeElement)"), True, kind)
        for _ in range(3):
            await page.keyboard.press("Tab")
        await becomes(
            lambda: page.evaluate(
                "document.activeElement === document.body || document.querySelector('dialog').contains(document.activeElement)"
            ),
            True,
            kind,
        )
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(opener).to_be_focused()


async def test_dialogs_over_dialogs_close_one_by_one(screen: Open) -> None:
    here = await screen()
    page = here.page
    await page.get_by_role("button", name="Menu").focus()
    await here.open_dialog("settings")
    first = page.get_by_role("dialog")
    await first.get_by_role("combobox").first.focus()
    await here.open_dialog("question")
    await expect(page.get_by_role("dialog", name="Really?")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog", name="Really?")).to_have_count(0)
    await expect(first.get_by_role("combobox").first).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Menu")).to_be_focused()


async def test_the_focus_is_never_lost(screen: Open) -> None:
    """What had the focus goes away or is switched off, in every way that is there; its neighbour takes over."""
    here = await screen()
    page = here.page
    inspector = page.get_by_role("region", name="Inspector")
    lost: list[str] = []

    async def check(what: str) -> None:
        if await here.focused() == "BODY":
            lost.append(what)

    await here.select("n1")
    await inspector.get_by_role("button", name="More for A").press("Enter")
    await page.get_by_role("menuitem", name="Delete").press("Enter")
    await expect(inspector.locator(".variable")).to_have_count(1)
    await check("a row")
    await inspector.get_by_role("button", name="More for B").press("Enter")
    await page.get_by_role("menuitem", name="Delete").press("Enter")
    await check("the last row")
    await inspector.get_by_role("button", name="Add variable").press("Enter")
    await expect(inspector.get_by_role("textbox", name="Name of variable 1")).to_be_focused()

    await here.select("n2")
    await inspector.get_by_role("button", name="Remove x-one").press("Enter")
    await check("a header")
    await inspector.get_by_role("button", name="Add header").press("Enter")
    await check("a new header")
    await inspector.get_by_role("tab", name="Prompt Blocks").press("Enter")
    await inspector.get_by_role("button", name="More for Rule").press("Enter")
    await page.get_by_role("menuitem", name="Delete").press("Enter")
    await expect(inspector.locator(".block")).to_have_count(2)
    await check("a block")

    undo = page.get_by_role("button", name="Undo")
    await undo.focus()
    while await undo.is_enabled():
        await page.keyboard.press("Enter")
    await check("the last undo")

    await here.show(left="outline")
    await page.locator(".canvas-outline-main").first.focus()
    await here.select("n1")
    await page.keyboard.press("Delete")
    await expect(page.locator(".canvas-outline-main[data-node]")).to_have_count(2)
    await check("a node in the outline")
    await page.locator('.react-flow__node[data-id="n2"]').focus()
    await page.keyboard.press("Enter")
    await page.locator('.react-flow__node[data-id="n2"]').focus()
    await page.keyboard.press("Delete")
    await expect(page.locator('.react-flow__node[data-id="n2"]')).to_have_count(0)
    await check("a node on the canvas")
    await here.select("n3")
    await inspector.get_by_role("button", name="Node menu").press("Enter")
    await page.get_by_role("menuitem", name="Delete").press("Enter")
    await expect(page.locator(".canvas-outline-main[data-node]")).to_have_count(0)
    await check("a node by its menu")

    await here.show(dock="run")
    await page.get_by_role("button", name="Close the dock").press("Enter")
    await check("the dock")
    await page.keyboard.press("Control+s")
    await page.get_by_role("button", name="Dismiss").first.press("Enter")
    await check("a message")
    await page.get_by_role("button", name="New pipeline").press("Enter")
    await page.get_by_role("tab", name="Untitled").focus()
    await page.keyboard.press("Delete")
    await expect(page.get_by_role("tab", name="Untitled")).to_have_count(0)
    await check("a tab")
    await page.get_by_role("tab", name="Everything").focus()
    await page.keyboard.press("Delete")
    await expect(page.get_by_role("heading", name="What should happen to a request?")).to_be_visible()
    await check("the last tab")
    assert lost == []


async def test_reduced_motion_is_honoured(screen: Open) -> None:
    here = await screen()
    page = here.page
    await here.show(left="nodes", dock="run")
    longest = """() => Math.max(0, ...[...document.querySelectorAll('*')].flatMap((element) => {
      const style = getComputedStyle(element);
      const seconds = (text) => text.split(',').map((one) => parseFloat(one) * (one.trim().endsWith('ms') ? 0.001 : 1));
      const moves = style.animationName === 'none' ? [] : seconds(style.animationDuration);
      return [...seconds(style.transitionDuration), ...moves];
    }))"""
    await becomes(lambda: page.evaluate(longest), lambda found: found <= 0.01)
    await here.open_dialog("settings")
    await becomes(lambda: page.evaluate(longest), lambda found: found <= 0.01)


async def test_a_part_that_fails_takes_nothing_else_with_it(screen: Open) -> None:
    here = await screen()
    page = here.page
    here.editor.allow("reading 'map'")
    # A dialog that gets nothing of what it needs.
    await here.do("({dialogs}) => dialogs.openDialog('variables-bulk', {})")
    await expect(page.get_by_text("This part of the editor failed")).to_be_visible()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(page.locator(".react-flow__node").first).to_be_visible()
    await here.open_dialog("settings")
    await page.keyboard.press("Escape")
