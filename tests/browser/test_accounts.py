"""Who asks, in the page: signing in and out, one's keys, the people of the server, and what one may not do."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from aiohttp import ClientSession
from playwright.async_api import Locator, Page, expect

from agentui.jsonio import Json, loads
from tests.browser.conftest import Editor, OpenEditor, axe, until
from tests.conftest import Server, call, quick_demo, servers

pytestmark = pytest.mark.browser

TOKEN = "the-operators-token-0123"
PASSWORD = "correct horse battery"
OTHER = "staple battery horse"
ENDED = "ERR_INCOMPLETE_CHUNKED_ENCODING"
"""How the browser tells of a stream that has ended with what let it in."""
PHONE = {"has_touch": True, "locale": "ru", "reduced_motion": "reduce"}


@dataclass
class House:
    """A server with several accounts, and its operator."""

    server: Server
    http: ClientSession

    async def ask(
        self, method: str, path: str, body: Json = None, token: str = TOKEN, cookie: str = "", status: int = 200
    ) -> Any:
        """Ask it over HTTP, by the access token, a key, or what a browser keeps that is signed in."""
        shown = {"authorization": f"Bearer {token}"}
        headers = {"cookie": cookie, "origin": self.server.origin} if cookie else shown
        async with self.http.request(method, self.server.origin + path, json=body, headers=headers) as answer:
            text = await answer.read()
            assert answer.status == status, text
            return loads(text)

    async def person(self, id: str, name: str, **fields: Json) -> None:
        """Make an account that can sign in."""
        await self.ask("POST", "/accounts", {"id": id, "name": name, **fields}, status=201)
        await self.password(id)

    async def cookie(self, account: str, password: str) -> str:
        """Sign in, in a browser of its own."""
        entry = {"account": account, "password": password}
        async with self.http.post(f"{self.server.origin}/auth/sign-in", json=entry) as answer:
            assert answer.status == 200
            return answer.headers["Set-Cookie"].partition(";")[0]

    async def password(self, id: str, password: str = PASSWORD) -> None:
        """Give an account a password, which signs it out everywhere."""
        await self.ask("PUT", f"/accounts/{id}/password", {"password": password})


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """One server for this module's tests, each of which makes people of its own."""
    settings: dict[str, object] = {"auth_mode": "api_key", "account_mode": "multi", "token": TOKEN, "token_attempts": 0}
    async with quick_demo() as demo, servers(tmp_path_factory.mktemp("house")) as start, ClientSession() as http:
        documents = {name: call("openai", "demo") for name in ("default", "kept", "read")}
        server = await start(documents, named_origins={"demo": demo.origin}, **settings)
        made = House(server, http)
        await made.password("default-admin")
        yield made


async def sign_in(page: Page, account: str, password: str = PASSWORD) -> None:
    """Fill the form in by the keyboard; the account is there already for who comes back."""
    field = page.get_by_label("Account", exact=True)
    await expect(field).to_be_visible()
    if await field.input_value() == "":
        await field.fill(account)
    await page.get_by_label("Password", exact=True).fill(password)
    await page.keyboard.press("Enter")


async def opened(house: House, open_editor: OpenEditor, account: str, path: str = "/ui/", **more: Any) -> Editor:
    """The editor of somebody who has just signed in."""
    editor = await open_editor(
        server=house.server, path=path, context=more.pop("context", {"reduced_motion": "reduce"}), **more
    )
    editor.allow("status of 401")
    editor.allow(ENDED)
    await sign_in(editor.page, account)
    await editor.page.locator(".doc-tab").first.wait_for()
    return editor


async def choose(page: Page, item: str) -> Locator:
    """Open a dialog of one's menu by the keyboard."""
    await page.locator(".topbar-me").focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("menuitem", name=item).click()
    dialog = page.get_by_role("dialog")
    await dialog.wait_for()
    return dialog


