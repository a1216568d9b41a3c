"""The hand-made forms: SetVars, ProviderCall with presets and Prompt Blocks, RawForward."""

import json
from pathlib import Path

from playwright.async_api import Page, expect

from agentui.jsonio import Json
from tests.browser.conftest import Editor, OpenEditor, axe, becomes, box
from tests.browser.inspector_page import choose, config_of, document_of, undo, write
from tests.upstreams.server import API_KEY, MODELS, Mock

PRESET: Json = {
    "format": 1,
    "name": "Router",
    "description": "For tests.",
    "provider": "openai",
    "base_url": "https://router.example/api",
    "headers": {"Authorization": "Bearer [[SECRET:router]]"},
    "model": "auto",
    "models": ["auto", "large"],
}
KEY = "sk-or-v1-0123456789abcdef0123456789abcdef"


def one(type_: str, **config: Json) -> dict[str, Json]:
    """A pipeline of one node."""
    return {"default": {"format": 1, "name": "One", "nodes": [{"id": "n1", "type": type_, "config": config}], "edges": []}}


async def open_node(open_document: OpenEditor, type_: str, config: dict[str, Json] | None = None, **options: object) -> Editor:
    """An editor with one node, which is selected."""
    editor = await open_document(one(type_, **(config or {})), **options)
    await choose(editor.page, "n1")
    return editor


async def with_preset(open_document: OpenEditor, config: dict[str, Json] | None = None) -> Editor:
    """An editor with one ProviderCall on a server that has the preset ``router``."""
    editor = await open_node(open_document, "ProviderCall", config)
    (editor.server.pipelines.parent / "presets" / "router.json").write_text(json.dumps(PRESET), encoding="utf-8")
    editor.server.state.presets.refresh()
    await editor.page.evaluate("async () => (await own('state/library.js')).refreshLibrary()")
    return editor


def row(name: str, value: str = "", **more: Json) -> dict[str, Json]:
    """A row of a SetVars."""
    return {"name": name, "value": value, **more}


async def test_rows_show_what_they_would_be_and_which_vary(open_document: OpenEditor) -> None:
    rows: Json = [
        row("HI", "Hello [[model]]"),
        row("DICE", "randint(7, 7)", mode="expr"),
        row("N", "{{ params.temperature }}", mode="json"),
    ]
    page = (await open_node(open_document, "SetVars", {"variables": rows})).page
    await expect(page.get_by_role("group", name="HI would be now")).to_contain_text("Hello demo-small")
    await expect(page.get_by_role("group", name="DICE would be now")).to_contain_text("7")
    await expect(page.get_by_role("group", name="DICE would be now")).to_contain_text("varies")
    await expect(page.get_by_role("group", name="N would be now")).to_contain_text("number")
    await write(page.get_by_role("textbox", name="Value of HI"), "Bye")
    await expect(page.get_by_role("group", name="HI would be now")).to_contain_text("Bye")
    assert await axe(page, ".inspector-side") == []


async def test_one_broken_row_does_not_hide_the_values_of_the_others(open_document: OpenEditor) -> None:
    rows: Json = [
        row("A", "fine"),
        row("B", "[[A]] + 1", mode="expr"),
        row("C", "1 / 0", mode="expr"),
        row("no good", "x"),
        row("incoming", "x"),
    ]
    editor = await open_node(open_document, "SetVars", {"variables": rows})
    editor.allow("status of 422")
    page = editor.page
    await expect(page.get_by_role("group", name="A would be now")).to_contain_text("fine")
    await expect(page.get_by_role("alert").filter(has_text="A formula holds no macros")).to_be_visible()
    await expect(page.get_by_role("listitem", name="C").get_by_role("status")).to_be_visible()
    await expect(page.get_by_text("no digit first").first).to_be_visible()
    await expect(page.get_by_text("'incoming' has a meaning of its own").first).to_be_visible()
    assert await axe(page, ".inspector-side") == []


