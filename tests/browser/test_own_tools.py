"""Tools that people define, in the page: made, refused at their fields, changed, switched and deleted."""

from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.conftest import axe, becomes
from tests.browser.test_chat import OpenChat, chat
from tests.upstreams.server import Mock

__all__ = ["chat"]

pytestmark = pytest.mark.browser


async def test_a_tool_is_made_refused_changed_switched_and_deleted(chat: OpenChat) -> None:
    here = await chat()
    here.editor.allow("status of 4")
    page = here.page
    await page.get_by_role("button", name="Menu", exact=True).click()
    await page.get_by_role("menuitem", name="Tools of your own").click()
    dialog = page.get_by_role("dialog", name="Tools of your own")
    await expect(dialog).to_contain_text("There are no such tools yet.")
    await dialog.get_by_role("button", name="New tool").click()
    form = page.get_by_role("dialog", name="New tool")
    save = form.get_by_role("button", name="Save", exact=True)
    await form.get_by_label("Name", exact=True).fill("weather")
    await form.get_by_label("Arguments (JSON Schema)").fill("[1]")
    await expect(form.get_by_text("This is no object of JSON.")).to_be_visible()
    await expect(save).to_be_disabled()
    await form.get_by_label("Arguments (JSON Schema)").fill('{"properties": {"city": {"type": "string"}}}')
    await form.get_by_label("Address", exact=True).fill("https://{{ args.city }}/")
    await form.get_by_label("Headers", exact=True).fill("accept: text/plain")
    await save.click()
    await expect(form.get_by_label("Address", exact=True)).to_have_attribute("aria-invalid", "true")
    await form.get_by_label("Address", exact=True).fill("https://weather.example/{{ args.city }}")
    assert await axe(page, "dialog") == []
    await save.click()
    line = dialog.get_by_role("listitem").filter(has_text="weather")
    await expect(line).to_contain_text("GET https://weather.example/{{ args.city }}")
    assert await axe(page, "dialog") == []

    async def kept() -> Any:
        return (await here.send("GET", "/tools/definitions"))["data"]

    await becomes(kept, lambda found: found[0]["handler"]["headers"] == {"accept": "text/plain"})
    # Another one of the same name is refused at the name.
    await dialog.get_by_role("button", name="New tool").click()
    await form.get_by_label("Name", exact=True).fill("weather")
    await form.get_by_label("What serves its calls").select_option(label="pipeline")
    await form.get_by_label("Pipeline", exact=True).select_option("default")
    await save.click()
    await expect(form.get_by_label("Name", exact=True)).to_have_attribute("aria-invalid", "true")
    await form.get_by_label("Name", exact=True).fill("story")
    await save.click()
    await expect(dialog.get_by_role("listitem").filter(has_text="story")).to_contain_text("pipeline")
    # Changed, switched off, and deleted.
    await line.get_by_role("button", name="Edit weather").click()
    edited = page.get_by_role("dialog", name="Edit weather")
    await edited.get_by_label("Description").fill("Rain or sun.")
    await edited.get_by_label("Timeout (milliseconds)").fill("5000")
    await edited.get_by_role("button", name="Save", exact=True).click()
    await expect(line).to_contain_text("Rain or sun.")
    await line.get_by_role("checkbox").click()
    await expect(line.get_by_role("checkbox")).not_to_be_checked()

    def is_changed(found: Any) -> bool:
        (one,) = (each for each in found if each["name"] == "weather")
        return (
            not one["enabled"]
            and one["handler"]["timeout_ms"] == 5000
            and one["handler"]["headers"] == {"accept": "text/plain"}
        )

    await becomes(kept, is_changed)
    await line.get_by_role("button", name="Delete weather").click()
    await page.get_by_role("dialog", name="Delete weather").get_by_role("button", name="Delete", exact=True).click()
    await expect(line).to_have_count(0)


