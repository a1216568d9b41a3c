"""Ports, loops and called pipelines on the canvas: wires follow names, nodes go in and out, iterations are told apart."""

from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import Editor, OpenEditor, becomes, box

pytestmark = pytest.mark.browser


def sets(id: str, value: str, x: int, y: int, **more: Any) -> dict[str, Any]:
    """A node that sets a variable."""
    config = {"variables": [{"name": "SAID", "value": value}]}
    return {"id": id, "type": "SetVars", "title": id.upper(), "config": config, "position": {"x": x, "y": y}, **more}


PIPELINE: dict[str, Any] = {
    "format": 1,
    "name": "Rows",
    "nodes": [
        {
            "id": "each",
            "type": "Loop",
            "title": "Each",
            "config": {"items": '["one", "two", "three"]'},
            "position": {"x": 0, "y": 0},
        },
        sets("in", "item {{ loop.item }}", 40, 100, parent="each"),
        sets("out", "{{ OUT.each.count }}", 900, 0),
        sets("free", "free", 40, 420),
    ],
    "edges": [{"from": "each", "to": "out"}, {"from": "free", "to": "out"}],
    "answer": "out",
}


def node(page: Page, id: str) -> Locator:
    return page.locator(f'.react-flow__node[data-id="{id}"]')


async def document(editor: Editor) -> Any:
    return await editor.page.evaluate("async () => { const t = await own('state/tabs.js'); return t.docOf(t.activeTab()); }")


async def shape(editor: Editor) -> tuple[list[str], list[str]]:
    """The nodes in a body, and the wires."""
    now = await document(editor)
    held = sorted(one["id"] for one in now["nodes"] if one.get("parent") == "each")
    return held, sorted(f"{edge['from']}>{edge['to']}" for edge in now["edges"])


async def drag(page: Page, what: Locator, to: tuple[float, float]) -> None:
    """Carry a node by its face to a point of the window."""
    place = await box(what)
    x, y = place["x"] + place["width"] / 2, place["y"] + 20
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move((x + to[0]) / 2, (y + to[1]) / 2, steps=5)
    await page.mouse.move(*to, steps=5)
    await page.mouse.up()


async def test_nodes_go_in_and_out_and_iterations_are_told_apart(open_document: OpenEditor) -> None:
    editor = await open_document({"default": PIPELINE})
    page = editor.page
    await expect(node(page, "each")).to_be_visible()
    await page.get_by_role("button", name="Fit the drawing").click()
    wires = ["each>out", "free>out"]

    # By hand: what comes to stand in the box is in it, and its wires lead to the loop.
    body = await box(node(page, "each"))
    await drag(page, node(page, "free"), (body["x"] + body["width"] * 0.75, body["y"] + body["height"] * 0.6))
    await becomes(lambda: shape(editor), (["free", "in"], ["each>out"]))
    await expect(page.get_by_text("1 wire now leads to the loop itself.")).to_be_visible()
    await page.keyboard.press("Control+z")
    await becomes(lambda: shape(editor), (["in"], wires))

    # By key, and what the box holds goes with it.
    await node(page, "free").click()
    await page.keyboard.press("p")
    search = page.get_by_role("combobox", name="Put into …")
    await expect(search).to_be_focused()
    await page.keyboard.press("Enter")
    await becomes(lambda: shape(editor), (["free", "in"], ["each>out"]))
    await page.keyboard.press("Shift+P")
    await becomes(lambda: shape(editor), (["in"], ["each>out"]))
    before = {one["id"]: one["position"] for one in (await document(editor))["nodes"]}
    head = await box(node(page, "each"))
    await drag(page, node(page, "each"), (head["x"] + head["width"] / 2, head["y"] + 100))

    def moved(now: Any) -> bool:
        places = {one["id"]: one["position"] for one in now["nodes"]}
        by = places["each"]["y"] - before["each"]["y"]
        return bool(by > 0 and abs(places["in"]["y"] - before["in"]["y"] - by) <= 1 and places["out"] == before["out"])

    await becomes(lambda: document(editor), moved)

    # A wire into the box is refused, in words.
    await node(page, "in").click()
    await page.evaluate("async () => (await own('canvas/editing/wires.js')).connectNodes({from: 'free', to: 'in'})")
    await expect(page.get_by_text("Not connected: a wire cannot lead into Each")).to_be_visible()
    await page.get_by_role("button", name="Outline").click()
    await expect(page.locator('.canvas-outline-item[data-depth="1"]')).to_have_count(1)

    # A run: three iterations are one row, and each can be looked at.
    await page.get_by_role("button", name="Try", exact=True).click()
    await page.get_by_role("textbox", name="Say something to the pipeline").fill("Go")
    await page.keyboard.press("Enter")
    await expect(page.locator(".run-line-state")).to_contain_text("Finished")
    await expect(node(page, "in")).to_contain_text("×3")
    await page.get_by_role("tab", name="Timeline").click()
    await expect(page.locator('[data-t="bar-each"]')).to_contain_text("3 iterations")
    await page.get_by_role("button", name="Show what ran in Each").click()
    await expect(page.locator('[data-t="bar-each#3/in"]')).to_be_visible()
    await page.get_by_role("button", name="Previous iteration").click()
    await expect(page.locator('[data-t="bar-each#2/in"]')).to_be_visible()
    await node(page, "in").click()
    await page.get_by_role("tab", name="Output", exact=True).click()
    await expect(page.get_by_role("tabpanel", name="Output")).to_contain_text("item two")
    await editor.shot("loop")

    # Why it cannot be pinned, and nothing can be run from it, is said.
    await expect(page.get_by_role("tabpanel", name="Output")).to_contain_text("A node in a loop runs many times")
    await page.locator(".run-tabs").get_by_role("tab", name="Node").click()
    for name in ("Pin", "Run from here"):
        button = page.locator(".run-io-head").get_by_role("button", name=name)
        await expect(button).to_be_disabled()
        await expect(button).to_have_accessible_description(
            "It runs within a loop or a called pipeline: pin the loop or the call, or run from there."
        )


