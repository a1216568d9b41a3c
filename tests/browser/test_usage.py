"""What calls cost, in the page: usage, budgets, who did what, and the cost beside answers and runs."""

import csv
import json
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import ClientSession
from playwright.async_api import Locator, Page, expect

from agentui.api.keys import METER, STORE
from agentui.jsonio import Json
from agentui.usage.ledger import add_values
from tests.browser.conftest import COLOUR_RULES, Editor, OpenEditor, axe
from tests.browser.test_accounts import ENDED, PASSWORD, TOKEN, House, opened
from tests.conftest import call, quick_demo, servers

pytestmark = pytest.mark.browser

PHONE = {"locale": "ru", "reduced_motion": "reduce", "has_touch": True, "timezone_id": "Asia/Tokyo"}
DESK = {"reduced_motion": "reduce", "timezone_id": "America/New_York", "accept_downloads": True}
PRICES = [{"model": "demo*", "input": 1.0, "output": 2.0}]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """One server for this module's tests, which counts calls to the demo's model."""
    folder = tmp_path_factory.mktemp("counting")
    (folder / "prices.json").write_text(json.dumps({"prices": PRICES}))
    settings: dict[str, object] = {"auth_mode": "api_key", "account_mode": "multi", "token": TOKEN, "token_attempts": 0}
    async with quick_demo() as demo, servers(folder) as start, ClientSession() as http:
        server = await start(
            {"default": call("openai", "demo", model="demo-1")},
            named_origins={"demo": demo.origin},
            prices=folder / "prices.json",
            **settings,
        )
        made = House(server, http)
        await made.password("default-admin")
        yield made


def line(id: str, days: int, **more: Json) -> dict[str, Json]:
    """A line of the ledger, of a call so many days ago."""
    time = round((datetime.now() - timedelta(days=days)).timestamp() * 1000)
    plain = {"vendor": "openai", "host": "h", "operation": "chat", "purpose": "answer", "outcome": "answered", "status": 200}
    tokens = {"input_tokens": 1000, "output_tokens": 500, "cache_read_tokens": 400, "cache_write_tokens": 0}
    place = {"key_id": None, "session_id": None, "floor_id": None, "run_id": "run", "pipeline_id": "default", "node_id": "n"}
    told = {"reasoning_tokens": 20, "price_nano": 250_000_000, "basis": "told", "latency_ms": 1200, "model": "large"}
    return {"id": f"usage_{id}", "created_at": time, **plain, **tokens, **place, **told, **more}


def read(path: Path) -> list[str]:
    """The lines of a file."""
    return path.read_text().splitlines()


async def page_of(page: Page, name: str) -> Locator:
    """Open a page of the menu by the keyboard."""
    await page.locator(".topbar-me").focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("menuitem", name=name).click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("tabpanel")).to_be_visible()
    return dialog


async def on_a_phone(house: House, open_editor: OpenEditor, account: str) -> Editor:
    """The editor of somebody who has just signed in on a phone, in Russian."""
    editor = await open_editor(server=house.server, context=PHONE, width=360, height=740)
    editor.allow("status of 401")
    editor.allow(ENDED)
    await editor.page.get_by_label("Учётная запись", exact=True).fill(account)
    await editor.page.get_by_label("Пароль", exact=True).fill(PASSWORD)
    await editor.page.get_by_role("button", name="Войти", exact=True).tap()
    await editor.page.locator(".doc-tab").first.wait_for()
    return editor


async def no_sideways(page: Page) -> None:
    """Nothing of the dialog is wider than the window, but for tables that scroll by themselves."""
    wide = await page.evaluate(
        """() => [...document.querySelectorAll('dialog *')].filter((one) => !one.closest('.usage-scroll, .visually-hidden')
          && one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 120))"""
    )
    assert wide == []
    assert await page.evaluate("document.querySelector('dialog .dialog-body').scrollWidth <= innerWidth")


