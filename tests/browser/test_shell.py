"""The editor's frame: starting, signing in, tabs, saving, drafts, languages, looks, and a server that goes away."""

import asyncio
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from playwright import async_api as playwright
from playwright.async_api import expect

from agentui.jsonio import Json, loads
from tests.browser.conftest import COLOUR_RULES, Editor, OpenEditor, axe, becomes, box
from tests.conftest import call

pytestmark = pytest.mark.browser

BROKEN: dict[str, Json] = {"format": 1, "name": "Broken <b>one</b>", "nodes": [{"id": "n1", "type": "Nothing", "config": {}}]}


async def document(editor: Editor) -> Any:
    """The document in front as it is now."""
    return await editor.page.evaluate(
        "async () => { const tabs = await own('state/tabs.js'); return tabs.docOf(tabs.activeTab()); }"
    )


async def rename(editor: Editor, name: str) -> None:
    """Change the name of the document in front as one step."""
    await editor.page.evaluate(
        """async (name) => {
          const [tabs, commands] = await Promise.all([own('state/tabs.js'), own('core/commands.js')]);
          tabs.edit('app.edit', (doc) => commands.setDocument(doc, {name}));
        }""",
        name,
    )


async def drafts(editor: Editor) -> list[str]:
    """The names of the documents that the browser keeps."""
    found: list[str] = await editor.page.evaluate(
        "async () => (await (await own('api/drafts.js')).loadDrafts()).map((draft) => draft.document.name)"
    )
    return found


async def started(editor: Editor) -> None:
    await editor.page.locator(".doc-tab").first.wait_for()


async def test_it_opens_the_active_pipeline_and_breaks_no_rule(editor: Editor) -> None:
    await started(editor)
    await becomes(lambda: document(editor), lambda found: found["nodes"][0]["type"] == "ProviderCall")
    assert await axe(editor.page) == []


async def test_a_named_pipeline_opens_from_the_address(open_editor: OpenEditor) -> None:
    editor = await open_editor(
        {"default": call("openai", "demo"), "other": {**call("openai", "demo"), "name": "Other"}}, path="/#other"
    )
    await editor.page.get_by_role("tab", name="Other").wait_for()


async def test_names_are_shown_letter_for_letter(open_editor: OpenEditor) -> None:
    editor = await open_editor({"default": call("openai", "demo"), "broken": BROKEN}, path="/ui/#broken")
    await editor.page.get_by_role("tab", name="Broken <b>one</b>").wait_for()
    await expect(editor.page.locator("b")).to_have_count(0)


async def test_a_server_with_a_token_asks_for_it(open_editor: OpenEditor) -> None:
    editor = await open_editor(token="a-long-enough-token")
    editor.allow("status of 401")
    field = editor.page.get_by_label("Access token")
    await field.fill("wrong")
    await editor.page.get_by_role("button", name="Sign in").click()
    await editor.page.get_by_text("does not accept this token").wait_for()
    assert await axe(editor.page) == []
    editor.allow("ERR_INTERNET_DISCONNECTED")
    await editor.page.context.set_offline(True)
    await editor.page.get_by_role("button", name="Sign in").click()
    await editor.page.get_by_text("The server does not answer.").wait_for()
    await editor.page.context.set_offline(False)
    await field.fill("a-long-enough-token")
    await editor.page.get_by_role("button", name="Sign in").click()
    await started(editor)


async def test_where_people_have_accounts_they_sign_in(open_editor: OpenEditor) -> None:
    token = "a-long-enough-token"
    settings = {"auth_mode": "api_key", "account_mode": "multi", "token": token}
    editor = await open_editor(**settings)
    editor.allow("status of 401")
    editor.allow("/api/events: net::ERR_INCOMPLETE_CHUNKED_ENCODING")  # what was begun with a sign-in ends with it
    editor.allow("ERR_INCOMPLETE_CHUNKED_ENCODING .*/api/events")
    page, headers = editor.page, {"x-agentui-token": token}
    async with ClientSession(editor.server.origin, headers=headers) as http:
        async with http.post("/accounts", json={"id": "ann", "name": "Ann", "may_edit": True}) as made:
            assert made.status == 201
        async with http.put("/accounts/ann/password", json={"password": "correct horse"}) as put:
            assert put.status == 200
    await page.get_by_label("Account").fill("ann")
    await page.get_by_label("Password").fill("wrong horse")
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await page.get_by_text("The account or the password is wrong.").wait_for()
    assert await axe(page) == []
    await page.get_by_role("button", name="Use a key").click()
    await page.get_by_label("Access token").fill("no-such-key-at-all")
    editor.allow("status of 403")
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await page.get_by_text("does not accept this token").wait_for()
    await page.get_by_role("button", name="Use a password").click()
    await page.get_by_label("Password").fill("correct horse")
    await page.keyboard.press("Enter")
    await started(editor)
    # The cookie lets the next page in, and no script sees it.
    assert "agentui_sign_in" not in await page.evaluate("document.cookie")
    await page.reload()
    await started(editor)
    await page.keyboard.press("Control+,")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_text("Ann (ann).").wait_for()
    await dialog.get_by_role("button", name="Sign out").click()
    await page.get_by_label("Password").wait_for()
    await page.reload()
    await page.get_by_label("Password").wait_for()