async def test_a_node_that_somebody_named_comes_before_the_kinds_when_its_name_is_typed(open_document: OpenEditor) -> None:
    nodes = [
        sets("a", "x", 0, 0),
        {**sets("b", "x", 0, 200), "title": "Text for later"},
        {**sets("c", "x", 0, 400), "title": ""},
    ]
    editor = await open_document({"default": {"format": 1, "name": "Named", "nodes": nodes, "edges": [], "answer": "a"}})
    page = editor.page
    await node(page, "a").click()
    await page.keyboard.press("e")
    await expect(page.get_by_role("combobox", name="When A fails …")).to_be_focused()
    await page.keyboard.type("text")
    found = page.locator(".chooser-item .chooser-title")
    await expect(found.first).to_have_text("Text for later")
    await page.keyboard.press("Enter")
    await becomes(lambda: shape(editor), lambda now: "a>b" in now[1])


SWITCH: dict[str, Any] = {
    "format": 1,
    "name": "Ways",
    "nodes": [
        {
            "id": "which",
            "type": "Switch",
            "title": "Which",
            "config": {"value": "x", "cases": [{"name": "a", "equals": "1"}, {"name": "b", "equals": "2"}]},
            "position": {"x": 0, "y": 0},
        },
        *(sets(id, id, 400, y) for id, y in (("one", -100), ("two", 0), ("three", 100))),
    ],
    "edges": [
        {"from": "which", "to": "one", "from_port": "a"},
        {"from": "which", "to": "two", "from_port": "b"},
        {"from": "which", "to": "three", "from_port": "default"},
    ],
}


async def test_wires_follow_the_names_of_cases(open_document: OpenEditor) -> None:
    editor = await open_document({"default": SWITCH})
    page = editor.page

    async def ports() -> list[str]:
        return [edge["from_port"] for edge in (await document(editor))["edges"]]

    await node(page, "which").click()
    name = page.get_by_role("textbox", name="Name", exact=True).first
    await name.click()
    # On the way it is empty, and then the name of the other case: the wire waits.
    await page.keyboard.press("Backspace")
    await page.keyboard.type("b")
    await expect(page.locator(".canvas-wire-stray")).to_have_count(1)
    await page.keyboard.type("old")
    await becomes(ports, ["bold", "b", "default"])
    await expect(page.locator(".canvas-wire-stray")).to_have_count(0)
    await expect(page.get_by_role("button", name="Output bold of which")).to_be_visible()
    # A case that is gone leaves a broken wire, and a click mends it.
    await page.get_by_role("button", name="Remove b", exact=True).click()
    await expect(page.locator(".canvas-wire-stray")).to_have_count(1)
    await page.get_by_role("button", name="Delete these wires").click()
    await becomes(ports, ["bold", "default"])
    await page.keyboard.press("Escape")
    await page.keyboard.press("Control+z")
    await becomes(ports, ["bold", "b", "default"])


