"""
What a newcomer does with the demo, by mouse and by keyboard only: from an empty canvas to a client that talks to the pipeline.

Nothing here reaches into the page's modules, and everything is found by the words that are on the screen.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from aiohttp.typedefs import Handler
from openai import AsyncOpenAI
from playwright.async_api import Locator, Page, expect

from agentui.demo import DemoSettings, create_demo_app
from agentui.jsonio import loads
from tests.browser.conftest import OpenEditor, axe, becomes
from tests.conftest import ROOT, Server, StartServer

pytestmark = pytest.mark.browser

PAUSE_S = 0.03
"""Between two words of the demo model: an answer that can be seen to grow."""
WORDS = "Answer [[NAME]] politely."
MOST_STOPS = 60
"""How often Tab is pressed at most to get from one part of the page to another."""


@pytest_asyncio.fixture(loop_scope="session")
async def gate() -> asyncio.Event:
    """Open, until a test closes it: the demo model answers while it is open."""
    gate = asyncio.Event()
    gate.set()
    return gate


@pytest_asyncio.fixture(loop_scope="session")
async def shipped(start_server: StartServer, gate: asyncio.Event) -> AsyncIterator[Server]:
    """What ``agentui demo`` starts: the shipped pipelines and presets, and the demo model with its pauses."""

    @web.middleware
    async def wait(request: web.Request, handler: Handler) -> web.StreamResponse:
        await gate.wait()
        return await handler(request)

    app = create_demo_app(DemoSettings(delay=PAUSE_S))
    app.middlewares.append(wait)
    model = TestServer(app)
    await model.start_server()
    documents = {path.stem: loads(path.read_bytes()) for path in sorted((ROOT / "pipelines").glob("*.json"))}
    server = await start_server(documents, named_origins={"demo": str(model.make_url("")).rstrip("/")}, active="demo")
    shutil.copytree(ROOT / "presets", server.pipelines.parent / "presets", dirs_exist_ok=True)
    server.state.presets.refresh()
    yield server
    await model.close()


async def ask_as_a_client(server: Server) -> str:
    """A question of the official OpenAI client, as the README shows it; the answer is streamed."""
    async with AsyncOpenAI(base_url=f"{server.origin}/v1", api_key="unused", max_retries=0) as client:
        stream = await client.chat.completions.create(
            model="demo-small", messages=[{"role": "user", "content": "Hello from my program"}], stream=True
        )
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])


async def calm(page: Page) -> None:
    """Let nothing glide: what is pressed stands still."""
    await page.emulate_media(reduced_motion="reduce")


async def drag(page: Page, start: Locator, end: Locator) -> None:
    """Press at one element, and let go over another."""
    await start.hover()
    await page.mouse.down()
    await end.hover()
    await page.mouse.up()


async def reach(page: Page, wanted: Locator, *, back: bool = False) -> None:
    """Press Tab until an element has the focus, as somebody without a mouse does."""
    keys = "Shift+Tab" if back else "Tab"
    for _ in range(MOST_STOPS):
        if await wanted.evaluate("(element) => element === document.activeElement"):
            return
        await page.keyboard.press(keys)
    raise AssertionError(f"{wanted} is not reached with {keys}.")


def node(page: Page, title: str) -> Locator:
    """A node of the canvas, by its title."""
    return page.locator(".react-flow__node-pipe").filter(has_text=title)


async def the_file(server: Server, id: str) -> Any:
    """What is on disk."""
    return loads((server.pipelines / f"{id}.json").read_bytes())


async def check_the_file(server: Server) -> None:
    """The saved file says what was built."""
    document = await the_file(server, "my-first-one")
    assert document["name"] == "My first one"
    assert [one["type"] for one in document["nodes"]] == ["SetVars", "ProviderCall"]
    assert [(one["from"], one["to"]) for one in document["edges"]] == [("n1", "n2")]
    [row] = document["nodes"][0]["config"]["variables"]
    assert (row["name"], row["value"]) == ("NAME", "Ada")
    config = document["nodes"][1]["config"]
    assert (config["base_url"], config["model"]) == ("demo", "demo-small")
    assert [block["kind"] for block in config["blocks"]] == ["text", "history"]
    assert config["blocks"][0]["text"] == WORDS
    assert server.state.pipelines.active == "my-first-one"


async def test_by_mouse_from_an_empty_canvas_to_a_client(open_editor: OpenEditor, shipped: Server, gate: asyncio.Event) -> None:
    editor = await open_editor(server=shipped, prepare=calm)
    page = editor.page
    await page.get_by_role("button", name="No, thanks").click()
    await page.get_by_role("button", name="New pipeline").click()
    await expect(page.get_by_text("An empty pipeline")).to_be_visible()

    nodes = page.get_by_role("region", name="Nodes")
    await nodes.get_by_role("button", name="Set variables").click()
    await expect(node(page, "Set variables")).to_be_visible()
    await page.locator(".react-flow__pane").click(position={"x": 30, "y": 30})
    await nodes.get_by_role("button", name="Provider call").click()
    await expect(node(page, "Provider call")).to_be_visible()
    await page.get_by_role("button", name="Fit the drawing").click()
    await drag(
        page, page.get_by_role("button", name="Output done of n1"), page.get_by_role("button", name="wires end here (n2)")
    )
    await expect(page.locator(".react-flow__edge")).to_have_count(1)

    await node(page, "Set variables").click()
    await page.get_by_role("button", name="Add variable").click()
    await expect(page.get_by_role("textbox", name="Name of variable 1")).to_be_focused()
    await page.keyboard.type("NAME")
    await page.get_by_role("textbox", name="Value of NAME").click()
    await page.keyboard.type("Ada")

    await node(page, "Provider call").click()
    await page.get_by_role("combobox", name="Preset").click()
    await page.get_by_role("option", name="Demo (built in)").click()
    await expect(page.get_by_role("textbox", name="Base URL")).to_have_text("demo")
    await page.get_by_role("tab", name="Prompt Blocks").click()
    await page.get_by_role("button", name="Add block").click()
    await page.get_by_role("menuitem", name="Text: system").click()
    await expect(page.get_by_role("textbox", name="Text of Block 1")).to_be_focused()
    await page.keyboard.type("Answer [[NA")
    await page.get_by_role("option", name="NAME").click()
    await page.keyboard.type(" politely.")
    await expect(page.get_by_role("listitem", name="Conversation")).to_be_visible()

    await page.get_by_role("tab", name="Preview").click()
    preview = page.get_by_role("region", name="Preview")
    await expect(preview).to_contain_text("Answer Ada politely.")
    await expect(preview).to_contain_text("/v1/chat/completions")

    await page.get_by_role("button", name="Try", exact=True).click()
    await expect(page.get_by_role("textbox", name="Say something to the pipeline")).to_be_focused()
    await page.keyboard.type("Hello")
    await page.get_by_role("button", name="Send", exact=True).click()
    answer = page.locator('[data-t="said-assistant"]')
    await expect(answer).to_contain_text("built-in demo model")
    await expect(answer).to_contain_text("You said: Hello")
    await expect(page.locator(".run-row")).to_have_count(2)
    await expect(page.locator(".run-line-state")).to_contain_text("Finished")
    await editor.shot("tried")

    await page.get_by_role("button", name="Save", exact=True).click()
    await page.get_by_label("Name", exact=True).fill("My first one")
    await page.get_by_role("dialog").get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Saved as my-first-one.")).to_be_visible()
    await page.get_by_role("button", name="Activate", exact=True).click()
    await expect(page.get_by_text("my-first-one answers callers who name no pipeline.")).to_be_visible()

    before = await page.locator(".run-head").inner_text()
    gate.clear()
    asked = asyncio.create_task(ask_as_a_client(shipped))
    await expect(node(page, "Provider call")).to_contain_text("Running")
    gate.set()
    assert "You said: Hello from my program" in await asked
    await expect(page.locator(".run-head")).not_to_have_text(before)
    await expect(page.locator(".run-line-state")).to_contain_text("Finished")
    await expect(node(page, "Provider call")).to_contain_text("Done")
    await check_the_file(shipped)
    assert await axe(page) == []
    await editor.shot("served")


async def test_by_keyboard_alone_from_an_empty_canvas_to_a_client(open_editor: OpenEditor, shipped: Server) -> None:
    page = (await open_editor(server=shipped, prepare=calm)).page
    press, type_ = page.keyboard.press, page.keyboard.type
    await expect(page.locator(".react-flow__node").first).to_be_visible()
    await press("Alt+n")
    await expect(page.get_by_text("An empty pipeline")).to_be_visible()

    # The search is opened by a letter; a node that follows the chosen one is wired to it.
    await press("a")
    await expect(page.get_by_role("combobox", name="Add a node")).to_be_focused()
    await type_("variables")
    await press("Enter")
    await expect(node(page, "Set variables")).to_be_focused()
    await press("Enter")
    await reach(page, page.get_by_role("button", name="Add variable"))
    await press("Enter")
    await expect(page.get_by_role("textbox", name="Name of variable 1")).to_be_focused()
    await type_("NAME")
    await reach(page, page.get_by_role("textbox", name="Value of NAME"))
    await type_("Ada")
    # Escape lets Tab leave a text field, and one more leads back to the canvas.
    await press("Escape")
    await reach(page, node(page, "Set variables"), back=True)

    await press("a")
    await expect(page.get_by_role("combobox", name="Add a node")).to_be_focused()
    await type_("provider")
    await press("Enter")
    await expect(node(page, "Provider call")).to_be_focused()
    await press("Enter")
    await reach(page, page.get_by_role("combobox", name="Preset"))
    await type_("demo")
    await press("Enter")
    await expect(page.get_by_role("textbox", name="Base URL")).to_have_text("demo")
    await reach(page, page.get_by_role("tab", name="Request"))
    await press("ArrowRight")
    await expect(page.get_by_role("tab", name="Prompt Blocks")).to_be_focused()
    await reach(page, page.get_by_role("button", name="Add block"))
    await press("Enter")
    await press("Enter")
    await expect(page.get_by_role("textbox", name="Text of Block 1")).to_be_focused()
    await type_("Answer [[NA")
    await page.get_by_role("option", name="NAME").wait_for()
    await press("Enter")
    await type_(" politely.")
    await press("Escape")
    await expect(page.get_by_role("listitem", name="Conversation")).to_be_visible()

    await press("Control+k")
    await expect(page.get_by_role("combobox", name="What to do or find")).to_be_focused()
    await type_("preview the request")
    await press("Enter")
    await expect(page.get_by_role("region", name="Preview")).to_contain_text("Answer Ada politely.")

    await press("Control+k")
    await expect(page.get_by_role("combobox", name="What to do or find")).to_be_focused()
    await type_("try open the chat")
    await press("Enter")
    await expect(page.get_by_role("textbox", name="Say something to the pipeline")).to_be_focused()
    await type_("Hello")
    await press("Enter")
    await expect(page.locator('[data-t="said-assistant"]')).to_contain_text("You said: Hello")
    await expect(page.locator(".run-row")).to_have_count(2)

    await press("Control+s")
    await expect(page.get_by_label("Name", exact=True)).to_be_focused()
    await press("Control+a")
    await type_("My first one")
    await press("Enter")
    await expect(page.get_by_text("Saved as my-first-one.")).to_be_visible()
    await press("Control+k")
    await expect(page.get_by_role("combobox", name="What to do or find")).to_be_focused()
    await type_("activate")
    await press("Enter")
    await expect(page.get_by_text("my-first-one answers callers who name no pipeline.")).to_be_visible()
    assert "You said: Hello from my program" in await ask_as_a_client(shipped)
    await expect(page.locator(".run-line-state")).to_contain_text("Finished")
    await check_the_file(shipped)


async def test_on_a_phone_by_touch_from_nothing_to_a_client(open_editor: OpenEditor, shipped: Server) -> None:
    editor = await open_editor(
        server=shipped,
        prepare=calm,
        width=390,
        height=844,
        context={"has_touch": True, "is_mobile": True, "device_scale_factor": 2},
    )
    page = editor.page
    await page.get_by_role("button", name="No, thanks").tap()
    await page.get_by_role("button", name="New pipeline").tap()
    await expect(page.get_by_text("No nodes yet.")).to_be_visible()
    for words in ("variables", "provider"):
        await page.get_by_role("button", name="Add a node …", exact=True).tap()
        await page.get_by_role("combobox").fill(words)
        await page.get_by_role("option").first.tap()
    await expect(page.locator(".canvas-outline-main")).to_have_count(2)
    await editor.shot("outline")

    pages = page.get_by_role("navigation", name="Pages")
    await page.locator(".canvas-outline-main").first.tap()
    await pages.get_by_role("button", name="Edit").tap()
    await page.get_by_role("button", name="Add variable").tap()
    await expect(page.get_by_role("textbox", name="Name of variable 1")).to_be_focused()
    await page.keyboard.type("NAME")
    await page.get_by_role("textbox", name="Value of NAME").tap()
    await page.keyboard.type("Ada")
    await editor.shot("variables")

    await pages.get_by_role("button", name="Outline").tap()
    await page.locator(".canvas-outline-main").nth(1).tap()
    await pages.get_by_role("button", name="Edit").tap()
    await page.get_by_role("combobox", name="Preset").tap()
    await page.get_by_role("option", name="Demo (built in)").tap()
    await expect(page.get_by_role("textbox", name="Base URL")).to_have_text("demo")
    await page.get_by_role("tab", name="Prompt Blocks").tap()
    await page.get_by_role("button", name="Add block").tap()
    await page.get_by_role("menuitem", name="Text: system").tap()
    await expect(page.get_by_role("textbox", name="Text of Block 1")).to_be_focused()
    await page.keyboard.type("Answer [[NA")
    await page.get_by_role("option", name="NAME").tap()
    await page.keyboard.type(" politely.")
    await expect(page.get_by_role("listitem", name="Conversation")).to_be_visible()
    await editor.shot("blocks")

    await pages.get_by_role("button", name="Run").tap()
    await page.get_by_role("tab", name="Preview").tap()
    await expect(page.get_by_role("region", name="Preview")).to_contain_text("Answer Ada politely.")
    await editor.shot("preview")
    await page.get_by_role("tab", name="Run", exact=True).tap()
    await page.get_by_role("textbox", name="Say something to the pipeline").tap()
    await page.keyboard.type("Hello")
    await page.get_by_role("button", name="Send", exact=True).tap()
    await expect(page.locator('[data-t="said-assistant"]')).to_contain_text("You said: Hello")
    await page.get_by_role("tab", name="Timeline").tap()
    await expect(page.locator(".run-row")).to_have_count(2)
    await editor.shot("timeline")

    await page.get_by_role("button", name="Save", exact=True).tap()
    await page.get_by_label("Name", exact=True).fill("My first one")
    await page.get_by_role("dialog").get_by_role("button", name="Save").tap()
    await expect(page.get_by_text("Saved as my-first-one.")).to_be_visible()
    await page.get_by_role("button", name="Menu").tap()
    await page.get_by_role("menuitem", name="Activate this pipeline").tap()
    await expect(page.get_by_text("my-first-one answers callers who name no pipeline.")).to_be_visible()
    assert "You said: Hello from my program" in await ask_as_a_client(shipped)
    await expect(page.locator(".run-line-state")).to_contain_text("Finished")
    await check_the_file(shipped)
    await becomes(lambda: page.evaluate("document.documentElement.scrollWidth <= innerWidth"), True)
    assert await axe(page) == []
