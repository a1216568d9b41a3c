"""The outline: the whole editor as a list, by keyboard and on a narrow screen."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import THEMES, axe, becomes
from tests.browser.test_canvas import Canvas, Open, canvas, pipeline

pytestmark = pytest.mark.browser

__all__ = ["canvas"]  # the fixture of the canvas's own tests


async def outline(here: Canvas) -> None:
    """Open the outline beside the canvas."""
    await here.page.get_by_role("navigation", name="Panels").get_by_role("button", name="Outline").click()


async def test_nodes_stand_in_the_order_in_which_they_run(canvas: Open) -> None:
    document = pipeline(3)
    document["nodes"].reverse()
    here = await canvas(document)
    await outline(here)
    titles = here.page.locator(".canvas-outline-list .canvas-outline-title")
    await expect(titles).to_have_text(["1. First", "2. Node 2", "3. Node 3"])


async def test_arrows_go_through_the_list_and_keys_work_on_the_selected_node(canvas: Open) -> None:
    here = await canvas()
    await outline(here)
    await here.page.locator('.canvas-outline-main[data-node="n1"]').focus()
    await here.press("ArrowDown")
    await becomes(here.selected, ["n2"])
    await here.press("d")
    await becomes(here.doc, lambda found: found["nodes"][1]["enabled"] is False)
    await here.press("End")
    await becomes(here.selected, ["n3"])
    await here.press("Delete")
    await becomes(here.ids, ["n1", "n2"])


async def test_wires_are_listed_cut_and_made_from_the_list(canvas: Open) -> None:
    here = await canvas()
    await outline(here)
    await here.page.locator('.canvas-outline-main[data-node="n2"]').click()
    before = here.page.get_by_role("list", name="Runs after")
    await expect(before).to_contain_text("First (n1)")
    await here.page.get_by_role("button", name="Delete the wire: First (n1)").click()
    await becomes(here.wires, [("n2", "n3")])
    await here.page.locator('.canvas-outline-main[data-node="n1"]').click()
    await here.page.get_by_role("button", name="Connect to …").click()
    await here.search("Connect First to …", "Node 2")
    await becomes(here.wires, lambda found: ("n1", "n2") in found)


async def test_the_order_of_untied_nodes_is_changed_and_tied_ones_stay(canvas: Open) -> None:
    here = await canvas(pipeline(2, wires=False))
    await outline(here)
    await here.page.locator('.canvas-outline-main[data-node="n2"]').click()
    await here.page.get_by_role("button", name="Move up in the order").click()
    await becomes(here.ids, ["n2", "n1"])
    tied = await canvas(pipeline(2), own=True)
    await outline(tied)
    await tied.page.locator('.canvas-outline-main[data-node="n2"]').click()
    await expect(tied.page.get_by_role("button", name="Move up in the order")).to_be_disabled()


async def test_a_problem_in_the_list_goes_to_its_field(canvas: Open) -> None:
    document = pipeline(3)
    document["nodes"][1]["config"]["model"] = "[[OUT:n3.response_text]]"
    here = await canvas(document)
    await outline(here)
    await here.page.get_by_role("list", name="Problems of n2").get_by_role("button").click()
    await becomes(here.selected, ["n2"])


async def test_a_phone_builds_a_pipeline_from_the_list(canvas: Open) -> None:
    here = await canvas(pipeline(1), width=390, height=844, context={"has_touch": True})
    await outline(here)
    await here.page.locator('.canvas-outline-main[data-node="n1"]').click()
    await here.page.get_by_role("button", name="Add a node after it …").click()
    await here.search("Add a node and connect it", "raw")
    await becomes(here.wires, [("n1", "n2")])
    await here.page.get_by_role("button", name="Duplicate").click()
    await becomes(here.ids, ["n1", "n2", "n3"])
    await becomes(lambda: here.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), True)


async def test_axe_finds_nothing_in_the_outline(canvas: Open) -> None:
    document = pipeline(3)
    document["nodes"][1]["config"]["model"] = "[[OUT:n3.response_text]]"
    document["nodes"][2]["enabled"] = False
    here = await canvas(document)
    await outline(here)
    await here.page.get_by_role("list", name="Problems of n2").wait_for()
    await here.page.locator('.canvas-outline-main[data-node="n2"]').click()
    for theme, rules in THEMES:
        await here.page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
        assert await axe(here.page, ".canvas-outline", rules) == []
        assert await axe(here.page, ".canvas", rules) == []
