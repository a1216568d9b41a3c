"""What a reload gives back, whose drafts are whose, and what the address says."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.browser.conftest import Editor, OpenEditor, becomes, until
from tests.browser.inspector_page import choose
from tests.conftest import call

pytestmark = pytest.mark.browser

OTHER = {**call("openai", "demo"), "name": "Other"}
OpenPage = Callable[[], Awaitable[Page]]


async def type_name(page: Page, name: str) -> None:
    """Change the name of the document in front."""
    await page.evaluate("async () => (await own('state/tabs.js')).select({})")
    await page.get_by_role("region", name="Inspector").get_by_role("textbox", name="Name").fill(name)


async def rename(page: Page, name: str) -> None:
    """Change the name of the document in front, and wait until the browser has kept it."""
    await type_name(page, name)
    await until(page, f"(await (await own('api/drafts.js')).loadDrafts()).some((draft) => draft.document.name === '{name}')")


async def tabs(page: Page) -> list[str]:
    """The open documents by their names, once nothing is being opened any more."""
    await until(page, "performance.getEntriesByName('reopened').length > 0")
    return await page.locator(".doc-tab-text").all_inner_texts()


@pytest_asyncio.fixture(loop_scope="session")
async def browser_of(open_editor: OpenEditor) -> Callable[..., Awaitable[tuple[Editor, OpenPage]]]:
    """An editor, and a way to open more pages of the same browser."""

    async def open_one(**more: Any) -> tuple[Editor, OpenPage]:
        async def prepare(page: Page) -> None:
            await page.add_init_script("localStorage.setItem('agentui.tour', 'declined')")

        editor = await open_editor({"default": call("openai", "demo"), "other": OTHER}, prepare=prepare, **more)
        editor.page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.accept()))

        async def open_page() -> Page:
            page = await editor.page.context.new_page()
            page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.accept()))
            await page.goto(editor.server.origin + "/ui/", wait_until="load")
            await page.locator(".doc-tab").first.wait_for()
            return page

        await editor.page.locator(".doc-tab").first.wait_for()
        return editor, open_page

    return open_one


async def test_a_second_page_does_not_take_the_drafts_of_the_first(browser_of: Any) -> None:
    editor, open_page = await browser_of()
    first = editor.page
    await rename(first, "Mine")
    await first.get_by_role("button", name="New pipeline").click()
    await rename(first, "My new one")
    second = await open_page()
    await becomes(lambda: tabs(second), ["to openai"])
    # Both edit the same pipeline; each finds its own words again.
    await rename(second, "Yours")
    await first.reload()
    await second.reload()
    await becomes(lambda: tabs(first), lambda found: sorted(found) == ["Mine", "My new one"])
    await becomes(lambda: tabs(second), ["Yours"])


async def test_a_reload_does_not_take_the_drafts_of_a_page_that_is_on_its_way(browser_of: Any) -> None:
    editor, open_page = await browser_of()
    first = editor.page
    second = await open_page()
    await rename(second, "Yours")
    # While a page is loaded again, as all are when the browser comes back, it has let go of its drafts.
    await second.goto(f"{editor.server.origin}/health")
    await first.reload()
    await becomes(lambda: tabs(first), ["to openai"])
    await second.goto(f"{editor.server.origin}/ui/")
    await becomes(lambda: tabs(second), ["Yours"])


async def test_what_a_closed_page_left_behind_opens_in_the_next(browser_of: Any) -> None:
    editor, open_page = await browser_of()
    second = await open_page()
    await rename(second, "Left behind")
    await second.get_by_role("button", name="New pipeline").click()
    await rename(second, "Without a file")
    await editor.page.close()
    await second.close()
    third = await open_page()
    await becomes(lambda: tabs(third), lambda found: sorted(found) == ["Left behind", "Without a file"])
    # It is the third page's now.
    fourth = await open_page()
    await becomes(lambda: tabs(fourth), ["to openai"])
    await third.reload()
    await becomes(lambda: tabs(third), lambda found: sorted(found) == ["Left behind", "Without a file"])


async def test_what_was_typed_the_moment_before_a_page_closes_opens_in_the_next(browser_of: Any) -> None:
    _, open_page = await browser_of()
    second = await open_page()
    await type_name(second, "Just typed")
    # As a person closes it, who is asked whether to leave; drafts are written when the typing rests, which it has not.
    async with second.expect_event("close"):
        await second.close(run_before_unload=True)
    third = await open_page()
    await becomes(lambda: tabs(third), ["Just typed"])


async def test_two_drafts_of_one_pipeline_are_both_kept(browser_of: Any) -> None:
    editor, open_page = await browser_of()
    pages = [editor.page, await open_page()]
    for page, name in zip(pages, ("One", "Two"), strict=True):
        await rename(page, name)
    for page in pages:
        await page.close()
    last = await open_page()
    await becomes(lambda: tabs(last), lambda found: {"One", "Two"} <= set(found))


async def test_a_reload_gives_tabs_selection_and_talk_back(browser_of: Any) -> None:
    editor, _ = await browser_of()
    page = editor.page
    await page.evaluate("async () => (await own('state/tabs.js')).openPipeline('other')")
    await page.get_by_role("button", name="New pipeline").click()
    await page.get_by_role("tab", name="Other").click()
    await choose(page, "n1")
    await page.get_by_role("button", name="Try", exact=True).click()
    await expect(page.get_by_role("textbox", name="Say something to the pipeline")).to_be_focused()
    await page.keyboard.type("Good morning")
    await page.keyboard.press("Enter")
    answer = page.locator('[data-t="said-assistant"]')
    await expect(page.locator(".composer").get_by_role("button", name="Send", exact=True)).to_be_visible()
    said = await answer.inner_text()
    await page.keyboard.type("And then")
    await expect(page).to_have_url(f"{editor.server.origin}/ui/#other")
    await page.reload()
    await becomes(lambda: tabs(page), ["to openai", "Other", "Untitled"])
    await expect(page.get_by_role("tab", name="Other")).to_have_attribute("aria-selected", "true")
    await expect(page.locator(".canvas-node-selected")).to_have_count(1)
    await expect(page.locator('[data-t="said-user"]')).to_contain_text("Good morning")
    await becomes(answer.inner_text, said)
    await expect(page.get_by_role("textbox", name="Say something to the pipeline")).to_have_value("And then")
    await becomes(lambda: page.evaluate("sessionStorage.getItem('agentui.tabs')"), lambda found: "sk-" not in found)


async def test_the_address_names_the_pipeline_in_front(browser_of: Any) -> None:
    editor, _ = await browser_of()
    page = editor.page
    ui = f"{editor.server.origin}/ui/"
    await expect(page).to_have_url(f"{ui}#default")
    # A link of the same page, as somebody follows it.
    await page.evaluate("location.hash = '#other'")
    await expect(page.get_by_role("tab", name="Other")).to_have_attribute("aria-selected", "true")
    await page.get_by_role("tab", name="to openai").click()
    await expect(page).to_have_url(f"{ui}#default")
    await page.get_by_role("button", name="New pipeline").click()
    await expect(page).to_have_url(ui)
    await page.goto(f"{editor.server.origin}/health")
    await page.goto(f"{ui}#other")
    await expect(page.get_by_role("tab", name="Other")).to_have_attribute("aria-selected", "true")
    await page.evaluate("location.hash = '#nowhere'")
    await expect(page.get_by_text("There is no pipeline nowhere.")).to_be_visible()
    await expect(page).to_have_url(f"{ui}#other")
