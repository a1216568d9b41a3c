"""Many pages of one browser share one stream of the server's events: each loads, saves, and hears what happens."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, Request, expect

from agentui.jsonio import Json, loads
from tests.api.editor_client import Editor, editing
from tests.browser.conftest import ARGUMENTS, CHROMIUM, OpenEditor, becomes, until
from tests.browser.test_api_client import PageAt, Script, answer_with, event, page_at, run, script, send
from tests.conftest import Server, call
from tests.upstreams.server import Mock

pytestmark = pytest.mark.browser

__all__ = ["page_at", "script"]
PAGES = 6
"""As many as a browser opens connections to one server."""


class Streams:
    """The streams of events that the pages of a context have open, by page, in the order in which they were opened."""

    def __init__(self, context: BrowserContext) -> None:
        self._open: list[Request] = []
        self.asked: list[str | None] = []
        context.on("request", self._begin)
        context.on("requestfinished", self._end)
        context.on("requestfailed", self._end)

    def _begin(self, request: Request) -> None:
        if request.url.endswith("/api/events"):
            self._open.append(request)
            self.asked.append(request.headers.get("last-event-id"))

    def _end(self, request: Request) -> None:
        if request in self._open:
            self._open.remove(request)

    @property
    def pages(self) -> list[Page]:
        # What a page had open when it was closed is told of by nobody.
        return [request.frame.page for request in self._open if not request.frame.page.is_closed()]


OpenPages = Callable[..., Awaitable[tuple[list[Page], Streams, Server]]]


@pytest_asyncio.fixture(loop_scope="session")
async def open_pages(open_editor: OpenEditor) -> OpenPages:
    """So many pages of one browser, all in sight, and their streams."""

    async def open_all(count: int, document: Json) -> tuple[list[Page], Streams, Server]:
        async def prepare(page: Page) -> None:
            await page.add_init_script("localStorage.setItem('agentui.tour', 'declined')")
            page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.accept()))
            streams.append(Streams(page.context))

        streams: list[Streams] = []
        editor = await open_editor({"default": document}, prepare=prepare)
        pages = [editor.page]
        while len(pages) < count:
            page = await editor.page.context.new_page()
            page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.accept()))
            await page.goto(editor.server.origin + "/ui/", wait_until="load")
            pages.append(page)
        for page in pages:
            await page.locator(".doc-tab").first.wait_for()
            await until(page, "(await own('state/store.js')).store.get().runs.live === 'open'")
        return pages, streams[0], editor.server

    return open_all


async def runs_of(page: Page) -> dict[str, Any]:
    """The runs that a page knows, with what it has heard of each."""
    return await page.evaluate(
        """async () => {
          const {byId} = (await own('state/store.js')).store.get().runs;
          return Object.fromEntries(Object.values(byId).map(({id, state, lastSeq, missed}) => [id, {state, lastSeq, missed}]));
        }"""
    )


async def last_number(client: Editor, run: str) -> int:
    """The number of the last event of a run, once it is over."""
    await becomes(lambda: client.get(f"/api/runs/{run}"), lambda answer: answer.body["state"] == "finished")
    return int((await client.get(f"/api/runs/{run}")).body["event_count"]) - 1


async def test_six_pages_load_save_and_hear_what_happens_over_one_connection(open_pages: OpenPages) -> None:
    pages, streams, server = await open_pages(PAGES, call("openai", "demo"))
    assert len(streams.pages) == 1
    # The last one saves, and every other one shows what was saved.
    await pages[-1].evaluate("async () => (await own('state/tabs.js')).select({})")
    await pages[-1].get_by_role("region", name="Inspector").get_by_role("textbox", name="Name").fill("Saved by the sixth")
    await pages[-1].keyboard.press("Control+s")
    await becomes(
        lambda: asyncio.sleep(0, loads((server.pipelines / "default.json").read_bytes())["name"]), "Saved by the sixth"
    )
    for page in pages:
        await expect(page.locator(".doc-tab-text")).to_have_text("Saved by the sixth")
    # A client's run appears in each, from its first event to its last.
    async with editing(server) as client:
        await client.chat("demo-small")
        run_id = (await client.only_run())["id"]
        last = await last_number(client, run_id)
    for page in pages:
        await becomes(lambda page=page: runs_of(page), {run_id: {"state": "finished", "lastSeq": last, "missed": 0}})
    assert len(streams.pages) == 1 and len(streams.asked) == 1


async def test_a_page_that_comes_later_hears_the_whole_of_a_run_under_way(open_pages: OpenPages, mock: Mock) -> None:
    pages, streams, server = await open_pages(1, call("openai", mock.origin))
    async with editing(server) as client:
        calling = asyncio.ensure_future(client.start("hang"))
        await mock.was_asked()
        later = await pages[0].context.new_page()
        await later.goto(server.origin + "/ui/", wait_until="load")
        run_id = (await client.only_run())["id"]
        await becomes(lambda: runs_of(later), lambda runs: runs[run_id]["missed"] == 0 and runs[run_id]["state"] == "running")
        mock.release()
        await calling
        last = await last_number(client, run_id)
    await becomes(lambda: runs_of(later), {run_id: {"state": "finished", "lastSeq": last, "missed": 0}})
    assert streams.pages == pages


async def test_the_stream_goes_on_in_another_page_when_its_page_is_closed(open_pages: OpenPages, mock: Mock) -> None:
    pages, streams, server = await open_pages(3, call("openai", mock.origin))
    async with editing(server) as client:
        calling = asyncio.ensure_future(client.start("hang"))
        await mock.was_asked()
        run_id = (await client.only_run())["id"]
        [leading] = streams.pages
        others = [page for page in pages if page != leading]
        for page in others:
            await becomes(lambda page=page: runs_of(page), lambda runs: runs[run_id]["lastSeq"] > 1)
        await leading.close()
        mock.release()
        await calling
        last = await last_number(client, run_id)
        for page in others:
            await becomes(lambda page=page: runs_of(page), {run_id: {"state": "finished", "lastSeq": last, "missed": 0}})
    # It went on behind the last event that was heard.
    assert len(streams.pages) == 1 and streams.pages[0] in others
    assert len(streams.asked) == 2 and streams.asked[1] is not None and "live_" in streams.asked[1]
    for page in others:
        assert await page.locator(".notice").count() == 0


# The sharing itself, with times of its own

SHARED = "const s = await import('/ui/js/api/shared.js');"
SHARE = """
window.heard = []; window.gaps = []; window.states = [];
window.sharing = s.share('/stream', {lastEventId: '', beat: 50, silence: 400, ...arg, onEvent: ({data}) => window.heard.push(data),
  onGap: (last, known) => window.gaps.push([last, known]), onState: (state) => window.states.push(state)});