async def test_edits_are_undone_redone_and_saved(editor: Editor) -> None:
    await started(editor)
    await rename(editor, "Renamed")
    await editor.page.keyboard.press("Control+z")
    await becomes(lambda: document(editor), lambda found: found["name"] != "Renamed")
    await editor.page.keyboard.press("Control+Shift+z")
    await becomes(lambda: document(editor), lambda found: found["name"] == "Renamed")
    await editor.page.keyboard.press("Control+s")
    await editor.page.get_by_text("Saved as default.").wait_for()
    assert loads((editor.server.pipelines / "default.json").read_bytes())["name"] == "Renamed"


async def test_a_new_pipeline_is_saved_under_a_name_of_its_own(editor: Editor) -> None:
    await started(editor)
    await editor.page.get_by_role("button", name="New pipeline").click()
    await editor.page.get_by_role("button", name="Save", exact=True).click()
    dialog = editor.page.get_by_role("dialog")
    await dialog.get_by_label("Name", exact=True).fill("My first one")
    await expect(dialog.get_by_label("File name")).to_have_value("my-first-one")
    await dialog.get_by_label("File name").fill("default")
    await dialog.get_by_text("There is a pipeline called default already.").wait_for()
    await expect(dialog.get_by_role("button", name="Save")).to_be_disabled()
    await dialog.get_by_label("File name").fill("mine")
    await dialog.get_by_role("button", name="Save").click()
    await editor.page.get_by_text("Saved as mine with 1 problem").wait_for()
    assert loads((editor.server.pipelines / "mine.json").read_bytes())["name"] == "My first one"


async def test_an_edit_that_nobody_saved_is_there_after_a_reload(editor: Editor) -> None:
    await started(editor)
    await rename(editor, "Not saved yet")
    # A page that goes at once may take the last moment's typing with it; drafts are written when the typing rests.
    while "Not saved yet" not in await drafts(editor):  # noqa: ASYNC110  # the browser tells of it nowhere
        await asyncio.sleep(0.1)
    editor.page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.accept()))
    await editor.page.reload()
    await editor.page.get_by_role("tab", name="Not saved yet").wait_for()
    await editor.page.keyboard.press("Control+z")
    await becomes(lambda: document(editor), lambda found: found["name"] != "Not saved yet")


async def test_closing_an_edited_tab_asks_first(editor: Editor) -> None:
    await started(editor)
    await rename(editor, "Edited")
    await editor.page.locator(".doc-tab-close").click()
    dialog = editor.page.get_by_role("dialog")
    await dialog.get_by_text("Save changes to Edited?").wait_for()
    await editor.page.keyboard.press("Escape")
    await expect(editor.page.get_by_role("tab", name="Edited")).to_have_count(1)
    await editor.page.locator(".doc-tab-close").click()
    await dialog.get_by_role("button", name="Discard").click()
    await editor.page.get_by_text("What should happen to a request?").wait_for()
    assert await axe(editor.page) == []


@pytest.mark.parametrize(("locale", "word"), [("ru-RU", "Сохранить"), ("zh-CN", "保存"), ("fr-FR", "Save")])
async def test_it_speaks_the_browsers_language(open_editor: OpenEditor, locale: str, word: str) -> None:
    editor = await open_editor(context={"locale": locale})
    await editor.page.get_by_role("button", name=word, exact=True).wait_for()


