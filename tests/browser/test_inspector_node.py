"""The inspector around the forms: the pipeline, a node's switches, input and output, many nodes, and the presets' panel."""

import json
import re

from playwright.async_api import expect

from agentui.jsonio import Json
from tests.browser.conftest import Editor, OpenEditor, axe, becomes
from tests.browser.inspector_page import choose, config_of, document_of, undo, write

PAIR: Json = {
    "format": 1,
    "name": "Pair",
    "nodes": [
        {
            "id": "n1",
            "type": "SetVars",
            "config": {"variables": [{"name": "HI", "value": "Hello"}]},
            "position": {"x": 0, "y": 0},
        },
        {
            "id": "n2",
            "type": "ProviderCall",
            "config": {"base_url": "demo", "model": "[[OUT:n1.vars.HI]] x", "blocks": [{"text": "{{ OUT.n1.vars.HI }}"}]},
            "position": {"x": 300, "y": 0},
        },
    ],
    "edges": [{"from": "n1", "to": "n2"}],
}


async def open_pair(open_document: OpenEditor, *selected: str, **options: object) -> Editor:
    """An editor with a SetVars before a ProviderCall."""
    editor = await open_document({"default": PAIR}, **options)
    await choose(editor.page, *selected)
    return editor


async def test_the_pipeline_shows_its_fields_counts_hosts_and_addresses(open_document: OpenEditor) -> None:
    editor = await open_pair(open_document)
    page, origin = editor.page, editor.server.origin
    for text in (f"{origin}/p/default/v1", "pipeline/default"):
        await expect(page.get_by_text(text, exact=True)).to_be_visible()
    await page.get_by_role("textbox", name="Name").fill("Renamed")
    await page.get_by_role("textbox", name="Description").fill("What for")
    await page.get_by_role("combobox", name="Answering node").select_option("n1")
    document = await document_of(page)
    assert (document["name"], document["description"], document["answer"]) == ("Renamed", "What for", "n1")
    await page.get_by_role("textbox", name="Name").fill("")
    await expect(page.get_by_role("alert").filter(has_text="A name is needed.")).to_be_visible()
    assert await axe(page, ".inspector-side") == []


async def test_an_address_is_copied(open_editor: OpenEditor) -> None:
    editor = await open_pair(open_editor, context={"permissions": ["clipboard-read", "clipboard-write"]})
    await editor.page.get_by_role("button", name="Copy: Claude").click()
    await expect(editor.page.get_by_text("Copied:").first).to_be_visible()
    await becomes(lambda: editor.page.evaluate("navigator.clipboard.readText()"), f"{editor.server.origin}/p/default")


async def test_a_node_is_titled_renamed_switched_copied_and_deleted(open_document: OpenEditor) -> None:
    page = (await open_pair(open_document, "n1")).page
    side = page.get_by_role("region", name="Inspector")
    await side.get_by_role("textbox", name="Title").fill("Words")
    await side.get_by_role("button", name="Id n1, rename").click()
    dialog = page.get_by_role("dialog")
    for wrong, why in (("no good", "no spaces"), ("n2", "There is a node n2 already.")):
        await dialog.get_by_role("textbox", name="New id").fill(wrong)
        await dialog.get_by_role("button", name="Rename", exact=True).click()
        await expect(dialog.get_by_role("alert").filter(has_text=why)).to_be_visible()
    await dialog.get_by_role("textbox", name="New id").fill("words")
    await dialog.get_by_role("button", name="Rename", exact=True).click()
    await expect(dialog).to_have_count(0)
    document = await document_of(page)
    assert document["edges"] == [{"from": "words", "to": "n2"}]
    assert document["nodes"][1]["config"]["model"] == "[[OUT:words.vars.HI]] x"
    assert document["nodes"][1]["config"]["blocks"] == [{"text": "{{ OUT.words.vars.HI }}"}]
    await side.get_by_role("checkbox", name="Enabled").uncheck()
    await side.get_by_role("combobox", name="When it fails").select_option("continue")
    node = (await document_of(page))["nodes"][0]
    assert (node["title"], node["enabled"], node["on_error"]) == ("Words", False, "continue")
    await side.get_by_role("button", name="Node menu").click()
    await page.get_by_role("menuitem", name="Duplicate").click()
    await becomes(lambda: document_of(page), lambda found: len(found["nodes"]) == 3)
    await side.get_by_role("button", name="Node menu").click()
    await page.get_by_role("menuitem", name="Delete").click()
    await becomes(lambda: document_of(page), lambda found: len(found["nodes"]) == 2)
    await undo(page)
    await becomes(lambda: document_of(page), lambda found: len(found["nodes"]) == 3)


