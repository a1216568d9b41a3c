"""Signing in without a password, in a real browser: by passkeys of its own authenticator, and at a real identity provider."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import ClientSession
from playwright.async_api import Locator, Page, expect

from tests.accounts.identity_provider import CLIENT, SECRET, IdentityProvider, identity_provider
from tests.browser.conftest import Editor, OpenEditor, axe
from tests.browser.test_accounts import ENDED, TOKEN, House, choose, sign_in
from tests.conftest import call, quick_demo, servers
from tests.ports import held_port

pytestmark = pytest.mark.browser

DEVICE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}
"""A laptop with a reader for fingers."""


@dataclass
class Site(House):
    """A server at its public address, and the identity provider that it knows."""

    provider: IdentityProvider


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """One server for this module's tests, each of which makes people of its own."""
    with held_port() as port:
        public = f"http://localhost:{port}"
        async with (
            identity_provider(f"{public}/ui/") as provider,
            quick_demo() as demo,
            servers(tmp_path_factory.mktemp("home"), port) as start,
            ClientSession() as http,
        ):
            settings: dict[str, Any] = {
                "auth_mode": "api_key", "account_mode": "multi", "token": TOKEN, "token_attempts": 0, "public_url": public,
                "oidc_issuer": provider.issuer, "oidc_client_id": CLIENT, "oidc_client_secret": SECRET, "oidc_name": "House ID",
                "oidc_create_accounts": True, "oidc_sign_out": True,
            }  # fmt: skip
            documents = {name: call("openai", "demo") for name in ("default", "kept")}
            server = await start(documents, named_origins={"demo": demo.origin}, **settings)
            yield Site(replace(server, origin=public), http, provider)


async def opened(site: Site, open_editor: OpenEditor, path: str = "/ui/", **context: Any) -> Editor:
    """The page before anybody is signed in."""
    editor = await open_editor(server=site.server, path=path, context={"reduced_motion": "reduce", **context})
    editor.allow("status of (401|403|409|502)")
    editor.allow(ENDED)
    return editor


async def device(page: Page, **fields: Any) -> tuple[Any, str]:
    """Give the browser an authenticator, as its developer tools do."""
    tools = await page.context.new_cdp_session(page)
    await tools.send("WebAuthn.enable")
    made = await tools.send("WebAuthn.addVirtualAuthenticator", {"options": {**DEVICE, **fields}})
    return tools, made["authenticatorId"]


async def heard(page: Page, posted: list[str]) -> None:
    """Note where the page posts to."""
    page.on("request", lambda request: posted.append(request.url) if request.method == "POST" else None)


async def add_passkey(page: Page, dialog: Locator, name: str) -> None:
    """Add a passkey by the keyboard."""
    await dialog.get_by_role("button", name="Add a passkey").press("Enter")
    asked = page.get_by_role("dialog", name="Add a passkey")
    await asked.get_by_label("Name", exact=True).fill(name)
    await page.keyboard.press("Enter")


async def leave(page: Page) -> None:
    """Sign out."""
    await page.locator(".topbar-me").click()
    async with page.expect_navigation():
        await page.get_by_role("menuitem", name="Sign out").click()