async def looked_at(editor: Editor, name: str) -> None:
    """The dialog in both themes: no rule of accessibility is broken."""
    await editor.page.evaluate("async () => (await own('state/view.js')).setView({theme: 'dark'})")
    await expect(editor.page.locator("html[data-theme=dark]")).to_be_attached()
    await editor.shot(name)
    assert await axe(editor.page, "dialog") == []
    await editor.page.evaluate("async () => (await own('state/view.js')).setView({theme: 'light'})")
    await expect(editor.page.locator("html[data-theme=light]")).to_be_attached()
    await editor.shot(f"{name}-light")
    assert await axe(editor.page, "dialog", COLOUR_RULES) == []


async def test_an_admin_sees_what_all_took_and_a_user_what_is_ones_own(house: House, open_editor: OpenEditor) -> None:
    await house.person("una", "Una")
    store = house.server.app[STORE]
    unknown: dict[str, Json] = {"price_nano": None, "model": "=local", "basis": "unknown", "input_tokens": None}
    lines = [
        line("1", 0, account_id="una"),
        line("2", 1, account_id="una", basis="estimated", purpose="director"),
        line("3", 2, account_id="una", **unknown, output_tokens=None),
        line("4", 2, account_id="default-admin", model="small", price_nano=40_000),
    ]
    await store.write(add_values, lines)

    editor = await opened(house, open_editor, "default-admin", context=DESK)
    page = editor.page
    dialog = await page_of(page, "Usage")
    # A sum says what is not in it.
    total = dialog.locator(".usage-total")
    await expect(total).to_contain_text("≈ $0.50, partly estimated and 1 call of unknown price")
    await expect(total).to_contain_text("4 calls")
    await expect(dialog.get_by_text("Of 1 call nobody knows the price: it is in no sum.")).to_be_visible()
    row = dialog.get_by_role("row", name="=local")
    await expect(row).to_contain_text("price unknown")
    await expect(row).to_contain_text("unknown")
    await looked_at(editor, "usage")
    # The bars are gone through with arrows, each says its amounts, and Enter narrows to its day.
    bars = dialog.get_by_role("group", name="What each day or month cost.").get_by_role("button")
    await expect(bars).to_have_count(30)
    await bars.last.focus()
    await page.keyboard.press("ArrowLeft")
    await expect(bars.nth(28)).to_be_focused()
    spoken = await bars.nth(28).get_attribute("aria-label") or ""
    assert "≈ $0.25, estimated; 1 call, 1,000 tokens in, 500 out" in spoken
    await expect(dialog.locator(".usage-pointed")).to_have_text(spoken)
    await page.keyboard.press("Enter")
    await expect(total).to_contain_text("≈ $0.25, estimated")
    await expect(bars).to_have_count(1)
    # By account, and then one account alone, by the row of the table.
    await dialog.get_by_label("Time", exact=True).select_option("7")
    await dialog.get_by_label("By", exact=True).select_option("account")
    await dialog.get_by_role("button", name="Una").press("Enter")
    await expect(total).to_contain_text("3 calls")
    await expect(dialog.get_by_role("button", name="Account: Una")).to_be_visible()
    async with page.expect_download() as coming:
        await dialog.get_by_role("button", name="All calls as CSV").click()
    rows = list(csv.DictReader(read(await (await coming.value).path())))
    assert [(each["account_id"], each["model"], each["price_usd"]) for each in rows] == [
        ("una", "large", "0.250000000"), ("una", "large", "0.250000000"), ("una", "'=local", ""),
    ]  # fmt: skip
    assert rows[0]["time"][-6:] in ("-05:00", "-04:00")
    await dialog.get_by_role("button", name="Account: Una").click()
    await expect(total).to_contain_text("4 calls")
    # Where no price is known the bars have no amounts beside them.
    await expect(dialog.locator(".usage-axis")).to_contain_text("$")
    await dialog.get_by_label("By", exact=True).select_option("model")
    await dialog.get_by_role("button", name="=local", exact=True).click()
    await expect(total).to_contain_text("price unknown")
    await expect(dialog.locator(".usage-axis")).to_have_text("0")

    other = await on_a_phone(house, open_editor, "una")
    dialog = await page_of(other.page, "Расходы")
    await expect(dialog.locator(".usage-total")).to_contain_text("3 вызова")
    await expect(dialog.get_by_label("По", exact=True).locator("option")).to_have_count(6)
    await no_sideways(other.page)
    await looked_at(other, "usage-phone")
    # The button that leads here is in sight on every phone.
    for width in (390, 430, 479, 480):
        await other.page.set_viewport_size({"width": width, "height": 740})
        assert await other.page.evaluate("document.querySelector('.topbar-me').getBoundingClientRect().right <= innerWidth"), (
            width
        )


