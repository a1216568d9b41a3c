"""What opens in a modal dialog is pressed by a hand: whatever a dialog makes inert is seen, found by its role, and dead."""

import json

import pytest
from playwright.async_api import Locator, Page, expect

from agentui.jsonio import Json
from tests.browser.conftest import Editor, OpenEditor, box
from tests.conftest import call

pytestmark = pytest.mark.browser

PRESET: dict[str, Json] = {
    "format": 1,
    "name": "Router",
    "provider": "openai",
    "base_url": "https://router.example/v1",
    "model": "small",
    "models": ["small", "large"],
    "headers": {"Authorization": "Bearer "},
}


async def press(place: Locator, button: str = "left") -> None:
    """Press what stands in the middle of something, which has to be a part of it, with the mouse."""
    await place.scroll_into_view_if_needed()
    at = await box(place)
    x, y = at["x"] + at["width"] / 2, at["y"] + at["height"] / 2
    hit = await place.evaluate("(element, [x, y]) => element.contains(document.elementFromPoint(x, y))", [x, y])
    assert hit, f"{place} is not what a hand meets there."
    await place.page.mouse.click(x, y, button="right" if button == "right" else "left")


async def open_dialogs(page: Page, *dialogs: list[Json]) -> None:
    await page.evaluate(
        "async (all) => { const {openDialog} = await own('state/dialogs.js'); for (const [kind, props] of all) openDialog(kind, props); }",
        list(dialogs),
    )
    await expect(page.locator("dialog:modal")).to_have_count(len(dialogs))


async def with_preset(open_document: OpenEditor) -> Editor:
    editor = await open_document({"default": call("openai", "demo"), "other": {**call("openai", "demo"), "name": "Other"}})
    (editor.server.pipelines.parent / "presets" / "router.json").write_text(json.dumps(PRESET), encoding="utf-8")
    editor.server.state.presets.refresh()
    return editor


@pytest.mark.parametrize("below", [[], [["open", {}]]], ids=["alone", "over another dialog"])
async def test_a_model_is_chosen_in_the_dialog_of_a_preset(open_document: OpenEditor, below: list[list[Json]]) -> None:
    editor = await with_preset(open_document)
    # The provider of the preset is not there: its models are those that the preset names.
    editor.allow("api/models")
    page = editor.page
    await open_dialogs(page, *below, ["preset", {"id": "router"}])
    dialog = page.get_by_role("dialog", name="Provider preset")
    await press(dialog.get_by_role("button", name="Models"))
    await press(page.get_by_role("option", name="large"))
    await expect(dialog.get_by_role("textbox", name="Model", exact=True)).to_have_text("large")
    # A key of a list in a dialog is not one of the dialog.
    await press(dialog.get_by_role("button", name="Models"))
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("listbox", name="Models")).to_have_count(0)
    await expect(dialog).to_be_visible()


async def test_menus_and_completions_of_a_dialog_are_pressed(open_document: OpenEditor) -> None:
    page = (await with_preset(open_document)).page
    await open_dialogs(page, ["open", {}], ["preset", {"id": "router"}])
    dialog = page.get_by_role("dialog", name="Provider preset")
    await press(dialog.get_by_role("button", name="Start from an example"))
    await press(page.get_by_role("menuitem").first)
    template = dialog.get_by_role("textbox", name="Template", exact=True)
    await expect(template).to_contain_text("model")
    await press(dialog.get_by_role("button", name="Insert a stored key").first)
    await press(page.get_by_role("menuitem", name="Another key by name"))
    name = page.get_by_role("dialog", name="Another key")
    await expect(name).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(name).to_have_count(0)
    await expect(dialog).to_be_visible()


async def test_the_menu_of_a_row_in_a_dialog_is_pressed(open_document: OpenEditor) -> None:
    page = (await with_preset(open_document)).page
    await open_dialogs(page, ["open", {}])
    row = page.get_by_role("dialog").get_by_role("listitem").filter(has_text="Other")
    await press(row, "right")
    await press(page.get_by_role("menuitem", name="Rename"))
    renaming = page.get_by_role("dialog", name="Rename")
    await expect(renaming).to_be_visible()
    await page.keyboard.press("Escape")
    await press(row.get_by_role("button", name="More for Other"))
    await press(page.get_by_role("menuitem", name="Rename"))
    await expect(renaming).to_be_visible()
