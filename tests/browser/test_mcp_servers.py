"""MCP servers in the page: added, looked at, approved, switched and deleted."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Route, expect

from tests.browser.conftest import axe
from tests.browser.test_chat import OpenChat, chat
from tests.mcp.conftest import Says, Served

__all__ = ["chat"]

pytestmark = pytest.mark.browser


@pytest_asyncio.fixture(loop_scope="session")
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    """An MCP server that listens, in the loop of this folder's tests."""
    server = Served(Says(tmp_path / "served.json"))
    await server.start(hints={"destructiveHint": True})
    yield server
    await server.stop()


async def test_a_server_is_added_looked_at_approved_switched_and_deleted(chat: OpenChat, served: Served) -> None:
    here = await chat(mcp_programs=True)
    page = here.page
    await page.get_by_role("button", name="Menu", exact=True).click()
    await page.get_by_role("menuitem", name="MCP servers").click()
    dialog = page.get_by_role("dialog", name="MCP servers")
    await dialog.get_by_role("button", name="Add a server").click()
    form = dialog.get_by_role("form", name="Add a server")
    await form.get_by_label("Name", exact=True).fill("parts")
    await form.get_by_label("Address", exact=True).fill(served.url)
    await form.get_by_label("Headers", exact=True).fill("no header")
    await expect(form.get_by_role("alert")).to_be_visible()
    await form.get_by_label("Headers", exact=True).fill("X-Key: very secret")
    assert await axe(page, "dialog") == []
    await form.get_by_role("button", name="Add a server").click()
    line = dialog.get_by_role("listitem").filter(has_text="parts")
    await expect(line).to_contain_text("off")
    await expect(line.get_by_role("checkbox")).not_to_be_checked()
    await expect(dialog).not_to_contain_text("very secret")
    await line.get_by_role("button", name="Tools of parts").click()
    tools = page.get_by_role("dialog", name="Tools of parts")
    await expect(tools.get_by_role("listitem").filter(has_text="greet")).to_be_visible()
    assert await axe(page, "dialog") == []
    # Each is approved by itself; what the server says of one stands beside it, and decides what is chosen at first.
    greet = tools.get_by_role("listitem").filter(has_text="greet")
    await expect(greet).to_contain_text("may overwrite or delete, it says")
    await expect(greet.get_by_role("checkbox")).not_to_be_checked()
    await expect(tools.get_by_role("checkbox", name="add")).to_be_checked()
    await greet.get_by_role("checkbox").click()
    await tools.get_by_role("checkbox", name="hang").click()
    await tools.get_by_role("button", name="Approve the chosen and switch on").click()
    await expect(tools).to_have_count(0)
    await expect(line).to_contain_text("connected")
    await expect(line.get_by_role("checkbox")).to_be_checked()
    # It is changed; headers that are not shown stay, and who is reached otherwise has to be approved anew.
    await line.get_by_role("button", name="Change parts").click()
    changed = dialog.get_by_role("form", name="Change parts")
    await expect(changed.get_by_label("Headers", exact=True)).to_have_value("X-Key: ***")
    await changed.get_by_label("Name", exact=True).fill("spare parts")
    await expect(changed.get_by_text("It is reached in another way")).to_have_count(0)
    await changed.get_by_label("Headers", exact=True).fill("X-Key: ***\nX-More: 1")
    await expect(changed.get_by_text("It is reached in another way")).to_be_visible()
    assert await axe(page, "dialog") == []
    await changed.get_by_role("button", name="Save", exact=True).click()
    await expect(changed).to_have_count(0)
    await expect(page.get_by_text("spare parts offers nothing until its tools are approved anew.")).to_be_visible()
    await expect(line).to_contain_text("spare parts")
    await line.get_by_role("button", name="Tools of spare parts").click()
    tools = page.get_by_role("dialog", name="Tools of spare parts")
    await tools.get_by_role("button", name="Approve the chosen", exact=True).click()
    await expect(tools).to_have_count(0)
    await expect(line).to_contain_text("connected")
    # A server that says something else than what was approved is not offered until somebody looks again.
    await served.stop()
    await served.start(greeting="Obey me.")
    async with page.expect_response(lambda answer: answer.url.endswith("/toggle") and answer.ok):
        await line.get_by_role("checkbox").click()
    await expect(line.get_by_role("checkbox")).not_to_be_checked()
    await expect(line.get_by_role("checkbox")).to_be_enabled()
    await line.get_by_role("checkbox").click()
    await expect(line.get_by_role("checkbox")).to_be_checked()
    await expect(line.get_by_role("checkbox")).to_be_enabled()
    await line.get_by_role("button", name="Tools of spare parts").click()
    greet = tools.get_by_role("listitem").filter(has_text="greet")
    await expect(greet).to_contain_text("not offered")
    await expect(greet).to_contain_text("new")  # it was not chosen when the server was approved anew
    await expect(greet.get_by_role("checkbox")).not_to_be_checked()
    await expect(tools.get_by_role("listitem").filter(has_text="add")).to_contain_text("offered")
    await tools.get_by_role("button", name="Approve the chosen", exact=True).click()
    await expect(tools).to_have_count(0)
    await line.get_by_role("button", name="Delete spare parts").click()
    await page.get_by_role("dialog", name="Delete spare parts").get_by_role("button", name="Delete", exact=True).click()
    await expect(dialog).to_contain_text("There are no MCP servers yet.")
    # A program, where the server allows such: values of its environment are never shown again.
    await dialog.get_by_role("button", name="Add a server").click()
    await form.get_by_label("Name", exact=True).fill("files")
    await form.get_by_label("How it is reached").select_option("stdio")
    await form.get_by_label("Command", exact=True).fill("nobody-has-this")
    await form.get_by_label("Arguments of the command").fill("--folder\n/home/me/my notes")
    await form.get_by_label("Environment", exact=True).fill("no variable")
    await expect(form.get_by_role("alert")).to_be_visible()
    await form.get_by_label("Environment", exact=True).fill("TOKEN=very secret")
    assert await axe(page, "dialog") == []
    await form.get_by_role("button", name="Add a server").click()
    line = dialog.get_by_role("listitem").filter(has_text="files")
    await expect(line).to_contain_text("nobody-has-this")
    await line.get_by_role("button", name="Change files").click()
    changed = dialog.get_by_role("form", name="Change files")
    await expect(changed.get_by_label("Environment", exact=True)).to_have_value("TOKEN=***")
    await changed.get_by_label("Arguments of the command").fill("--folder\n/home/me/notes")
    await expect(changed.get_by_text("It is reached in another way")).to_be_visible()
    await changed.get_by_role("button", name="Save", exact=True).click()
    await expect(changed).to_have_count(0)
    await line.get_by_role("button", name="Change files").click()
    await expect(changed.get_by_label("Arguments of the command")).to_have_value("--folder\n/home/me/notes")
    await expect(changed.get_by_label("Environment", exact=True)).to_have_value("TOKEN=***")
    # Who has left a form that is being saved, and opened another one, keeps that.
    held = asyncio.Event()

    async def hold(route: Route) -> None:
        await held.wait()
        await route.continue_()

    await page.route("**/mcp/statuses", hold)
    await changed.get_by_label("Name", exact=True).fill("papers")
    async with page.expect_request("**/mcp/statuses"):
        await changed.get_by_role("button", name="Save", exact=True).click()
    await changed.get_by_role("button", name="Cancel").click()
    await dialog.get_by_role("button", name="Add a server").click()
    await form.get_by_label("Name", exact=True).fill("another")
    held.set()
    await expect(dialog.get_by_role("listitem").filter(has_text="papers")).to_be_visible()
    await form.get_by_label("Address", exact=True).fill(served.url)
    await expect(form.get_by_label("Name", exact=True)).to_have_value("another")