async def test_an_admin_sets_changes_and_removes_budgets(house: House, open_editor: OpenEditor) -> None:
    await house.person("bud", "Bud")
    others: list[dict[str, Json]] = [{"level": "server", "unit": unit, "period": "month"} for unit in ("requests", "tokens")]
    known = [(await house.ask("PUT", "/budgets", {**one, "amount": 1_000_000}))["data"]["id"] for one in others]
    editor = await opened(house, open_editor, "default-admin", context=DESK)
    page = editor.page
    named: list[str] = []
    page.on("request", lambda request: named.append(request.url) if request.url.endswith("/accounts") else None)
    dialog = await page_of(page, "Budgets")
    await dialog.get_by_role("button", name="New budget").press("Enter")
    form = dialog.get_by_role("form", name="New budget")
    await expect(form.get_by_label("Of", exact=True)).to_be_focused()
    levels = (await house.ask("GET", "/budgets/settings"))["data"]["levels"]
    await expect(form.get_by_label("Of", exact=True).locator("option")).to_have_count(len(levels))
    await form.get_by_label("Which account").select_option("bud")
    await form.get_by_role("button", name="Set the budget").click()
    await expect(form.get_by_text("A sum of dollars such as 5")).to_be_visible()
    await form.get_by_label("Dollars").fill("2.5")
    await page.keyboard.press("Enter")
    budget = dialog.get_by_role("listitem", name="Account: Bud · money a month")
    await expect(budget).to_contain_text("$2.50")
    await expect(budget.get_by_role("meter")).to_have_attribute("aria-valuetext", "$2.50 of $2.50 left")
    # The names of people are read once for all budgets, and once to choose one of them.
    await expect(dialog.get_by_role("listitem")).to_have_count(3)
    assert len(named) == 2
    await looked_at(editor, "budgets")
    await budget.get_by_role("button", name="Change the budget").press("Enter")
    amount = budget.get_by_label("Dollars")
    await expect(amount).to_be_focused()
    await amount.fill("0")
    await page.keyboard.press("Enter")
    await expect(budget).to_contain_text("used up")
    await expect(budget).to_contain_text("Calls are refused until")

    # Who may not change it sees it, on a phone too.
    other = await on_a_phone(house, open_editor, "bud")
    own = await page_of(other.page, "Бюджеты")
    await expect(own.get_by_role("listitem")).to_contain_text("исчерпан")
    await expect(own.get_by_role("button", name="Изменить")).to_have_count(0)
    await expect(own.get_by_role("button", name="Новый бюджет")).to_have_count(0)
    await no_sideways(other.page)
    await looked_at(other, "budgets-phone")

    # What an unknown price means is a switch of the server's.
    await dialog.get_by_label("Calls whose price nobody knows cost nothing").click()
    await expect(dialog.get_by_text("A model whose price nobody knows takes nothing")).to_be_visible()
    assert (await house.ask("GET", "/budgets/settings"))["data"]["unknown_price"] == "free"
    await dialog.get_by_label("Calls whose price nobody knows cost nothing").click()
    await expect(dialog.get_by_text("Whoever has a budget of money may not call")).to_be_visible()
    for id in known:
        await house.ask("DELETE", f"/budgets/{id}")
    await budget.get_by_role("button", name="Remove the budget").click()
    await page.get_by_role("dialog").last.get_by_role("button", name="Remove it").click()
    await expect(dialog.get_by_text("There are no budgets")).to_be_visible()