CALLED: dict[str, Any] = {"format": 1, "name": "Called", "nodes": [sets("said", "from inside", 0, 0)], "edges": []}
CALLER: dict[str, Any] = {
    "format": 1,
    "name": "Caller",
    "nodes": [{"id": "call", "type": "SubPipeline", "title": "Call", "config": {"pipeline": ""}, "position": {"x": 0, "y": 0}}],
    "edges": [],
}


async def test_a_called_pipeline_opens_in_place(open_document: OpenEditor) -> None:
    editor = await open_document({"default": CALLER, "called": CALLED})
    page = editor.page
    await node(page, "call").click()
    await page.get_by_role("combobox", name="Pipeline", exact=True).select_option(label="Called (called)")
    await page.get_by_role("button", name="Try", exact=True).click()
    await page.get_by_role("textbox", name="Say something to the pipeline").fill("Go")
    await page.keyboard.press("Enter")
    await expect(page.locator(".run-line-state")).to_contain_text("Finished")
    await node(page, "call").get_by_role("button", name="Open called").click()
    await expect(node(page, "said")).to_contain_text("Done")
    way = page.get_by_role("navigation", name="Opened from")
    await expect(way).to_contain_text("Called")
    await editor.shot("inside")
    await way.get_by_role("button", name="Caller · Call").click()
    await expect(node(page, "call")).to_be_visible()
    await expect(way).to_have_count(0)


def asks(id: str, model: str, x: int, y: int) -> dict[str, Any]:
    """A node that asks the built-in model."""
    config = {"provider": "openai", "base_url": "demo", "model": model, "blocks": [{"kind": "history"}]}
    return {"id": id, "type": "ProviderCall", "title": id.upper(), "config": config, "position": {"x": x, "y": y}}


FALLBACK: dict[str, Any] = {
    "format": 1,
    "name": "One fallback of two",
    "nodes": [
        {"id": "if", "type": "If", "config": {"condition": 'chat.last_user contains "code"'}, "position": {"x": 0, "y": 0}},
        asks("a", "demo-small", 300, -100),
        asks("b", "demo-error-400", 300, 100),
        sets("c", "C stands in.", 600, 200),
        {"id": "m", "type": "Merge", "config": {}, "position": {"x": 900, "y": 0}},
    ],
    "edges": [
        {"from": "if", "to": "a", "from_port": "then"},
        {"from": "if", "to": "b", "from_port": "else"},
        *({"from": id, "to": "c", "from_port": "error"} for id in "ab"),
        *({"from": id, "to": "m", "from_port": "done"} for id in "abc"),
    ],
}


async def test_wires_are_painted_by_the_port_that_was_taken(open_document: OpenEditor) -> None:
    editor = await open_document({"default": FALLBACK})
    page = editor.page
    await page.get_by_role("button", name="Fit the drawing").click()
    await expect(page.locator(".canvas-badge-error")).to_have_count(0)
    await page.get_by_role("button", name="Try", exact=True).click()
    await page.get_by_role("textbox", name="Say something to the pipeline").fill("Hello")
    await page.keyboard.press("Enter")
    await expect(page.locator('[data-t="said-assistant"]')).to_contain_text("C stands in.")
    await expect(node(page, "c")).to_contain_text("Answered")

    async def taken() -> set[str]:
        wires = page.locator(".react-flow__edge", has=page.locator(".canvas-wire-taken"))
        return {str(await wire.get_attribute("aria-label")) for wire in await wires.all()}

    await becomes(taken, lambda found: len(found) == 3)
    assert [name for name in sorted(await taken()) if "Merge" in name] == ["C → Merge"]


async def test_nodes_that_would_both_answer_are_joined_with_one_click(open_document: OpenEditor) -> None:
    editor = await open_document(
        {"default": {"format": 1, "name": "Two", "nodes": [sets("a", "A", 0, 0), sets("b", "B", 0, 200)], "edges": []}}
    )
    page = editor.page
    await page.get_by_role("button", name="Problems: 1").click()
    await page.locator(".problem-line").get_by_role("button", name="Join them with a Merge", exact=True).click()
    await expect(page.get_by_text("No problems.")).to_be_visible()
    now = await document(editor)
    assert [node["type"] for node in now["nodes"]] == ["SetVars", "SetVars", "Merge"]
    assert {(edge["from"], edge["to"]) for edge in now["edges"]} == {("a", "n1"), ("b", "n1")}
