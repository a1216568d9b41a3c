"""What a new user stumbles over: selecting, keys between canvas and inspector, messages and badges that are not true any more."""

from functools import partial

import pytest
from playwright.async_api import Locator, Page, expect

from agentui.jsonio import Json
from tests.browser.conftest import Editor, OpenEditor, becomes, box
from tests.browser.inspector_page import choose, document_of
from tests.conftest import call

pytestmark = pytest.mark.browser


def nodes(count: int, gap: int = 300) -> dict[str, Json]:
    """A pipeline of so many nodes in a row."""
    made: list[Json] = [
        {"id": f"n{number}", "type": "SetVars", "config": {"variables": []}, "position": {"x": gap * number, "y": 0}}
        for number in range(1, count + 1)
    ]
    return {"format": 1, "name": "Row", "nodes": made, "edges": [], "answer": "n1"}


def node(page: Page, id: str) -> Locator:
    return page.locator(f'.react-flow__node[data-id="{id}"]')


async def selected(page: Page) -> list[str]:
    """The selected nodes."""
    found: list[str] = await page.evaluate("async () => (await own('state/tabs.js')).activeTab().selection.nodes")
    return found


async def test_a_box_drawn_with_shift_marks_no_text_and_copies_nodes(open_document: OpenEditor) -> None:
    page = (await open_document({"default": nodes(2)})).page
    canvas = await box(page.locator(".canvas"))
    first, last = await box(node(page, "n1")), await box(node(page, "n2"))
    # Something is marked elsewhere, which Shift and a press would make larger.
    await page.evaluate("() => getSelection().selectAllChildren(document.querySelector('.panel-title'))")
    await page.keyboard.down("Shift")
    await page.mouse.move(first["x"] - 20, canvas["y"] + 20)
    await page.mouse.down()
    await page.mouse.move(last["x"] + last["width"] + 10, last["y"] + last["height"] + 20, steps=8)
    await page.mouse.up()
    await page.keyboard.up("Shift")
    await expect(page.locator(".canvas-node-selected")).to_have_count(2)
    await becomes(lambda: page.evaluate("() => String(getSelection())"), "")
    copied = await page.evaluate(
        """() => {
          const data = new DataTransfer();
          document.activeElement.dispatchEvent(new ClipboardEvent('copy', {clipboardData: data, bubbles: true, cancelable: true}));
          return data.getData('text/plain');
        }"""
    )
    assert '"n1"' in copied and '"n2"' in copied


async def test_a_click_on_one_of_several_selects_it_alone(open_document: OpenEditor) -> None:
    page = (await open_document({"default": nodes(3)})).page
    await choose(page, "n1", "n2", "n3")
    await node(page, "n2").click()
    await expect(page.locator(".canvas-node-selected")).to_have_count(1)
    await becomes(lambda: selected(page), ["n2"])
    await node(page, "n3").click(modifiers=["Shift"])
    await becomes(lambda: selected(page), lambda found: sorted(found) == ["n2", "n3"])


async def test_enter_goes_to_the_inspector_and_escape_back_to_the_node(open_document: OpenEditor) -> None:
    page = (await open_document({"default": nodes(2)})).page
    await node(page, "n2").click()
    await page.keyboard.press("Enter")
    title = page.get_by_role("textbox", name="Title")
    await expect(title).to_be_focused()
    await page.keyboard.type("Second")
    await page.keyboard.press("Escape")
    await expect(node(page, "n2")).to_be_focused()
    await becomes(lambda: document_of(page), lambda found: found["nodes"][1]["title"] == "Second")
    await becomes(lambda: selected(page), ["n2"])


async def test_tab_adds_on_an_empty_canvas_without_a_click(open_document: OpenEditor) -> None:
    page = (await open_document()).page
    await page.get_by_role("button", name="New pipeline").click()
    await page.locator(".canvas-empty").wait_for()
    await expect(page.locator(".canvas")).to_be_focused()
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("combobox", name="Add a node")).to_be_focused()


