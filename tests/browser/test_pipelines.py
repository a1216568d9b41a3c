"""The pipelines as a whole: the manager and the menu of a tab, what is open meanwhile, and other browser tabs."""

from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from agentui.jsonio import loads
from tests.browser.conftest import Editor, OpenEditor, axe, until
from tests.conftest import call

pytestmark = pytest.mark.browser


def named(name: str) -> dict[str, Any]:
    """A pipeline of this name."""
    return {**call("openai", "demo"), "name": name}


PIPELINES = {"default": named("Alpha"), "beta": named("Beta"), "gamma": named("Gamma")}


def files(editor: Editor) -> list[str]:
    """The ids of the files in the pipelines folder."""
    return sorted(path.stem for path in editor.server.pipelines.glob("*.json"))


async def manager(page: Page) -> Locator:
    """Open the manager by its key."""
    await page.locator(".doc-tab").first.wait_for()
    await page.keyboard.press("Control+o")
    dialog = page.get_by_role("dialog", name="Pipelines")
    await expect(dialog.get_by_label("Search")).to_be_focused()
    return dialog


async def test_the_manager_finds_opens_and_knows_what_was_opened_last(open_editor: OpenEditor) -> None:
    editor = await open_editor(PIPELINES)
    page = editor.page
    dialog = await manager(page)
    rows = dialog.locator(".file-open .file-name")
    await expect(rows).to_have_text(["Alphadefault", "Betabeta", "Gammagamma"])
    await page.keyboard.type("gam")
    await expect(rows).to_have_text(["Gammagamma"])
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("tab", name="Gamma")).to_have_attribute("aria-selected", "true")
    dialog = await manager(page)
    await expect(rows).to_have_text(["Gammagamma", "Alphadefault", "Betabeta"])
    await dialog.get_by_label("Order").select_option(label="By name")
    await expect(rows).to_have_text(["Alphadefault", "Betabeta", "Gammagamma"])
    await editor.shot("manager")
    assert await axe(page, "dialog") == []


async def test_the_keyboard_renames_and_deletes_in_the_manager_and_takes_it_back(open_editor: OpenEditor) -> None:
    editor = await open_editor(PIPELINES)
    editor.allow("status of 404")  # the page may still be reading a file whose change it was told of when it deletes it
    page = editor.page
    dialog = await manager(page)
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await expect(dialog.locator(".file-open", has_text="Beta")).to_be_focused()
    await page.keyboard.press("F2")
    question = page.get_by_role("dialog", name="Rename the pipeline")
    await question.get_by_label("File name").fill("GAMMA")
    await expect(question.get_by_text("already")).to_be_visible()
    await expect(question.get_by_role("button", name="Rename")).to_be_disabled()
    await question.get_by_label("File name").fill("delta")
    await expect(question.get_by_text("Callers who use beta")).to_be_visible()
    await question.get_by_label("Name", exact=True).fill("Delta")
    await page.keyboard.press("Enter")
    await expect(dialog.locator(".file-open", has_text="Deltadelta")).to_be_visible()
    assert files(editor) == ["default", "delta", "gamma"]
    assert loads((editor.server.pipelines / "delta.json").read_bytes())["name"] == "Delta"

    await dialog.locator(".file-open", has_text="Delta").focus()
    await page.keyboard.press("Delete")
    await expect(dialog.locator(".file-open", has_text="Delta")).to_have_count(0)
    assert files(editor) == ["default", "gamma"]
    # The message can be used although a dialog is open.
    await page.get_by_role("region", name="Messages").get_by_role("button", name="Undo").click()
    await expect(dialog.locator(".file-open", has_text="Delta")).to_be_visible()
    assert loads((editor.server.pipelines / "delta.json").read_bytes()) == {**PIPELINES["beta"], "name": "Delta"}
    # The active one has to stay.
    await dialog.get_by_role("button", name="More for Alpha").click()
    await expect(page.get_by_role("menuitem", name="Delete (activate another one first)")).to_be_disabled()


