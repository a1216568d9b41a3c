"""The memories of a chat in the page: seen or hidden, changed and undone, merged, found where they were said, and as files."""

import asyncio
import json
from typing import Any

import pytest
from playwright.async_api import Locator, expect

from agentui.jsonio import Json
from tests.browser.conftest import COLOUR_RULES, Editor, axe, becomes
from tests.browser.test_chat import Chat, OpenChat, chat
from tests.browser.test_chat_tools import beside

__all__ = ["chat"]

pytestmark = pytest.mark.browser

PHONE = 360


async def remembered(here: Chat, content: str, **more: Json) -> str:
    """A memory of the chat, written by another client; its id."""
    body = {"scope": "chat", "scope_id": here.session, "type": "fact", "content": content, **more}
    return str((await here.send("POST", "/memories", body))["data"]["id"])


async def kept(here: Chat, id: str) -> Any:
    """A memory as the server has it, seen from the end of main."""
    return (await here.send("GET", f"/memories/{id}?session_id={here.session}"))["data"]


def row(panel: Locator, text: str) -> Locator:
    """The memory that says this."""
    return panel.locator(".memories-item", has_text=text)


async def answer_page(here: Chat, floor: str) -> str:
    """The page of a floor's answer."""
    pages = (await here.send("GET", f"/pages?floor_id={floor}&page_kind=output"))["data"]
    return str(pages[0]["id"])


async def looked_at(editor: Editor, name: str) -> None:
    """The chat in both themes breaks no rule of accessibility."""
    await editor.shot(name)
    assert await axe(editor.page, ".chat") == []
    await editor.page.evaluate("async () => (await own('state/view.js')).setView({theme: 'light'})")
    await expect(editor.page.locator("html[data-theme=light]")).to_be_attached()
    await editor.shot(f"{name}-light")
    assert await axe(editor.page, ".chat", COLOUR_RULES) == []
    await editor.page.evaluate("async () => (await own('state/view.js')).setView({theme: 'dark'})")


async def test_a_person_sees_changes_merges_and_undoes(chat: OpenChat) -> None:
    here = await chat("I look around.", "I go on.")
    page = await answer_page(here, here.floors[0])
    said = await remembered(here, "Anna lives in Riga.", entities=["Anna"], fact_key="anna.home", sources=[{"page_id": page}])
    moved = await remembered(here, "Anna lives in Oslo.", entities=["Anna"])
    await remembered(here, "An old promise.", type="open_loop", status="deprecated")
    await here.show()
    panel = await beside(here, "Memories")
    anna = panel.get_by_role("region", name="Anna", exact=True)
    await expect(anna.locator(".memories-item")).to_have_count(2)
    await looked_at(here.editor, "list")

    # By keyboard: pin, then change its words.
    await row(panel, "Riga").get_by_role("button", name="Pin", exact=True).press("Enter")
    await becomes(lambda: kept(here, said), lambda found: found["pinned"])
    await row(panel, "Riga").get_by_role("button", name="Change memory").press("Enter")
    field = panel.get_by_label("What is remembered")
    await expect(field).to_be_focused()
    await field.fill("Anna lives in Riga, by the river.")
    assert await axe(here.page, ".chat") == []
    await panel.get_by_label("Importance, 0 to 1").fill("0.9")
    await panel.get_by_role("button", name="Save").press("Enter")
    await expect(row(panel, "by the river").get_by_role("button", name="Change memory")).to_be_focused()
    assert (await kept(here, said))["importance"] == 0.9

    # What it was comes back, change by change.
    await row(panel, "by the river").get_by_role("button", name="Change memory").click()
    await panel.get_by_role("button", name="Undo").click()
    await expect(panel.get_by_label("What is remembered")).to_have_value("Anna lives in Riga.")
    await here.page.keyboard.press("Escape")
    assert (await kept(here, said))["pinned"]

    # Two become one, and two again.
    await row(panel, "Oslo").get_by_role("button", name="More for").click()
    await here.page.get_by_role("menuitem", name="Merge with another").click()
    await row(panel, "Riga").get_by_role("button", name="Merge with this").click()
    await here.page.get_by_role("button", name="Keep “Anna lives in Oslo.”").click()
    await expect(row(panel, "Riga")).to_have_count(0)
    assert (await kept(here, said))["hidden_by"] == moved
    await panel.get_by_label("Show", exact=True).select_option("hidden")
    await expect(row(panel, "Riga")).to_contain_text("Another took its place")
    await expect(row(panel, "An old promise.")).to_contain_text("Forgotten")
    await row(panel, "Riga").get_by_role("button", name="Let both hold").click()
    await expect(row(panel, "Riga")).to_have_count(0)
    await row(panel, "An old promise.").get_by_role("button", name="Restore").click()
    await expect(panel.locator(".memories-item")).to_have_count(0)

    # Found by its words, forgotten, and removed for good but for the way back.
    await panel.get_by_label("Show", exact=True).select_option("all")
    await panel.get_by_label("Search").fill("PROMISE")
    await expect(panel.locator(".memories-item")).to_have_count(1)
    await row(panel, "promise").get_by_role("button", name="More for").click()
    await here.page.get_by_role("menuitem", name="Forget").click()
    await expect(row(panel, "promise")).to_contain_text("Forgotten")
    await row(panel, "promise").get_by_role("button", name="More for").click()
    await here.page.get_by_role("menuitem", name="Delete").click()
    await here.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(panel.locator(".memories-item")).to_have_count(0)
    await here.page.locator(".notice").get_by_role("button", name="Undo").click()
    await expect(row(panel, "promise")).to_be_visible()