async def test_language_theme_and_contrast_change_at_once_and_stay(editor: Editor) -> None:
    await started(editor)
    page = editor.page
    await page.keyboard.press("Control+,")
    await page.get_by_label("Language").select_option("ru")
    dialog = page.get_by_role("dialog", name="Настройки")
    backgrounds = set()
    rules: Sequence[str] = ()
    for theme in ("light", "dark"):
        for contrast in ("normal", "more"):
            await dialog.get_by_label("Тема").select_option(theme)
            await dialog.get_by_label("Контраст").select_option(contrast)
            backgrounds.add(await page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
            assert await axe(page, rules=rules) == [], (theme, contrast)
            rules = COLOUR_RULES
    assert len(backgrounds) == 4
    await page.reload()
    await page.get_by_role("button", name="Сохранить", exact=True).wait_for()
    await becomes(lambda: page.evaluate("() => document.documentElement.dataset.theme"), "dark")


async def test_the_editor_says_that_the_server_is_gone_and_goes_on_when_it_is_back(editor: Editor) -> None:
    await started(editor)
    editor.allow("ERR_FAILED|ERR_INTERNET_DISCONNECTED|network error|Failed to load resource")
    page = editor.page
    await page.context.set_offline(True)
    await rename(editor, "Edited offline")
    await page.keyboard.press("Control+s")
    await page.get_by_text("Not saved: The server does not answer.").wait_for()
    await page.context.set_offline(False)
    await page.keyboard.press("Control+s")
    await page.get_by_text("Saved as default.").wait_for()


async def test_a_file_that_changed_on_disk_is_loaded_where_nothing_was_edited(editor: Editor) -> None:
    await started(editor)
    editor.server.put("default", {**call("openai", "demo"), "name": "From disk"})
    await editor.page.get_by_role("tab", name="From disk").wait_for()


async def test_a_file_that_changed_under_edits_is_compared_and_merged(editor: Editor) -> None:
    await started(editor)
    await rename(editor, "My name")
    editor.server.put("default", {**call("openai", "demo"), "description": "Their words"})
    await editor.page.get_by_text("default changed on disk while you were editing.").wait_for()
    await editor.page.get_by_role("button", name="Compare").click()
    dialog = editor.page.get_by_role("dialog")
    await dialog.get_by_text("The changes do not touch each other.").wait_for()
    assert await axe(editor.page, "dialog") == []
    await dialog.get_by_role("button", name="Save both together").click()
    await editor.page.get_by_text("Saved as default.").wait_for()
    saved = loads((editor.server.pipelines / "default.json").read_bytes())
    assert saved["name"] == "My name" and saved["description"] == "Their words"


async def test_two_people_who_save_do_not_overwrite_each_other(open_editor: OpenEditor) -> None:
    first = await open_editor()
    second = await open_editor(server=first.server)
    await started(first)
    await started(second)
    # The second one hears of nothing before it saves.
    second.allow("status of 412|ERR_FAILED|aborted")
    await second.page.route("**/api/changes", lambda route: route.abort())
    await rename(second, "Second")
    await rename(first, "First")
    await first.page.keyboard.press("Control+s")
    await first.page.get_by_text("Saved as default.").wait_for()
    await second.page.keyboard.press("Control+s")
    dialog = second.page.get_by_role("dialog")
    await dialog.get_by_text("1 place was changed by both:").wait_for()
    await dialog.get_by_role("button", name="Save mine as a copy").click()
    await second.page.get_by_role("dialog", name="Save as").get_by_label("File name").fill("mine")
    await second.page.get_by_role("dialog", name="Save as").get_by_role("button", name="Save").click()
    await second.page.get_by_text("Saved as mine.").wait_for()
    folder = second.server.pipelines
    assert loads((folder / "default.json").read_bytes())["name"] == "First"
    assert loads((folder / "mine.json").read_bytes())["name"] == "Second"


async def test_an_invalid_pipeline_is_saved_but_cannot_be_activated(open_editor: OpenEditor) -> None:
    editor = await open_editor({"default": call("openai", "demo"), "broken": BROKEN}, path="/ui/#broken")
    await editor.page.get_by_role("tab", name="Broken").wait_for()
    activated = await editor.page.evaluate(
        "async () => (await own('actions.js')).runAction('app.activate')",
    )
    assert activated is False
    await rename(editor, "Still broken")
    await editor.page.keyboard.press("Control+s")
    await editor.page.get_by_text("Saved as broken with 1 problem").wait_for()
    await editor.page.get_by_role("button", name="Problems").first.click()
    await editor.page.get_by_text("Nothing").first.wait_for()


async def test_a_pipeline_is_activated(open_editor: OpenEditor) -> None:
    editor = await open_editor(
        {"default": call("openai", "demo"), "other": {**call("openai", "demo"), "name": "Other"}}, path="/#other"
    )
    await editor.page.get_by_role("tab", name="Other").wait_for()
    await editor.page.get_by_role("button", name="Activate", exact=True).click()
    await editor.page.get_by_text("other answers callers who name no pipeline.").wait_for()
    assert editor.server.state.pipelines.active == "other"


async def test_it_fits_the_window(editor: Editor) -> None:
    for width in (360, 390, 768, 1024, 1440):
        # How the panels stand is decided when the page starts.
        await editor.page.goto("about:blank")
        await editor.page.set_viewport_size({"width": width, "height": 844})
        await editor.page.goto(editor.server.origin)
        await started(editor)
        await becomes(lambda: editor.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), True, width)
        assert await axe(editor.page) == [], width