async def test_whoever_is_signed_out_in_the_middle_of_work_signs_in_and_goes_on(house: House, open_editor: OpenEditor) -> None:
    await house.person("ada", "Ada L.", may_edit=True)
    editor = await open_editor(server=house.server, path="/ui/#kept", context={"reduced_motion": "reduce"})
    editor.allow("status of (401|403)")
    editor.allow(ENDED)
    page = editor.page
    await expect(page.get_by_label("Password", exact=True)).to_be_visible()
    assert await axe(page) == []
    await editor.shot("sign-in")
    await sign_in(page, "ada", "wrong horse")
    await expect(page.get_by_role("alert")).to_contain_text("The account or the password is wrong.")
    await sign_in(page, "ada")
    await page.locator(".doc-tab").first.wait_for()
    await expect(page.locator(".topbar-me")).to_have_text("Ada L.")
    assert await axe(page) == []

    # Words in a field of the document, and words in a dialog that nobody has sent.
    name = page.locator(".inspector").get_by_label("Name", exact=True)
    await name.fill("Typed before")
    await page.get_by_role("button", name="Try", exact=True).click()
    said = page.locator(".dock textarea").first
    await said.fill("Nobody has read this yet.")
    await house.password("ada", OTHER)
    await page.keyboard.press("Control+s")
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("What you have typed is still here.")
    await editor.shot("again")
    assert await axe(page, "dialog") == []
    await sign_in(page, "ada", OTHER)
    await expect(dialog).to_have_count(0)
    await expect(said).to_have_value("Nobody has read this yet.")
    await page.keyboard.press("Control+s")
    await page.get_by_text("Saved as kept.").wait_for()
    assert loads((house.server.pipelines / "kept.json").read_bytes())["name"] == "Typed before"
    # What happens on the server is heard again, too.
    await until(page, "(await own('state/store.js')).store.get().runs.live === 'open'")

    # Another one does not go on with what the one before looked at.
    await house.person("bea", "Bea")
    await house.password("ada")
    await page.keyboard.press("Control+Shift+s")
    await page.evaluate("async () => { await (await own('state/library.js')).refreshLibrary().catch(() => null); }")
    asked = page.get_by_role("dialog", name="Sign in to go on")
    await asked.get_by_label("Account", exact=True).fill("bea")
    await asked.get_by_label("Password", exact=True).fill(PASSWORD)
    async with page.expect_navigation():
        await page.keyboard.press("Enter")
    await expect(page.locator(".topbar-me")).to_have_text("Bea")
    await expect(page.get_by_role("dialog")).to_have_count(0)

    await page.locator(".topbar-me").click()
    async with page.expect_navigation():
        await page.get_by_role("menuitem", name="Sign out").click()
    await expect(page.get_by_label("Password", exact=True)).to_be_visible()
    await expect(page.locator(".app")).to_have_count(0)


async def test_the_access_token_lets_in_too_and_a_wrong_one_is_told(house: House, open_editor: OpenEditor) -> None:
    editor = await open_editor(server=house.server, context={})
    editor.allow("status of (401|403)")
    page = editor.page
    await page.get_by_role("button", name="Use a key").click()
    await page.get_by_label("Access token").fill("none-of-this-server")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("does not accept this token")).to_be_visible()
    await page.get_by_label("Access token").fill(TOKEN)
    await page.keyboard.press("Enter")
    await expect(page.locator(".topbar-me")).to_have_text("Default Admin")
    # Its own bearer signs out of it as well.
    await page.locator(".topbar-me").click()
    async with page.expect_navigation():
        await page.get_by_role("menuitem", name="Sign out").click()
    await expect(page.get_by_label("Account", exact=True)).to_be_visible()


