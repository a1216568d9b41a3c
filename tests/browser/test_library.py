"""The library: assets that are found, imported, made, changed, compared and deleted, and chats that begin with a character."""

import base64
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect
from sqlalchemy import Connection

from agentui.assets.files.cards import KeptCard, read_card_file, write_card
from agentui.assets.files.limits import FileLimits
from agentui.jsonio import Json, dumps
from agentui.library.assets import create_asset
from agentui.library.content import packed
from agentui.principal import DEFAULT_ACCOUNT
from tests.browser.conftest import OpenEditor, axe, becomes
from tests.browser.test_variables_panel import GOLD, Memory

pytestmark = pytest.mark.browser

SERAPHINA: dict[str, Json] = {
    "name": "Seraphina",
    "description": "A guardian of the forest.",
    "first_mes": "Hello {{user}}, I am {{char}}.",
    "alternate_greetings": ["You again?"],
    "tags": ["fantasy"],
    "extensions": {"unknown": {"kept": True}},
}
PICTURE = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNocDjwHwAFRAKAb2WvNQAAAABJRU5ErkJggg==")
"""A picture of one pixel."""
MANY = 1000
DROP = """([name, data, type]) => {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], name, {type}));
  document.body.dispatchEvent(new DragEvent('drop', {bubbles: true, cancelable: true, dataTransfer: transfer}));
}"""
"""Drops a file on the window."""


class Library(Memory):
    """The library of an editor, and the server behind it."""

    @property
    def panel(self) -> Locator:
        return self.page.locator(".library")

    @property
    def items(self) -> Locator:
        return self.page.locator(".library-open")

    @property
    def dialog(self) -> Locator:
        """The editor of an asset."""
        return self.page.locator("dialog.library-editor")

    async def make(self, path: str, body: Json) -> Any:
        """Make an asset as another client does."""
        return (await self.send("POST", path, body))["data"]

    async def show(self, kind: str = "Characters") -> None:
        """Open the library at a kind."""
        await self.page.evaluate("async () => (await own('actions.js')).runAction('library.open')")
        await self.panel.get_by_label("Kind").select_option(kind)

    async def open(self, name: str) -> Locator:
        """Open an asset of the shown kind."""
        await self.page.locator(".library-open", has_text=name).click()
        await self.dialog.locator(".library-form").wait_for()
        return self.dialog

    async def save(self) -> None:
        """Save what is open; returns when it is saved."""
        await self.dialog.get_by_role("button", name="Save", exact=True).click()
        await expect(self.page.locator(".notice", has_text="was saved.")).to_be_visible()

    async def drop(self, name: str, data: bytes, type: str = "application/json") -> Locator:
        """Drop a file on the page; the dialog with the reports."""
        await self.page.evaluate(DROP, [name, base64.b64encode(data).decode(), type])
        return self.page.get_by_role("dialog", name="Import into the library")


OpenLibrary = Callable[..., Awaitable[Library]]


@pytest_asyncio.fixture(loop_scope="session")
async def library(open_calm: OpenEditor) -> OpenLibrary:
    """Open an editor with the gold counter, before its library is shown."""

    async def open_one(**options: Any) -> Library:
        here = Library(await open_calm({"default": GOLD}, **options))
        await here.page.locator(".doc-tab").first.wait_for()
        return here

    return open_one


def furnish(db: Connection, count: int) -> None:
    """Make that many characters."""
    for number in range(count):
        name = f"Character {number:04}"
        create_asset(
            db, DEFAULT_ACCOUNT, "character", name, packed({"name": name}), number, tags=["even" if number % 2 == 0 else "odd"]
        )


async def test_a_character_is_made_changed_and_compared_with_before(library: OpenLibrary) -> None:
    here = await library()
    await here.show()
    await expect(here.panel.get_by_text("No characters yet")).to_be_visible()
    assert await axe(here.page, ".library") == []
    await here.panel.get_by_role("button", name="New character").click()
    question = here.page.get_by_role("dialog", name="New character")
    await question.get_by_label("Name").fill("Seraphina")
    await question.get_by_role("button", name="Create").click()
    await here.dialog.get_by_label("Description").fill("A guardian of the forest.")
    await expect(here.dialog.get_by_text("Always in the prompt: 7 tokens")).to_be_visible()
    await here.dialog.get_by_role("button", name="Add a greeting").click()
    await here.dialog.get_by_role("textbox", name="Greeting 2").fill("You again?")
    assert await axe(here.page, "dialog") == []
    await here.save()
    listed = (await here.send("GET", "/characters"))["data"]
    kept = (await here.send("GET", f"/characters/{listed[0]['id']}"))["data"]["latest_version"]
    assert kept["version_no"] == 2
    assert kept["snapshot"] == {
        "name": "Seraphina",
        "description": "A guardian of the forest.",
        "alternate_greetings": ["You again?"],
    }
    await here.dialog.get_by_role("tab", name="Versions").click()
    await here.dialog.get_by_role("button", name="Version 1").click()
    await expect(here.dialog.locator(".library-difference")).to_contain_text("A guardian of the forest.")
    assert await axe(here.page, "dialog") == []
    await here.dialog.get_by_role("button", name="Go back to it").click()
    await expect(here.dialog.get_by_label("Description")).to_have_value("")


