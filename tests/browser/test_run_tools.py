"""Tools that run here, in the editor: chosen in the inspector, and told in the run's timeline with arguments and result."""

import pytest
from playwright.async_api import expect

from agentui.jsonio import Json
from tests.browser.conftest import OpenEditor, axe, becomes
from tests.browser.inspector_page import choose, config_of
from tests.browser.test_trouble import HEADERS, say
from tests.conftest import call
from tests.upstreams.server import Call, Mock, Step

pytestmark = pytest.mark.browser

ROLL = Call("roll_dice", '{"notation": "1d1"}', "call_1")


async def test_a_call_stands_in_the_timeline_with_arguments_and_result(open_editor: OpenEditor, mock: Mock) -> None:
    document: Json = call("openai", mock.origin, headers=HEADERS, model="text", tools=["roll_dice"])
    editor = await open_editor({"default": document})
    mock.script([Step(text="", calls=(ROLL,)), Step(text="You rolled a one.")])
    page = editor.page
    await page.locator(".doc-tab").first.wait_for()
    await expect(await say(page, "Roll!")).to_contain_text("You rolled a one.")
    await page.locator(".run-tabs").get_by_role("tab", name="Timeline").click()
    await expect(page.locator(".run-bar-tool")).to_have_count(1)
    await page.locator(".run-tabs").get_by_role("tab", name="Node").click()
    tools = page.get_by_role("list", name="Tools that ran here")
    await expect(tools.get_by_role("listitem")).to_have_count(1)
    await expect(tools).to_contain_text("roll_dice")
    await expect(tools).to_contain_text("done")
    await tools.locator("summary").first.click()
    await expect(tools).to_contain_text("1d1")
    await expect(tools).to_contain_text("total")


async def test_tools_are_chosen_in_the_inspector(open_editor: OpenEditor) -> None:
    editor = await open_editor({"default": call("openai", "demo", headers=HEADERS, model="text")})
    page = editor.page
    await choose(page, "n1")
    side = page.get_by_role("region", name="Inspector")
    field = side.get_by_label("Tool to offer")
    await field.focus()
    options = side.locator("datalist option")
    await expect(options.locator("xpath=self::*[@value='group:library']")).to_have_count(1)
    await expect(options.locator("xpath=self::*[@value='roll_dice']")).to_have_count(1)
    await field.fill("roll_dice")
    await page.keyboard.press("Enter")
    await field.fill("group:library")
    await side.get_by_role("button", name="Add", exact=True).click()

    async def chosen() -> object:
        return (await config_of(page)).get("tools")

    await becomes(chosen, ["roll_dice", "group:library"])
    await field.fill("roll_dice")
    await expect(side.get_by_role("button", name="Add", exact=True)).to_be_disabled()
    assert await axe(page, ".inspector-side") == []
    await side.get_by_role("button", name="Remove roll_dice").click()
    await becomes(chosen, ["group:library"])