async def test_a_key_is_made_seen_once_rotated_and_revoked(house: House, open_editor: OpenEditor) -> None:
    await house.person("kay", "Kay")
    editor = await opened(
        house, open_editor, "kay", context={"reduced_motion": "reduce", "permissions": ["clipboard-read", "clipboard-write"]}
    )
    editor.allow("status of 40[03]")
    page = editor.page
    dialog = await choose(page, "My keys")
    await dialog.get_by_role("button", name="New key").click()
    await dialog.get_by_label("Name of the key").fill("phone")
    await dialog.get_by_label("Counts for").select_option("30")
    await page.keyboard.press("Tab")
    await dialog.get_by_role("button", name="Make the key").press("Enter")
    shown = dialog.get_by_label("The key", exact=True)
    first = await shown.input_value()
    assert (await house.ask("GET", "/auth/me", token=first))["data"]["account_id"] == "kay"
    assert await axe(page, "dialog") == []
    # A key that nobody has copied is not thrown away by a slip.
    await page.keyboard.press("Escape")
    leave = page.get_by_role("dialog", name="Leave without copying the key?")
    await leave.get_by_role("button", name="Cancel").click()
    await dialog.get_by_role("button", name="Copy").click()
    await expect(page.get_by_text("The key was copied.")).to_be_visible()
    assert await page.evaluate("navigator.clipboard.readText()") == first
    assert first not in await page.locator("body").inner_text()
    await editor.shot("key")
    await dialog.get_by_role("button", name="I have it").click()
    line = dialog.get_by_role("listitem")
    await expect(line).to_contain_text("expires")
    await expect(shown).to_have_count(0)

    await line.get_by_role("button", name="Change phone").click()
    form = line.get_by_role("form", name="Change phone")
    await form.get_by_label("Only these models").fill("te*, gpt-5")
    await form.get_by_label("Only from these addresses").fill("here")
    await form.get_by_role("checkbox", name="chats and library").check()
    await form.get_by_label("Requests a minute").fill("5")
    assert await axe(page, "dialog") == []
    await form.get_by_role("button", name="Save").click()
    await expect(form.get_by_role("alert")).to_contain_text("must be an IP address")
    await form.get_by_label("Only from these addresses").fill("127.0.0.0/8, ::1")
    await form.get_by_role("button", name="Save").press("Enter")
    await expect(line).to_contain_text("only: some models, some addresses, chats and library")
    await line.get_by_role("button", name="Change phone").click()
    await expect(form.get_by_label("Only these models")).to_have_value("te*, gpt-5")
    await expect(form.get_by_label("Requests a minute")).to_have_value("5")
    await editor.shot("key-changed")
    await form.get_by_role("button", name="Cancel").click()
    assert (await house.ask("GET", "/v1/models", token=first))["data"] is not None
    await house.ask("GET", "/api/pipelines", token=first, status=403)

    await line.get_by_role("button", name="Rotate phone").click()
    await line.get_by_label("The old key is taken for").select_option("3600")
    await line.get_by_role("button", name="Make the new key").click()
    second = await shown.input_value()
    assert second != first
    for key in (first, second):
        assert (await house.ask("GET", "/auth/me", token=key))["data"]["account_id"] == "kay"
    await dialog.get_by_role("button", name="Copy").click()
    await expect(line).to_contain_text("The key before it is taken until")

    await line.get_by_role("button", name="Revoke phone").click()
    await page.get_by_role("dialog", name="Revoke phone?").get_by_role("button", name="Revoke it").click()
    await expect(dialog.get_by_text("You have no keys.")).to_be_visible()
    for key in (first, second):
        await house.ask("GET", "/auth/me", token=key, status=401)
    await dialog.get_by_text("1 key that counts no more").click()
    await expect(dialog.get_by_role("listitem")).to_contain_text("revoked")

    # By a key nobody comes to the keys; the page says so, and asks for none.
    await dialog.get_by_role("button", name="Close").click()
    made = await house.ask("POST", "/clients/cli_default_default-admin/api-keys", {}, status=201)
    await page.evaluate(
        "async (key) => { (await own('api/client.js')).setToken(key); await (await own('state/library.js')).loadFacts(); }",
        made["secret"],
    )
    dialog = await choose(page, "My keys")
    await expect(dialog).to_contain_text("This page came in by a program's key.")
    await expect(dialog.get_by_role("button", name="New key")).to_have_count(0)