async def test_what_the_form_does_not_show_is_kept(library: OpenLibrary) -> None:
    here = await library()
    made = await here.make("/characters", {"snapshot": SERAPHINA})
    await here.show()
    dialog = await here.open("Seraphina")
    await dialog.get_by_label("Scenario").fill("A glade.")
    await here.page.keyboard.press("Control+S")
    await expect(here.page.locator(".notice", has_text="was saved.")).to_be_visible()
    kept = (await here.send("GET", f"/characters/{made['id']}"))["data"]["latest_version"]["snapshot"]
    assert kept == {**SERAPHINA, "scenario": "A glade."}


async def test_nobody_is_overwritten_and_nothing_is_lost_unasked(library: OpenLibrary) -> None:
    here = await library()
    here.editor.allow("status of 409")
    made = await here.make("/characters", {"snapshot": SERAPHINA})
    await here.show()
    dialog = await here.open("Seraphina")
    await here.send("POST", f"/characters/{made['id']}/versions", {"snapshot": {**SERAPHINA, "scenario": "Theirs."}})
    await dialog.get_by_label("Scenario").fill("Mine.")
    await dialog.get_by_role("button", name="Save", exact=True).click()
    await here.page.get_by_role("button", name="Read it anew").wait_for()
    await here.page.keyboard.press("Escape")
    question = here.page.get_by_role("dialog", name="Close without saving?")
    await question.get_by_role("button", name="Cancel").click()
    await expect(dialog.get_by_label("Scenario")).to_have_value("Mine.")
    kept = (await here.send("GET", f"/characters/{made['id']}"))["data"]["latest_version"]["snapshot"]
    assert kept["scenario"] == "Theirs."


async def test_what_was_deleted_comes_back(library: OpenLibrary) -> None:
    here = await library()
    await here.make("/characters", {"snapshot": SERAPHINA})
    await here.show()
    await here.items.first.focus()
    await here.page.keyboard.press("F2")
    question = here.page.get_by_role("dialog", name="Rename")
    await question.get_by_label("Name").fill("Nightingale")
    await question.get_by_role("button", name="Rename").click()
    # Who deletes it before the server has renamed it is not told that both cannot be.
    await here.items.first.focus()
    await here.page.keyboard.press("Delete")
    await expect(here.items).to_have_count(0)
    await here.page.get_by_role("button", name="Undo", exact=True).last.click()
    await expect(here.items).to_contain_text(["Nightingale"])


async def test_a_chat_begins_with_one_click(library: OpenLibrary) -> None:
    here = await library()
    made = await here.make("/characters", {"snapshot": SERAPHINA})
    await here.show()
    await here.panel.get_by_role("button", name="Start a chat with Seraphina").click()
    await expect(here.page.locator("#chat-input")).to_be_focused()
    said = here.page.locator('.chat-floors [data-t="said-assistant"] .said-text')
    await expect(said).to_contain_text("I am Seraphina.")
    sessions = (await here.send("GET", "/sessions"))["data"]
    assert [one["character_binding"]["character_id"] for one in sessions] == [made["id"]]
    book = await here.make("/worldbooks", {"name": "World", "data": {"entries": {}}})
    await here.show("Lorebooks")
    more = here.panel.get_by_role("button", name="More about World")
    use = here.page.get_by_role("menuitemcheckbox", name="Use in the open chat")
    for is_used, told in ((False, "is used in the chat"), (True, "is no longer used")):
        await more.click()
        await expect(use).to_be_checked(checked=is_used)
        await use.click()
        await expect(here.page.locator(".notice", has_text=told)).to_be_visible()
        kept = (await here.send("GET", f"/sessions/{sessions[0]['id']}"))["data"]["worldbook_profile_id"]
        assert kept == (None if is_used else book["id"])


