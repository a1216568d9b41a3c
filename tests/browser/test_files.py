"""Files in the editor: templates, import, export, versions, rename, remove."""

import json
from typing import Any

import pytest
from playwright.async_api import expect

from agentui.jsonio import loads
from tests.browser.conftest import Editor, OpenEditor, axe, until
from tests.conftest import call

pytestmark = pytest.mark.browser

KEY = "sk-ant-api03-" + "a1B2c3D4" * 8


async def run(editor: Editor, action: str) -> None:
    """Do an action by its name, as the palette does."""
    await editor.page.locator(".doc-tab").first.wait_for()
    assert await editor.page.evaluate("async (id) => (await own('actions.js')).runAction(id)", action)


async def test_a_template_opens_as_a_new_document(editor: Editor) -> None:
    await editor.page.get_by_role("button", name="Templates").click()
    dialog = editor.page.get_by_role("dialog", name="Templates")
    await dialog.get_by_role("button", name="Two models, one answer").wait_for()
    assert await axe(editor.page, "dialog") == []
    # It stands beside the sign for a new document, in categories, and can be searched.
    await expect(
        dialog.get_by_role("region", name="Choose among models").get_by_role("button", name="Two models")
    ).to_be_visible()
    await dialog.get_by_label("Search the gallery").fill("two drafts")
    await expect(dialog.get_by_role("button", name="Gold counter")).to_have_count(0)
    await dialog.get_by_role("button", name="Two models, one answer").click()
    await editor.page.get_by_role("tab", name="Two models, one answer").wait_for()
    assert sorted(path.stem for path in editor.server.pipelines.glob("*.json")) == ["default"]


async def test_an_import_says_where_keys_would_go_before_anything_else(editor: Editor) -> None:
    await run(editor, "files.import")
    dialog = editor.page.get_by_role("dialog", name="Import a pipeline")
    foreign: dict[str, Any] = {
        "format": 1,
        "name": "<img src=x onerror=alert(1)>",
        "nodes": [
            {"id": "n1", "type": "ProviderCall", "config": {"provider": "openai", "base_url": "https://evil.example"}},
            {"id": "n2", "type": "Unheard", "config": {}},
        ],
        "edges": [{"from": "n1", "to": "n2"}],
    }
    await dialog.get_by_label("Or paste its text").fill(json.dumps(foreign))
    await dialog.get_by_text("evil.example", exact=True).wait_for()
    await dialog.get_by_text("Node types that are not installed: Unheard").wait_for()
    assert await axe(editor.page, "dialog") == []
    await dialog.get_by_role("button", name="Open it").click()
    await editor.page.get_by_role("tab", name="<img src=x onerror=alert(1)>").wait_for()
    await expect(editor.page.locator("img")).to_have_count(0)


async def test_what_is_no_pipeline_is_refused_with_the_reason(editor: Editor) -> None:
    await run(editor, "files.import")
    dialog = editor.page.get_by_role("dialog", name="Import a pipeline")
    for text, reason in (
        ("{", "This is not JSON"),
        ("[1]", "This is JSON, but no object"),
        ('{"a": 1}', "This JSON is no pipeline: it has no nodes."),
    ):
        await dialog.get_by_label("Or paste its text").fill(text)
        await dialog.get_by_text(reason).wait_for()
        await expect(dialog.get_by_role("button", name="Open it")).to_be_disabled()


async def test_a_file_of_hadtavern_opens_as_a_new_pipeline_with_a_report(editor: Editor) -> None:
    node = {"id": 1, "class": "SetVars", "data": {"variables": [{"name": "A", "value": "x"}], "colour": "red"}, "outputs": {}}
    await editor.page.locator(".doc-tab").first.wait_for()
    await editor.page.evaluate(
        """(text) => {
          const data = new DataTransfer();
          data.items.add(new File([text], 'drawn.json', {type: 'application/json'}));
          document.body.dispatchEvent(new DragEvent('drop', {bubbles: true, cancelable: true, dataTransfer: data}));
        }""",
        json.dumps({"name": "Drawn", "drawflow": {"Home": {"data": {"1": node}}}}),
    )
    dialog = editor.page.get_by_role("dialog", name="Import a pipeline")
    await expect(dialog.get_by_role("heading", name="From HadTavern")).to_be_visible()
    await expect(dialog.locator(".import-notes li")).to_contain_text("n1 · colour")
    await dialog.get_by_role("button", name="Open it").click()
    await expect(editor.page.get_by_role("tab", name="Drawn")).to_be_visible()
    await expect(editor.page.locator('.react-flow__node[data-id="n1"]')).to_be_visible()
    assert sorted(path.stem for path in editor.server.pipelines.glob("*.json")) == ["default"]


async def test_a_file_dropped_on_the_window_is_imported(editor: Editor) -> None:
    await editor.page.locator(".doc-tab").first.wait_for()
    await editor.page.evaluate(
        """(text) => {
          const data = new DataTransfer();
          data.items.add(new File([text], 'dropped.json', {type: 'application/json'}));
          document.body.dispatchEvent(new DragEvent('drop', {bubbles: true, cancelable: true, dataTransfer: data}));
        }""",
        json.dumps({**call("openai", "demo"), "name": "Dropped"}),
    )
    dialog = editor.page.get_by_role("dialog", name="Import a pipeline")
    await dialog.get_by_role("heading", name="Dropped").wait_for()


async def test_an_export_leaves_keys_out_and_says_so(open_editor: OpenEditor) -> None:
    document = call("claude", "demo", headers={"x-api-key": KEY})
    editor = await open_editor({"default": document})
    await run(editor, "files.export")
    dialog = editor.page.get_by_role("dialog", name="Export this pipeline")
    await dialog.get_by_text("1 key stands in this document").wait_for()
    assert KEY not in await dialog.inner_text()
    async with editor.page.expect_download() as waiting:
        await dialog.get_by_role("button", name="Download default.json").click()
    exported = (await (await waiting.value).path()).read_text(encoding="utf-8")
    assert KEY not in exported and "[[SECRET:" in exported


async def test_versions_are_named_compared_and_restored(editor: Editor) -> None:
    page = editor.page
    await page.locator(".doc-tab").first.wait_for()
    for name in ("First", "Second"):
        await page.evaluate(
            """async (name) => {
              const [tabs, commands] = await Promise.all([own('state/tabs.js'), own('core/commands.js')]);
              tabs.edit('app.edit', (doc) => commands.setDocument(doc, {name}));
              await tabs.saveTab();
            }""",
            name,
        )
    await run(editor, "files.versions")
    dialog = page.get_by_role("dialog", name="Versions of default")
    # The newest version is what was saved last; the one before it is the one to go back to.
    await dialog.locator(".version-list button").nth(1).click()
    await expect(dialog.locator(".difference-before", has_text="First")).to_be_visible()
    assert await axe(page, "dialog") == []
    await dialog.get_by_role("button", name="Name this version").click()
    await page.get_by_role("dialog", name="Name this version").get_by_label("Name").fill("the good one")
    await page.get_by_role("dialog", name="Name this version").get_by_role("button", name="Save").click()
    await dialog.get_by_role("button", name="the good one").wait_for()
    await dialog.get_by_role("button", name="Restore").click()
    await page.get_by_role("tab", name="First").wait_for()
    await until(page, "(await own('state/tabs.js')).activeTab().saved?.name === 'First'")
    assert loads((editor.server.pipelines / "default.json").read_bytes())["name"] == "First"