async def test_an_admin_adds_people_gives_rights_and_takes_them_away(house: House, open_editor: OpenEditor) -> None:
    editor = await opened(house, open_editor, "default-admin")
    editor.allow("status of 409")
    page = editor.page
    dialog = await choose(page, "People")
    await dialog.get_by_role("button", name="New account").click()
    form = dialog.get_by_role("form", name="New account")
    await form.get_by_label("Name", exact=True).fill("Cleo")
    await form.get_by_label("Account", exact=True).fill("cleo")
    await form.get_by_label("First password").fill("short")
    await form.get_by_role("button", name="Add").click()
    await expect(form.get_by_role("alert")).to_contain_text("8 to 1,000 characters")
    await form.get_by_label("First password").fill(PASSWORD)
    await form.get_by_role("button", name="Add").press("Enter")
    cleo = dialog.get_by_role("listitem", name="Cleo")
    await expect(cleo).to_contain_text("pipelines and presets are only shown")
    assert await axe(page, "dialog") == []
    await editor.shot("people")
    # One's own way in is not taken away by one's own hand.
    own = dialog.get_by_role("listitem", name="Default Admin")
    await expect(own).to_contain_text("The default account stays an active admin.")
    await expect(own.get_by_role("button", name="Disable")).to_have_count(0)

    await cleo.get_by_role("button", name="Change Cleo").click()
    await cleo.get_by_label("Name", exact=True).fill("Cleo P.")
    await cleo.get_by_label("May change pipelines and presets").check()
    await cleo.get_by_role("button", name="Save").click()
    cleo = dialog.get_by_role("listitem", name="Cleo P.")
    await expect(cleo).to_contain_text("may change pipelines and presets")
    await cleo.get_by_role("button", name="Password of Cleo P.").click()
    await cleo.get_by_label("New password").fill(OTHER)
    await cleo.get_by_role("button", name="Set the password").click()
    await expect(page.get_by_text("has another password")).to_be_visible()
    entry = {"account": "cleo", "password": OTHER}
    assert (await house.ask("POST", "/auth/sign-in", entry))["data"]["may_edit"] is True

    cookie = await house.cookie("cleo", OTHER)
    await house.ask("POST", "/sessions", {}, cookie=cookie, status=201)
    await cleo.get_by_role("button", name="Delete Cleo P.").click()
    await page.get_by_role("dialog", name="Delete Cleo P.").get_by_role("button", name="Delete", exact=True).click()
    told = page.get_by_role("dialog", name="Cleo P. was not deleted")
    await expect(told.get_by_role("listitem")).to_have_text(["Chats"])
    await editor.shot("not-deleted")
    await told.get_by_role("button", name="Disable the account instead").click()
    await expect(cleo).to_contain_text("disabled")
    # An admin's key makes no further admins, unless that is wanted.
    await dialog.get_by_role("button", name="Close").click()
    dialog = await choose(page, "My keys")
    await dialog.get_by_role("button", name="New key").click()
    await expect(dialog.get_by_label("May manage accounts")).not_to_be_checked()
    await dialog.get_by_role("button", name="Make the key").click()
    made = await dialog.get_by_label("The key", exact=True).input_value()
    await house.ask("GET", "/accounts", token=made, status=403)
    await house.ask("POST", "/auth/sign-in", entry, status=403)


