"""The palette, the shortcuts and the tour."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Editor, OpenEditor, axe
from tests.conftest import call

pytestmark = pytest.mark.browser


async def test_the_palette_finds_commands_nodes_pipelines_and_words(open_editor: OpenEditor) -> None:
    document = call(
        "openai", "demo", blocks=[{"kind": "text", "role": "system", "text": "Speak like a heron."}, {"kind": "history"}]
    )
    editor = await open_editor({"default": document, "other": {**call("openai", "demo"), "name": "Winter"}})
    page = editor.page
    await page.locator(".doc-tab").first.wait_for()
    for query, option in [("setti", "Settings"), ("heron", "Speak like a heron."), ("winter", "Winter")]:
        await page.keyboard.press("Control+k")
        await page.get_by_role("combobox", name="What to do or find").fill(query)
        await page.get_by_role("option", name=option).first.wait_for()
        assert await axe(page, "dialog") == []
        await page.keyboard.press("Escape")
    await page.keyboard.press("Control+k")
    await page.get_by_role("combobox", name="What to do or find").fill("winter")
    await page.get_by_role("option", name="Winter").first.wait_for()
    await page.keyboard.press("Enter")
    await page.get_by_role("tab", name="Winter").wait_for()


async def test_keys_can_be_changed_and_conflicts_are_told(editor: Editor) -> None:
    page = editor.page
    await page.locator(".doc-tab").first.wait_for()
    await page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    assert await axe(page, "dialog") == []
    change = dialog.get_by_role("button", name="Change the keys of New pipeline")
    await change.click()
    await page.keyboard.press("Control+s")
    await dialog.get_by_text("Also used by: Save").first.wait_for()
    await change.click()
    await page.keyboard.press("Control+Alt+m")
    await dialog.get_by_text("Ctrl+Alt+M").wait_for()
    await page.keyboard.press("Escape")
    await page.keyboard.press("Control+Alt+m")
    await page.locator(".doc-tab").nth(1).wait_for()


async def test_the_tour_has_five_steps_and_is_offered_once(editor: Editor) -> None:
    page = editor.page
    await page.get_by_role("button", name="Start the tour").click()
    for step in range(1, 6):
        await page.get_by_text(f"Step {step} of 5").wait_for()
        assert await axe(page) == []
        await page.get_by_role("button", name="Done" if step == 5 else "Next", exact=True).click()
    await page.reload()
    await page.locator(".react-flow__node").first.wait_for()
    # Whether to offer the tour is decided behind the first picture, at the end of getting connected.
    assert await page.evaluate("async () => (await own('start.js')).connect()") == "connected"
    await expect(page.get_by_text("New here?")).to_have_count(0)