async def test_every_word_is_in_every_language(editor: Editor) -> None:
    """The catalogues have the same keys, but for plural forms, and every key that the code names is there."""
    root = Path(__file__).parents[2] / "static"
    plural = (".one", ".few", ".many", ".other", ".two", ".zero")
    keys: dict[str, set[str]] = {}
    for locale in ("en", "ru", "zh"):
        words: dict[str, str] = {}
        for path in sorted((root / "locales" / locale).glob("*.json")):
            words |= json.loads(path.read_text(encoding="utf-8"))
        assert all(text.strip() for text in words.values())
        # The server speaks English: what it says has words in the other languages only.
        told = {key for key in words if not key.startswith("server.")}
        assert (locale == "en") == (told == set(words))
        keys[locale] = {key.rsplit(".", 1)[0] if key.endswith(plural) else key for key in told}
    assert keys["en"] == keys["ru"] == keys["zh"]
    areas = "app|canvas|inspector|code|run|variables|files|help"
    for path in sorted((root / "js").rglob("*.js")):
        for key in re.findall(rf"\bt\(\s*'((?:{areas})\.[A-Za-z.-]+)'", path.read_text(encoding="utf-8")):
            assert key in keys["en"], f"{path.name}: {key}"


async def test_messages_leave_by_themselves_but_not_while_somebody_is_at_one(open_editor: OpenEditor) -> None:
    editor = await open_editor(context={}, prepare=lambda page: page.clock.install())
    page = editor.page
    await page.locator(".doc-tab").first.wait_for()
    messages = page.locator(".notice")
    say = """async () => {
      const {notify} = await own('state/notices.js');
      notify('error', 'app.failure', {message: 'It failed.'});
      notify('success', 'app.failure', {message: 'Deleted.'}, {action: {label: 'Undo', run: () => undefined}});
      notify('info', 'app.failure', {message: 'By the way.'});
    }"""
    await page.evaluate(say)
    await page.clock.run_for(6_000)
    await expect(messages).to_have_text(["It failed.", "Deleted.Undo"])
    await page.mouse.move(*(await centre(messages.first)))
    await page.clock.run_for(60_000)
    await expect(messages).to_have_count(2)
    await page.mouse.move(5, 400)
    await page.clock.run_for(15_000)
    await expect(messages).to_have_text(["It failed."])
    await messages.first.get_by_role("button", name="Dismiss").focus()
    await page.clock.run_for(60_000)
    await expect(messages).to_have_count(1)
    await page.evaluate("document.activeElement.blur()")
    await page.clock.run_for(15_000)
    await expect(messages).to_have_count(0)


async def test_an_answer_that_is_long_in_coming_is_told_of_until_it_is_there(open_editor: OpenEditor) -> None:
    editor = await open_editor(context={}, prepare=lambda page: page.clock.install())
    page = editor.page
    await page.locator(".doc-tab").first.wait_for()
    come = asyncio.Event()

    async def late(route: playwright.Route) -> None:
        await come.wait()
        await route.continue_()

    await page.route("**/api/pipelines/default", late)
    await page.evaluate("async () => (await own('state/tabs.js')).select({})")
    await page.get_by_role("region", name="Inspector").get_by_role("textbox", name="Name").fill("Late")
    await page.keyboard.press("Control+s")
    await expect(page.get_by_role("button", name="Saving")).to_be_visible()
    message = page.locator(".notice", has_text="The server has not answered for ten seconds")
    await page.clock.run_for(9_000)
    await expect(message).to_have_count(0)
    await page.clock.run_for(60_000)
    await expect(message).to_be_visible()
    come.set()
    await expect(message).to_have_count(0)
    await expect(page.get_by_role("button", name="Save", exact=True)).to_be_visible()


async def centre(place: playwright.Locator) -> tuple[float, float]:
    at = await box(place)
    return at["x"] + at["width"] / 2, at["y"] + at["height"] / 2