async def test_a_passkey_is_added_signs_in_without_a_name_and_is_removed(site: Site, open_editor: OpenEditor) -> None:
    await site.person("pat", "Pat")
    editor = await opened(site, open_editor)
    page = editor.page
    await sign_in(page, "pat")
    tools, authenticator = await device(page)
    dialog = await choose(page, "My account")
    await add_passkey(page, dialog, "Laptop")
    await expect(page.get_by_text("The passkey Laptop was added.")).to_be_visible()
    line = dialog.get_by_role("list", name="Passkeys").get_by_role("listitem")
    await expect(line).to_contain_text("Laptop")
    await expect(line).to_contain_text("never used")
    assert await axe(page, "dialog") == []
    await editor.shot("my-account")
    # One device needs no second one.
    await add_passkey(page, dialog, "Again")
    await expect(dialog.get_by_role("alert")).to_contain_text("has a passkey for the account already")
    await line.get_by_role("button", name="Rename the passkey Laptop").click()
    asked = page.get_by_role("dialog", name="Rename the passkey Laptop")
    await asked.get_by_label("Name", exact=True).fill("Old laptop")
    await page.keyboard.press("Enter")
    await expect(line).to_contain_text("Old laptop")
    await dialog.get_by_role("button", name="Close").click()
    await leave(page)

    await expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_visible()
    assert await axe(page) == []
    await editor.shot("sign-in")
    # Whoever is not recognized by the device is not let in, and told so.
    await tools.send("WebAuthn.setUserVerified", {"authenticatorId": authenticator, "isUserVerified": False})
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await expect(page.get_by_role("alert")).to_contain_text("No passkey was given")
    await tools.send("WebAuthn.setUserVerified", {"authenticatorId": authenticator, "isUserVerified": True})
    await page.get_by_role("button", name="Sign in with a passkey").press("Enter")
    await expect(page.locator(".topbar-me")).to_have_text("Pat")
    credentials = (await tools.send("WebAuthn.getCredentials", {"authenticatorId": authenticator}))["credentials"]
    assert [each["rpId"] for each in credentials] == ["localhost"] and credentials[0]["signCount"] > 1

    dialog = await choose(page, "My account")
    line = dialog.get_by_role("list", name="Passkeys").get_by_role("listitem")
    await expect(line).to_contain_text("last used")
    await line.get_by_role("button", name="Remove the passkey Old laptop").click()
    await page.get_by_role("dialog", name="Remove the passkey Old laptop").get_by_role("button", name="Remove").click()
    await expect(line).to_have_count(0)
    await dialog.get_by_role("button", name="Close").click()
    await leave(page)
    # The device goes on offering it; the server knows it no more.
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await expect(page.get_by_role("alert")).to_contain_text("does not know this passkey")


async def test_somebody_signs_in_at_the_provider_and_is_where_they_were(site: Site, open_editor: OpenEditor) -> None:
    site.provider.person = {"sub": "olga-1", "name": "Olga", "email": "olga@house.example"}
    editor = await opened(site, open_editor, "/ui/#kept")
    page = editor.page
    await page.get_by_role("button", name="Sign in with House ID").press("Enter")
    await expect(page).to_have_title("Provider")
    await page.get_by_role("button", name="Yes, it is me").click()
    await expect(page.locator(".topbar-me")).to_have_text("Olga")
    # What the provider has sent is out of the address, and the document is the one of before.
    await expect(page).to_have_url(re.compile(r"/ui/#kept"))
    cookies = {cookie["name"]: cookie for cookie in await page.context.cookies()}
    assert cookies["agentui_sign_in"]["httpOnly"] and cookies["agentui_sign_in"]["sameSite"] == "Strict"

    # An account without a password: its only way in is not removed by mistake, and the page says so.
    dialog = await choose(page, "My account")
    line = dialog.get_by_role("list", name="House ID").get_by_role("listitem")
    await expect(line).to_contain_text("olga@house.example")
    await line.get_by_role("button", name="Remove the link to olga@house.example").click()
    await page.get_by_role("dialog", name="Remove the link").get_by_role("button", name="Remove").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("only way to sign in")
    await expect(line).to_have_count(1)
    assert await axe(page, "dialog") == []
    await dialog.get_by_role("button", name="Close").click()
    # Who signs out here signs out there, and comes back.
    asked = site.provider.asked.get("/leave", 0)
    await page.locator(".topbar-me").click()
    await page.get_by_role("menuitem", name="Sign out").click()
    await expect(page.get_by_role("button", name="Sign in with House ID")).to_be_visible()
    assert site.provider.asked["/leave"] == asked + 1

    # What goes wrong there is told here.
    site.provider.lie = "alg none"
    await page.get_by_role("button", name="Sign in with House ID").click()
    await page.get_by_role("button", name="Yes, it is me").click()
    await expect(page.get_by_role("alert")).to_contain_text("The identity provider cannot be used now")
    await editor.shot("failed")
    site.provider.lie, site.provider.error = "", "access_denied"
    await page.get_by_role("button", name="Sign in with House ID").click()
    await page.get_by_role("button", name="Yes, it is me").click()
    await expect(page.get_by_role("alert")).to_contain_text("let nobody in: access_denied")
    site.provider.error = ""