async def test_the_menu_of_a_tab_renames_duplicates_and_deletes(open_editor: OpenEditor) -> None:
    editor = await open_editor(PIPELINES, path="/#beta")
    editor.allow("status of 404")  # the page may still be reading a file whose change it was told of when it deletes it
    page = editor.page
    tab = page.get_by_role("tab", name="Beta")
    await tab.click(button="right")
    assert await axe(page) == []
    await page.get_by_role("menuitem", name="Rename the pipeline").click()
    question = page.get_by_role("dialog", name="Rename the pipeline")
    await question.get_by_label("Name", exact=True).fill("Bee")
    await question.get_by_role("button", name="Rename").click()
    await expect(page.get_by_role("tab", name="Bee")).to_be_visible()
    await until(page, "(await own('state/tabs.js')).activeTab().saved?.name === 'Bee'")
    assert loads((editor.server.pipelines / "beta.json").read_bytes())["name"] == "Bee"

    await page.get_by_role("tab", name="Bee").focus()
    await page.keyboard.press("Shift+F10")
    await page.get_by_role("menuitem", name="Duplicate the pipeline").click()
    copy = page.get_by_role("tab", name="Copy of Bee")
    await expect(copy).to_have_attribute("aria-selected", "true")
    assert files(editor) == ["beta", "copy-of-bee", "default", "gamma"]

    await copy.click(button="right")
    await page.get_by_role("menuitem", name="Delete the pipeline").click()
    await expect(copy).to_have_count(0)
    assert files(editor) == ["beta", "default", "gamma"]
    await page.get_by_role("region", name="Messages").get_by_role("button", name="Undo").click()
    await expect(copy).to_be_visible()
    assert files(editor) == ["beta", "copy-of-bee", "default", "gamma"]


async def test_edits_outlive_the_deleting_of_their_file(open_editor: OpenEditor) -> None:
    editor = await open_editor(PIPELINES, path="/#beta")
    editor.allow("status of 404")  # the page may still be reading a file whose change it was told of when it deletes it
    page = editor.page
    field = page.get_by_role("region", name="Inspector").get_by_role("textbox", name="Name")
    await field.fill("Edited")
    tab = page.get_by_role("tab", name="Edited")
    await tab.click(button="right")
    await page.get_by_role("menuitem", name="Delete the pipeline").click()
    await expect(page.get_by_text("beta was deleted.")).to_be_visible()
    await expect(tab).to_be_visible()
    await page.get_by_role("region", name="Messages").get_by_role("button", name="Undo").click()
    await expect(page.get_by_text("beta is back.")).to_be_visible()
    await expect(tab).to_be_visible()
    await page.keyboard.press("Control+s")
    await expect(page.get_by_role("tab", name="Edited, not saved")).to_have_count(0)
    await until(page, "!document.querySelector('.doc-tab-front .dirty')")
    assert loads((editor.server.pipelines / "beta.json").read_bytes())["name"] == "Edited"


async def test_another_browser_tab_hears_of_a_rename_and_of_a_delete(open_editor: OpenEditor) -> None:
    editor = await open_editor(PIPELINES, path="/#beta")
    editor.allow("status of 404")  # the page may still be reading a file whose change it was told of when it deletes it
    other = await open_editor(server=editor.server, path="/#beta")
    other.allow("status of 404")
    editor.allow("status of 404")
    for page in (editor.page, other.page):
        await page.get_by_role("tab", name="Beta").wait_for()
    await editor.page.get_by_role("tab", name="Beta").click(button="right")
    await editor.page.get_by_role("menuitem", name="Rename the pipeline").click()
    await editor.page.get_by_role("dialog").get_by_label("File name").fill("delta")
    await editor.page.keyboard.press("Enter")
    await expect(other.page.get_by_text("Renamed to delta.")).to_be_visible()
    await expect(other.page.locator(".disk-banner")).to_have_count(0)
    await editor.page.get_by_role("tab", name="Beta").click(button="right")
    await editor.page.get_by_role("menuitem", name="Delete the pipeline").click()
    await expect(other.page.locator(".disk-banner")).to_be_visible()
    await editor.page.get_by_role("region", name="Messages").get_by_role("button", name="Undo").click()
    await expect(other.page.locator(".disk-banner")).to_have_count(0)


async def test_a_file_that_cannot_be_read_is_listed_and_asked_for_before_it_goes(open_editor: OpenEditor) -> None:
    editor = await open_editor(PIPELINES, width=390, height=844)
    editor.allow("status of 404")  # the page may still be reading a file whose change it was told of when it deletes it
    page = editor.page
    (editor.server.pipelines / "torn.json").write_text('{"nodes": [')
    editor.server.state.pipelines.refresh()
    await page.locator(".doc-tab").first.wait_for()
    await page.get_by_role("button", name="Menu").click()
    await page.get_by_role("menuitem", name="Pipelines…").click()
    dialog = page.get_by_role("dialog", name="Pipelines")
    await expect(dialog.locator(".file-open", has_text="torn").get_by_text("1 problem")).to_be_visible()
    await editor.shot("manager-390")
    assert await axe(page, "dialog") == []
    await dialog.get_by_role("button", name="More for torn").click()
    await page.get_by_role("menuitem", name="Delete the pipeline").click()
    question = page.get_by_role("dialog", name="Delete torn?")
    await question.get_by_role("button", name="Cancel").click()
    assert "torn" in files(editor)
    await dialog.get_by_role("button", name="More for torn").click()
    await page.get_by_role("menuitem", name="Delete the pipeline").click()
    await question.get_by_role("button", name="Delete").click()
    await expect(dialog.locator(".file-open", has_text="torn")).to_have_count(0)
    assert "torn" not in files(editor)