async def test_rows_are_added_switched_moved_copied_and_removed(open_document: OpenEditor) -> None:
    page = (await open_node(open_document, "SetVars")).page
    await page.get_by_role("button", name="Add variable").click()
    await page.get_by_role("textbox", name="Name of variable 1").fill("GOLD")
    await page.get_by_role("combobox", name="Kind of value of GOLD").select_option(label="Formula")
    await page.get_by_role("combobox", name="Where GOLD is kept").select_option(label="chat")
    await write(page.get_by_role("textbox", name="Value of GOLD"), "1 + 1")
    await becomes(
        lambda: config_of(page),
        lambda found: found["variables"] == [{"name": "GOLD", "value": "1 + 1", "mode": "expr", "tier": "chat"}],
    )
    await page.get_by_role("button", name="More for GOLD").click()
    await page.get_by_role("menuitem", name="Duplicate").click()
    await expect(page.get_by_text("this one wins")).to_be_visible()
    await page.get_by_role("textbox", name="Name of variable 2").fill("SILVER")
    await page.get_by_role("button", name="Move SILVER up").click()
    await becomes(lambda: config_of(page), lambda found: [one["name"] for one in found["variables"]] == ["SILVER", "GOLD"])
    handle = page.get_by_role("button", name="Move SILVER, 1 of 2")
    await handle.press("End")
    await becomes(lambda: config_of(page), lambda found: [one["name"] for one in found["variables"]] == ["GOLD", "SILVER"])
    await page.get_by_role("button", name="More for GOLD").click()
    await page.get_by_role("menuitem", name="Delete").click()
    await becomes(lambda: config_of(page), lambda found: [one["name"] for one in found["variables"]] == ["SILVER"])
    await undo(page)
    await becomes(lambda: config_of(page), lambda found: [one["name"] for one in found["variables"]] == ["GOLD", "SILVER"])


async def test_lines_become_rows(open_document: OpenEditor) -> None:
    page = (await open_node(open_document, "SetVars", {"variables": [row("A", "1")]})).page
    await page.get_by_role("button", name="From lines").click()
    await page.get_by_role("textbox", name="Lines such as NAME=value").fill(
        '# a comment\nexport HOST="example.com"\nPORT = 80\nnonsense\n'
    )
    await page.get_by_role("button", name="Add rows").click()
    await becomes(
        lambda: config_of(page),
        lambda found: found["variables"] == [row("A", "1"), row("HOST", "example.com"), row("PORT", "80")],
    )
    await expect(page.get_by_text("1 line is no NAME=value")).to_be_visible()


async def test_a_row_is_dragged_with_the_pointer(open_document: OpenEditor) -> None:
    page = (await open_node(open_document, "SetVars", {"variables": [row("A"), row("B"), row("C")]})).page
    await page.get_by_role("group", name="C would be now").wait_for()
    start = await box(page.get_by_role("button", name="Move A, 1 of 3"))
    end = await box(page.get_by_role("button", name="Move C, 3 of 3"))
    await page.mouse.move(start["x"] + 8, start["y"] + 8)
    await page.mouse.down()
    await page.mouse.move(end["x"] + 8, end["y"] + 12, steps=6)
    await page.mouse.up()
    await becomes(lambda: config_of(page), lambda found: [one["name"] for one in found["variables"]] == ["B", "C", "A"])


async def test_wrong_rows_are_shown_as_they_are(open_document: OpenEditor) -> None:
    wrong: Json = ["text", {"name": 5, "value": ["x"], "mode": "magic"}, {"value": "nameless", "mine": 1}]
    page = (await open_node(open_document, "SetVars", {"variables": wrong})).page
    await expect(page.get_by_role("textbox", name="Variable 1")).to_contain_text('"text"')
    await expect(page.get_by_role("textbox", name="mode", exact=True)).to_contain_text('"magic"')
    await expect(page.get_by_role("textbox", name="mine", exact=True)).to_contain_text("1")
    await becomes(lambda: config_of(page), lambda found: found["variables"] == wrong)
    assert await axe(page, ".inspector-side") == []
    await page.evaluate(
        """async () => {
          const {setConfig} = await own('core/commands.js');
          (await own('state/tabs.js')).edit('x', (doc) => setConfig(doc, 'n1', {variables: 'none'}));
        }"""
    )
    await expect(page.get_by_role("textbox", name="Variables")).to_contain_text('"none"')


