"""How the frame is laid out: nothing is cut off or covered, nothing moves under the cursor, and what is small can be enlarged."""

from functools import partial
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from agentui.jsonio import Json, dumps, loads
from tests.browser.conftest import Editor, OpenEditor, becomes, box
from tests.browser.inspector_page import choose, config_of
from tests.browser.views import Open, every_view, opener
from tests.conftest import call

pytestmark = pytest.mark.browser


@pytest_asyncio.fixture(loop_scope="session")
async def screen(open_calm: OpenEditor) -> Open:
    return opener(open_calm)


CUT_OFF = """(part) => {
  const wrong = new Set();
  const controls = 'button, input, select, textarea, summary, [role=tab], .cm-content';
  for (const side of document.querySelectorAll('.dock, .left-side, .inspector-side')) {
    const frame = side.getBoundingClientRect();
    for (const one of side.querySelectorAll(controls)) {
      if (!one.checkVisibility() || one.closest('.visually-hidden') || one.matches('.visually-hidden')) continue;
      const box = one.getBoundingClientRect();
      const middle = {x: box.x + box.width / 2, y: box.y + box.height / 2};
      const name = `${one.getAttribute('aria-label') ?? one.textContent.trim().slice(0, 30)} (${one.className})`;
      if (box.left < frame.left - 1 || box.right > frame.right + 1) wrong.add(`cut off: ${name}`);
      // What its own list has scrolled away is neither here nor there.
      const isSeen = [...ancestors(one)].every((outer) => {
        const room = outer.getBoundingClientRect();
        return middle.y > room.top && middle.y < room.bottom && middle.x > room.left && middle.x < room.right;
      });
      const hit = document.elementFromPoint(middle.x, middle.y);
      // A list scrolls away under what stays, and a splitter is a little wider than it looks.
      const isOver = hit && [hit, ...ancestors(hit)].some((outer) => outer.matches('.splitter') || getComputedStyle(outer).position === 'sticky');
      if (isSeen && hit && !isOver && !one.contains(hit) && !hit.contains(one) && !hit.closest('label')) wrong.add(`covered: ${name} by ${hit.className}`);
    }
  }
  return [...wrong];
  function* ancestors(element) {
    for (let outer = element.parentElement; outer; outer = outer.parentElement) yield outer;
  }
}"""
"""Every control of the panels that sticks out of its panel, or whose middle lies under something else."""


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768)])
async def test_no_control_is_cut_off_or_covered(screen: Open, width: int, height: int) -> None:
    here = await screen(width=width, height=height)
    async for name, part in every_view(here):
        if part != "dialog":
            await becomes(partial(here.page.evaluate, CUT_OFF), [], name)


@pytest.mark.parametrize("width", [1440, 1024])
async def test_columns_and_filters_of_the_history_can_be_read(screen: Open, width: int) -> None:
    here = await screen(width=width, height=768)
    await here.show(dock="run")
    page = here.page
    await page.get_by_role("tab", name="History").click()
    await page.locator(".run-line").first.wait_for()
    rows = page.get_by_role("region", name="History")
    await becomes(lambda: rows.evaluate("(element) => element.scrollWidth <= element.clientWidth"), True)
    for column in ("State", "Began", "Pipeline", "Model", "Client", "Took", "Tokens"):
        heading = rows.get_by_role("columnheader", name=column)
        await becomes(partial(heading.evaluate, "(element) => element.scrollWidth <= element.clientWidth"), True, column)
    for filter in await page.locator(".run-filters select").all():
        shown = await filter.evaluate(
            """(select) => {
              const text = document.createElement('span');
              text.style.font = getComputedStyle(select).font;
              text.textContent = select.selectedOptions[0].text;
              document.body.append(text);
              const room = select.clientWidth - 36 - text.getBoundingClientRect().width;
              text.remove();
              return room;
            }"""
        )
        assert shown >= 0, await filter.input_value()