async def test_a_thousand_are_searched_and_few_are_drawn(library: OpenLibrary) -> None:
    here = await library()
    await here.editor.server.state.store.write(furnish, MANY)
    await here.show()
    await expect(here.panel.get_by_text("1,000 found")).to_be_visible()
    await expect(here.items.first).to_contain_text("Character 0999")
    await becomes(here.items.count, lambda count: count < 60)
    await here.items.first.focus()
    await here.page.keyboard.press("End")
    last = here.page.locator(".library-open", has_text="Character 0000")
    await expect(last).to_be_focused()
    await becomes(here.items.count, lambda count: count < 60)
    await here.panel.get_by_label("Order").select_option("By name")
    await expect(here.items.first).to_contain_text("Character 0000")
    await expect(here.page.locator("#library-known-tags option")).to_have_count(2)
    await here.panel.get_by_label("Tag").fill("odd")
    await expect(here.panel.get_by_text("500 found")).to_be_visible()
    await here.panel.get_by_label("Search names").fill("er 099")
    await expect(here.panel.get_by_text("5 found", exact=True)).to_be_visible()
    await expect(here.items.first).to_contain_text("Character 0991")
    await here.panel.get_by_label("Kind").select_option("Users")
    await expect(here.panel.get_by_label("Search names")).to_have_count(1)
    await expect(here.panel.get_by_label("Search names")).to_have_value("")


async def test_prompts_are_sorted_with_the_keyboard_and_switched(library: OpenLibrary) -> None:
    here = await library()
    prompts: list[dict[str, Json]] = [
        {"identifier": "main", "name": "Main", "role": "system", "content": "Write."},
        {"identifier": "chatHistory", "name": "Chat", "marker": True},
        {"identifier": "late", "name": "Late", "role": "user", "content": "Go on."},
    ]
    order = [{"identifier": one["identifier"], "enabled": True} for one in prompts]
    data: dict[str, Json] = {
        "name": "Plain",
        "prompts": prompts,
        "prompt_order": [{"character_id": 100001, "order": order}],
        "unknown": [1],
        "temperature": 0.5,
        "top_k": 40,
        "min_p": 0.05,
        "repetition_penalty": 1.1,
    }
    made = await here.make("/presets", {"name": "Plain", "data": data})
    await here.show("Prompt presets")
    dialog = await here.open("Plain")
    await expect(dialog.get_by_text("4 tokens").first).to_be_visible()
    await dialog.get_by_role("button", name="Move Late, 3 of 3").focus()
    await here.page.keyboard.press("ArrowUp")
    await expect(dialog.get_by_role("button", name="Move Late, 2 of 3")).to_be_focused()
    await dialog.get_by_label("Chat is on").uncheck()
    await dialog.get_by_role("button", name="Late", exact=True).click()
    await dialog.get_by_label("Text").fill("Go on, please.")
    await dialog.get_by_label("Temperature").fill("0.7")
    # Where a parameter goes, and where it does not, stands at its field.
    for name, told in (
        ("Top K", "Claude, Gemini"),
        ("Min P", "OpenAI-compatible"),
        ("Repetition penalty", "OpenAI-compatible"),
    ):
        await expect(dialog.get_by_label(name)).to_have_accessible_description(re.compile(told))
    preview = dialog.get_by_role("region", name="Preview")
    await expect(preview.get_by_role("status")).to_have_text(re.compile(r"^[\d,]+ of [\d,]+ tokens$"))
    await expect(preview.locator(".library-preview").filter(has_text="Late")).to_have_count(1)
    await preview.get_by_label("What the user says").fill("Is anybody there?")
    await expect(preview.get_by_text("Is anybody there?")).to_have_count(1)
    assert await axe(here.page, "dialog") == []
    await here.save()
    kept = (await here.send("GET", f"/presets/{made['id']}"))["data"]["data"]
    assert kept["prompt_order"][0]["order"] == [
        {"identifier": "main", "enabled": True},
        {"identifier": "late", "enabled": True},
        {"identifier": "chatHistory", "enabled": False},
    ]
    assert (kept["name"], kept["unknown"], kept["temperature"]) == ("Plain", [1], 0.7)
    assert [one["content"] for one in kept["prompts"] if one["identifier"] == "late"] == ["Go on, please."]


