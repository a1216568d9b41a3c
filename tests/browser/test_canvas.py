"""The canvas in a real Chromium, driven as people do: by mouse, keyboard and touch; the document tells what came of it."""

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import expect

from agentui.jsonio import Json
from tests.browser.conftest import THEMES, Editor, OpenEditor, axe, becomes, box, until

pytestmark = pytest.mark.browser

Open = Callable[..., Awaitable["Canvas"]]


def pipeline(count: int = 3, wires: bool = True) -> dict[str, Any]:
    """A row of nodes ``n1``..: the first sets a variable, the others ask the demo; each reads the one before it."""
    first = {"id": "n1", "type": "SetVars", "title": "First", "config": {"variables": [{"name": "A", "value": "1"}]}}
    rest = [
        {
            "id": f"n{number}",
            "type": "ProviderCall",
            "title": f"Node {number}",
            "config": {"base_url": "demo", "provider": "openai", "model": "demo-small"},
        }
        for number in range(2, count + 1)
    ]
    nodes = [{**node, "position": {"x": 320 * index, "y": 0}} for index, node in enumerate([first, *rest])]
    edges = [{"from": f"n{number}", "to": f"n{number + 1}", "from_port": "done"} for number in range(1, count)] if wires else []
    return {"format": 1, "name": "Row", "nodes": nodes, "edges": edges, "answer": f"n{count}"}