async def test_a_node_from_the_list_does_not_push_the_one_before_it_out_of_sight(open_document: OpenEditor) -> None:
    page = (await open_document()).page
    await page.get_by_role("button", name="New pipeline").click()
    await page.locator(".canvas-empty").wait_for()
    kinds = page.locator(".canvas-palette")
    await kinds.get_by_role("button", name="Set variables").click()
    await node(page, "n1").wait_for()
    await kinds.get_by_role("button", name="Provider call").click()
    for id in ("n1", "n2"):
        await expect(node(page, id)).to_be_in_viewport(ratio=1)


async def test_arranged_nodes_are_all_in_view(open_document: OpenEditor) -> None:
    document = nodes(4, gap=20)
    document["edges"] = [{"from": f"n{number}", "to": f"n{number + 1}"} for number in range(1, 4)]
    page = (await open_document({"default": document})).page
    await node(page, "n1").wait_for()
    await page.get_by_role("button", name="Arrange the nodes").click()
    canvas = await box(page.locator(".canvas"))
    right = canvas["x"] + canvas["width"]
    for id in ("n1", "n2", "n3", "n4"):
        await becomes(
            partial(box, node(page, id)),
            lambda place: place["x"] >= canvas["x"] and place["x"] + place["width"] <= right,
            id,
        )


async def test_save_as_has_the_name_selected(open_document: OpenEditor) -> None:
    page = (await open_document()).page
    await page.keyboard.press("Control+Shift+s")
    field = page.get_by_role("dialog").get_by_label("Name", exact=True)
    await expect(field).to_be_focused()
    await page.keyboard.type("New name")
    await expect(field).to_have_value("New name")


async def test_what_was_saved_takes_back_that_it_was_not(open_document: OpenEditor) -> None:
    editor: Editor = await open_document()
    page = editor.page
    editor.allow("status of 500")
    failing = {"now": True}

    async def answer(route: object) -> None:
        if failing["now"]:
            await route.fulfill(status=500, json={"error": {"message": "The disk is full.", "code": "internal"}})  # type: ignore[attr-defined]  # Playwright's Route
        else:
            await route.fallback()  # type: ignore[attr-defined]  # Playwright's Route

    await page.route("**/api/pipelines/default", answer)
    await page.get_by_role("region", name="Inspector").get_by_role("textbox", name="Name").fill("Changed")
    await page.keyboard.press("Control+s")
    await expect(page.get_by_text("Not saved:")).to_be_visible()
    failing["now"] = False
    await page.keyboard.press("Control+s")
    await expect(page.get_by_text("Saved as default.")).to_be_visible()
    await expect(page.get_by_text("Not saved:")).to_have_count(0)
    await page.unroute("**/api/pipelines/default")


async def test_a_failure_is_no_longer_shown_at_a_node_that_was_changed(open_document: OpenEditor) -> None:
    editor: Editor = await open_document({"default": call("openai", "http://127.0.0.1:9")})
    editor.allow(r"status of \d+")
    page = editor.page
    await page.get_by_role("button", name="Try", exact=True).click()
    await expect(page.get_by_role("textbox", name="Say something to the pipeline")).to_be_focused()
    await page.keyboard.type("Hello")
    await page.keyboard.press("Enter")
    badge = node(page, "n1").locator(".canvas-badge-failed")
    await expect(badge).to_be_visible()
    await choose(page, "n1")
    field = page.get_by_role("textbox", name="Base URL")
    await field.press("ControlOrMeta+a")
    await page.keyboard.insert_text("demo")
    await expect(badge).to_have_count(0)


async def test_tokens_of_a_stream_are_not_its_pieces(open_document: OpenEditor) -> None:
    page = (await open_document()).page
    shown = await page.evaluate(
        """async () => {
          const {stateOf} = await own('canvas/nodestate.js');
          const run = {state: 'finished', started: 0, ended: 5, attempts: [], out: null, chunks: 2, text: {piece: '', before: null, length: 400}};
          return stateOf(run, 'en').text;
        }"""
    )
    assert "100 tokens" in shown