async def test_entries_of_a_lorebook_are_found_added_and_changed(library: OpenLibrary) -> None:
    here = await library()
    entries: dict[str, dict[str, Json]] = {
        str(uid): {"uid": uid, "comment": f"Place {uid}", "key": [f"key {uid}"], "content": "There.", "order": uid, "kept": uid}
        for uid in range(300)
    }
    made = await here.make("/worldbooks", {"name": "World", "data": {"name": "World", "entries": entries}})
    await here.show("Lorebooks")
    dialog = await here.open("World")
    await expect(dialog.locator(".library-table-row").first).to_be_visible()
    await becomes(dialog.locator(".library-table-row").count, lambda count: count < 60)
    await dialog.get_by_label("Search entries").fill("key 17")
    await dialog.get_by_role("button", name="Place 17", exact=True).click()
    await dialog.get_by_label("Keys", exact=True).fill("cave, /dark, damp/i")
    await dialog.get_by_label("Position").select_option("At a depth")
    assert await axe(here.page, "dialog") == []
    await dialog.get_by_role("button", name="Add an entry").click()
    await dialog.get_by_label("Title").fill("New place")
    await here.save()
    kept = (await here.send("GET", f"/worldbooks/{made['id']}"))["data"]["data"]["entries"]
    assert kept["17"] == {**entries["17"], "key": ["cave", "/dark, damp/i"], "position": 4}
    assert kept["300"]["comment"] == "New place"
    assert kept["18"] == entries["18"]


async def test_a_user_is_made_and_described(library: OpenLibrary) -> None:
    here = await library()
    await here.show("Users")
    await here.panel.get_by_role("button", name="New user").click()
    question = here.page.get_by_role("dialog", name="New user")
    await question.get_by_label("Name").fill("Ann")
    await question.get_by_role("button", name="Create").click()
    await here.dialog.get_by_label("Description").fill("A traveller.")
    await here.dialog.get_by_label("Position").select_option("Within the chat")
    await here.dialog.get_by_label("Depth").fill("3")
    await here.save()
    listed = (await here.send("GET", "/users"))["data"]
    kept = (await here.send("GET", f"/users/{listed[0]['id']}"))["data"]["snapshot"]
    assert kept == {"name": "Ann", "description": "A traveller.", "position": 4, "depth": 3}


async def test_the_library_serves_a_phone_in_three_languages(library: OpenLibrary) -> None:
    here = await library(width=390, height=800)
    await here.make("/characters", {"snapshot": SERAPHINA})
    await here.show()
    for language, title in (("ru", "Персонажи"), ("zh", "角色"), ("en", "Characters")):
        await here.page.evaluate("async (locale) => (await own('state/view.js')).setLocale(locale)", language)
        await expect(here.panel.locator("select").first).to_contain_text(title)
        await expect(here.items.first).to_contain_text("Seraphina")
        assert await axe(here.page, ".library") == []
    dialog = await here.open("Seraphina")
    await becomes(lambda: here.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), True)
    assert await axe(here.page, "dialog") == []
    await dialog.get_by_label("Scenario").fill("A glade.")
    # A message that stays covers none of the buttons.
    await here.page.evaluate(
        "async () => (await own('state/notices.js')).notifyFailure(new Error('It is far too long. '.repeat(9)))"
    )
    await expect(here.page.locator("dialog .notice")).to_contain_text("far too long")
    await here.save()


async def test_files_dropped_on_the_page_are_imported_with_a_report(library: OpenLibrary) -> None:
    here = await library()
    script = {"scriptName": "Shout", "findRegex": "/a/g", "replaceString": "A", "placement": [2]}
    data: dict[str, Json] = {**SERAPHINA, "extensions": {"regex_scripts": [script]}}
    card = KeptCard(data, {}, PICTURE)
    reports = await here.drop("seraphina.png", write_card(card, "png"), "image/png")
    await expect(reports.get_by_text("1 regex script came with it")).to_be_visible()
    assert await axe(here.page, "dialog") == []
    await here.drop("broken.png", b"This is no picture.", "image/png")
    here.editor.allow("status of 4")
    await expect(reports.get_by_role("alert")).to_be_visible()
    await here.drop("secret.json", dumps({"prompts": [], "prompt_order": [], "reverse_proxy": "https://elsewhere"}))
    await expect(reports.get_by_text("reverse_proxy")).to_be_visible()
    await reports.get_by_role("button", name="Open").first.click()
    consent = here.dialog.get_by_label("The 1 regex script that came with it runs")
    await expect(consent).not_to_be_checked()
    await consent.click()
    await expect(consent).to_be_checked()
    await expect(here.dialog.locator("img.library-picture")).to_be_visible()
    await here.page.keyboard.press("Escape")
    await here.show()
    await expect(here.panel.locator("img.library-picture")).to_be_visible()
    await here.panel.get_by_role("button", name="More about Seraphina").click()
    async with here.page.expect_download() as waiting:
        await here.page.get_by_role("menuitem", name="Export as a PNG card").click()
    saved = await waiting.value
    assert saved.suggested_filename == "Seraphina.png"
    assert data.items() <= read_card_file((await saved.path()).read_bytes(), FileLimits()).content.items()