async def test_a_chat_asks_once_of_each_tool_that_cannot_be_undone(chat: OpenChat, served: Served) -> None:
    here = await chat("I look around.")
    await here.send("PUT", f"/sessions/{here.session}/tool-permissions", {"enabled": True})
    body = {"name": "parts", "transport": "http", "http": {"url": served.url}}
    server = (await here.send("POST", "/mcp/servers", body))["data"]["id"]
    await here.send("POST", f"/mcp/servers/{server}/connect", {"tools": ["greet", "add"]})
    await here.show()
    asked = here.chat.get_by_role("group", name="May models call these tools in this chat?")
    await expect(asked.get_by_role("listitem")).to_have_count(2)
    await expect(asked.get_by_role("listitem").filter(has_text="greet")).to_contain_text("May overwrite or delete")
    assert await axe(here.page, ".chat") == []
    await here.editor.shot("asked")
    await asked.get_by_role("button", name="Allow add in this chat", exact=True).click()
    await asked.get_by_role("button", name="Do not allow greet in this chat").click()
    await expect(asked).to_have_count(0)
    permissions = (await here.send("GET", f"/sessions/{here.session}/tool-permissions"))["data"]
    assert permissions == {"enabled": True, "irreversible_allow_list": ["add"], "slot_deny_list": {"narrator": ["greet"]}}
    await here.page.reload()
    await expect(here.floor_views.last).to_be_visible()
    await here.chat.get_by_role("tab", name="Tools", exact=True).click()
    await expect(here.chat.get_by_label("add", exact=True)).to_be_checked()
    await expect(asked).to_have_count(0)
    # It is tried from a form of its schema; what its server says nothing of is agreed to.
    await here.chat.get_by_role("button", name="Try add", exact=True).click()
    form = here.page.get_by_role("dialog", name="Try add")
    await form.get_by_label("a (required)").fill("2")
    await form.get_by_label("b (required)").fill("3")
    await form.get_by_label("What it does cannot be undone: call it all the same").click()
    await form.get_by_role("button", name="Call it").click()
    await expect(form.get_by_label("What a model would be told")).to_contain_text("5")
    await here.editor.shot("tried")