async def test_a_preset_is_found_by_letters_and_its_changes_are_marked_reverted_and_saved_back(
    open_document: OpenEditor,
) -> None:
    editor = await with_preset(open_document)
    page = editor.page
    await page.get_by_role("combobox", name="Provider preset", exact=True).click()
    await page.keyboard.type("rtr")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("textbox", name="Base URL")).to_have_text("https://router.example/api")
    config = await config_of(page)
    assert (config["model"], config["headers"]) == ("auto", PRESET["headers"])
    await write(page.get_by_role("textbox", name="Model"), "small")
    await expect(page.get_by_text("1 changed")).to_be_visible()
    await page.get_by_role("button", name="Revert Model to the preset").click()
    await expect(page.get_by_text("1 changed")).to_have_count(0)
    # Those of the preset are offered whatever the provider says, which has no key here.
    editor.allow("api/models")
    await page.get_by_role("button", name="Models").click()
    await page.get_by_role("option", name="large").click()
    await page.get_by_role("button", name="Preset menu").click()
    await page.get_by_role("menuitem", name="Save back to Router").click()
    await expect(page.get_by_text("Preset router is saved.")).to_be_visible()
    await expect(page.get_by_text("1 changed")).to_have_count(0)
    assert editor.server.state.presets.good("router").model == "large"
    assert await axe(page, ".inspector-side") == []


async def test_models_are_offered_that_the_provider_lists_for_a_stored_key(open_document: OpenEditor, mock: Mock) -> None:
    headers: Json = {"Authorization": "Bearer [[SECRET:mine]]"}
    page = (
        await open_node(open_document, "ProviderCall", {"provider": "openai", "base_url": mock.origin, "headers": headers})
    ).page
    await page.evaluate(
        "async (body) => (await own('api/client.js')).api.send('PUT', '/api/secrets/mine', body)",
        {"value": API_KEY, "origins": [mock.origin]},
    )
    await page.get_by_role("button", name="Models").click()
    await expect(page.get_by_role("listbox", name="Models").get_by_role("option")).to_have_count(len(MODELS))
    await page.keyboard.type(MODELS[-1])
    await page.keyboard.press("Enter")
    await becomes(lambda: config_of(page), lambda found: found.get("model") == MODELS[-1])


async def test_a_node_becomes_a_new_preset(open_document: OpenEditor) -> None:
    editor = await open_node(open_document, "ProviderCall", {"provider": "claude", "model": "m"})
    page = editor.page
    await page.get_by_role("button", name="Preset menu").click()
    await page.get_by_role("menuitem", name="Save as a new provider preset…").click()
    await page.get_by_role("textbox", name="Name of the preset").fill("My Claude")
    await page.get_by_role("dialog").get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Preset my-claude is saved.")).to_be_visible()
    await becomes(lambda: document_of(page), lambda found: found["nodes"][0]["preset"] == "my-claude")
    assert editor.server.state.presets.good("my-claude").provider == "claude"


async def test_keys_are_picked_by_name_and_literal_ones_are_warned_about(open_document: OpenEditor) -> None:
    page = (await open_node(open_document, "ProviderCall", {"headers": {"Authorization": f"Bearer {KEY}"}})).page
    await expect(page.get_by_text("This looks like a key as it is")).to_be_visible()
    assert await axe(page, ".inspector-side") == []
    await page.get_by_role("button", name="Write [[SECRET:").click()
    await becomes(lambda: config_of(page), lambda found: found["headers"]["Authorization"].startswith("Bearer [[SECRET:"))
    await expect(page.get_by_text("This looks like a key as it is")).to_have_count(0)
    await page.get_by_role("button", name="Add header").click()
    await page.get_by_role("combobox", name="Header 2").fill("x-api-key")
    await page.get_by_role("button", name="Insert a stored key").nth(1).click()
    await page.get_by_role("menuitem", name="Another key by name…").click()
    await page.get_by_role("textbox", name="Name of the key").fill("mine")
    await page.get_by_role("button", name="Insert", exact=True).click()
    await becomes(lambda: config_of(page), lambda found: found["headers"]["x-api-key"] == "[[SECRET:mine]]")