class Canvas:
    """The canvas of an open editor."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.page = editor.page

    async def doc(self) -> Any:
        """The document in front as it is now."""
        return await self.page.evaluate(
            "async () => { const tabs = await own('state/tabs.js'); return tabs.docOf(tabs.activeTab()); }"
        )

    async def selected(self) -> list[str]:
        """The ids of the selected nodes."""
        found: list[str] = await self.page.evaluate(
            "async () => { const tabs = await own('state/tabs.js'); return tabs.activeTab().selection.nodes; }"
        )
        return found

    async def ids(self) -> list[str]:
        return [node["id"] for node in (await self.doc())["nodes"]]

    async def wires(self) -> list[tuple[str, str]]:
        return [(edge["from"], edge["to"]) for edge in (await self.doc())["edges"]]

    async def place(self, id: str) -> tuple[float, float]:
        """Where a node of the document stands."""
        [node] = [node for node in (await self.doc())["nodes"] if node["id"] == id]
        return node["position"]["x"], node["position"]["y"]

    def node(self, id: str) -> Any:
        return self.page.locator(f'.react-flow__node[data-id="{id}"]')

    def input(self, id: str) -> Any:
        return self.page.get_by_role("button", name=f"Runs after: wires end here ({id})")

    def output(self, id: str, port: str = "done") -> Any:
        return self.page.get_by_role("button", name=f"Output {port} of {id}")

    async def middle(self, locator: Any) -> tuple[float, float]:
        """The middle of an element in pixels of the window."""
        place = await box(locator)
        return place["x"] + place["width"] / 2, place["y"] + place["height"] / 2

    async def space(self, dx: float = 0, dy: float = 0) -> tuple[float, float]:
        """A point of the empty canvas, above the row of nodes."""
        place = await box(self.page.locator(".canvas"))
        return place["x"] + place["width"] / 2 + dx, place["y"] + 110 + dy

    async def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        await self.page.mouse.move(*start)
        await self.page.mouse.down()
        await self.page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, steps=4)
        await self.page.mouse.move(*end, steps=4)
        await self.page.mouse.up()

    async def press(self, keys: str) -> None:
        await self.page.keyboard.press(keys)

    async def search(self, label: str, text: str) -> None:
        """Type into an open search and take what it finds first."""
        field = self.page.get_by_role("combobox", name=label, exact=True)
        await field.fill(text)
        await field.press("Enter")

    async def menu(self, item: str) -> None:
        """Take an item of the open menu; its keys are a part of its name."""
        name = re.compile(rf"^{re.escape(item)}( \S+)?$")
        plain = self.page.get_by_role("menuitem", name=name)
        await plain.or_(self.page.get_by_role("menuitemcheckbox", name=name)).click()

    async def drawn(self, fits: Callable[[int], bool]) -> None:
        """Wait until so many nodes are drawn."""
        await becomes(self.page.locator(".react-flow__node-pipe").count, fits)

    async def undo(self) -> None:
        await self.press("Control+z")


@pytest_asyncio.fixture(loop_scope="session")
async def canvas(open_calm: OpenEditor) -> AsyncIterator[Open]:
    """Open a canvas: ``await canvas(pipeline(3))``; the tour is declined, the drawing has come to rest.

    With options (``width=390``, ``own=True``) it has a page of its own.
    """

    async def open_canvas(document: Json = None, **options: Any) -> Canvas:
        opened = Canvas(await open_calm({"default": document or pipeline()}, **options))
        if options.get("width", 1440) >= 900:
            node = opened.page.locator(".canvas .react-flow__node").first
            await node.wait_for()
            await box(node)
        return opened

    yield open_canvas


async def test_a_node_shows_its_title_id_summary_and_that_it_answers(canvas: Open) -> None:
    here = await canvas()
    last = here.node("n3")
    for text in ("Node 3", "n3", "openai · demo-small", "Answer"):
        await expect(last).to_contain_text(text)
    await expect(here.node("n1").locator(".canvas-node-line")).to_contain_text("A")
    await expect(last).to_have_attribute("aria-label", "Node 3, Provider call, n3")


async def test_dragging_a_node_is_one_step_for_undo(canvas: Open) -> None:
    here = await canvas()
    x, y = await here.middle(here.node("n2"))
    await here.drag((x, y), (x + 60, y + 90))
    await becomes(lambda: here.place("n2"), lambda place: place[0] > 320 and place[1] > 0)
    moved = await here.place("n2")
    await becomes(lambda: here.place("n1"), (0, 0))
    await here.undo()
    await becomes(lambda: here.place("n2"), (320, 0))
    await here.press("Control+Shift+z")
    await becomes(lambda: here.place("n2"), moved)


async def test_a_wire_is_drawn_by_dragging_and_cut_by_its_button(canvas: Open) -> None:
    here = await canvas(pipeline(2, wires=False))
    await here.drag(await here.middle(here.output("n1")), await here.middle(here.input("n2")))
    await becomes(here.wires, [("n1", "n2")])
    wire = here.page.locator(".react-flow__edge")
    await here.page.mouse.move(*(await here.middle(wire)))
    await here.page.locator('[data-t="edge-cut"]').click()
    await becomes(here.wires, [])


async def test_a_wire_let_go_over_a_node_leads_to_it(canvas: Open) -> None:
    here = await canvas(pipeline(2, wires=False))
    await here.drag(await here.middle(here.output("n1")), await here.middle(here.node("n2")))
    await becomes(here.wires, [("n1", "n2")])


async def test_a_cycle_is_refused_with_its_path(canvas: Open) -> None:
    here = await canvas()
    await here.drag(await here.middle(here.output("n3")), await here.middle(here.input("n1")))
    await becomes(here.wires, [("n1", "n2"), ("n2", "n3")])
    notice = here.page.get_by_text("the nodes would wait for each other")
    await expect(notice).to_contain_text("Node 3 (n3) → First (n1) → Node 2 (n2) → Node 3 (n3)")


async def test_pressing_two_ends_connects_them_and_refuses_a_cycle(canvas: Open) -> None:
    here = await canvas(pipeline(2, wires=False))
    await here.output("n1").click()
    await here.input("n2").click()
    await becomes(here.wires, [("n1", "n2")])
    await here.output("n2").click()
    await here.input("n1").click()
    await becomes(here.wires, [("n1", "n2")])
    await here.page.get_by_text("the nodes would wait for each other").wait_for()


async def test_a_wire_dropped_in_space_asks_what_to_add_and_connects_it(canvas: Open) -> None:
    here = await canvas(pipeline(2))
    await here.drag(await here.middle(here.output("n2")), await here.space())
    await here.search("Add a node and connect it", "raw")
    await becomes(here.ids, ["n1", "n2", "n3"])
    await becomes(here.wires, lambda found: ("n2", "n3") in found)
    await becomes(here.selected, ["n3"])


async def test_a_wire_dropped_backwards_puts_the_new_node_before(canvas: Open) -> None:
    here = await canvas(pipeline(2))
    await here.drag(await here.middle(here.input("n1")), await here.space())
    await here.search("Add a node and connect it", "variables")
    await becomes(here.wires, lambda found: ("n3", "n1") in found)


async def test_a_double_click_adds_where_it_was(canvas: Open) -> None:
    here = await canvas(pipeline(1))
    await here.page.mouse.dblclick(*(await here.space()))
    await here.search("Add a node", "provider")
    await becomes(here.ids, ["n1", "n2"])
    await becomes(lambda: here.place("n2"), lambda found: found[1] < 0)
    await becomes(here.wires, [])


async def test_the_keyboard_alone_builds_connects_and_deletes(canvas: Open) -> None:
    here = await canvas(pipeline(1))
    await here.node("n1").focus()
    await here.press("Enter")
    await becomes(here.selected, ["n1"])
    await here.press("Escape")
    await here.press("a")
    await here.search("Add a node and connect it", "raw")
    await becomes(here.wires, [("n1", "n2")])
    await here.press("Escape")
    await here.press("a")
    await here.search("Add a node", "provider")
    await here.press("[")
    await becomes(here.selected, ["n3"])
    await here.press("c")
    await expect(here.page.get_by_role("dialog").get_by_role("option").first).to_be_visible()
    await here.search("Connect Provider call to …", "n1")
    await becomes(here.wires, lambda found: ("n3", "n1") in found)
    await here.press("Shift+C")
    await here.search("Delete a wire of Provider call", "First")
    await becomes(here.wires, lambda found: ("n3", "n1") not in found)
    await here.press("Delete")
    await becomes(here.ids, ["n1", "n2"])


async def test_tab_asks_what_to_add_where_the_pointer_was(canvas: Open) -> None:
    here = await canvas(pipeline(1))
    await here.node("n1").click()
    await here.press("Tab")
    await here.search("Add a node and connect it", "provider")
    await becomes(here.wires, [("n1", "n2")])


async def test_the_palette_adds_by_click_by_enter_and_by_dragging(canvas: Open) -> None:
    here = await canvas(pipeline(1))
    nodes = here.page.get_by_role("region", name="Nodes")
    await nodes.get_by_role("button", name="Raw forward").click()
    await becomes(here.ids, ["n1", "n2"])
    await here.press("Escape")
    field = nodes.get_by_role("searchbox", name="Search nodes")
    await field.fill("set var")
    await expect(nodes.get_by_role("button", name="Raw forward")).to_have_count(0)
    await field.press("Enter")
    await becomes(here.ids, lambda found: len(found) == 3)
    await field.fill("")
    item = nodes.get_by_role("button", name="Provider call")
    await item.drag_to(here.page.locator(".react-flow__pane"), target_position={"x": 200, "y": 110})
    await becomes(here.ids, lambda found: len(found) == 4)


async def test_walking_along_the_wires(canvas: Open) -> None:
    here = await canvas()
    await here.node("n1").click()
    await here.press("]")
    await here.press("]")
    await becomes(here.selected, ["n3"])
    await becomes(lambda: here.page.evaluate("document.activeElement.dataset.id"), "n3")
    await here.press("[")
    await becomes(here.selected, ["n2"])


async def test_arrows_move_what_is_selected_and_many_steps_are_one_undo(canvas: Open) -> None:
    here = await canvas()
    await here.node("n2").click()
    for _ in range(4):
        await here.press("ArrowDown")
    await here.press("Shift+ArrowRight")
    await becomes(lambda: here.place("n2"), (370, 20))
    await here.undo()
    await becomes(lambda: here.place("n2"), (320, 0))


async def test_disabling_and_choosing_who_answers(canvas: Open) -> None:
    here = await canvas()
    await here.node("n2").click()
    await here.press("d")
    await becomes(here.doc, lambda found: found["nodes"][1]["enabled"] is False)
    await expect(here.node("n2")).to_contain_text("Off")
    await here.press("d")
    await becomes(here.doc, lambda found: "enabled" not in found["nodes"][1])
    await here.node("n2").click(button="right")
    await here.menu("Answers the pipeline")
    await becomes(here.doc, lambda found: found["answer"] == "n2")


async def test_delete_and_reconnect(canvas: Open) -> None:
    here = await canvas()
    await here.node("n2").click()
    await here.press("Control+Delete")
    await becomes(here.wires, [("n1", "n3")])
    await here.undo()
    await becomes(here.wires, [("n1", "n2"), ("n2", "n3")])


async def test_inserting_a_node_into_a_wire(canvas: Open) -> None:
    here = await canvas(pipeline(2))
    await here.page.mouse.move(*(await here.middle(here.page.locator(".react-flow__edge"))))
    await here.page.locator('[data-t="edge-insert"]').click()
    await here.search("Insert a node into the wire", "raw")
    await becomes(here.wires, lambda found: sorted(found) == [("n1", "n3"), ("n3", "n2")])
    behind = (await here.place("n3"))[0] + 240
    await becomes(lambda: here.place("n2"), lambda found: found[0] >= behind)


async def test_copy_and_paste_go_through_the_clipboard_and_between_pipelines(canvas: Open) -> None:
    here = await canvas(context={"permissions": ["clipboard-read", "clipboard-write"]})
    await here.node("n1").click()
    await here.node("n2").click(modifiers=["Control"])
    await here.press("Control+c")
    await becomes(lambda: here.page.evaluate("navigator.clipboard.readText()"), lambda found: '"n2"' in found)
    text = json.loads(await here.page.evaluate("navigator.clipboard.readText()"))
    assert text["agentui"] == "fragment" and [node["id"] for node in text["nodes"]] == ["n1", "n2"]
    await here.press("Alt+n")
    await here.page.get_by_role("heading", name="An empty pipeline").wait_for()
    await here.press("Control+v")
    await becomes(here.ids, ["n1", "n2"])
    await becomes(here.wires, [("n1", "n2")])
    await here.press("Control+x")
    await becomes(here.ids, [])
    await here.press("Control+v")
    await becomes(here.ids, lambda found: len(found) == 2)


async def test_what_cannot_be_copied_is_not_cut(canvas: Open) -> None:
    here = await canvas(own=True)
    await here.page.evaluate(
        """() => {
          navigator.clipboard.writeText = () => Promise.reject(new Error('refused'));
          document.execCommand = () => false;
        }"""
    )
    await here.node("n1").click()
    await here.page.evaluate("async () => (await own('canvas/pasteboard.js')).cutSelection()")
    await here.page.get_by_text("does not let this page copy").wait_for()
    await becomes(here.ids, ["n1", "n2", "n3"])


async def test_a_foreign_text_is_not_pasted_and_says_so(canvas: Open) -> None:
    here = await canvas(context={"permissions": ["clipboard-read", "clipboard-write"]})
    await here.page.evaluate('navigator.clipboard.writeText(\'{"nodes": "hello"}\')')
    await here.node("n1").click()
    await here.press("Control+v")
    await here.page.get_by_text("The clipboard holds no nodes.").wait_for()
    await becomes(here.ids, ["n1", "n2", "n3"])


async def test_duplicating_keeps_the_wires_between_the_copies(canvas: Open) -> None:
    here = await canvas()
    await here.press("Control+a")
    await here.press("Control+d")
    await becomes(here.ids, lambda found: len(found) == 6)
    await becomes(here.wires, lambda found: ("n4", "n5") in found)
    await becomes(here.selected, ["n4", "n5", "n6"])


async def test_a_box_selects_and_delete_takes_all(canvas: Open) -> None:
    here = await canvas()
    first, second = await box(here.node("n1")), await box(here.node("n2"))
    await here.page.keyboard.down("Shift")
    await here.drag((first["x"] - 20, first["y"] - 40), (second["x"] + 60, second["y"] + 90))
    await here.page.keyboard.up("Shift")
    await becomes(here.selected, lambda found: sorted(found) == ["n1", "n2"])
    await here.press("Delete")
    await becomes(here.ids, ["n3"])


async def test_a_frame_takes_its_nodes_along(canvas: Open) -> None:
    here = await canvas()
    await here.node("n1").click()
    await here.node("n2").click(modifiers=["Control"])
    await here.press("Control+g")
    await here.page.get_by_role("textbox", name="Title of the frame").fill("Prepare")
    await here.press("Enter")
    await becomes(here.doc, lambda found: found["view"]["frames"][0]["title"] == "Prepare")
    [frame] = (await here.doc())["view"]["frames"]
    assert frame["x"] < 0 and frame["width"] > 560
    head = here.page.locator(".canvas-frame-head")
    x, y = await here.middle(head)
    await here.drag((x, y), (x + 50, y + 70))
    await becomes(lambda: here.place("n1"), lambda place: place[0] > 0 and place[1] > 0)
    moved = await here.place("n1")
    await becomes(lambda: here.place("n2"), lambda found: found[0] == pytest.approx(320 + moved[0], abs=1))
    await becomes(lambda: here.place("n3"), (640, 0))
    await here.undo()
    await becomes(lambda: here.place("n1"), (0, 0))
    await becomes(here.doc, lambda found: found["view"]["frames"][0] == frame)


async def test_a_note_is_written_coloured_and_resized(canvas: Open) -> None:
    here = await canvas(pipeline(1))
    await here.node("n1").click()
    await here.press("n")
    await here.page.get_by_role("textbox", name="Text of the note").fill("Think <b>first</b>")
    await here.press("Control+Enter")
    note = here.page.locator(".react-flow__node-note")
    await expect(note).to_have_text("Think <b>first</b>")
    await note.click(button="right")
    await here.menu("Violet")
    await becomes(here.doc, lambda found: found["view"]["notes"][0]["color"] == "violet")
    before = (await here.doc())["view"]["notes"][0]
    assert before["text"] == "Think <b>first</b>"
    corner = await here.middle(note.locator(".react-flow__resize-control.handle.bottom.right"))
    await here.drag(corner, (corner[0] + 80, corner[1] + 40))
    await becomes(here.doc, lambda found: found["view"]["notes"][0]["height"] > before["height"])
    after = (await here.doc())["view"]["notes"][0]
    assert after["width"] > before["width"]
    await here.press("Control+Alt+ArrowRight")
    await becomes(here.doc, lambda found: found["view"]["notes"][0]["width"] == after["width"] + 20)


async def test_aligning_distributing_and_arranging(canvas: Open) -> None:
    document = pipeline(3)
    for number, node in enumerate(document["nodes"]):
        node["position"] = {"x": 97 * number**2, "y": 150 * number}
    here = await canvas(document)
    await here.press("Control+a")
    await here.node("n2").click(button="right")
    await here.menu("Align top")
    for id in ("n1", "n2", "n3"):
        await becomes(partial(here.place, id), lambda found: found[1] == 0)
    await here.undo()
    await here.press("Shift+L")
    await becomes(lambda: here.place("n3"), lambda place: place != (388, 300))
    places = [await here.place(id) for id in ("n1", "n2", "n3")]
    assert [x for x, _ in places] == sorted({x for x, _ in places})
    assert len({y for _, y in places}) == 1
    await here.undo()
    await becomes(lambda: here.place("n2"), (97, 150))


async def test_finding_a_text_inside_a_node_goes_to_it(canvas: Open) -> None:
    document = pipeline(3)
    document["nodes"][2]["config"]["endpoint"] = "/v9/needle"
    here = await canvas(document)
    await here.node("n1").click()
    await here.press("f")
    await here.search("Find in the pipeline", "needle")
    await becomes(here.selected, ["n3"])
    await here.node("n1").click()
    await here.press("Control+f")
    await here.search("Find in the pipeline", "Node 2")
    await becomes(here.selected, ["n2"])


async def test_references_are_dotted_and_shown_for_the_selected_node_or_all(canvas: Open) -> None:
    document = pipeline(3)
    document["nodes"][2]["config"]["model"] = "[[OUT:n1.vars.A]]"
    here = await canvas(document)
    reference = here.page.locator('[data-t="reference-n1-n3"]')
    await expect(reference).to_have_count(0)
    await here.node("n3").click()
    await reference.wait_for(state="attached")
    await here.press("Escape")
    await here.page.mouse.move(*(await here.space()))
    await reference.wait_for(state="detached")
    await here.page.get_by_role("button", name="Show all references").click()
    await reference.wait_for(state="attached")


async def test_a_reference_to_a_node_that_does_not_run_before_is_a_problem_on_the_node(canvas: Open) -> None:
    document = pipeline(3)
    document["nodes"][1]["config"]["model"] = "[[OUT:n3.response_text]]"
    here = await canvas(document)
    badge = here.node("n2").locator(".canvas-badge-error")
    await badge.wait_for()
    await expect(badge).to_have_attribute("title", re.compile("does not run before"))
    await expect(here.node("n2")).to_contain_text("Problems, with errors: 1")


async def test_a_locked_canvas_moves_nothing(canvas: Open) -> None:
    here = await canvas()
    lock = here.page.get_by_role("button", name="Lock the canvas")
    await lock.click()
    await expect(lock).to_have_attribute("aria-pressed", "true")
    x, y = await here.middle(here.node("n2"))
    await here.drag((x, y), (x + 60, y + 90))
    await becomes(lambda: here.place("n2"), (320, 0))
    await here.node("n2").click()
    await here.press("Delete")
    await here.press("ArrowDown")
    await becomes(here.ids, ["n1", "n2", "n3"])
    await becomes(lambda: here.place("n2"), (320, 0))
    await lock.click()
    await here.node("n2").click()
    await here.press("Delete")
    await becomes(here.ids, ["n1", "n3"])


async def test_the_menu_key_opens_the_menu_of_the_focused_node(canvas: Open) -> None:
    here = await canvas()
    await here.node("n2").focus()
    await here.press("Shift+F10")
    await here.page.get_by_role("menu", name="What to do with Node 2").wait_for()
    await here.menu("Duplicate")
    await becomes(here.ids, lambda found: len(found) == 4)


async def test_the_menu_of_the_canvas_adds_and_shows(canvas: Open) -> None:
    here = await canvas()
    await here.page.mouse.click(*(await here.space()), button="right")
    await here.menu("Overview map")
    await expect(here.page.locator(".react-flow__minimap")).to_have_count(0)
    await here.page.mouse.click(*(await here.space()), button="right")
    await here.menu("Add a node …")
    await here.search("Add a node", "raw")
    await becomes(here.ids, lambda found: len(found) == 4)


async def test_zooming_and_fitting(canvas: Open) -> None:
    here = await canvas()
    zoom = here.page.locator(".canvas-zoom")
    before = await zoom.inner_text()
    await here.page.get_by_role("button", name="Zoom in").click()
    await expect(zoom).not_to_have_text(before)
    await zoom.click()
    await expect(zoom).to_have_text("100%")
    await here.node("n2").click()
    await here.press(".")
    middle, _ = await here.middle(here.page.locator(".canvas"))
    await becomes(lambda: here.middle(here.node("n2")), lambda found: abs(found[0] - middle) < 4)
    await here.press("0")
    await expect(here.page.locator(".react-flow__node-pipe")).to_have_count(3)


async def test_far_away_nodes_are_plain_boxes(canvas: Open) -> None:
    here = await canvas()
    await here.node("n1").click()
    for _ in range(12):
        await here.press("-")
    await here.page.locator(".canvas-far").wait_for(state="attached")
    await expect(here.page.locator(".canvas-node-title")).to_have_count(0)
    await expect(here.page.locator(".react-flow__node-pipe")).to_have_count(3)


async def test_above_150_nodes_only_those_in_sight_are_drawn(canvas: Open) -> None:
    document = pipeline(400)
    for number, node in enumerate(document["nodes"]):
        node["position"] = {"x": 320 * (number % 20), "y": 140 * (number // 20)}
    here = await canvas(document)
    await here.page.locator(".canvas-zoom").click()
    await here.drawn(lambda count: count < 60)
    # The start, where it can be read; and then everything.
    await here.page.get_by_role("button", name="Fit the drawing").click()
    await expect(here.page.locator(".canvas-zoom")).to_have_text("70%")
    await here.page.get_by_role("button", name="Fit the drawing").click()
    await here.drawn(lambda count: count == 400)


async def test_dragging_one_of_many_nodes_draws_no_node_anew(canvas: Open) -> None:
    """Every node's configuration counts how often it is read, which is what drawing a node's face does."""
    here = await canvas()
    await here.page.evaluate(
        """async () => {
          const tabs = await own('state/tabs.js');
          window.reads = 0;
          const node = (number) => ({
            id: `n${number}`, type: 'ProviderCall', position: {x: 320 * (number % 10), y: 140 * Math.floor(number / 10)},
            config: {get provider() { window.reads += 1; return 'openai'; }},
          });
          tabs.newPipeline({format: 1, name: 'Many', nodes: Array.from({length: 100}, (_, number) => node(number)), edges: []});
        }"""
    )
    await here.drawn(lambda count: count == 100)
    # What the server says of the document draws its nodes once more.
    await until(here.page, "typeof (await own('state/tabs.js')).activeTab().valid === 'boolean'")
    await becomes(lambda: here.page.evaluate("window.reads"), lambda found: found >= 100)
    await here.page.get_by_role("button", name="Fit the drawing").click()
    await expect(here.page.locator(".canvas-zoom")).not_to_have_text("70%")
    x, y = await here.middle(here.node("n55"))
    await here.page.mouse.move(x, y)
    await here.page.mouse.down()
    await here.page.mouse.move(x + 10, y + 10)
    for _ in range(10):  # what else the page has to say of the document may draw its nodes meanwhile, but not every time
        await here.page.evaluate("window.reads = 0")
        await here.page.mouse.move(x + 30, y + 20, steps=10)
        await here.page.mouse.move(x + 60, y + 40, steps=10)
        reads = await here.page.evaluate("window.reads")
        if reads == 0:
            break
    assert reads == 0
    moved = await here.middle(here.node("n55"))
    assert moved[0] == pytest.approx(x + 50, abs=12)
    await here.page.mouse.up()


async def test_handles_can_be_hit_within_24_pixels_at_every_zoom(canvas: Open) -> None:
    here = await canvas()
    zoom = here.page.locator(".canvas-zoom")
    for step in range(5):
        if step:
            before = await zoom.inner_text()
            await here.page.get_by_role("button", name="Zoom out").click()
            await expect(zoom).not_to_have_text(before)
        for handle in (here.output("n2"), here.input("n3")):
            x, y = await here.middle(handle)
            for dx, dy in ((-11, 0), (11, 0), (0, -11), (0, 11)):
                hit = await here.page.evaluate(
                    "([x, y]) => document.elementFromPoint(x, y).closest('.canvas-handle')?.getAttribute('aria-label') ?? null",
                    [x + dx, y + dy],
                )
                assert hit == await handle.get_attribute("aria-label")


async def test_hostile_names_are_shown_letter_for_letter(canvas: Open) -> None:
    evil = "<img src=x onerror=window.hit=1>"
    document = pipeline(2)
    document["name"] = evil
    document["nodes"][0]["title"] = evil
    document["nodes"][1]["config"]["model"] = evil
    document["view"] = {
        "frames": [{"id": "f1", "title": evil, "x": -40, "y": -80, "width": 700, "height": 200}],
        "notes": [{"id": "t1", "text": evil, "x": 0, "y": 160, "width": 200, "height": 80}],
    }
    here = await canvas(document)
    await here.node("n1").click(button="right")
    await here.page.get_by_role("menu", name=f"What to do with {evil}").wait_for()
    await here.press("Escape")
    await here.press("f")
    await here.page.get_by_role("dialog").get_by_role("option").first.wait_for()
    await becomes(
        lambda: here.page.evaluate("window.hit === undefined && document.querySelectorAll('.canvas img').length === 0"), True
    )
    await expect(here.page.locator(".canvas-frame-title")).to_contain_text(evil)


async def test_axe_finds_nothing_at_the_canvas_its_menus_and_searches(canvas: Open) -> None:
    document = pipeline(3)
    document["nodes"][1]["config"]["model"] = "[[OUT:n3.response_text]]"
    document["view"] = {
        "frames": [{"id": "f1", "title": "Frame", "x": -40, "y": -80, "width": 700, "height": 200, "color": "green"}],
        "notes": [{"id": "t1", "text": "A note", "x": 0, "y": 160, "width": 200, "height": 80, "color": "amber"}],
    }
    here = await canvas(document)
    await here.node("n2").locator(".canvas-badge-error").wait_for()
    for theme, rules in THEMES:
        await here.page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
        assert await axe(here.page, ".canvas", rules) == []
        assert await axe(here.page, ".left-side", rules) == []
    await here.node("n1").click(button="right")
    assert await axe(here.page, ".menu") == []
    await here.press("Escape")
    await here.press("a")
    assert await axe(here.page, ".chooser") == []


async def test_on_a_narrow_screen_two_taps_connect_and_a_long_press_opens_the_menu(canvas: Open) -> None:
    here = await canvas(pipeline(2, wires=False), width=390, height=844, context={"has_touch": True})
    await here.page.get_by_role("button", name="Canvas", exact=True).click()
    await here.node("n2").wait_for()
    await here.page.touchscreen.tap(*(await here.middle(here.output("n1"))))
    await here.page.touchscreen.tap(*(await here.middle(here.input("n2"))))
    await becomes(here.wires, [("n1", "n2")])
    x, y = await here.middle(here.node("n1"))
    await here.node("n1").dispatch_event(
        "pointerdown", {"pointerType": "touch", "isPrimary": True, "clientX": x, "clientY": y, "bubbles": True}
    )
    await here.page.get_by_role("menu", name="What to do with First").wait_for()