async def test_the_dock_has_the_whole_width_and_can_have_the_whole_height(open_document: OpenEditor) -> None:
    page = (await open_document({"default": call("openai", "demo")})).page
    dock = page.get_by_role("region", name="Dock")
    await page.get_by_role("tab", name="Preview").click()
    await becomes(lambda: box(dock), lambda found: found["width"] == 1440)
    low = (await box(dock))["height"]
    await page.get_by_role("button", name="Maximise the dock").click()
    await expect(page.locator(".workspace[inert]")).to_have_count(1)
    tall = await box(dock)
    assert tall["height"] > 750 and tall["height"] > low
    await page.keyboard.press("Alt+j")
    await expect(page.locator(".workspace[inert]")).to_have_count(0)
    await becomes(lambda: box(dock), lambda found: found["height"] == low)
    # Who was in what the dock covers goes on in the dock.
    await page.get_by_role("textbox", name="Name", exact=True).focus()
    await page.keyboard.press("Alt+j")
    await expect(page.get_by_role("tab", name="Preview")).to_be_focused()
    # The way to a place in the pipeline shows the pipeline again.
    await page.evaluate("async () => (await own('state/tabs.js')).goTo({node: 'n1', field: 'model'})")
    await expect(page.locator('[data-field="model"]')).to_be_focused()


async def test_the_left_panel_folds_in_a_narrow_window(open_editor: OpenEditor) -> None:
    editor = await open_editor(width=1024, height=768)
    page = editor.page
    await page.locator(".doc-tab").first.wait_for()
    panel = page.locator(".left-panel")
    await expect(panel).to_have_count(0)
    await becomes(lambda: box(page.locator("#stage")), lambda found: found["width"] > 600)
    await page.set_viewport_size({"width": 1440, "height": 900})
    await expect(panel).to_be_visible()
    await page.set_viewport_size({"width": 1024, "height": 768})
    await expect(panel).to_have_count(0)
    await page.get_by_role("button", name="Outline").click()
    await expect(panel).to_be_visible()


ROOM = """() => {
  const stage = document.querySelector('#stage').getBoundingClientRect();
  return stage.width * stage.height / (innerWidth * innerHeight);
}"""


async def test_the_canvas_has_most_of_the_window_and_a_browser_remembers_the_panel(open_editor: OpenEditor) -> None:
    editor = await open_editor(is_left_open=False)
    page = editor.page
    await page.locator(".canvas-node").first.wait_for()
    await expect(page.locator(".left-panel")).to_have_count(0)
    assert await page.evaluate(ROOM) >= 0.6
    await page.get_by_role("button", name="Outline", exact=True).click()
    await expect(page.locator(".left-panel")).to_be_visible()
    await page.reload()
    await expect(page.locator(".left-panel")).to_be_visible()


async def test_a_drawing_opens_and_fits_so_that_it_can_be_read(open_editor: OpenEditor) -> None:
    nodes = [
        {"id": f"n{number}", "type": "SetVars", "position": {"x": number * 320, "y": 0}, "config": {}} for number in range(12)
    ]
    edges = [{"from": f"n{number}", "to": f"n{number + 1}"} for number in range(11)]
    editor = await open_editor({"default": {"format": 1, "name": "Long", "nodes": nodes, "edges": edges}})
    page = editor.page
    stage, first = page.locator("#stage"), page.locator('.react-flow__node[data-id="n0"]')
    zoom, fit = page.locator(".canvas-zoom"), page.get_by_role("button", name="Fit the drawing")
    await expect(zoom).to_have_text("70%")
    outer, inner = await box(stage), await box(first)
    assert outer["x"] < inner["x"] < outer["x"] + outer["width"] / 2
    # What is seen already is asked for again: then everything, however small.
    await fit.click()
    await expect(zoom).not_to_have_text("70%")
    outer, inner = await box(stage), await box(page.locator('.react-flow__node[data-id="n11"]'))
    assert inner["x"] + inner["width"] < outer["x"] + outer["width"]
    await fit.click()
    await expect(zoom).to_have_text("70%")