async def test_a_template_starts_from_the_providers_example(open_document: OpenEditor) -> None:
    page = (await open_node(open_document, "ProviderCall", {"provider": "gemini"})).page
    await page.get_by_role("tab", name="Template").click()
    await page.get_by_role("button", name="Example for Gemini").click()
    await becomes(lambda: config_of(page), lambda found: "safetySettings" in found["template"])
    assert await axe(page, ".inspector-side") == []
    await undo(page)
    await becomes(lambda: config_of(page), lambda found: not found.get("template"))


async def blocks_page(open_document: OpenEditor, blocks: Json) -> Page:
    """The page of Prompt Blocks of a ProviderCall."""
    page = (await open_node(open_document, "ProviderCall", {"blocks": blocks})).page
    await page.get_by_role("tab", name="Prompt Blocks").click()
    return page


async def test_blocks_are_added_written_switched_moved_and_counted(open_document: OpenEditor) -> None:
    page = await blocks_page(open_document, [])
    await page.get_by_role("button", name="Add block").click()
    await page.get_by_role("menuitem", name="Text: System").click()
    await page.get_by_role("textbox", name="Name of block 1").fill("Persona")
    await write(page.get_by_role("textbox", name="Text of Persona"), "Be brief, and be kind to everybody.")
    await page.get_by_role("combobox", name="Role of Persona").select_option(label="User")
    await page.get_by_role("spinbutton", name="Last messages").fill("4")
    await page.get_by_role("checkbox", name="With the caller's system messages").uncheck()
    await expect(page.get_by_text("about 9 tokens of text")).to_be_visible()
    await page.get_by_role("button", name="Move Conversation up").click()
    await becomes(
        lambda: config_of(page),
        lambda found: (
            found["blocks"]
            == [
                {"kind": "history", "last": 4, "system": False},
                {"kind": "text", "role": "user", "text": "Be brief, and be kind to everybody.", "name": "Persona"},
            ]
        ),
    )
    assert await axe(page, ".inspector-side") == []
    await page.get_by_role("checkbox", name="Persona is sent").uncheck()
    await expect(page.get_by_text("about 0 tokens of text")).to_be_visible()
    await page.get_by_role("button", name="Fold Persona").click()
    await expect(page.get_by_role("textbox", name="Text of Persona")).to_have_count(0)