async def test_a_visible_name_is_inserted_where_the_cursor_was(open_document: OpenEditor) -> None:
    page = (await open_pair(open_document, "n2")).page
    field = page.get_by_role("textbox", name="Model")
    await write(field, "gpt-")
    await page.get_by_role("tab", name="Input").click()
    await expect(page.get_by_text("inserts the macro into model")).to_be_visible()
    assert await axe(page, ".inspector-side") == []
    await page.get_by_role("searchbox", name="Find a name").fill("HI")
    await page.get_by_role("list", name="Variables").get_by_role("button").first.click()
    await expect(field).to_be_focused()
    await becomes(lambda: config_of(page, "n2"), lambda found: found["model"] == "gpt-{{ HI }}")
    await page.keyboard.insert_text("!")
    await becomes(lambda: config_of(page, "n2"), lambda found: found["model"] == "gpt-{{ HI }}!")


async def test_an_output_is_pinned_edited_and_read_by_macro(open_editor: OpenEditor) -> None:
    editor = await open_pair(open_editor, "n2", context={"permissions": ["clipboard-read", "clipboard-write"]})
    page = editor.page
    await page.get_by_role("tab", name="Output").click()
    await page.get_by_role("button", name="Pin", exact=True).click()
    await write(page.get_by_role("textbox", name="Pinned result"), '{"result": {"list": [1, "two"]}}')
    await page.get_by_role("button", name="Edit", exact=True).click()
    assert await axe(page, ".inspector-side") == []
    await page.get_by_role("group", name="Output").get_by_role("button", name="list: [ 2 ]").click()
    await page.get_by_role("button", name="Copy the macro for OUT.n2.result.list.1").click()
    await becomes(lambda: page.evaluate("navigator.clipboard.readText()"), "[[OUT:n2.result.list.1]]")
    pins = "async () => { const tabs = await own('state/tabs.js'); return tabs.activeTab().pins; }"
    await becomes(lambda: page.evaluate(pins), {"n2": {"result": {"list": [1, "two"]}}})
    await page.get_by_role("button", name="Unpin").click()
    await becomes(lambda: page.evaluate(pins), {})


async def test_a_problem_leads_to_its_field(open_document: OpenEditor) -> None:
    page = (await open_pair(open_document, "n2")).page
    await write(page.get_by_role("textbox", name="Base URL"), "{{ model|nofilter }}")
    await page.get_by_role("tab", name="Prompt Blocks").click()
    await page.get_by_role("list", name="Problems").get_by_role("button").filter(has_text="nofilter").click()
    await expect(page.get_by_role("textbox", name="Base URL")).to_be_focused()


async def test_many_nodes_are_switched_copied_and_deleted_at_once(open_document: OpenEditor) -> None:
    page = (await open_pair(open_document, "n1", "n2")).page
    side = page.get_by_role("region", name="Inspector")
    await expect(side.get_by_role("heading", name="2 nodes selected")).to_be_visible()
    assert await axe(page, ".inspector-side") == []
    await side.get_by_role("button", name="Disable").click()
    await becomes(lambda: document_of(page), lambda found: [node["enabled"] for node in found["nodes"]] == [False, False])
    await side.get_by_role("button", name="Enable", exact=True).click()
    await side.get_by_role("button", name="Left", exact=True).click()
    await becomes(lambda: document_of(page), lambda found: {node["position"]["x"] for node in found["nodes"]} == {0})
    await side.get_by_role("button", name="Duplicate").click()
    await becomes(lambda: document_of(page), lambda found: len(found["nodes"]) == 4)
    await side.get_by_role("button", name="Delete").click()
    await becomes(lambda: document_of(page), lambda found: [node["id"] for node in found["nodes"]] == ["n1", "n2"])