async def test_what_one_may_not_do_is_gone_or_says_why(house: House, open_editor: OpenEditor) -> None:
    await house.person("dan", "Dan")
    editor = await opened(house, open_editor, "dan", "/ui/#read")
    page = editor.page
    reason = "Your account may not change pipelines and presets."
    await expect(page.locator(".inspector")).to_contain_text(reason)
    await expect(page.locator(".inspector").get_by_label("Name", exact=True)).to_be_disabled()
    await expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    await expect(page.get_by_role("button", name="Save", exact=True)).to_have_attribute("title", re.compile(reason))
    for gone in ("New pipeline", "Start from a template…", "Templates…"):
        await expect(page.get_by_role("button", name=gone, exact=True)).to_have_count(0)
    await page.locator(".react-flow__node").first.click()
    content = page.locator(".inspector-settings .cm-content").first
    await expect(content).to_have_attribute("aria-readonly", "true")
    await expect(page.locator(".inspector").get_by_label("Answers", exact=True)).to_be_disabled()
    await content.click()
    await page.keyboard.type("Mine!")
    await page.keyboard.press("Delete")
    assert (
        await page.evaluate("async () => (await own('state/tabs.js')).isDirty((await own('state/tabs.js')).activeTab())")
        is False
    )
    await expect(page.locator(".react-flow__node")).to_have_count(1)
    # There is all of it to look at.
    await page.get_by_role("tab", name="Prompt Blocks").click()
    await expect(page.get_by_role("tab", name="Prompt Blocks")).to_have_attribute("aria-selected", "true")
    await editor.shot("read-only")
    assert await axe(page) == []

    # What is not theirs is not offered, and what is stays: the saved pipeline answers.
    await page.get_by_role("button", name="Menu").first.click()
    for shut in ("New pipeline", "Import", "Keys"):
        await expect(page.get_by_role("menuitem", name=re.compile(shut)).first).to_be_disabled()
    await page.keyboard.press("Escape")
    await page.locator(".topbar-me").click()
    await expect(page.get_by_role("menuitem", name="People")).to_have_count(0)
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Try", exact=True).click()
    await page.locator(".dock textarea").first.fill("Hello!")
    await page.keyboard.press("Enter")
    await until(page, "(await own('state/store.js')).store.get().runs.list.some(({state}) => state === 'finished')")

    # The right that an admin gives is there with the next visit.
    await house.ask("PATCH", "/accounts/dan", {"may_edit": True})
    await page.reload()
    await page.locator(".doc-tab").first.wait_for()
    await page.locator(".inspector-name").fill("Dan was here")
    await page.keyboard.press("Control+s")
    await page.get_by_text("Saved as read.").wait_for()


async def test_without_the_right_one_copies_a_pipeline_and_changes_the_copy(house: House, open_editor: OpenEditor) -> None:
    await house.person("eli", "Eli")
    editor = await opened(house, open_editor, "eli", "/ui/#kept")
    page = editor.page
    await expect(page.locator(".inspector").get_by_label("Name", exact=True)).to_be_disabled()
    await page.keyboard.press("Control+o")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("listitem").filter(has_text="kept").get_by_role("button", name=re.compile("More")).click()
    await page.get_by_role("menuitem", name="Duplicate").click()
    await dialog.get_by_role("listitem").filter(has_text="Yours").wait_for()
    assert await axe(page) == []
    await page.keyboard.press("Escape")
    await page.locator(".inspector").get_by_label("Name", exact=True).fill("Eli's own")
    await page.keyboard.press("Control+s")
    await page.get_by_text(re.compile("Saved as ~")).wait_for()
    cookie = await house.cookie("eli", PASSWORD)
    [own] = [line for line in await house.ask("GET", "/api/pipelines", cookie=cookie) if line["owner"] == "account"]
    assert (own["name"], own["id"][0]) == ("Eli's own", "~")
    assert own["id"] not in str(await house.ask("GET", "/api/pipelines"))
    # What is tried is what is drawn, saved or not.
    await page.get_by_role("button", name="Try", exact=True).click()
    await page.locator(".dock textarea").first.fill("Hello!")
    await page.keyboard.press("Enter")
    await until(page, "(await own('state/store.js')).store.get().runs.list.some(({state}) => state === 'finished')")