async def test_an_imported_chat_is_opened(library: OpenLibrary) -> None:
    here = await library()
    lines: list[Json] = [
        {"user_name": "Ann", "character_name": "Seraphina", "chat_metadata": {}},
        {"name": "Ann", "is_user": True, "mes": "Hello?"},
        {"name": "Seraphina", "is_user": False, "mes": "Here I am."},
    ]
    reports = await here.drop("chat.jsonl", b"\n".join(map(dumps, lines)), "application/jsonl")
    await reports.get_by_role("button", name="Open").click()
    await expect(here.page.locator('.chat-floors [data-t="said-assistant"] .said-text')).to_have_text("Here I am.")


async def test_a_lorebook_is_tried_on_a_text_and_tells_of_each_entry(library: OpenLibrary) -> None:
    here = await library()
    entries: dict[str, Json] = {
        str(number): {
            "uid": number,
            "comment": f"Entry {number}",
            "key": [f"word{number} "],
            "content": "Text.",
            "order": number,
        }
        for number in range(MANY)
    }
    entries["3"] |= {"key": ["sea"], "order": 2000}
    # Files have entries that say the uid of another one.
    entries["4"] |= {"uid": 3, "key": ["sea"], "order": 1999, "disable": True}
    await here.make("/worldbooks", {"name": "World", "data": {"entries": entries}})
    await here.show("Lorebooks")
    dialog = await here.open("World")
    field = dialog.get_by_label("Test against a text")
    await field.click()
    await here.page.keyboard.type("By the sea")
    rows = dialog.locator(".library-table-row")
    await expect(rows.nth(0)).to_contain_text("sea")
    await expect(dialog.get_by_role("columnheader", name="Joins")).to_be_visible()
    await expect(dialog.locator(".library-joins")).to_have_count(1)
    await expect(rows.nth(1)).to_contain_text("Switched off")
    await expect(rows.nth(2)).to_contain_text("Nothing found")
    await expect(dialog.get_by_role("status").filter(has_text="1 joins")).to_be_visible()
    # What is not saved yet counts.
    await rows.nth(1).get_by_role("button").click()
    await dialog.get_by_label("On", exact=True).click()
    await expect(dialog.locator(".library-joins")).to_have_count(2)
    assert await axe(here.page, "dialog") == []
    await field.fill("")
    await expect(dialog.get_by_role("columnheader", name="Keys")).to_be_visible()


async def test_scripts_are_tried_on_a_text_in_four_channels(library: OpenLibrary) -> None:
    here = await library()
    scripts = [
        {"scriptName": "Shout", "findRegex": "/a/g", "replaceString": "A", "placement": [2]},
        {"scriptName": "Show", "findRegex": "/b/g", "replaceString": "<b>", "placement": [1, 2], "markdownOnly": True},
        {"scriptName": "Broken", "findRegex": "/(/", "replaceString": "", "placement": [2]},
    ]
    await here.make("/regex-profiles", {"name": "Rules", "data": scripts})
    await here.show("Regex profiles")
    dialog = await here.open("Rules")
    await dialog.get_by_label("Text to try").click()
    await here.page.keyboard.type("aba")
    trial = dialog.get_by_role("region", name="Trial")
    kept, shown = (trial.get_by_role("region", name=name, exact=True) for name in ("Kept", "Shown"))
    await expect(kept.locator("pre")).to_have_text("AbA")
    await expect(kept).to_contain_text("Shout: 2 matches")
    await expect(kept).to_contain_text("Show: for other channels")
    await expect(kept).to_contain_text("Broken: no expression")
    await expect(shown.locator("pre")).to_have_text("a<b>a")
    await trial.get_by_label("Where it applies").select_option("What the user says")
    await expect(kept.locator("pre")).to_have_text("aba")
    await expect(shown.locator("pre")).to_have_text("a<b>a")
    assert await axe(here.page, "dialog") == []
    await trial.get_by_label("Where it applies").select_option("What the model says")
    await dialog.get_by_role("button", name="Shout", exact=True).click()
    await dialog.get_by_label("Find (regular expression)").fill("/b/g")
    await expect(kept.locator("pre")).to_have_text("aAa")
    await here.save()
    (listed,) = (await here.send("GET", "/regex-profiles"))["data"]
    saved = (await here.send("GET", f"/regex-profiles/{listed['id']}"))["data"]["data"]["scripts"]
    assert saved == [{**scripts[0], "findRegex": "/b/g"}, *scripts[1:]]