async def test_one_is_written_agreed_to_and_switched_off(chat: OpenChat) -> None:
    here = await chat("I look around.")
    waits = await remembered(here, "Anna is a spy.")
    await here.send("PATCH", f"/memories/{waits}", {"waiting": True})
    await here.show()
    panel = await beside(here, "Memories")
    # Where nothing is seen the page says what to do; where something is looked for, that nothing is like it.
    await expect(panel).to_contain_text(
        "Nothing is remembered here. Write a memory, or let this chat's turns write them: see below."
    )
    await panel.get_by_label("Show", exact=True).select_option("pinned")
    await expect(panel).to_contain_text("No memory is like that.")
    await panel.get_by_label("Show", exact=True).select_option("seen")
    await panel.get_by_role("button", name="New memory").click()
    await panel.get_by_label("What is remembered").fill("The bridge is down.")
    await panel.get_by_label("People, places, things").fill("bridge, river")
    await panel.get_by_label("Importance, 0 to 1").fill("2")
    await expect(panel.get_by_role("button", name="Save")).to_be_disabled()
    await panel.get_by_label("Importance, 0 to 1").fill("1")
    await panel.get_by_label("Where it holds").select_option("branch")
    await panel.get_by_role("button", name="Save").click()
    await expect(panel.get_by_role("region", name="bridge", exact=True)).to_contain_text("The bridge is down.")
    await panel.get_by_label("Show", exact=True).select_option("waiting")
    await expect(panel.get_by_label("Show", exact=True)).to_contain_text("Waits for you (1)")
    await row(panel, "spy").get_by_role("button", name="Agree").click()
    await expect(panel.locator(".memories-item")).to_have_count(0)
    assert (await kept(here, waits))["visible"]
    await panel.get_by_label("This chat's turns").select_option("incognito")
    await expect(panel).to_contain_text("nothing read but what is pinned")
    assert (await here.send("GET", f"/sessions/{here.session}"))["data"]["memory"] == "incognito"

    # Another tab of this browser tells at once.
    other = await here.page.context.new_page()
    try:
        await other.goto(here.editor.server.origin + "/ui/")
        await panel.get_by_label("Show", exact=True).select_option("all")
        body = {"scope": "chat", "scope_id": here.session, "type": "fact", "content": "Told elsewhere."}
        await other.evaluate("async (body) => (await own('chat/memories/items.js')).write('POST', '/memories', body)", body)
        await expect(row(panel, "Told elsewhere.")).to_be_visible()
    finally:
        await other.close()


async def test_a_click_goes_to_where_it_was_said_on_its_branch(chat: OpenChat) -> None:
    here = await chat(*(f"Step {number}." for number in range(3)))
    await here.send("POST", f"/floors/{here.floors[0]}/branch", {"branch_id": "aside"})
    aside = await here.turn("The other way.", branch="aside")
    early = await answer_page(here, here.floors[0])
    other = await answer_page(here, aside)
    await remembered(here, "Said first.", sources=[{"page_id": early}])
    await remembered(here, "Said aside.", sources=[{"page_id": other}])
    await here.show()
    panel = await beside(here, "Memories")
    await row(panel, "Said first.").get_by_role("button", name="Where it was said").click()
    await expect(here.page.locator(f'[data-floor="{here.floors[0]}"]')).to_be_focused()
    await panel.get_by_label("Show", exact=True).select_option("all")
    await expect(row(panel, "Said aside.")).to_contain_text("Said on another branch")
    await row(panel, "Said aside.").get_by_role("button", name="Where it was said").press("Enter")
    await expect(here.page.locator(f'[data-floor="{aside}"]')).to_be_focused()
    await becomes(lambda: here.page.evaluate("async () => (await own('state/store.js')).store.get().session.branch"), "aside")