async def test_a_phone_has_room_for_all_of_it_in_longer_words(house: House, open_editor: OpenEditor) -> None:
    editor = await open_editor(server=house.server, width=360, height=740, context=PHONE)
    editor.allow("status of 401")
    page = editor.page
    await expect(page.get_by_label("Учётная запись", exact=True)).to_be_visible()
    await editor.shot("phone-sign-in")
    await page.get_by_label("Учётная запись", exact=True).fill("default-admin")
    await page.get_by_label("Пароль", exact=True).fill(PASSWORD)
    await page.get_by_role("button", name="Войти", exact=True).tap()
    await page.locator(".doc-tab").first.wait_for()
    for item, button in (("Мои ключи", "Новый ключ"), ("Люди", "Новая учётная запись"), ("Моя учётная запись", "")):
        await page.locator(".topbar-me").tap()
        await page.get_by_role("menuitem", name=item).tap()
        dialog = page.get_by_role("dialog")
        await expect(dialog.locator(".spin")).to_have_count(0)
        if button:
            await dialog.get_by_role("button", name=button, exact=True).tap()
        over = "document.querySelector('dialog .dialog-body').scrollWidth - document.querySelector('dialog .dialog-body').clientWidth"
        assert await page.evaluate(over) <= 0 and await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await editor.shot(f"phone-{button or item}")
        assert await axe(page) == []
        await dialog.get_by_role("button", name="Закрыть").tap()


async def test_one_changes_the_own_password_and_ends_other_sign_ins(house: House, open_editor: OpenEditor) -> None:
    await house.person("eve", "Eve")
    editor = await opened(house, open_editor, "eve")
    other = await opened(house, open_editor, "eve")
    other.allow("status of 401")
    editor.allow("status of 403")
    page = editor.page
    dialog = await choose(page, "My account")
    there = dialog.get_by_role("list", name="Where you are signed in")
    await expect(there.get_by_role("listitem")).to_have_count(2)
    await expect(there.get_by_text("this browser")).to_have_count(1)
    await there.get_by_role("button", name="Sign out there").click()
    await expect(there.get_by_role("listitem")).to_have_count(1)
    await other.page.reload()
    await expect(other.page.get_by_label("Password", exact=True)).to_be_visible()
    await dialog.get_by_label("Current password").fill("another one")
    await dialog.get_by_label("New password", exact=True).fill(OTHER)
    await dialog.get_by_label("New password again").fill(OTHER + "?")
    await page.keyboard.press("Enter")
    await expect(dialog.get_by_text("The two are not the same.")).to_be_visible()
    await dialog.get_by_label("New password again").fill(OTHER)
    await page.keyboard.press("Enter")
    await expect(dialog.get_by_role("alert")).to_contain_text("The current password is another one.")
    assert await axe(page, "dialog") == []
    await editor.shot("account")
    await dialog.get_by_label("Current password").fill(PASSWORD)
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("The password was changed.")).to_be_visible()
    await house.ask("POST", "/auth/sign-in", {"account": "eve", "password": OTHER})
    # This browser stays signed in.
    await dialog.get_by_role("button", name="Close").click()
    await page.reload()
    await expect(page.locator(".topbar-me")).to_have_text("Eve")


async def test_where_nobody_signs_in_the_page_knows_of_no_people(open_editor: OpenEditor) -> None:
    asked: list[str] = []

    async def listen(page: Page) -> None:
        page.on("request", lambda request: asked.append(urlsplit(request.url).path))

    editor = await open_editor(context={}, prepare=listen)
    await editor.page.locator(".doc-tab").first.wait_for()
    await expect(editor.page.locator(".topbar-me")).to_have_count(0)
    assert not [path for path in asked if path.startswith(("/auth", "/accounts", "/clients"))]
    there = await editor.page.evaluate(
        """async () => {
          const {ACTIONS, canRun} = await own('actions.js');
          const main = await (await fetch(document.querySelector('script[type=module]').src)).text();
          const offered = ACTIONS.map(({id}) => id).filter((id) => id.startsWith('accounts.') && canRun(id));
          return [offered, [...main.matchAll(/^modules\\['(accounts\\/[^']+)'\\] =/gm)].map(([, name]) => name)];
        }"""
    )
    # What the page starts with asks for a token, and names the actions; the rest comes to those who need it.
    assert there == [[], ["accounts/SignIn.js", "accounts/actions.js"]]