async def test_blocks_of_the_library_are_chosen_from_its_names(open_document: OpenEditor) -> None:
    editor = await open_node(open_document, "ProviderCall", {"blocks": [{"kind": "history"}]})
    page = editor.page
    book: Json = {"name": "Harbour", "data": {"entries": {"0": {"uid": 0, "key": ["sea"], "content": "Deep."}}}}
    made = await page.request.post(f"{editor.server.origin}/worldbooks", data=book)
    assert made.status == 201
    await page.get_by_role("tab", name="Prompt Blocks").click()
    await page.get_by_role("button", name="Add block").click()
    await page.get_by_role("menuitem", name="Lorebook").click()
    await expect(page.locator(".inspector-problems")).to_contain_text("choose one")
    field = page.get_by_role("combobox", name="Name in the library")
    await expect(page.locator('datalist option[value="Harbour"]')).to_have_count(1)
    await field.fill("Nowhere")
    await expect(page.locator(".inspector-problems")).to_contain_text("no active lorebook 'Nowhere'")
    await field.fill("Harbour")
    await expect(page.locator(".inspector-problems")).to_have_count(0)
    await page.get_by_role("checkbox", name="In an outlet").check()
    await page.get_by_role("spinbutton", name="Messages looked through: Harbour").fill("4")
    await page.get_by_role("checkbox", name="Each entry as a message of its own").check()
    await page.get_by_role("combobox", name="Role of Harbour").select_option(label="User")
    positions = ["before", "after", "examples_top", "examples_bottom", "note_top", "note_bottom", "at_depth", "outlet"]
    chosen: Json = {"positions": positions, "depth": 4, "apart": True}
    lore: Json = {"kind": "lorebook", "role": "user", "asset": "Harbour", **chosen}
    await becomes(lambda: config_of(page), lambda found: found["blocks"] == [{"kind": "history"}, lore])
    await page.get_by_role("button", name="Add block").click()
    await page.get_by_role("menuitem", name="Assembled prompt").click()
    await page.get_by_role("combobox", name="Section").fill("main")
    assembled: Json = {"kind": "assembled", "section": "main"}
    await becomes(lambda: config_of(page), lambda found: found["blocks"] == [{"kind": "history"}, lore, assembled])
    assert await axe(page, ".inspector-side") == []


async def test_the_first_block_keeps_the_conversation(open_document: OpenEditor) -> None:
    page = await blocks_page(open_document, [])
    for role, kinds in (("System", ["text", "history"]), ("User", ["history", "text"])):
        await page.get_by_role("button", name="Add block").click()
        await page.get_by_role("menuitem", name=f"Text: {role}").click()
        await expect(page.get_by_role("listitem", name="Conversation")).to_be_visible()
        await expect(page.get_by_role("textbox", name="Text of Block")).to_be_focused()
        await page.keyboard.type("Be brief.")
        await becomes(lambda: config_of(page), lambda found: "Be brief." in [one.get("text") for one in found["blocks"]])
        assert [block["kind"] for block in (await config_of(page))["blocks"]] == kinds
        while (await config_of(page)).get("blocks"):
            await undo(page)
    await page.get_by_role("button", name="Add block").click()
    await expect(page.get_by_role("menuitem", name="Conversation")).to_have_count(1)


async def test_blocks_without_the_conversation_are_mended_with_one_click(open_document: OpenEditor) -> None:
    page = await blocks_page(open_document, [{"kind": "text", "role": "system", "text": "Be brief."}])
    problem = page.locator(".inspector-problems")
    await expect(problem).to_contain_text("leave out what the caller says")
    await page.get_by_role("button", name="Problems: 1").click()
    line = page.locator(".problem-line")
    await expect(line).to_contain_text("add the block Conversation")
    await line.get_by_role("button", name="Add the Conversation").click()
    await expect(page.get_by_text("No problems.")).to_be_visible()
    await expect(problem).to_have_count(0)
    await becomes(
        lambda: config_of(page),
        lambda found: found["blocks"] == [{"kind": "text", "role": "system", "text": "Be brief."}, {"kind": "history"}],
    )
    # One that is switched off is switched on again.
    await page.get_by_role("checkbox", name="Conversation is sent").uncheck()
    await problem.get_by_role("button", name="Add the Conversation").click()
    await expect(problem).to_have_count(0)
    await becomes(lambda: config_of(page), lambda found: found["blocks"][1] == {"kind": "history"})


async def test_order_numbers_decide_until_a_block_is_moved(open_document: OpenEditor) -> None:
    page = await blocks_page(open_document, [{"name": "late", "order": 9, "text": "b"}, {"name": "early", "text": "a"}])
    names = page.get_by_role("textbox", name="Name of block")
    for index, name in enumerate(("early", "late")):
        await expect(names.nth(index)).to_have_value(name)
    await page.get_by_role("button", name="Move late, 2 of 2").press("ArrowUp")
    await becomes(
        lambda: config_of(page),
        lambda found: found["blocks"] == [{"name": "late", "text": "b"}, {"name": "early", "text": "a"}],
    )