async def covered(page: Page, target: str) -> int:
    """How many of these elements the card of the tour lies over."""
    card = await box(page.locator(".tour"))
    return sum(
        card["x"] < place["x"] + place["width"]
        and card["x"] + card["width"] > place["x"]
        and card["y"] < place["y"] + place["height"]
        and card["y"] + card["height"] > place["y"]
        for place in [await box(one) for one in await page.locator(target).all()]
    )


async def test_the_tour_does_not_cover_what_it_speaks_of(open_editor: OpenEditor) -> None:
    page = (await open_editor({"default": nodes(3)})).page
    await page.get_by_role("button", name="Start the tour").click()
    for step, target in enumerate((".react-flow__node", ".left-side", ".inspector-side", ".dock", ".dock"), 1):
        await page.get_by_text(f"Step {step} of 5").wait_for()
        await becomes(partial(covered, page, target), 0, f"{step}: {target}")
        await page.get_by_role("button", name="Done" if step == 5 else "Next", exact=True).click()


async def test_a_selected_frame_has_no_edge_of_another_colour(open_document: OpenEditor) -> None:
    frame: Json = {"id": "f1", "title": "A frame", "x": 280, "y": -60, "width": 300, "height": 200, "color": "green"}
    page = (await open_document({"default": {**nodes(1), "view": {"frames": [frame]}}})).page
    await page.locator(".canvas-frame-head").click()
    lines = page.locator(".canvas-resize-line")
    await expect(lines).to_have_count(4)
    colours = await lines.evaluate_all("(lines) => lines.map((line) => getComputedStyle(line).backgroundColor)")
    assert set(colours) == {"rgba(0, 0, 0, 0)"}


async def test_very_many_nodes_follow_the_hand_and_stay_where_it_lets_go(open_document: OpenEditor) -> None:
    document = nodes(120, gap=4)
    document["edges"] = [{"from": "n1", "to": "n2"}, {"from": "n119", "to": "n120"}]
    page = (await open_document({"default": document})).page
    await node(page, "n120").wait_for()
    await choose(page, *(f"n{number}" for number in range(2, 121)))
    start = await box(node(page, "n120"))
    zoom = start["width"] / 240
    x, y = start["x"] + start["width"] / 2, start["y"] + start["height"] / 2
    drawn = "async () => { window.drawn = document.querySelector('.react-flow__node[data-id=\"n50\"]').style.transform; }"
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x - 20, y + 10)
    # The hand has it from here on.
    before = await box(node(page, "n50"))
    await page.evaluate(drawn)
    await page.mouse.move(x - 120, y + 60, steps=6)
    under = await box(node(page, "n50"))
    assert abs(under["x"] - before["x"] + 100) < 3 and abs(under["y"] - before["y"] - 50) < 3
    # Nothing is drawn anew for that.
    await becomes(
        lambda: page.evaluate(
            "() => document.querySelector('.react-flow__node[data-id=\"n50\"]').style.transform === window.drawn"
        ),
        True,
    )
    await page.mouse.up()
    after = await box(node(page, "n50"))
    assert abs(after["x"] - under["x"]) < 3 and abs(after["y"] - under["y"]) < 3
    await becomes(lambda: document_of(page), lambda found: found["nodes"][49]["position"] != {"x": 200, "y": 0})
    places = {one["id"]: one["position"] for one in (await document_of(page))["nodes"]}
    assert places["n1"] == {"x": 4, "y": 0}
    assert abs(places["n50"]["x"] - 200 + 120 / zoom) < 24 and abs(places["n50"]["y"] - 60 / zoom) < 24
    await expect(page.locator(".canvas-edge-left")).to_have_count(0)
    await becomes(lambda: node(page, "n50").evaluate("(element) => element.style.translate"), "")
    await page.keyboard.press("Control+z")
    await becomes(lambda: document_of(page), lambda found: found["nodes"][49]["position"] == {"x": 200, "y": 0})
