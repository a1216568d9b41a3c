"""
Keys in a real Chromium: runs that carried a key in every place, against an upstream that repeats them in every way, walked through
panel by panel. Neither the page nor what the browser keeps for it holds one, in any spelling.
"""

import json
import random
from typing import Any

import pytest
from aiohttp import ClientSession
from playwright.async_api import Page, expect

from tests.browser.conftest import OpenEditor, until
from tests.browser.test_run import LIVE
from tests.campaigns.canaries import PIPELINES, Parrot, make_keys, pipelines
from tests.campaigns.scanner import Scanner
from tests.conftest import Server
from tests.faults.callers import DIALECTS, Asked, ask, send
from tests.unit.upstream.conftest import serving

pytestmark = pytest.mark.browser

KEPT = """async () => {
  const kept = {local: {...localStorage}, session: {...sessionStorage}, cookies: document.cookie, databases: {}, caches: []};
  for (const {name} of await indexedDB.databases()) {
    const database = await new Promise((resolve, reject) => {
      const request = indexedDB.open(name);
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    for (const store of database.objectStoreNames) {
      kept.databases[`${name}.${store}`] = await new Promise((resolve, reject) => {
        const request = database.transaction(store).objectStore(store).getAll();
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    }
    database.close();
  }
  kept.caches = await caches.keys();
  return JSON.stringify(kept);
}"""
"""All that the browser keeps for the page."""

KNOWN = """async (ofOne) => {
  const {runs} = (await own('state/store.js')).store.get();
  const seen = new WeakSet();
  return JSON.stringify(ofOne ? runs.byId[runs.viewed] : runs, (name, value) => {
    if (typeof value !== 'object' || value === null) return value;
    if (seen.has(value)) return undefined;
    seen.add(value);
    return value;
  });
}"""
"""What the page knows of the run that it shows, or of all runs, shown or not."""


async def look(page: Page, scanner: Scanner, where: str, *, of_one: bool = False) -> None:
    """Look through the page: its elements, the values of its fields, and what it knows of one run or of all."""
    scanner.scan(f"the page at {where}", await page.evaluate("document.documentElement.outerHTML"))
    values = "JSON.stringify([...document.querySelectorAll('input, textarea')].map((field) => field.value))"
    scanner.scan(f"the fields at {where}", await page.evaluate(values))
    scanner.scan(f"the state at {where}", await page.evaluate(KNOWN, of_one))


async def fill(server: Server, keys: dict[str, str]) -> None:
    """A run of every pipeline, some of them streamed, by every dialect in turn."""
    async with ClientSession() as session:
        for number, pipeline in enumerate(PIPELINES):
            dialect = DIALECTS[number % 4]
            key = keys[{"claude": "x-api-key", "gemini": "x-goog-api-key"}.get(dialect, "authorization")]
            asked = ask(dialect, stream=number % 3 == 0, key=key)
            headers = {**asked.headers, **({"x-agentui-session": "chat"} if pipeline == "turn" else {})}
            await send(session, server.origin, Asked(f"/p/{pipeline}{asked.path}", headers, asked.body))


async def test_no_key_is_in_the_page_nor_in_what_the_browser_keeps(open_editor: OpenEditor) -> None:
    dice = random.Random(7)
    keys = make_keys(dice)
    # The key that somebody wrote into a pipeline's text is shown to whom edits that text.
    scanner = Scanner({place: key for place, key in keys.items() if place not in ("written", "token")})
    async for upstream in serving():
        parrot = Parrot(dice)
        upstream.script = parrot.say

        async def prepare(page: Page) -> None:
            await page.add_init_script("localStorage.setItem('agentui.tour', 'declined')")

        documents: dict[str, Any] = pipelines(upstream.url, keys)
        editor = await open_editor(
            documents, prepare=prepare, active="same", secret_env={"AGENTUI_SECRET_PROVIDER": keys["stored"]}
        )
        editor.allow(r"status of (4|5)\d\d")
        editor.server.state.services.secrets.set("sealed", keys["sealed"], [upstream.url])
        page = editor.page
        await until(page, LIVE)
        await page.get_by_role("button", name="Try", exact=True).click()
        await fill(editor.server, keys)
        await look(page, scanner, "the runs as they came in")
        await walk_history(page, scanner)
        await look(page, scanner, "the editor after all runs")
        await walk_pipelines(page, scanner, editor.server)
        scanner.scan("what the browser keeps", await page.evaluate(KEPT))
        assert scanner.finds == []
        assert scanner.scanned > 500_000
        assert {"refuse", "headers", "answer"} <= parrot.ways.keys()


async def walk_history(page: Page, scanner: Scanner) -> None:
    """Open every kept run, and what is told of each of its nodes."""
    tabs = page.locator(".run-tabs")
    await tabs.get_by_role("tab", name="History").click()
    lines = page.locator(".run-line .run-link")
    await expect(lines.nth(len(PIPELINES) - 1)).to_be_attached()
    count = await lines.count()
    for number in range(count):
        await tabs.get_by_role("tab", name="History").click()
        await lines.nth(number).click()
        await tabs.get_by_role("tab", name="Timeline").click()
        rows = page.locator(".run-row")
        await expect(rows.first).to_be_visible()
        await rows.last.click()
        await look(page, scanner, f"the timeline of run {number}", of_one=True)
        await tabs.get_by_role("tab", name="Node").click()
        await look(page, scanner, f"the node of run {number}", of_one=True)
        await page.get_by_role("button", name="Back to editing").click()


async def walk_pipelines(page: Page, scanner: Scanner, server: Server) -> None:
    """Open pipelines whose requests hold a key, their inspector and their preview."""
    for name in ("stored", "in-url", "set"):
        await page.goto(f"{server.origin}/ui/?pipeline={name}")
        node = page.locator(".react-flow__node").last
        await expect(node).to_be_visible()
        await node.click()
        preview = page.get_by_role("tab", name="Preview")
        if await preview.count():
            await preview.first.click()
        await until(page, LIVE)
        await look(page, scanner, f"the editor with {name}")
    async with ClientSession() as session, session.get(server.origin + "/api/runs") as reply:
        assert json.loads(await reply.read())
