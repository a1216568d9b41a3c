"""Connecting a model in the page: by its address, or found on its usual port; listed, tried, and made the default for chats."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from aiohttp import ClientSession, web
from playwright.async_api import expect

from tests.browser.conftest import OpenEditor, axe
from tests.browser.test_chat import Chat
from tests.conftest import call

pytestmark = pytest.mark.browser

KOBOLD = 5001
KEY, WRONG = "sk-typed-into-the-page-98765", "sk-typed-wrongly-0123456789"


async def models(request: web.Request) -> web.Response:
    """The list; nobody with the wrong key gets it."""
    if WRONG in request.headers.get("authorization", ""):
        return web.json_response({"error": {"message": f"Incorrect API key provided: {WRONG}"}}, status=401)
    return web.json_response({"object": "list", "data": [{"id": "llama-home", "object": "model"}]})


async def chat(request: web.Request) -> web.Response:
    """A word."""
    message = {"role": "assistant", "content": f"Hello from {(await request.json())['model']}."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return web.json_response({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})


@pytest_asyncio.fixture(loop_scope="session")
async def at_home() -> AsyncIterator[str]:
    """A server with a model that listens on KoboldCpp's port as well; its other address."""
    app = web.Application()
    app.router.add_get("/v1/models", models)
    app.router.add_post("/v1/chat/completions", chat)
    runner = web.AppRunner(app)
    await runner.setup()
    for port in (KOBOLD, 0):
        await web.TCPSite(runner, "127.0.0.1", port).start()
    yield f"http://127.0.0.1:{runner.addresses[1][1]}"
    await runner.cleanup()


async def test_a_model_is_connected_by_its_address_and_by_its_usual_port(open_editor: OpenEditor, at_home: str) -> None:
    editor = await open_editor({"default": call("openai", "https://api.example.com")})
    page = editor.page
    editor.allow("status of 502")
    await page.get_by_role("button", name="Menu", exact=True).click()
    await page.get_by_role("menuitem", name="Connect a model").click()
    dialog = page.get_by_role("dialog", name="Connect a model")
    await dialog.get_by_role("button", name="Connect", exact=True).click()
    await expect(dialog.get_by_text("Paste the key.")).to_be_visible()
    assert await axe(page, "dialog") == []
    await dialog.get_by_label("Provider", exact=True).select_option("openai-compatible")
    await dialog.get_by_label("Address", exact=True).fill(at_home)
    await dialog.get_by_label("Key", exact=True).fill(WRONG)
    await dialog.get_by_role("button", name="List the models").click()
    await expect(dialog.get_by_text("Incorrect API key")).to_be_visible()
    assert WRONG not in await dialog.inner_text()
    await dialog.get_by_label("Key", exact=True).fill(KEY)
    await dialog.get_by_role("button", name="List the models").press("Enter")
    await expect(dialog.get_by_role("status")).to_have_text("Models found: 1")
    await expect(dialog.get_by_label("Model", exact=True)).to_have_value("llama-home")
    await dialog.get_by_role("button", name="Say hello").click()
    await expect(dialog.get_by_role("status")).to_have_text("It answers: Hello from llama-home.")
    assert await axe(page, "dialog") == []
    await dialog.get_by_label("Model", exact=True).press("Enter")
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_text("is connected, and answers chats.")).to_be_visible()
    assert KEY not in await page.content()
    async with ClientSession() as session, session.get(f"{editor.server.origin}/llm-profiles/runtime") as answer:
        slot = (await answer.json())["data"]["slots"][1]
    assert (slot["source"], slot["model_id"]) == ("global_profile", "llama-home")
    # What listens on its usual port is offered, once somebody asks for it.
    await page.get_by_role("button", name="Menu", exact=True).click()
    await page.get_by_role("menuitem", name="Connect a model").click()
    await dialog.get_by_role("button", name="Look for a local server").click()
    await dialog.get_by_role("button", name="Use KoboldCpp").click()
    await expect(dialog.get_by_label("Address", exact=True)).to_have_value(f"http://127.0.0.1:{KOBOLD}/v1")
    await dialog.get_by_role("checkbox", name="Make it the default for chats").click()
    await dialog.get_by_role("button", name="Connect", exact=True).click()
    await expect(page.get_by_text(f"llama-home · 127.0.0.1:{KOBOLD} is connected.")).to_be_visible()


async def test_a_turn_that_failed_for_want_of_a_model_leads_there(open_editor: OpenEditor) -> None:
    headers = {"Authorization": "Bearer [[SECRET:nobody]]"}
    editor = await open_editor({"default": call("openai", "http://127.0.0.1:9", headers=headers)})
    editor.allow("status of (400|404|422|502)")
    here = Chat(editor)
    await editor.page.locator(".doc-tab").first.wait_for()
    await here.show()
    await here.field.fill("Hello?")
    await editor.page.keyboard.press("Enter")
    await here.chat.get_by_role("button", name="Connect a model").click()
    await expect(editor.page.get_by_role("dialog", name="Connect a model")).to_be_visible()
    await editor.page.keyboard.press("Escape")
    # The run says the same, and has the same button.
    await editor.page.get_by_role("tab", name="Run", exact=True).click()
    run = editor.page.locator(".run-head")
    await run.get_by_role("button", name="Connect a model").click()
    await expect(editor.page.get_by_role("dialog", name="Connect a model")).to_be_visible()