async def test_a_tool_is_tried_with_arguments_from_its_form(chat: OpenChat, mock: Mock) -> None:
    here = await chat()
    page = here.page
    handler = {"method": "POST", "url": f"{mock.origin}/nowhere/{{{{ args.city }}}}", "body": '{"days": {{ args.days }}}'}
    schema = {
        "properties": {"city": {"type": "string", "description": "Where"}, "days": {"type": "integer"}},
        "required": ["city"],
    }
    tool = {"name": "weather", "description": "", "parameters": schema, "handler_type": "http", "handler": handler}
    await here.send("POST", "/tools/definitions", tool)
    await page.get_by_role("button", name="Menu", exact=True).click()
    await page.get_by_role("menuitem", name="Tools of your own").click()
    await page.get_by_role("button", name="Edit weather").click()
    form = page.get_by_role("dialog", name="Edit weather")
    await form.get_by_text("Try it", exact=True).click()
    call = form.get_by_role("button", name="Call it")
    await form.get_by_label("city (required)").fill("Oslo")
    await form.get_by_label("days", exact=True).fill("two")
    await expect(form.get_by_label("days", exact=True)).to_have_attribute("aria-invalid", "true")
    await form.get_by_label("days", exact=True).fill("2")
    # It cannot be undone, so that it is agreed to first, each time.
    await expect(call).to_be_disabled()
    await form.get_by_label("What it does cannot be undone: call it all the same").click()
    await call.press("Enter")
    # The mock knows no such address.
    await expect(form.get_by_role("status")).to_contain_text("failed")
    await expect(form.get_by_label("What a model would be told")).to_contain_text("404")
    await expect(call).to_be_disabled()
    assert await axe(page, "dialog") == []
    await form.get_by_label("Description").fill("Rain or sun.")
    await expect(form.get_by_text("Save first: what is saved is tried.")).to_be_visible()


async def test_the_servers_own_tools_are_tried_with_fields_of_their_kinds(chat: OpenChat) -> None:
    here = await chat()
    page = here.page
    await page.get_by_role("button", name="Menu", exact=True).click()
    await page.get_by_role("menuitem", name="Tools of your own").click()
    await page.get_by_text("Tools of this server").click()
    await page.get_by_role("button", name="Try roll_dice").click()
    form = page.get_by_role("dialog", name="Try roll_dice")
    # A number has a number's field, which says the bounds of the schema.
    await form.get_by_label("sides", exact=True).fill("0")
    await expect(form.get_by_label("sides", exact=True)).to_have_attribute("aria-invalid", "true")
    await expect(form.get_by_role("button", name="Call it")).to_be_disabled()
    await form.get_by_label("sides", exact=True).fill("1")
    await form.get_by_label("count", exact=True).fill("3")
    await form.get_by_role("button", name="Call it").click()
    await expect(form.get_by_label("What a model would be told")).to_contain_text('"total":3')
    assert await axe(page, "dialog") == []
    await form.get_by_role("button", name="Close", exact=True).last.click()
    # A list has rows, and a choice is chosen.
    await page.get_by_role("button", name="Try random_choice").click()
    form = page.get_by_role("dialog", name="Try random_choice")
    await form.get_by_role("button", name="Add: options").click()
    await form.get_by_role("textbox", name="options 1").fill("heads")
    await form.get_by_role("button", name="Call it").click()
    await expect(form.get_by_label("What a model would be told")).to_contain_text('"choice":"heads"')
    await form.get_by_role("button", name="Close", exact=True).last.click()
    # In the language of the page, what it does and what its arguments are.
    await page.keyboard.press("Escape")
    await page.evaluate("async () => (await own('state/view.js')).setLocale('ru')")
    await page.get_by_role("button", name="Меню", exact=True).click()
    await page.get_by_role("menuitem", name="Свои инструменты").click()
    await page.get_by_text("Инструменты этого сервера").click()
    await page.get_by_role("button", name="Попробовать get_variable").click()
    form = page.get_by_role("dialog", name="Попробовать get_variable")
    await expect(form).to_contain_text("Читает переменную этого чата по имени.")
    await expect(form).to_contain_text("Имя переменной или путь в её значение")
    await expect(form.get_by_label("scope").locator("option")).to_have_count(6)


async def test_a_tool_is_tried_in_a_chat_and_sees_its_variables(chat: OpenChat) -> None:
    here = await chat("I look around.")
    page, session = here.page, here.session
    await here.send("PUT", f"/sessions/{session}/tool-permissions", {"enabled": True})
    await here.send("PUT", "/variables", {"scope": "chat", "scope_id": session, "key": "silver", "value": 41})
    await here.show()
    await here.chat.get_by_role("tab", name="Tools", exact=True).click()
    await page.get_by_role("button", name="Try get_variable").click()
    form = page.get_by_role("dialog", name="Try get_variable")
    # Nothing is wrong with a form that nobody has filled in; it only cannot be sent.
    await expect(form.get_by_role("alert")).to_have_count(0)
    await expect(form.get_by_role("button", name="Call it")).to_be_disabled()
    await form.get_by_label("key (required)").fill("silver")
    await form.get_by_role("button", name="Call it").click()
    await expect(form.get_by_label("What a model would be told")).to_contain_text('"value":41')
