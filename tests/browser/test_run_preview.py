"""The preview of a node's request in a real Chromium: what would be sent, where its pieces came from, and for which request."""

from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.browser.conftest import OpenEditor, axe, becomes
from tests.browser.test_run import Open, Runs, node, runs, steps

__all__ = ["runs"]

pytestmark = pytest.mark.browser


@pytest_asyncio.fixture(loop_scope="session")
async def preview(runs: Open) -> Runs:
    """The preview of the second call of three steps."""
    page = await runs({"default": steps("demo")})
    await page.page.locator(".react-flow__node").first.wait_for()
    await page.page.get_by_role("tab", name="Preview").click()
    return page


async def test_the_exact_request_is_shown_with_the_origin_of_its_pieces(preview: Runs) -> None:
    shown = preview.page.locator(".run-preview-right")
    await expect(shown).to_contain_text("POST http://127.0.0.1:")
    await expect(shown).to_contain_text("about ")
    await expect(shown.get_by_role("note")).to_contain_text("n2")
    await shown.get_by_role("button", name="Pin something").click()
    await preview.page.get_by_label("Text of its answer").fill("pinned words")
    await preview.page.get_by_role("dialog").get_by_role("button", name="Pin output").click()
    await expect(shown).to_contain_text("Answer briefly, after: pinned words")
    await expect(shown.get_by_role("note")).to_have_count(0)
    assert await axe(preview.page, ".dock") == []
    await shown.locator(".json-tree").get_by_role("button", name="briefly").click()
    await becomes(lambda: preview.state("tab.selection.nodes"), ["n3"])
    await expect(preview.page.locator('[data-field="blocks.0.text"]')).to_be_focused()


async def test_a_run_gives_what_is_missing(preview: Runs) -> None:
    shown = preview.page.locator(".run-preview-right")
    await shown.get_by_role("button", name="Run once").click()
    await expect(shown).to_contain_text("after: This is agentui's built-in demo model")


async def test_edits_are_rendered_when_the_typing_rests_and_mistakes_are_gone_to(preview: Runs) -> None:
    preview.editor.allow("status of 422")
    await preview.page.evaluate(
        "async () => { const {edit} = await own('state/tabs.js');"
        " const {setConfig} = await own('core/commands.js');"
        " edit('app.edit', (doc) => setConfig(doc, 'n3', {model: 'other-model'})); }"
    )
    shown = preview.page.locator(".run-preview-right")
    await expect(shown).to_contain_text("other-model")
    await preview.page.evaluate(
        "async () => { const {edit} = await own('state/tabs.js');"
        " const {setConfig} = await own('core/commands.js');"
        " edit('app.edit', (doc) => setConfig(doc, 'n3', {model: '{{ broken'})); }"
    )
    alert = shown.get_by_role("alert")
    await alert.get_by_role("button").first.click()
    await expect(preview.page.locator('[data-field="model"]')).to_be_focused()


async def test_random_functions_are_marked(runs: Open) -> None:
    row = {"name": "DICE", "mode": "expr", "value": "randint(1, 6)"}
    document = {"format": 1, "name": "Dice", "nodes": [node("n1", "SetVars", 0, variables=[row])], "edges": []}
    page = await runs({"default": document})
    await page.page.get_by_role("tab", name="Preview").click()
    await expect(page.page.locator(".run-preview-right")).to_contain_text("Varies")
    await expect(page.page.locator(".dock .json-tree")).to_contain_text("DICE")


async def test_the_request_is_written_by_hand_and_saved(preview: Runs) -> None:
    left = preview.page.locator(".run-preview-left")
    body = left.get_by_role("textbox", name="Body")
    await body.click()
    # In place of all that is selected: the server may be asked about an empty body, and refuses it.
    await preview.page.keyboard.press("Control+A")
    await preview.page.keyboard.insert_text('{"model": "hand-made", "messages": [{"role": "user", "content": "Written"}]}')
    headers = left.get_by_role("textbox", name="Headers")
    await headers.fill("x-api-key: a-key-that-nobody-keeps")
    shown = preview.page.locator(".run-preview-right")
    await expect(shown).to_contain_text("Written")
    await left.get_by_role("button", name="Save this request").click()
    await preview.page.get_by_label("Name", exact=True).last.fill("Mine")
    await preview.page.get_by_role("dialog").get_by_role("button", name="Save").click()
    await expect(left.get_by_label("Sample request")).to_have_value("saved:Mine")
    await preview.page.reload()
    await preview.page.locator(".react-flow__node").first.wait_for()
    await left.get_by_label("Sample request").select_option("saved:Mine")
    await expect(shown).to_contain_text("Written")
    await expect(headers).to_have_value("x-api-key: a-***eeps")
    await left.get_by_role("button", name="Forget").click()
    await preview.page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    await expect(left.get_by_label("Sample request").locator("option", has_text="Mine")).to_have_count(0)


async def test_a_body_that_is_no_json_is_said_to_be_none(preview: Runs) -> None:
    left = preview.page.locator(".run-preview-left")
    await left.get_by_role("textbox", name="Body").click()
    await preview.page.keyboard.press("Control+A")
    await preview.page.keyboard.insert_text('{"model": ')
    await expect(left).to_contain_text("Not JSON")


async def test_the_request_is_taken_from_a_run(preview: Runs) -> None:
    await preview.client_asks(messages=[{"role": "user", "content": "Caught in flight"}])
    [run] = await preview.runs()
    left = preview.page.locator(".run-preview-left")
    await expect(left.locator("option", has_text="demo-small")).to_have_count(1)
    await left.get_by_label("Sample request").select_option(f"run:{run['id']}")
    await expect(preview.page.locator(".run-preview-right")).to_contain_text("Caught in flight")
    await expect(left).to_contain_text("Its caller's keys are not used again")
    await left.get_by_role("button", name="Edit a copy").click()
    await expect(left.get_by_label("Sample request")).to_have_value("written")


async def test_the_preview_fits_a_phone(open_editor: OpenEditor) -> None:
    async def prepare(page: Any) -> None:
        await page.add_init_script("localStorage.setItem('agentui.tour', 'declined')")

    editor = await open_editor({"default": steps("demo")}, prepare=prepare, width=390, height=844)
    await editor.page.locator(".narrow-bar").get_by_role("button", name="Run").click()
    await editor.page.get_by_role("tab", name="Preview").click()
    await expect(editor.page.locator(".run-preview-right")).to_contain_text("POST http://127.0.0.1:")
    assert await axe(editor.page, ".dock") == []
    await becomes(lambda: editor.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), True)