window.sharing.catch((error) => window.states.push(error.code));
"""
SEE = """(hidden) => {
  Object.defineProperty(document, 'hidden', {value: hidden, configurable: true});
  document.dispatchEvent(new Event('visibilitychange'));
}"""


async def another(page: Page) -> Page:
    made = await page.context.new_page()
    await made.goto(page.url)
    return made


async def hears(page: Page, *numbers: int) -> None:
    await becomes(lambda: page.evaluate("window.heard"), list(numbers))


async def test_a_page_out_of_sight_hands_the_stream_on_and_still_hears_it(page_at: PageAt, script: Script) -> None:
    script.acts = [send(event(1), end="silent"), send(event(2), end="silent"), send(event(3), end="silent")]
    async with page_at(f"{script.origin}/health") as first:
        await run(first, SHARED, SHARE, {})
        await hears(first, 1)
        second = await another(first)
        await run(second, SHARED, SHARE, {})
        await becomes(lambda: second.evaluate("window.gaps"), [["1", ""]])
        await first.evaluate(SEE, True)
        await hears(second, 2)
        await hears(first, 1, 2)
        # Nobody looks any more: there is no stream, until somebody does.
        await second.evaluate(SEE, True)
        await becomes(lambda: first.evaluate("async () => (await navigator.locks.query()).held.length"), 0)
        assert script.asked == [None, "1"]
        await first.evaluate(SEE, False)
        await hears(first, 1, 2, 3)
        await hears(second, 2, 3)
        assert script.asked == [None, "1", "2"]
        assert [await first.evaluate("window.gaps"), await first.evaluate("window.states")] == [[], ["open"]]


async def test_the_stream_of_a_page_that_stands_still_is_taken_over(browser: Browser, script: Script) -> None:
    script.acts = [send(event(1), end="silent"), send(event(2) + event(3), end="silent")]
    # In a browser whose pages have a process each: else one that stands still would hold up all.
    arguments = [each for each in ARGUMENTS if each != "--process-per-site"]
    apart = await browser.browser_type.launch(executable_path=CHROMIUM, args=arguments)
    try:
        first = await (await apart.new_context()).new_page()
        await first.goto(f"{script.origin}/health")
        await run(first, SHARED, SHARE, {})
        await hears(first, 1)
        second = await another(first)
        await run(second, SHARED, SHARE, {"lastEventId": "1"})
        await becomes(lambda: second.evaluate("window.states"), ["open"])
        debugger = await first.context.new_cdp_session(first)
        await debugger.send("Debugger.enable")
        paused = asyncio.Event()
        debugger.on("Debugger.paused", lambda _: paused.set())
        standing = asyncio.ensure_future(first.evaluate("() => { debugger; }"))
        await paused.wait()
        await hears(second, 2, 3)
        assert script.asked == [None, "1"]
        # It goes on: the lock is lost, so it listens, and is told of what it slept through where it has not heard it.
        await debugger.send("Debugger.resume")
        await standing
        await becomes(lambda: first.evaluate("window.gaps.length > 0 || window.heard.length === 3"), True)
        await becomes(lambda: first.evaluate("async () => (await navigator.locks.query()).pending.length"), 1)
        assert script.asked == [None, "1"]
    finally:
        await apart.close()


async def test_a_page_that_is_refused_the_stream_leaves_it_to_the_others(page_at: PageAt, script: Script) -> None:
    script.acts = [answer_with(401), send(event(1), end="silent")]
    async with page_at(f"{script.origin}/health") as first:
        await run(first, SHARED, SHARE, {})
        await becomes(lambda: first.evaluate("window.states"), ["bad_answer"])
        second = await another(first)
        await run(second, SHARED, SHARE, {})
        await hears(second, 1)
        assert await first.evaluate("window.heard") == []


async def test_without_locks_each_page_has_a_stream_of_its_own(page_at: PageAt, script: Script) -> None:
    script.acts = [send(event(1), end="silent"), send(event(1), end="silent")]
    without = "Object.defineProperty(navigator, 'locks', {value: undefined});"
    async with page_at(f"{script.origin}/health", without) as first:
        second = await another(first)
        await second.evaluate(without)
        for page in (first, second):
            await run(page, SHARED, SHARE, {})
            await hears(page, 1)