async def test_costs_stand_beside_answers_and_runs_and_a_budget_that_refuses_is_opened(
    house: House, open_editor: OpenEditor
) -> None:
    await house.person("cho", "Cho")
    editor = await opened(house, open_editor, "cho", context=DESK)
    page = editor.page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/usage/" in request.url and "?" in request.url else None)
    await page.keyboard.press("Alt+t")
    field = page.locator("#chat-input")
    for words in ("First", "Second"):
        await field.fill(words)
        await page.keyboard.press("Enter")
        await expect(page.locator(".chat-floor .cost-told")).to_have_count(1 if words == "First" else 2)
    told = page.locator(".chat-floor .cost-told").last
    await expect(told).to_contain_text("$0.0000")
    # After a reload all answers of the page are asked for together.
    asked.clear()
    await page.reload()
    await expect(page.locator(".chat-floor .cost-told")).to_have_count(2)
    assert len(asked) == 1 and "by=floor" in asked[0]
    await page.locator(".chat-floor .cost-told").last.press("Enter")
    dialog = page.get_by_role("dialog", name="What this answer took")
    await expect(dialog.get_by_role("listitem")).to_contain_text("tokens told by the provider")
    await looked_at(editor, "calls")
    await page.keyboard.press("Escape")

    # The run says it too, and each of its nodes.
    floors = await page.locator(".chat-floor").evaluate_all("(all) => all.map((one) => one.dataset.floor)")
    run = (await house.ask("GET", "/api/runs"))[0]["id"]
    assert len(floors) == 2
    await page.evaluate("async (id) => (await own('state/runs.js')).openRun(id)", run)
    await page.evaluate("async () => (await own('state/view.js')).setView({dock: 'run'})")
    await expect(page.locator(".run-head .cost-told")).to_contain_text("$0.0000")
    await page.locator(".run-tabs").get_by_role("tab", name="Node").click()
    await expect(page.locator(".run-io .cost-told")).to_contain_text("$0.0000")
    assert sum("by=node" in url for url in asked) == 1

    # A budget with nothing left: the error leads to it.
    place: dict[str, Json] = {"level": "account", "subject": "cho", "unit": "requests", "period": "day"}
    budget = (await house.ask("PUT", "/budgets", {**place, "amount": 1}))["data"]
    await house.server.app[METER].refresh()
    editor.allow("status of 429")
    await page.evaluate("async () => (await own('state/view.js')).setView({dock: 'chat'})")
    await house.ask("PUT", "/budgets", {**place, "amount": 0})
    await field.fill("Third")
    await page.keyboard.press("Enter")
    failure = page.get_by_role("alert").filter(has_text="budget")
    await failure.get_by_role("button", name="Budgets").press("Enter")
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("A budget has less left than the call may take: Account, calls a day.")
    await expect(dialog).to_contain_text("0 is left, and the call may take 1 at most.")
    await expect(dialog.locator(".usage-meant")).to_contain_text("used up")
    await looked_at(editor, "refused")
    await page.keyboard.press("Escape")
    # So does one in the pane where pipelines are tried, whatever dialect refused it there.
    await page.evaluate("async () => (await own('state/view.js')).setView({dock: 'run'})")
    await page.locator("#run-input").fill("Fourth")
    await page.keyboard.press("Enter")
    await page.locator(".run-chat").get_by_role("button", name="Budgets").press("Enter")
    await expect(page.get_by_role("dialog")).to_contain_text("A budget has less left than the call may take")
    await page.keyboard.press("Escape")
    await house.ask("DELETE", f"/budgets/{budget['id']}")


