"""Tools in the chat: what the session allows, the calls of a turn while it goes on and afterwards, and the working variables."""

from typing import Any

import pytest
from playwright.async_api import Locator, expect

from tests.browser.conftest import axe, becomes
from tests.browser.test_chat import Chat, OpenChat, answered_by, chat
from tests.upstreams.server import Mock
from tests.upstreams.step import Call, Step

__all__ = ["chat"]

pytestmark = pytest.mark.browser

ROLL = Call("roll_dice", '{"notation": "1d1"}', "call_1")


async def beside(here: Chat, name: str) -> Locator:
    """One of the pages beside the talk."""
    tab = here.chat.get_by_role("tab", name=name, exact=True)
    await tab.click()
    await expect(tab).to_have_attribute("aria-selected", "true")
    return here.chat.get_by_role("tabpanel", name=name, exact=True)


async def test_a_session_allows_tools_and_a_turn_shows_its_calls(chat: OpenChat, mock: Mock) -> None:
    here = await chat("I look around.")
    here.editor.server.put("default", answered_by(mock, "text"))
    await here.show()
    tools = await beside(here, "Tools")
    await tools.get_by_label("Models may use tools").click()
    roll = tools.get_by_label("roll_dice", exact=True)
    await expect(roll).to_be_checked()
    await expect(tools.get_by_label("delete_preset", exact=True)).not_to_be_checked()
    assert await axe(here.page, ".chat") == []
    mock.script([Step(text="", calls=(ROLL,)), Step(text="You rolled a one.")])
    await here.say("Roll!")
    calls = here.floor_views.last.get_by_role("list", name="Tool calls")
    await expect(calls).to_contain_text("roll_dice")
    await expect(calls).to_contain_text("done")
    await calls.locator("summary").click()
    await expect(calls).to_contain_text("1d1")
    await expect(calls).to_contain_text("total")
    assert await axe(here.page, ".chat") == []


async def test_what_a_session_allows_is_changed_and_kept(chat: OpenChat) -> None:
    here = await chat("I look around.")
    said: dict[str, object] = {"enabled": True, "slot_deny_list": {"director": ["roll_dice"]}}
    await here.send("PUT", f"/sessions/{here.session}/tool-permissions", said)
    await here.show()

    async def kept() -> Any:
        return (await here.send("GET", f"/sessions/{here.session}/tool-permissions"))["data"]

    tools = await beside(here, "Tools")
    await tools.get_by_label("roll_dice", exact=True).click()
    await expect(tools.get_by_label("roll_dice", exact=True)).not_to_be_checked()
    # One that cannot be undone is allowed, and none of the others with it.
    await tools.get_by_label("create_preset", exact=True).click()
    await expect(tools.get_by_label("create_preset", exact=True)).to_be_checked()
    await expect(tools.get_by_label("delete_preset", exact=True)).not_to_be_checked()
    await becomes(kept, lambda found: found.get("irreversible_allow_list") == ["create_preset"])
    library = tools.get_by_role("group", name="library", exact=True)
    await library.get_by_role("button", name="None of library").click()
    await expect(library.get_by_role("checkbox", checked=True)).to_have_count(0)
    await library.get_by_role("button", name="All of library").click()
    await expect(library.get_by_role("checkbox", checked=False)).to_have_count(0)
    await tools.get_by_label("All tools that cannot be undone").click()
    await expect(tools.get_by_label("delete_preset", exact=True)).to_be_checked()
    calls = tools.get_by_label("Calls in a turn")
    await calls.fill("0")
    await expect(tools.get_by_role("alert")).to_contain_text("1,000")
    await calls.fill("5")
    await calls.press("Enter")

    said.update(
        allow_irreversible=True,
        irreversible_allow_list=["create_preset"],
        max_calls_per_turn=5,
        slot_deny_list={"director": ["roll_dice"], "narrator": ["roll_dice"]},
    )
    await becomes(kept, said)