async def test_wrong_blocks_are_shown_as_they_are(open_document: OpenEditor) -> None:
    wrong: Json = [7, {"text": 1, "role": "narrator", "enabled": "no", "last": -1, "mine": None}]
    page = await blocks_page(open_document, wrong)
    await expect(page.get_by_role("textbox", name="role", exact=True)).to_contain_text("narrator")
    await expect(page.get_by_role("textbox", name="Block 1")).to_contain_text("7")
    await becomes(lambda: config_of(page), lambda found: found["blocks"] == wrong)
    assert await axe(page, ".inspector-side") == []


async def test_a_row_is_switched_to_sillytaverns_macros(open_document: OpenEditor) -> None:
    page = (await open_node(open_document, "SetVars", {"variables": [row("HI", "{{user}} {{reverse::cba}}")]})).page
    await page.get_by_label("Kind of value of HI").select_option(label="SillyTavern")
    await expect(page.get_by_role("group", name="HI would be now")).to_contain_text("User abc")
    await becomes(
        lambda: config_of(page),
        lambda found: found["variables"] == [row("HI", "{{user}} {{reverse::cba}}", language="sillytavern")],
    )
    await page.get_by_label("Kind of value of HI").select_option(label="Text")
    await becomes(lambda: config_of(page), lambda found: found["variables"] == [row("HI", "{{user}} {{reverse::cba}}")])


async def test_a_block_is_switched_to_sillytaverns_macros(open_document: OpenEditor) -> None:
    page = await blocks_page(open_document, [{"text": "{{user}}", "name": "Who"}])
    await page.get_by_role("button", name="More for Who").click()
    await page.get_by_role("menuitem", name="Read as SillyTavern macros").click()
    await expect(page.get_by_title("Written in SillyTavern's macros")).to_be_visible()
    await becomes(
        lambda: config_of(page),
        lambda found: found["blocks"] == [{"text": "{{user}}", "name": "Who", "language": "sillytavern"}],
    )
    assert await axe(page) == []


