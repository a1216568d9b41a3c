"""Keys in the editor: added where they are needed, replaced, removed; the page never has one again."""

from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenEditor, axe
from tests.conftest import call

pytestmark = pytest.mark.browser

KEY = "sk-typed-into-the-page-98765"
PIPELINE: Any = call("openai", "https://api.example.com", headers={"Authorization": "Bearer [[SECRET:example]]"})


@pytest.mark.parametrize("width", [1440, 390])
async def test_a_key_that_a_pipeline_names_is_added_replaced_and_removed(open_editor: OpenEditor, width: int) -> None:
    editor = await open_editor({"default": PIPELINE}, width=width)
    page, secrets = editor.page, editor.server.state.services.secrets
    await page.get_by_role("tab", name="default").or_(page.locator(".doc-tab")).first.wait_for()
    await page.get_by_role("button", name="Menu").click()
    await page.get_by_role("menuitem", name="Keys of providers").click()
    dialog = page.get_by_role("dialog", name="Keys of providers")
    missing = dialog.get_by_role("list", name="Named in pipelines, but not stored")
    await expect(missing.get_by_text("Used by default")).to_be_visible()
    await missing.get_by_role("button", name="Add example").click()
    form = dialog.get_by_role("form", name="Add a key")
    await form.get_by_role("button", name="Store").click()
    await expect(form.get_by_text("Paste the key.")).to_be_visible()
    await expect(form.get_by_label("Key", exact=True)).to_have_attribute("type", "password")
    await form.get_by_label("Key", exact=True).fill(KEY)
    await page.keyboard.press("Enter")
    await expect(form.get_by_text("may be sent, e.g.")).to_be_visible()
    editor.allow("status of 400")
    await form.get_by_label("May be sent to").fill("https://api.example.com/v1")
    assert await axe(page, "dialog") == []
    await editor.shot(f"keys-{width}")
    await form.get_by_role("button", name="Store").click()
    await expect(page.get_by_text("The key example is stored.")).to_be_visible()
    await expect(dialog.get_by_text("May go to https://api.example.com")).to_be_visible()
    await expect(missing).to_have_count(0)
    assert secrets.get("example").value == KEY

    await dialog.get_by_role("button", name="Replace example").click()
    form = dialog.get_by_role("form", name="Replace example")
    # Where it may go is there to be changed; the key is not, and is needed again.
    await expect(form.get_by_label("May be sent to")).to_have_value("https://api.example.com")
    await expect(form.get_by_label("Key", exact=True)).to_have_value("")
    await expect(form.get_by_label("Key", exact=True)).to_be_focused()
    await page.keyboard.type(KEY[::-1])
    await page.keyboard.press("Enter")
    await expect(form).to_have_count(0)
    assert secrets.get("example").value == KEY[::-1]
    for text in (KEY, KEY[::-1]):
        assert text not in await page.content()

    await dialog.get_by_role("button", name="Remove example").click()
    question = page.get_by_role("dialog", name="Remove the key example?")
    await expect(question.get_by_text("default")).to_be_visible()
    await question.get_by_role("button", name="Remove").click()
    await expect(page.get_by_text("The key example was removed.")).to_be_visible()
    await expect(missing).to_have_count(1)
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)


async def test_a_field_takes_a_new_key_by_its_name(open_editor: OpenEditor) -> None:
    editor = await open_editor({"default": call("openai", "https://api.example.com", headers={"Authorization": ""})})
    page = editor.page
    await page.locator(".react-flow__node").click()
    await page.get_by_role("button", name="Insert a stored key").first.click()
    await page.get_by_role("menuitem", name="Add a key").click()
    form = page.get_by_role("form", name="Add a key")
    await expect(form.get_by_label("Name")).to_be_focused()
    await page.keyboard.type("openai")
    await page.keyboard.press("Tab")
    await page.keyboard.type(KEY)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(page.locator(".cm-content", has_text="[[SECRET:openai]]").first).to_be_visible()
    assert editor.server.state.services.secrets.get("openai").origins == {"https://api.openai.com"}