async def test_badges_stand_within_their_nodes(open_editor: OpenEditor) -> None:
    document = {"default": {"format": 1, "nodes": [{"id": "n1", "type": "ProviderCall", "enabled": False, "config": {}}]}}
    page = (await open_editor(document)).page
    badges = page.locator(".canvas-node .canvas-badge")
    await badges.first.wait_for()
    outer = await box(page.locator(".canvas-node"))
    words = await box(page.locator(".canvas-node-line"))
    for badge in await badges.all():
        inner = await box(badge)
        assert outer["x"] < inner["x"] and inner["x"] + inner["width"] < outer["x"] + outer["width"]
        assert words["y"] + words["height"] <= inner["y"] + 1 and inner["y"] + inner["height"] < outer["y"] + outer["height"]


async def test_a_prompt_is_written_in_a_window_of_its_own(open_document: OpenEditor) -> None:
    blocks: Json = [{"kind": "text", "role": "system", "name": "Rule", "text": "Be kind."}, {"kind": "history"}]
    page = (await open_document({"default": call("openai", "demo", blocks=blocks)})).page
    await choose(page, "n1")
    await page.get_by_role("tab", name="Prompt Blocks").click()
    await page.get_by_role("button", name="Enlarge: Text of Rule").click()
    dialog = page.get_by_role("dialog", name="Text of Rule")
    field = dialog.get_by_role("textbox", name="Text of Rule")
    await becomes(lambda: box(field), lambda found: found["width"] > 1200)
    await field.press("ControlOrMeta+End")
    await page.keyboard.type(" And [[")
    await expect(page.locator(".cm-tooltip-autocomplete")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.locator(".cm-tooltip-autocomplete")).to_have_count(0)
    await expect(dialog).to_be_visible()
    await page.keyboard.type("X]]")
    await dialog.get_by_role("button", name="Close").click()
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_role("textbox", name="Text of Rule")).to_have_text("Be kind. And [[X]]")
    await becomes(lambda: config_of(page), lambda found: found["blocks"][0]["text"] == "Be kind. And [[X]]")


async def stays(page: Page, field: Locator, change: Any, sign: Locator) -> None:
    """A field keeps its place while a message arrives."""
    await field.scroll_into_view_if_needed()
    before = await box(field)
    await change()
    await sign.first.wait_for()
    after = await box(field)
    assert (after["x"], after["y"]) == (before["x"], before["y"])


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
async def test_no_message_moves_the_field_under_the_cursor(open_editor: OpenEditor, width: int, height: int) -> None:
    variables: Json = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    document = {"format": 1, "name": "One", "nodes": [{"id": "n1", "type": "SetVars", "config": {"variables": variables}}]}
    editor: Editor = await open_editor({"default": document}, width=width, height=height)
    # What the row would be now is asked of the server while the template is broken.
    editor.allow("status of 422")
    page = editor.page
    await page.locator(".doc-tab").first.wait_for()
    await page.evaluate("async () => (await own('state/tabs.js')).goTo({node: 'n1', field: 'variables.1.value'})")
    field = page.get_by_role("textbox", name="Value of B")
    await expect(field).to_be_focused()
    await page.get_by_role("button", name="No, thanks").click()
    await field.click()

    async def break_it() -> None:
        await page.keyboard.type("{{ nonsense|nothing }")

    await stays(page, field, break_it, page.locator(".inspector-problem"))

    async def change_on_disk() -> None:
        path = editor.server.pipelines / "default.json"
        path.write_bytes(dumps({**loads(path.read_bytes()), "name": "Two"}))

    await stays(page, field, change_on_disk, page.locator(".disk-banner"))


async def test_the_name_of_a_variable_can_be_read(open_editor: OpenEditor) -> None:
    name = "summary_of_previous_scenes"
    document = {
        "format": 1,
        "name": "One",
        "nodes": [{"id": "n1", "type": "SetVars", "config": {"variables": [{"name": name}]}}],
    }
    for width in (1440, 1024):
        editor = await open_editor({"default": document}, width=width)
        await editor.page.locator(".doc-tab").first.wait_for()
        await choose(editor.page, "n1")
        field = editor.page.get_by_role("textbox", name="Name of variable 1")
        await becomes(partial(field.evaluate, "(element) => element.scrollWidth <= element.clientWidth"), True, width)