async def test_presets_are_made_changed_restored_and_deleted_in_their_panel(open_document: OpenEditor) -> None:
    editor = await open_pair(open_document)
    editor.allow("status of 412")
    page, presets = editor.page, editor.server.state.presets
    await page.get_by_role("navigation", name="Panels").get_by_role("button", name="Presets").click()
    await page.get_by_role("button", name="New provider preset").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog.get_by_role("alert").filter(has_text="A name is needed.")).to_be_visible()
    await dialog.get_by_role("textbox", name="Name", exact=True).fill("House model")
    await write(dialog.get_by_role("textbox", name="Base URL"), "http://127.0.0.1:9")
    await dialog.get_by_role("textbox", name="Models").fill("one\n\ntwo\n")
    assert await axe(page, "dialog") == []
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)
    assert presets.good("house-model").models == ["one", "two"]
    await page.get_by_role("list", name="Presets").get_by_role("button", name="House model").click()
    await write(dialog.get_by_role("textbox", name="Model", exact=True), "one")
    folder = editor.server.pipelines.parent / "presets"
    theirs = json.loads((folder / "house-model.json").read_text(encoding="utf-8"))
    (folder / "house-model.json").write_text(json.dumps({**theirs, "description": "theirs"}), encoding="utf-8")
    presets.refresh()
    await dialog.get_by_role("button", name="Save").click()
    question = page.get_by_role("dialog", name="house-model changed meanwhile")
    await expect(question.get_by_text("description")).to_be_visible()
    await question.get_by_role("button", name="Save mine").click()
    await expect(dialog).to_have_count(0)
    assert presets.good("house-model").model == "one"
    await page.get_by_role("list", name="Presets").get_by_role("button", name="House model").click()
    await dialog.get_by_role("button", name="Put version 1 into the form").click()
    await expect(dialog.get_by_role("textbox", name="Model", exact=True)).not_to_contain_text("one")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)
    assert presets.good("house-model").model == ""
    await page.get_by_role("list", name="Presets").get_by_role("button", name="House model").click()
    await dialog.get_by_role("button", name="Delete").click()
    await page.get_by_role("dialog", name="Delete house-model?").get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("There are no provider presets yet.")).to_be_visible()


async def test_the_inspector_is_a_page_of_its_own_on_a_narrow_screen(open_editor: OpenEditor) -> None:
    editor = await open_editor({"default": PAIR}, width=390, height=844)
    page = editor.page
    await page.get_by_role("tab", name="Pair").wait_for()
    await page.evaluate(
        """async () => {
          (await own('state/tabs.js')).select({nodes: ['n2']});
          (await own('state/view.js')).setView({narrowPage: 'inspector'});
        }"""
    )
    await page.get_by_role("tab", name="Prompt Blocks").click()
    await write(page.get_by_role("textbox", name="Text of Block 1"), "From a phone.")
    await becomes(lambda: config_of(page, "n2"), lambda found: found["blocks"] == [{"text": "From a phone."}])
    await becomes(lambda: page.evaluate("document.documentElement.scrollWidth"), lambda found: found <= 390)
    assert await axe(page, ".inspector") == []


async def test_what_happens_when_a_node_fails_is_said_in_one_place(open_document: OpenEditor) -> None:
    page = (await open_pair(open_document, "n2")).page
    side = page.get_by_role("region", name="Inspector")
    fails = side.get_by_role("combobox", name="When it fails")
    await fails.select_option(label="Another node takes over")
    search = page.get_by_role("combobox", name=re.compile(r"^When .* fails …$"))
    await expect(search).to_be_focused()
    await page.keyboard.type("text")
    await page.keyboard.press("Enter")
    await becomes(lambda: document_of(page), lambda found: found["edges"][-1].get("from_port") == "error")
    await page.locator('.react-flow__node[data-id="n2"]').click()
    await expect(fails).to_have_value("node")
    await side.get_by_role("button", name="Text takes over").click()
    await expect(side.get_by_role("button", name="Id n3, rename")).to_be_visible()
    # Another choice takes the wire away.
    await page.locator('.react-flow__node[data-id="n2"]').click()
    await fails.select_option(label="Stop on error")
    await becomes(lambda: document_of(page), lambda found: all(edge.get("from_port") != "error" for edge in found["edges"]))
