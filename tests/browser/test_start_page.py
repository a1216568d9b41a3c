"""The start page in a real Chromium: it shows what there is, and it breaks no rule of its own."""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

try:
    import playwright.async_api
except ImportError:
    playwright = None  # type: ignore[assignment]  # the tests say that they are skipped

from agentui.demo import DemoServer
from tests.conftest import Server, StartServer, call, skip

pytestmark = pytest.mark.browser

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


INLINE_SCRIPT = """() => {
  const script = document.createElement("script");
  script.textContent = "window.ran = true";
  document.body.append(script);
}"""


class Page:
    """A page and everything that it complained of."""

    def __init__(self, page: "playwright.async_api.Page") -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", lambda message: self._hear(message.type, message.text))
        page.on("pageerror", lambda error: self._hear("error", str(error)))
        page.on("requestfailed", lambda request: self._hear("error", f"{request.url} failed"))
        page.on("response", lambda reply: self._hear("error", f"{reply.url} {reply.status}") if reply.status >= 400 else None)

    def _hear(self, kind: str, text: str) -> None:
        # A violation of the Content-Security-Policy is an error in the console.
        if kind in ("error", "warning"):
            self.complaints.append(text)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Page]:
    """The page at this address, when its network has come to rest."""
    need_browser()
    async with playwright.async_api.async_playwright() as engine:
        browser = await engine.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            page = Page(await browser.new_page())
            await page.page.goto(url, wait_until="networkidle")
            yield page
        finally:
            await browser.close()


def need_browser() -> None:
    """Skip where there is no browser to drive, or nothing to drive it with."""
    if not os.path.exists(CHROMIUM):
        skip("There is no chromium.")
    if playwright is None:
        skip("There is no playwright.")


@pytest.fixture
async def server(start_server: StartServer, demo: DemoServer) -> Server:
    """A server with two pipelines, one of them broken."""
    broken = {"format": 1, "name": "Broken <b>one</b>", "nodes": [{"id": "n1", "type": "Nothing"}]}
    return await start_server({"default": call("openai", "demo"), "broken": broken}, named_origins={"demo": demo.origin})


async def test_the_page_shows_the_pipelines_and_complains_of_nothing(server: Server) -> None:
    async with opened(server.origin) as start:
        page = start.page
        assert "Active pipeline: default." in await page.inner_text("#state")
        lines = await page.locator("#pipelines li").all_inner_texts()
        assert len(lines) == 2
        assert "to openai (active)" in lines[1] and "/p/default" in lines[1]
        assert await page.is_visible("#no-runs")
    assert start.complaints == []


async def test_names_are_shown_letter_for_letter_and_problems_are_counted(server: Server) -> None:
    async with opened(server.origin) as start:
        assert "Broken <b>one</b> (problems: 1)" in await start.page.inner_text("#pipelines")
        assert await start.page.locator("#pipelines b").count() == 0
    assert start.complaints == []


async def test_a_run_is_listed_after_it_ended(server: Server) -> None:
    question = {"model": "demo-small", "messages": [{"role": "user", "content": "Hello!"}]}
    async with opened(server.origin) as start:
        page = start.page
        reply = await page.request.post(f"{server.origin}/v1/chat/completions", data=question)
        assert reply.status == 200
        await page.reload(wait_until="networkidle")
        assert "default · demo-small · finished" in await page.inner_text("#runs")
        assert not await page.is_visible("#no-runs")
    assert start.complaints == []


async def test_the_page_obeys_a_policy_that_forbids_inline_scripts(server: Server) -> None:
    """The check would see a violation: a script that is put into the page is refused and heard of."""
    async with opened(server.origin) as start:
        await start.page.evaluate(INLINE_SCRIPT)
        assert await start.page.evaluate("() => window.ran === undefined")
    assert any("Content Security Policy" in text for text in start.complaints)


async def test_the_page_says_that_a_token_is_asked_for(start_server: StartServer) -> None:
    server = await start_server({"default": call("openai", "demo")}, token="a-long-enough-token")
    async with opened(server.origin) as start:
        assert "access token" in await start.page.inner_text("#state")


async def test_the_page_fits_a_narrow_screen_in_both_colour_schemes(server: Server) -> None:
    async with opened(server.origin) as start:
        page = start.page
        await page.set_viewport_size({"width": 360, "height": 640})
        backgrounds = set()
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme)
            backgrounds.add(await page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
        assert len(backgrounds) == 2
        assert await page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert start.complaints == []
