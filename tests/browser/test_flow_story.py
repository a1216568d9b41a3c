"""What a newcomer builds first with branches: code questions to one model, others to another, and a third where the first fails."""

import shutil

import pytest
from playwright.async_api import Locator, Page, expect

from agentui.jsonio import loads
from tests.browser.conftest import OpenEditor, axe, box
from tests.conftest import ROOT

pytestmark = pytest.mark.browser


async def calm(page: Page) -> None:
    """Let nothing glide, and decline the tour."""
    await page.emulate_media(reduced_motion="reduce")
    await page.add_init_script("localStorage.setItem('agentui.tour', 'declined')")


def node(page: Page, id: str) -> Locator:
    """A node of the canvas, by its id."""
    return page.locator(f'.react-flow__node[data-id="{id}"]')


async def drag_into_space(page: Page, start: Locator, dx: float, dy: float) -> None:
    """Let a wire go where nothing is."""
    place = await box(start)
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x + dx / 2, y + dy / 2, steps=4)
    await page.mouse.move(x + dx, y + dy, steps=4)
    await page.mouse.up()


async def add_by_search(page: Page, label: str, words: str) -> None:
    """Type into the search that is open, and take what it finds first."""
    field = page.get_by_role("combobox", name=label, exact=True)
    await expect(field).to_be_focused()
    await page.keyboard.type(words)
    await page.keyboard.press("Enter")
    await expect(field).to_have_count(0)


async def ask_demo(page: Page, id: str, title: str, model: str) -> None:
    """Fill in the settings of a new call."""
    await node(page, id).click()
    await page.get_by_role("combobox", name="Preset").click()
    await page.get_by_role("option", name="Demo (built in)").click()
    await expect(page.get_by_role("textbox", name="Base URL")).to_have_text("demo")
    await page.get_by_role("textbox", name="Title").fill(title)
    field = page.get_by_role("textbox", name="Model", exact=True)
    await field.click()
    await page.keyboard.press("Control+a")
    await page.keyboard.type(model)
    await expect(field).to_have_text(model)


async def say(page: Page, words: str) -> None:
    await page.get_by_role("textbox", name="Say something to the pipeline").fill(words)
    await page.keyboard.press("Enter")


async def test_a_pipeline_that_decides_and_recovers_is_built_tried_and_saved(open_editor: OpenEditor) -> None:
    editor = await open_editor({}, prepare=calm)
    shutil.copy(ROOT / "presets" / "demo.json", editor.server.pipelines.parent / "presets")
    editor.server.state.presets.refresh()
    await editor.page.reload()
    page = editor.page
    await page.get_by_role("button", name="New pipeline").first.click()
    await expect(page.get_by_text("An empty pipeline")).to_be_visible()

    # If: a condition, whose names are offered.
    await page.keyboard.press("a")
    await add_by_search(page, "Add a node", "if")
    await expect(node(page, "n1")).to_be_focused()
    await page.keyboard.press("Enter")
    condition = page.get_by_role("textbox", name="Condition")
    await condition.click()
    await page.keyboard.type("chat.last_u")
    await page.get_by_role("option", name="last_user").first.click()
    await page.keyboard.type(' contains "code"')
    await expect(condition).to_have_text('chat.last_user contains "code"')

    # A node behind each way: let go of a wire where nothing is. What fails goes on by a way of its own.
    await drag_into_space(page, page.get_by_role("button", name="Output then of n1"), 140, -120)
    await add_by_search(page, "Add a node and connect it", "provider")
    await drag_into_space(page, page.get_by_role("button", name="Output otherwise of n1"), 140, 120)
    await add_by_search(page, "Add a node and connect it", "provider")
    await page.get_by_role("button", name="Fit the drawing").click()
    await node(page, "n2").click()
    await page.keyboard.press("e")
    await add_by_search(page, "When Provider call fails …", "provider call")
    await expect(page.locator(".react-flow__edge")).to_have_count(3)
    await expect(page.locator(".canvas-wire-error")).to_have_count(1)
    await page.get_by_role("button", name="Fit the drawing").click()
    # The third takes over from either.
    await node(page, "n3").click()
    await page.keyboard.press("e")
    await add_by_search(page, "When Provider call fails …", "n4")
    await expect(page.locator(".canvas-wire-error")).to_have_count(2)

    await ask_demo(page, "n2", "Model A", "demo-error-400")
    await ask_demo(page, "n3", "Model B", "demo-small")
    await ask_demo(page, "n4", "Model C", "demo-small")
    await expect(page.locator(".canvas-badge-answer")).to_have_count(3)
    await expect(page.locator(".canvas-badge-error")).to_have_count(0)

    # A question about code: A fails, C answers, B is not reached, and the page says so.
    await page.get_by_role("button", name="Try", exact=True).click()
    await say(page, "Show me some code")
    answer = page.locator('[data-t="said-assistant"]')
    await expect(answer).to_contain_text("You said: Show me some code")
    await expect(page.locator(".run-line-state")).to_contain_text("Finished")
    await expect(node(page, "n2")).to_contain_text("Failed")
    await expect(node(page, "n4")).to_contain_text("Answered")
    await expect(node(page, "n3")).to_contain_text("Skipped")
    await expect(page.locator(".run-row-skipped")).to_contain_text("did not leave by “otherwise”")
    await expect(page.locator(".canvas-wire-taken")).to_have_count(2)
    await editor.shot("code")

    # Anything else: B answers.
    await say(page, "Hello")
    await expect(answer.last).to_contain_text("You said: Hello")
    await expect(node(page, "n3")).to_contain_text("Answered")
    await expect(node(page, "n2")).to_contain_text("Skipped")
    await expect(node(page, "n4")).to_contain_text("Skipped")
    await editor.shot("other")

    await page.keyboard.press("Control+s")
    await page.get_by_label("Name", exact=True).fill("Ask the right one")
    await page.get_by_role("dialog").get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Saved as ask-the-right-one.")).to_be_visible()
    document = loads((editor.server.pipelines / "ask-the-right-one.json").read_bytes())
    assert [(edge["from"], edge["from_port"], edge["to"]) for edge in document["edges"]] == [
        ("n1", "then", "n2"),
        ("n1", "else", "n3"),
        ("n2", "error", "n4"),
        ("n3", "error", "n4"),
    ]
    assert await axe(page) == []