async def test_who_did_what_is_found_by_kind_person_and_time(house: House, open_editor: OpenEditor) -> None:
    await house.person("lou", "Lou", role="admin")
    await house.ask("PATCH", "/accounts/lou", {"role": "user"})
    cookie = await house.cookie("lou", "correct horse battery")
    session = (await house.ask("POST", "/sessions", {"title": "A secret title"}, cookie=cookie, status=201))["data"]["id"]
    await house.ask("PATCH", f"/sessions/{session}", {"title": "Another", "status": "archived"}, cookie=cookie)

    editor = await opened(house, open_editor, "default-admin", context=DESK)
    page = editor.page
    dialog = await page_of(page, "Who did what")
    await dialog.get_by_label("Person").select_option("lou")
    entries = dialog.get_by_role("list", name="Who did what").get_by_role("listitem")
    await expect(entries).to_have_count(2)
    await dialog.get_by_label("Person").select_option("")
    await dialog.get_by_label("Kind").select_option("account")
    changed = entries.filter(has_text="Account: changed").first
    await changed.locator("summary").press("Enter")
    await expect(changed.get_by_role("row", name="role")).to_contain_text("adminuser")
    await looked_at(editor, "log")
    await dialog.get_by_label("Only what was refused").check()
    await expect(dialog.get_by_text("Nothing of this kind was done.")).to_be_visible()
    await dialog.get_by_label("Only what was refused").uncheck()
    await dialog.get_by_label("Time", exact=True).select_option("own")
    await dialog.get_by_label("From", exact=True).fill("2020-01-01")
    await dialog.get_by_label("To", exact=True).fill("2020-02-01")
    await expect(dialog.get_by_text("Nothing of this kind was done.")).to_be_visible()

    other = await on_a_phone(house, open_editor, "lou")
    own = await page_of(other.page, "Кто что сделал")
    entries = own.get_by_role("list", name="Кто что сделал").get_by_role("listitem")
    await expect(entries).to_have_count(2)
    await entries.first.locator("summary").click()
    await expect(entries.first.get_by_role("row", name="title")).to_contain_text("текст, не хранится")
    await expect(own).not_to_contain_text("secret")
    await no_sideways(other.page)
    await looked_at(other, "log-phone")


async def test_where_nobody_signs_in_and_nothing_is_counted_the_pages_say_so_and_ask_for_nothing(
    open_document: OpenEditor,
) -> None:
    editor = await open_document({"default": call("openai", "demo", model="demo-1")})
    page = editor.page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/usage" in request.url else None)
    await page.keyboard.press("Alt+t")
    await page.locator("#chat-input").fill("Hello")
    await page.keyboard.press("Enter")
    await expect(page.locator(".chat-floor .said-assistant")).to_contain_text("demo")
    await expect(page.locator(".chat-floor .chat-number")).to_be_visible()
    assert asked == []
    await page.get_by_role("button", name="Menu", exact=True).press("Enter")
    await page.get_by_role("menuitem", name="Usage").press("Enter")
    dialog = page.get_by_role("dialog", name="Usage and budgets")
    await expect(dialog).to_contain_text("This server does not count its calls to models.")
    assert len([url for url in asked if url.endswith("/locales/en/usage.json")]) == 1
    await dialog.get_by_role("tab", name="Usage").press("ArrowRight")
    await dialog.get_by_role("button", name="New budget").click()
    form = dialog.get_by_role("form", name="New budget")
    await form.get_by_label("Of", exact=True).select_option("server")
    await form.get_by_label("Limits", exact=True).select_option("calls")
    await form.get_by_label("How many (calls at once)").fill("3")
    await page.keyboard.press("Enter")
    await expect(dialog.get_by_role("listitem")).to_contain_text("3 left")
    await dialog.get_by_role("tab", name="Budgets").press("ArrowRight")
    entry = dialog.get_by_role("listitem").filter(has_text="Budget: set")
    await expect(entry).to_have_count(1)
    await expect(dialog.get_by_label("Person")).to_have_count(0)
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