async def test_a_sillytavern_preset_comes_in_as_blocks_in_its_own_macros_with_a_report(
    open_document: OpenEditor, tmp_path: Path
) -> None:
    prompts = [
        {
            "identifier": "main",
            "name": "Main",
            "role": "system",
            "content": "You are {{char}}. [[SECRET:openai]] {{random::a::b}}",
        },
        {"identifier": "chatHistory", "name": "Chat History", "marker": True},
        {"identifier": "scenario", "name": "Scenario", "marker": True},
        {
            "identifier": "deep",
            "name": "Note",
            "role": "user",
            "content": "Deep.",
            "injection_position": 1,
            "injection_depth": 4,
        },
        {"identifier": "unused", "name": "Unused", "content": "never"},
    ]
    order = ["scenario", "deep", "main", "chatHistory"]
    tracks = [
        {"character_id": 100000, "order": [{"identifier": "unused", "enabled": True}]},
        {"character_id": 100001, "order": [{"identifier": one, "enabled": one != "main"} for one in order]},
    ]
    file = tmp_path / "preset.json"
    file.write_text(json.dumps({"prompts": prompts, "prompt_order": tracks, "temperature": 1}), encoding="utf-8")
    page = await blocks_page(open_document, [{"text": "old"}])
    await page.get_by_label("SillyTavern prompt preset (JSON file)").set_input_files(file)
    dialog = page.get_by_role("dialog")
    for text in (
        "Order 100001 is used",
        "“Scenario”",
        "“Unused”",
        "4 messages deep",
        "1 text is read as SillyTavern macros",
        "char",
        "temperature",
    ):
        await expect(dialog.get_by_text(text).first).to_be_visible()
    assert await axe(page, "dialog") == []
    await dialog.get_by_role("button", name="Replace the blocks").click()
    await expect(dialog).to_have_count(0)
    blocks = (await config_of(page))["blocks"]
    assert [block["name"] for block in blocks] == ["Main", "Chat History", "Note"]
    assert blocks[0] == {
        "kind": "text",
        "role": "system",
        "name": "Main",
        "text": "You are {{char}}. [[SECRET:openai]] {{random::a::b}}",
        "language": "sillytavern",
        "enabled": False,
    }
    for name, text in (("broken.json", "{"), ("other.json", '{"prompts": "none"}'), ("list.json", "[]")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        await page.get_by_label("SillyTavern prompt preset (JSON file)").set_input_files(tmp_path / name)
        await expect(page.get_by_text(f"{name} is no SillyTavern prompt preset")).to_be_visible()


async def test_raw_forward_takes_headers_as_rows_or_as_one_text(open_document: OpenEditor) -> None:
    page = (await open_node(open_document, "RawForward", {"extra_headers": {"X-A": "1"}})).page
    await write(page.get_by_role("textbox", name="Base URL"), "https://gateway.example")
    await write(page.get_by_role("textbox", name="Path instead of the caller's"), "[[VAR:incoming.path]]")
    await page.get_by_role("button", name="as JSON text").click()
    await becomes(lambda: config_of(page), lambda found: json.loads(found["extra_headers"]) == {"X-A": "1"})
    field = page.get_by_role("textbox", name="Extra headers")
    await write(field, '{"X-B": {{ model }}}')
    await expect(page.get_by_role("button", name="as rows")).to_be_disabled()
    await write(field, '{"X-B": "{{ model }}"}')
    await page.get_by_role("button", name="as rows").click()
    await becomes(lambda: config_of(page), lambda found: found["extra_headers"] == {"X-B": "{{ model }}"})
    assert await axe(page, ".inspector-side") == []


async def test_requests_of_the_wrong_kind_are_shown_as_they_are(open_document: OpenEditor) -> None:
    wrong: Json = {"provider": 3, "base_url": ["x"], "headers": "none", "model": {"a": 1}, "template": 5, "blocks": {"b": 1}}
    page = (await open_node(open_document, "ProviderCall", wrong)).page
    for name in ("Base URL", "Headers", "Model"):
        await expect(page.get_by_role("textbox", name=name, exact=True)).to_be_visible()
    assert await axe(page, ".inspector-side") == []
    for tab in ("Prompt Blocks", "Template"):
        await page.get_by_role("tab", name=tab).click()
        await expect(page.get_by_role("textbox", name=tab, exact=True)).to_be_visible()
    await becomes(lambda: config_of(page), wrong)


async def test_a_second_target_is_set_by_hand_and_by_key_and_saved(open_document: OpenEditor) -> None:
    editor = await open_node(open_document, "ProviderCall", {"model": "first", "cache_s": 60.0, "later": 1})
    page = editor.page
    inspector = page.get_by_role("region", name="Inspector")
    # What is set is open; what is not is folded; only what the node type does not know is unknown.
    await expect(inspector.get_by_label("Keep answers (seconds)")).to_have_value("60")
    await expect(inspector.get_by_role("button", name="Add: Targets")).to_have_count(0)
    await expect(inspector.locator(".inspector-unknown legend + p ~ *")).to_have_count(1)
    # What is asked besides stands where one says what happens on a failure; the node's own model stays the first.
    await inspector.get_by_role("button", name="Ask another model first").click()
    targets = inspector.get_by_role("group", name="Targets", exact=True)
    await expect(targets.locator(".schema-row")).to_have_count(2)
    await expect(targets.locator(".schema-row").first).to_contain_text("This node's own model")
    await expect(inspector).to_contain_text("2 models are asked before that")
    # Fields that few need, and those of another strategy, are not in the way.
    await expect(targets.get_by_label("Weight")).to_have_count(0)
    await expect(inspector.get_by_role("combobox", name="Sticky")).to_have_count(0)
    await expect(inspector.get_by_role("combobox", name="On Errors").first).to_contain_text("Too many requests")
    await targets.get_by_label("Preset").fill("router")
    add = targets.get_by_role("button", name="Add: Targets")
    await add.focus()
    await page.keyboard.press("Enter")
    second = targets.locator(".schema-row").nth(2)
    await second.get_by_label("Secret").focus()
    await page.keyboard.type("other")
    await write(second.get_by_role("textbox", name="Model", exact=True), "second")
    await second.get_by_role("combobox", name="Provider").select_option(label="Anthropic Claude")
    await inspector.get_by_role("combobox", name="Strategy").select_option(label="By weight")
    await expect(inspector.get_by_role("combobox", name="Sticky")).to_have_count(1)
    assert await axe(page, ".inspector-side") == []
    await page.keyboard.press("ControlOrMeta+s")
    file = editor.server.pipelines / "default.json"

    async def saved() -> Json:
        return json.loads(file.read_text(encoding="utf-8"))["nodes"][0]["config"]

    def is_wanted(config: dict[str, Json]) -> bool:
        rows = config.get("targets")
        said = [{name: value for name, value in one.items() if value} for one in rows] if isinstance(rows, list) else []
        wanted = [("preset", "router"), ("secret", "other"), ("model", "second"), ("provider", "claude")]
        return len(said) == 3 and said[0] == {} and wanted[0] in said[1].items() and set(wanted[1:]) <= set(said[2].items())

    await becomes(saved, is_wanted)
    assert (await saved())["strategy"] == "weighted" and (await saved())["later"] == 1
    # The same form in another language.
    await page.evaluate("async () => (await own('state/view.js')).setLocale('ru')")
    await expect(page.get_by_role("button", name="Добавить: Цели")).to_be_visible()
    await expect(page.get_by_role("combobox", name="Порядок")).to_have_value('"weighted"')
    await page.evaluate("async () => (await own('state/view.js')).setLocale('en')")
    await expect(page.get_by_role("combobox", name="Strategy")).to_be_visible()


async def test_long_lists_come_folded_and_open_row_by_row(open_document: OpenEditor) -> None:
    targets: list[Json] = [{"name": f"t{index}", "model": f"model-{index}"} for index in range(100)]
    rows: list[Json] = [{"name": f"V{index}", "value": f"value {index}"} for index in range(500)]
    nodes: list[Json] = [
        {"id": "n1", "type": "ProviderCall", "config": {"targets": targets}},
        {"id": "n2", "type": "SetVars", "config": {"variables": rows}},
    ]
    page = (await open_document({"default": {"format": 1, "name": "Long", "nodes": nodes, "edges": []}})).page
    side = page.get_by_role("region", name="Inspector")
    await choose(page, "n1")
    group = side.get_by_role("group", name="Targets", exact=True)
    await expect(group.locator(".fold-row")).to_have_count(100)
    await expect(group.get_by_role("textbox", name="Name")).to_have_count(0)
    await expect(group.get_by_role("button", name="Unfold t7", exact=True)).to_contain_text("model-7")
    await group.get_by_role("button", name="Unfold t7", exact=True).click()
    await group.get_by_role("textbox", name="Name", exact=True).fill("seventh")
    await becomes(lambda: config_of(page), lambda found: found["targets"][7]["name"] == "seventh")
    await group.get_by_role("button", name="Fold seventh").click()
    await expect(group.get_by_role("textbox", name="Name")).to_have_count(0)
    # A row that is added is open, and so is one that a problem leads to.
    await group.get_by_role("button", name="Add: Targets").click()
    await expect(group.get_by_role("textbox", name="Name", exact=True)).to_have_count(1)
    await choose(page, "n2")
    listed = side.get_by_role("list", name="Variables")
    await expect(listed.locator(".fold-row")).to_have_count(500)
    await page.evaluate(
        "async () => (await own('state/tabs.js')).goTo({node: 'n2', field: 'variables.420.name', line: null, column: null})"
    )
    await expect(listed.get_by_label("Name of variable 421")).to_be_focused()
    await expect(listed.locator(".cm-content")).to_have_count(1)
