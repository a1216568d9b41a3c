"""The page ``docs/editor.md`` is true of the running editor: its table of keys, and its first pipeline step by step."""

import shutil
from typing import Any

import pytest
from aiohttp import ClientSession

from agentui.jsonio import loads
from tests.browser.conftest import Editor
from tests.conftest import ROOT
from tests.test_docs import code_of, page, table_rows

pytestmark = pytest.mark.browser


async def test_the_keys_of_every_action_are_those_of_the_page(editor: Editor) -> None:
    await editor.page.locator(".doc-tab").first.wait_for()
    keys: dict[str, list[str]] = await editor.page.evaluate(
        """async () => {
          const {ACTIONS} = await own('actions.js');
          return Object.fromEntries(ACTIONS.map((action) => [action.id, action.keys ?? []]));
        }"""
    )
    rows = [row for row in table_rows(page("docs/editor.md")) if "action" in row]
    told = {code_of(row["action"]): [each.strip("`") for each in row["keys"].split(", ") if each] for row in rows}
    assert told == keys


@pytest.mark.timeout(120)
async def test_the_first_pipeline_of_the_page_is_built_previewed_tried_saved_and_called(editor: Editor) -> None:
    where = editor.page
    shutil.copy(ROOT / "presets" / "demo.json", editor.server.pipelines.parent / "presets")
    editor.server.state.presets.refresh()
    await where.reload()
    await where.get_by_role("button", name="No, thanks").click()
    # 1: begin; 2: set a variable; 3: ask a model
    await where.get_by_role("button", name="New pipeline").click()
    await where.get_by_role("button", name="Set variables").click()
    await where.get_by_role("button", name="Add variable").click()
    await where.get_by_label("Name of variable 1").fill("TONE")
    await where.get_by_role("textbox", name="Value of TONE").fill("like a pirate")
    await where.get_by_role("button", name="Provider call").click()
    # 4: say which model; 5: write the prompt
    await where.get_by_role("combobox", name="Preset").click()
    await where.get_by_role("option", name="Demo (built in)").click()
    await where.get_by_role("tab", name="Prompt Blocks").click()
    await where.get_by_role("button", name="Add block").click()
    await where.get_by_role("menuitem", name="Text: System").click()
    await where.get_by_role("textbox", name="Text of Block 1").fill("Speak [[TONE]]!")
    await where.get_by_role("listitem", name="Conversation").wait_for()
    # 6: look before you pay
    dock = where.get_by_role("region", name="Dock")
    await dock.get_by_role("tab", name="Preview").click()
    await dock.get_by_text("Speak like a pirate!").first.wait_for()
    # 7: try it
    await where.get_by_role("button", name="Try", exact=True).click()
    await where.get_by_label("Say something to the pipeline").fill("Hello, who are you?")
    await where.keyboard.press("Enter")
    await where.get_by_role("log").get_by_text('The system prompt begins: "Speak like a pirate!"').wait_for()
    await dock.get_by_role("tab", name="Timeline").click()
    await dock.get_by_text("Finished").first.wait_for()
    # 8: save
    await where.get_by_role("button", name="Save", exact=True).click()
    dialog = where.get_by_role("dialog", name="Save as")
    await dialog.get_by_label("Name", exact=True).fill("Pirate")
    await dialog.get_by_role("button", name="Save").click()
    await where.get_by_text("Saved as pirate.").wait_for()
    saved: Any = loads((editor.server.pipelines / "pirate.json").read_bytes())
    assert [(edge["from"], edge["to"]) for edge in saved["edges"]] == [("n1", "n2")]
    # 9: point a client at it
    await where.locator(".react-flow__pane").click(position={"x": 40, "y": 40})
    address = await where.get_by_text(f"{editor.server.origin}/p/pirate/v1", exact=True).text_content()
    assert address is not None
    question = {"model": "demo-small", "messages": [{"role": "user", "content": "Hello!"}]}
    async with ClientSession() as session, session.post(f"{address}/chat/completions", json=question) as reply:
        answer = await reply.json()
    assert "Speak like a pirate!" in answer["choices"][0]["message"]["content"]