async def test_memories_leave_and_come_as_files(chat: OpenChat) -> None:
    here = await chat("I look around.")
    page = await answer_page(here, here.floors[0])
    quoted = [{"page_id": page, "quote": "gold"}]
    old = await remembered(here, "Anna lives in Riga.", entities=["Anna"], keys=["Anna's home"], sources=quoted)
    new = await remembered(here, "Anna lives in Oslo.", pinned=True)
    await here.send("POST", "/memory-edges", {"from_id": new, "to_id": old, "relation": "updates"})
    await here.show()
    panel = await beside(here, "Memories")

    async def saved(name: str) -> Any:
        await panel.get_by_role("button", name="Export").click()
        async with here.page.expect_download() as coming:
            await here.page.get_by_role("menuitem", name=name).click()
        return json.loads(await asyncio.to_thread((await (await coming.value).path()).read_text))

    book = await saved("as a lorebook")
    assert [(one["content"], one["constant"]) for one in book["entries"].values()] == [("Anna lives in Oslo.", True)]
    document = await saved("(JSON)")
    assert [one["content"] for one in document["items"]] == ["Anna lives in Riga.", "Anna lives in Oslo."]
    await here.send("POST", "/memories/batch/delete", {"ids": [old, new]})

    async def load(document: Json, name: str = "memories.json") -> None:
        await panel.get_by_label("File of memories or lorebook").set_input_files(
            {
                "name": name,
                "mimeType": "application/json",
                "buffer": document if isinstance(document, bytes) else json.dumps(document).encode(),
            }
        )

    notices = here.page.locator(".notice")
    await load(document)
    await expect(notices.filter(has_text="2 new, 0 known before")).to_be_visible()
    await load(document)
    await expect(notices.filter(has_text="0 new, 2 known before")).to_be_visible()
    items = (await here.send("GET", f"/memories?session_id={here.session}"))["data"]
    riga = next(item for item in items if item["content"] == "Anna lives in Riga.")
    assert (riga["hidden_reason"], riga["keys"], riga["sources"][0]["quote"]) == ("superseded", ["Anna's home"], "gold")
    # Pages of nobody, or of another account, are no sources: the words hold in this chat alone.
    stolen = {
        **document["items"][0],
        "content": "From elsewhere.",
        "scope": "global",
        "sources": [{"page_id": "page_of_another"}],
    }
    here.editor.allow("status of 404")
    await load({"format": "agentui-memories", "version": 1, "items": [stolen, {"type": "fact"}, 7], "edges": [{"from": "x"}]})
    await expect(notices.filter(has_text="1 new, 0 known before")).to_be_visible()
    found = (await here.send("GET", f"/memories?session_id={here.session}&q=From%20elsewhere"))["data"]
    assert [(one["scope"], one["sources"]) for one in found] == [("chat", [])]
    await load(
        {
            "entries": [
                {"keys": ["door"], "content": "The door is oak.", "constant": True},
                {"keys": ["x"], "content": "Off.", "enabled": False},
            ]
        }
    )
    await expect(row(panel, "The door is oak.")).to_contain_text("Pinned")
    await expect(row(panel, "Off.")).to_have_count(0)
    for hostile, words in (
        (b"{", "is no JSON"),
        (b"[]", "neither memories nor"),
        (json.dumps({"entries": [7] * 20_001}).encode(), "more than 20,000"),
    ):
        await load(hostile, "hostile.json")
        await expect(notices.filter(has_text=words)).to_be_visible()


async def test_on_a_phone_a_long_list_comes_in_parts(chat: OpenChat) -> None:
    here = await chat("I look around.", own=True, width=PHONE, height=740)
    for number in range(52):
        await remembered(here, f"Fact {number} with-a-very-long-word-that-has-no-place-to-break-{'x' * 60}")
    await here.show()
    panel = await beside(here, "Memories")
    await expect(panel.locator(".memories-item")).to_have_count(50)
    await looked_at(here.editor, "phone")
    assert await here.page.evaluate(
        "document.querySelector('.memories').scrollWidth <= document.querySelector('.memories').clientWidth"
    )
    await panel.get_by_role("button", name="Older").click()
    await expect(panel.locator(".memories-item")).to_have_count(2)
    await expect(panel.get_by_role("button", name="Older")).to_be_disabled()
    await panel.get_by_role("button", name="New memory").click()
    await here.editor.shot("phone-form")
    assert await here.page.evaluate(
        "document.querySelector('.memories').scrollWidth <= document.querySelector('.memories').clientWidth"
    )
    for language, words in (("ru", "Новое воспоминание"), ("zh", "新建记忆")):
        await here.page.evaluate("async (language) => (await own('words.js')).loadLocale(language)", language)
        await expect(here.page.locator(".memories").get_by_role("button", name=words)).to_be_visible()