async def test_whoever_is_signed_out_in_the_middle_of_work_signs_in_at_the_provider_beside_it(
    site: Site, open_editor: OpenEditor
) -> None:
    site.provider.person = {"sub": "wim-1", "name": "Wim"}
    await site.person("wim", "Wim", may_edit=True)
    editor = await opened(site, open_editor, "/ui/#kept")
    page = editor.page
    await sign_in(page, "wim")
    dialog = await choose(page, "My account")
    await dialog.get_by_role("button", name="Link House ID").click()
    await page.get_by_role("button", name="Yes, it is me").click()
    await expect(page.get_by_text("The sign-on was linked to your account.")).to_be_visible()
    await expect(page.locator(".topbar-me")).to_have_text("Wim")
    name = page.locator(".inspector").get_by_label("Name", exact=True)
    await name.fill("Typed before")
    await site.password("wim")
    await page.keyboard.press("Control+s")
    asked = page.get_by_role("dialog", name="Sign in to go on")
    async with page.expect_popup() as opening:
        await asked.get_by_role("button", name="Sign in with House ID").click()
    beside = await opening.value
    closed = beside.wait_for_event("close")
    await beside.get_by_role("button", name="Yes, it is me").click()
    await closed
    await expect(asked).to_have_count(0)
    await expect(name).to_have_value("Typed before")
    await page.keyboard.press("Control+s")
    await page.get_by_text("Saved as kept.").wait_for()


async def test_the_ways_are_offered_in_other_languages_and_where_they_work(site: Site, open_editor: OpenEditor) -> None:
    for locale, passkey, provider in (
        ("ru", "Войти ключом доступа", "Войти через House ID"),
        ("zh-CN", "用通行密钥登录", "用 House ID 登录"),
    ):
        editor = await opened(site, open_editor, has_touch=True, locale=locale)
        await expect(editor.page.get_by_role("button", name=passkey)).to_be_visible()
        await expect(editor.page.get_by_role("button", name=provider)).to_be_visible()
        assert await axe(editor.page) == []
    # A link that looks like a way back is asked about nowhere: nothing was begun.
    posted: list[str] = []
    editor = await open_editor(server=site.server, path="/ui/?state=x&code=y#kept", prepare=lambda page: heard(page, posted))
    editor.allow("status of 401")
    await expect(editor.page.get_by_role("button", name="Sign in with House ID")).to_be_visible()
    await expect(editor.page).to_have_url(re.compile(r"/ui/#kept$"))
    assert posted == []
    # At another address of the same server passkeys and the provider would lead nowhere.
    other = replace(site, server=replace(site.server, origin=site.server.origin.replace("localhost", "127.0.0.1")))
    editor = await opened(other, open_editor)
    await editor.page.get_by_role("button", name="Sign in with House ID").click()
    await expect(editor.page.get_by_role("alert")).to_contain_text(f"works at {site.server.origin}")


async def test_an_admin_links_an_address_and_takes_what_was_lost_away(site: Site, open_editor: OpenEditor) -> None:
    await site.password("default-admin")
    await site.person("uma", "Uma")
    editor = await opened(site, open_editor)
    page = editor.page
    await sign_in(page, "default-admin")
    dialog = await choose(page, "People")
    uma = dialog.get_by_role("listitem", name="Uma", exact=True)
    await uma.get_by_role("button", name="Sign-on of Uma").press("Enter")
    form = uma.get_by_role("form", name="Sign-on of Uma")
    await form.get_by_label("Address at the identity provider").fill("uma@house.example")
    await page.keyboard.press("Enter")
    await expect(form.get_by_role("listitem")).to_contain_text("waits for the first sign-in")
    assert await axe(page, "dialog") == []
    await editor.shot("link")
    site.provider.person = {"sub": "uma-1", "name": "Somebody", "email": "uma@house.example", "email_verified": True}
    other = await opened(site, open_editor)
    await other.page.get_by_role("button", name="Sign in with House ID").click()
    await other.page.get_by_role("button", name="Yes, it is me").click()
    await expect(other.page.locator(".topbar-me")).to_have_text("Uma")
    # A device was lost: what it may hold is gone with the old password.
    await form.get_by_role("button", name="Close").click()
    await uma.get_by_role("button", name="Password of Uma").click()
    await uma.get_by_label("New password").fill("another horse battery")
    await uma.get_by_label("Remove passkeys and linked sign-ons, too").check()
    await uma.get_by_role("button", name="Set the password").click()
    await expect(page.get_by_text("has another password")).to_be_visible()
    assert (await site.ask("GET", "/accounts/uma/identities"))["data"] == []