async def test_a_floor_without_calls_says_so(chat: OpenChat) -> None:
    here = await chat("I look around.")
    await here.show()
    await here.menu(0, "Tool calls")
    await expect(here.page.get_by_text("No tools were called for this floor.")).to_be_visible()


async def test_working_variables_are_listed_read_written_and_deleted(chat: OpenChat) -> None:
    here = await chat("I look around.")
    working = f"/sessions/{here.session}/working-variables"
    long = "😀" * 100_000 + "the end"
    await here.send("PUT", f"{working}/plan", {"value": "Go north.", "desc": "Where to", "tags": ["way"]})
    await here.send("PUT", f"{working}/long", {"value": long})
    await here.choose()
    panel = await here.panel("Working variables")
    plan = panel.get_by_role("row", name="plan")
    await expect(plan).to_contain_text("9 characters")
    await expect(plan).to_contain_text("way")
    assert await axe(here.page, ".variables") == []
    await plan.get_by_role("button", name="plan").click()
    dialog = here.page.get_by_role("dialog")
    value = dialog.get_by_label("Value", exact=True)
    await expect(value).to_have_value("Go north.")
    assert await axe(here.page, "dialog") == []
    await value.fill("Go south.")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)

    async def kept() -> object:
        return (await here.send("GET", f"{working}/plan"))["data"]["value"]

    await becomes(kept, "Go south.")
    # A long value is written only when all of it was read.
    await panel.get_by_role("button", name="long", exact=True).click()
    await expect(value).to_be_disabled()
    await dialog.get_by_role("button", name="Read on: 7 characters are missing").click()
    await expect(value).to_be_enabled()
    await dialog.get_by_role("button", name="Cancel").click()
    await panel.get_by_role("button", name="New working variable").click()
    await dialog.get_by_label("Name", exact=True).fill("a:b")
    await expect(dialog.get_by_role("alert")).to_be_visible()
    await expect(dialog.get_by_role("button", name="Save")).to_be_disabled()
    await dialog.get_by_label("Name", exact=True).fill("note")
    await value.fill("Remember.")
    await dialog.get_by_role("button", name="Save").click()
    await panel.get_by_role("button", name="note", exact=True).click()
    await dialog.get_by_role("button", name="Delete", exact=True).click()
    await here.page.get_by_role("dialog", name="Delete note?").get_by_role("button", name="Delete", exact=True).click()
    await expect(here.page.get_by_role("dialog")).to_have_count(0)
    await expect(panel.get_by_role("button", name="note", exact=True)).to_have_count(0)


async def test_a_rule_is_only_read(chat: OpenChat) -> None:
    here = await chat("I look around.")
    await here.choose()
    panel = await here.panel("Working variables")
    await panel.get_by_label("Type", exact=True).select_option("Rule")
    await panel.locator(".working-open").first.click()
    dialog = here.page.get_by_role("dialog")
    await expect(dialog.get_by_label("Value", exact=True)).to_be_disabled()
    await expect(dialog.get_by_label("Value", exact=True)).not_to_have_value("")
    await expect(dialog.get_by_role("button", name="Save")).to_have_count(0)


@pytest.mark.parametrize(("locale", "tools"), [("ru", "Инструменты"), ("zh", "工具")])
async def test_what_the_servers_own_tools_do_is_said_in_the_chosen_language(chat: OpenChat, locale: str, tools: str) -> None:
    here = await chat("I look around.")
    await here.send("PUT", f"/sessions/{here.session}/tool-permissions", {"enabled": True})
    await here.show()
    await here.page.evaluate("async (locale) => (await own('state/view.js')).setLocale(locale)", locale)
    catalog = (await here.send("GET", f"/sessions/{here.session}/tool-catalog"))["data"]
    english = {tool["description"] for tool in catalog}
    shown = await beside(here, tools)
    await shown.get_by_label("roll_dice", exact=True).wait_for()
    said = await shown.locator(".check .field-hint").all_inner_texts()
    assert len(said) >= len(catalog)
    assert [text for text in said if any(text.endswith(words) for words in english)] == []
