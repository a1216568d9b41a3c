"""
What the browser's tests share: one Chromium for all of them, the editor on a server of its own, axe-core, and screenshots.

The tests of this folder share one event loop, because they share one browser. A fixture of theirs that is async has to live in
that loop too: ``@pytest_asyncio.fixture(loop_scope="session")``. In a loop of its own it would never get an answer.
"""

import asyncio
import inspect
import os
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from sqlalchemy import Connection, delete

try:
    import playwright.async_api as playwright
except ImportError:
    playwright = None  # type: ignore[assignment]  # the tests say that they are skipped

from agentui.demo import DemoServer
from agentui.http import pages
from agentui.jsonio import Json, dumps
from agentui.store.tables import accounts
from agentui.store.tables.columns import metadata
from tests.browser.core import Evaluate, evaluator
from tests.browser.slowness import Slowed, slow_answers, slow_pages
from tests.conftest import PrepareApp, Server, StartServer, call, quick_demo, servers, skip
from tests.ports import held_port
from tests.upstreams.server import Mock, start_mock

HERE = Path(__file__).parent
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium") or "chromium"
"""The browser: Chromium without the part that draws windows, where there is one. A page costs it a quarter less."""
FEATURES_OFF = (
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "BackgroundResourceFetch",
    "ScriptStreaming",
)
"""What Chromium does without: what Playwright turns off (of that, what this browser has), for of two such lists the last one
counts; and to compile scripts in the background while they load, a tenth of what it costs to open the editor, of which the
contexts of tests keep nothing."""
ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--process-per-site",
    f"--disable-features={','.join(FEATURES_OFF)}",
]
WIDTH, HEIGHT = 1440, 900
WAIT_MS = 60_000
"""How long a step in the page may take; pytest's own limit comes later and could not say which step it was."""
TEST_SECONDS = 240
"""How long a whole test of the page may take, on a machine that has other things to do."""
AXE = HERE / "vendor" / "axe.min.js"
OWN_MODULES = """
/** A module of the page's own, by its path below js/: the very one that the page runs, which is a part of a bundle. */
globalThis.own = async (path) => {
  const {modules, later} = await import(document.querySelector('script[type=module]').src);
  return modules[path] ?? (await later(path));
};
"""
"""What scripts of the tests find in every page: ``(await own('state/tabs.js')).undo()``."""
OPEN_LEFT = """
try {
  if (localStorage.getItem('agentui.view') === null) localStorage.setItem('agentui.view', '{"left": "nodes"}');
} catch {
  // An empty page has no storage.
}
"""
"""A browser in which the panel of the nodes was opened once, as most tests take it to be."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """
    Let the tests of this folder share one event loop, and so one browser: to start Playwright and Chromium takes longer than
    most of the tests. The marker goes first, because pytest-asyncio obeys the nearest.
    """
    for item in items:
        if item.path.is_relative_to(HERE) and isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.function):
            item.add_marker(pytest.mark.timeout(TEST_SECONDS), append=False)
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.fixture(scope="session")
def port() -> Iterator[int]:
    """
    A port that the first server of each test of the editor takes, so they all have one origin, and Chromium keeps the page's
    files and what it compiled of them from test to test.
    """
    with held_port() as port:
        yield port


@pytest.fixture(scope="session")
def page_files() -> Callable[[Path], object]:
    """What serves the page's files, made once for all servers of this folder's tests: a server of its own would read all files,
    put the bundles together and compress them, which takes almost as long as Chromium takes to open the page. It sees itself
    when a file changes."""
    return cache(pages._Files)


@pytest.fixture(autouse=True)
def _shared_page_files(monkeypatch: pytest.MonkeyPatch, page_files: Callable[[Path], object]) -> None:
    """Servers that a test of this folder starts share ``page_files``; those of other folders live in other loops."""
    monkeypatch.setattr(pages, "_Files", page_files)


@pytest_asyncio.fixture(loop_scope="session")
async def start_server(tmp_path: Path, port: int, late: PrepareApp) -> AsyncIterator[StartServer]:
    """Start servers with pipelines by id, in the loop of this folder's tests; all of them stop at the end of the test."""
    async with servers(tmp_path, port, late) as start:
        yield start


@pytest_asyncio.fixture(loop_scope="session")
async def demo() -> AsyncIterator[DemoServer]:
    """The built-in demo upstream without its pauses, in the loop of this folder's tests."""
    async with quick_demo() as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def mock() -> AsyncIterator[Mock]:
    """The strict mock of the vendors, in the loop of this folder's tests."""
    server = await start_mock()
    yield server
    await server.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator["playwright.Browser"]:
    """One headless Chromium for all tests of the folder; each test opens contexts of its own in it."""
    if shutil.which(CHROMIUM) is None:
        skip("There is no chromium.")
    if playwright is None:
        skip("There is no playwright.")
    playwright.expect.set_options(timeout=WAIT_MS)
    async with playwright.async_playwright() as engine:
        browser = await engine.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        await browser.close()


@pytest.fixture(scope="session")
def slowed(request: pytest.FixtureRequest) -> Slowed:
    """Slows a page down as ``--slow-pages`` asks for."""
    return slow_pages(request.config.getoption("--slow-pages"))


@pytest.fixture(scope="session")
def late(request: pytest.FixtureRequest) -> PrepareApp:
    """Slows a server's answers down as ``--slow-answers`` asks for."""
    return slow_answers(request.config.getoption("--slow-answers"))


@dataclass(frozen=True)
class Home:
    """
    The browser context that most tests share, with one page that stays: as long as there is a page of this site, Chromium goes
    on with the process that has it, and opening the editor takes half the processor time.

    Tests do not meet in it: what the origin of their servers kept is forgotten after each.
    """

    context: "playwright.BrowserContext"
    page: "playwright.Page"

    async def leave(self, origin: str) -> None:
        """Close what a test opened, and forget what its origin kept, but for copies of the page's files."""
        # Playwright's clock belongs to the whole context and stays: pages of later tests would have no marks and no timers.
        is_real = await self.page.evaluate("performance.getEntriesByType('navigation').length > 0")
        assert is_real, "The test installed a clock in the shared context: ask for one of its own, open_editor(context={})."
        await self.context.set_offline(False)
        for page in self.context.pages:
            if page is not self.page:
                await page.close()
        session = await self.context.new_cdp_session(self.page)
        await session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        await session.detach()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def home(browser: "playwright.Browser") -> AsyncIterator[Home]:
    """The shared context, at an empty page of the site that all servers of the tests belong to."""

    async def empty(_request: web.Request) -> web.Response:
        return web.Response(text="<!doctype html><title>Home</title>", content_type="text/html")

    app = web.Application()
    app.router.add_get("/", empty)
    async with TestServer(app) as server:
        context = await browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
        await context.add_init_script(OWN_MODULES)
        page = await context.new_page()
        await page.goto(str(server.make_url("/")))
        yield Home(context, page)
        await context.close()


@dataclass
class Editor:
    """
    A page of the editor, the server behind it, and everything that the page complained of.

    Complaints are uncaught errors, console errors and warnings, requests that failed, and violations of the
    Content-Security-Policy (Chromium writes those to the console). A test that provokes one says so first with ``allow``.
    """

    page: "playwright.Page"
    server: Server
    shots: Path
    complaints: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)
    asked: set["playwright.Request"] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Listen from the first moment on."""
        self.page.on("console", self._hear_console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))
        self.page.on("requestfailed", self._hear_failure)

    def _hear_console(self, message: "playwright.ConsoleMessage") -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text} ({message.location['url']})")

    def _hear_failure(self, request: "playwright.Request") -> None:
        # The page ends requests itself when it reloads, or when the user stops a run.
        if request.failure != "net::ERR_ABORTED":
            self.complaints.append(f"{request.method} {request.url}: {request.failure}")

    def allow(self, pattern: str) -> None:
        """Let complaints pass in which this regular expression is found (``status of 412``)."""
        self.allowed.append(pattern)

    def unexpected(self) -> list[str]:
        """The complaints that nothing allows."""
        return [text for text in self.complaints if not any(re.search(pattern, text) for pattern in self.allowed)]

    def follow(self) -> None:
        """Know from now on what the page asks for."""
        self.page.on("request", lambda request: self.asked.add(request))
        self.page.on("requestfinished", lambda request: self.asked.discard(request))
        self.page.on("requestfailed", lambda request: self.asked.discard(request))

    async def answered(self) -> None:
        """Wait until all that the page asked for is there, but for the stream of events; it has to be followed."""

        async def waiting() -> list[str]:
            return [request.url for request in self.asked if not request.url.endswith("/api/events")]

        await becomes(waiting, [])

    async def shot(self, name: str) -> Path:
        """Write a screenshot of the page's viewport to the test's own folder, ``NAME.png``, and give its path."""
        path = self.shots / f"{name}.png"
        await self.page.screenshot(path=path)
        return path


OpenEditor = Callable[..., Awaitable[Editor]]


@pytest_asyncio.fixture(loop_scope="session")
async def open_editor(
    browser: "playwright.Browser", home: Home, start_server: StartServer, demo: DemoServer, tmp_path: Path, slowed: Slowed
) -> AsyncIterator[OpenEditor]:
    """
    Open editors: ``await open_editor(pipelines={...}, path="/ui/", width=1440, height=900, server=None, **settings)``.
    ``is_left_open=False``: as in a browser that has never been here, the left panel is folded.
    ``context`` goes to Playwright's ``new_context`` (``{"has_touch": True}``); ``prepare`` gets the page before it loads.

    Each has storage of its own, so two of them are two users; with ``server=other.server`` they share a server, and the second
    gets a browser context of its own, as does one with ``context``. A server has folders of its own below ``tmp_path`` and the demo as the upstream ``demo``. At the end of the
    test, a complaint that the test did not allow fails it.
    """
    editors: list[Editor] = []
    contexts: list[playwright.BrowserContext] = []
    shots = tmp_path / "screenshots"
    shots.mkdir()

    async def open_one(
        pipelines: Mapping[str, Json] | None = None,
        *,
        path: str = "/ui/",
        width: int = WIDTH,
        height: int = HEIGHT,
        server: Server | None = None,
        is_left_open: bool = True,
        context: Mapping[str, Any] | None = None,
        prepare: Callable[["playwright.Page"], Awaitable[None]] | None = None,
        **settings: object,
    ) -> Editor:
        if server is None:
            documents = {"default": call("openai", "demo")} if pipelines is None else pipelines
            server = await start_server(documents, named_origins={"demo": demo.origin}, **settings)
        if context is None and not any(editor.server is server for editor in editors):
            page = await home.context.new_page()
            if (width, height) != (WIDTH, HEIGHT):
                await page.set_viewport_size({"width": width, "height": height})
        else:
            contexts.append(await browser.new_context(viewport={"width": width, "height": height}, **(context or {})))
            await contexts[-1].add_init_script(OWN_MODULES)
            page = await contexts[-1].new_page()
        editor = Editor(page, server, shots)
        editors.append(editor)
        editor.page.set_default_timeout(WAIT_MS)
        await slowed(page)
        if is_left_open:
            await page.add_init_script(OPEN_LEFT)
        if prepare is not None:
            await prepare(editor.page)
        await editor.page.goto(server.origin + path, wait_until="load")
        return editor

    yield open_one
    for context in contexts:
        await context.close()
    for origin in {editor.server.origin for editor in editors}:
        await home.leave(origin)
    unexpected = [text for editor in editors for text in editor.unexpected()]
    assert unexpected == [], "The page complained."


EMPTY = """async () => {
  const [{store}, {stage}, {setView}, drafts, {chats}, said, {listing}, {tour}, tries, look, run] = await Promise.all([
    'state/store', 'canvas/stage', 'state/view', 'api/drafts', 'state/chats', 'chat/talk', 'library/lists', 'help/tourstate',
    'run/conversation', 'chat/look', 'run/page'].map((name) => own(`${name}.js`)));
  const {runs, session, view} = window.first;
  store.set(({server}) => ({tabs: [], activeTab: null, dialogs: [], notices: [], spoken: '', runs: {...runs, live: store.get().runs.live},
    session, server}));
  stage.set({menu: null, chooser: null, hovered: null, renaming: null});
  chats.set({lists: {}, words: {}, keyword: '', status: 'active', open: []});
  said.talks.set({byPlace: {}});
  tries.talks.set({byTab: {}});
  listing.set({kind: 'character', keyword: '', tag: '', sort: 'updated_at', parts: {}, total: null, error: null});
  tour.set({step: null});
  look.setEditing(null);
  look.showSent(null);
  look.showPage('talk');
  run.showPage('chat');
  for (const {key} of await drafts.loadDrafts()) await drafts.removeDraft(key);
  localStorage.clear();
  if (document.documentElement.lang !== 'en') await (await own('words.js')).loadLocale(view.locale);
  // As after a change of the language, every part is made anew: none keeps what was typed into it.
  setView({...view, words: store.get().view.words + 1});
}"""
"""Leaves an editor in which nothing is open, looking as it did when it started."""
OPEN = """async (id) => {
  await (await own('state/library.js')).refreshLibrary();
  await (await own('state/tabs.js')).openPipeline(id);
}"""


def forget(db: Connection) -> None:
    """Take everything out of a memory but who its accounts are."""
    for table in reversed(metadata.sorted_tables):
        if table is not accounts:
            db.execute(delete(table))


async def ended(server: Server) -> None:
    """Wait until no run of a server goes on."""

    async def running() -> int:
        return len(server.state.history.running)

    await becomes(running, 0, "how many runs go on")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def reused(
    browser: "playwright.Browser", tmp_path_factory: pytest.TempPathFactory, slowed: Slowed, late: PrepareApp
) -> AsyncIterator[OpenEditor]:
    """Open the editor once for all tests of a module that ask for the same settings of the server."""
    editors: dict[str, Editor] = {}
    async with quick_demo() as demo, AsyncExitStack() as stack:

        async def open_one(**settings: object) -> Editor:
            made = editors.get(repr(settings))
            if made is not None and not made.page.is_closed():
                return made
            folder = tmp_path_factory.mktemp("reused")
            start = await stack.enter_async_context(servers(folder, prepare=late))
            server = await start({}, named_origins={"demo": demo.origin}, **settings)
            context = await browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce")
            stack.push_async_callback(context.close)
            await context.add_init_script(f"{OWN_MODULES} localStorage.setItem('agentui.tour', 'declined'); {OPEN_LEFT}")
            editor = editors[repr(settings)] = Editor(await context.new_page(), server, folder)
            editor.page.set_default_timeout(WAIT_MS)
            editor.follow()
            await slowed(editor.page)
            await editor.page.goto(server.origin + "/ui/", wait_until="load")
            await until(editor.page, "(await own('state/store.js')).store.get().runs.live === 'open'")
            await editor.page.evaluate("async () => { window.first = (await own('state/store.js')).store.get(); }")
            return editor

        yield open_one


@pytest_asyncio.fixture(loop_scope="session")
async def open_document(reused: OpenEditor, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[OpenEditor]:
    """
    Open pipelines in the page that the tests of this module share: ``await open_document({"default": ...}, **settings)``, once in
    a test. To open a page takes ten times as long as to empty it.

    The editor is emptied first, as are its server's folder and memory, and the tour is declined; the server's runs stay. A test
    that changes what emptying does not give back (the clipboard's functions, the window's size, the context, what answers the
    browser's dialogs) opens an editor of its own with ``open_editor``. After a test that failed or loaded the page anew, nobody
    uses its page again.
    """
    failed = request.session.testsfailed
    opened: list[Editor] = []

    async def open_one(pipelines: Mapping[str, Json] | None = None, **settings: object) -> Editor:
        assert not opened, "A test has the shared page once."
        editor = await reused(**settings)
        opened.append(editor)
        await editor.page.mouse.move(0, 0)
        # What the last test left running would be told of, and kept, after all was forgotten.
        await ended(editor.server)
        await editor.page.evaluate(EMPTY)
        # Nor may it be asked for what is forgotten.
        await editor.answered()
        await editor.server.state.store.write(forget)
        editor.complaints.clear()
        editor.allowed.clear()
        documents = {"default": call("openai", "demo")} if pipelines is None else pipelines
        for folder, library in (
            (editor.server.pipelines, editor.server.state.pipelines),
            (editor.server.presets, editor.server.state.presets),
        ):
            for file in folder.glob("*.json"):
                file.unlink()
            if library is editor.server.state.pipelines:
                for id, document in documents.items():
                    (folder / f"{id}.json").write_bytes(dumps(document))
            library.refresh()
        await editor.page.evaluate(OPEN, "default")
        return editor

    yield open_one
    for editor in opened:
        # What the page said until now has been heard when it has answered once more; one that was loaded anew begins otherwise.
        is_the_same = await editor.page.evaluate("window.first !== undefined")
        unexpected = editor.unexpected()
        if request.session.testsfailed > failed or unexpected or not is_the_same:
            await editor.page.close()
        assert unexpected == [], "The page complained."


@pytest_asyncio.fixture(loop_scope="session")
async def open_calm(open_editor: OpenEditor, open_document: OpenEditor) -> OpenEditor:
    """
    Open pipelines where no tour is offered and nothing glides: ``await open_calm({"default": ...})`` in the page that the module's
    tests share; with any option of ``open_editor``, or ``own=True``, in a page and on a server of its own.
    """

    async def open_one(pipelines: Mapping[str, Json] | None = None, *, own: bool = False, **options: Any) -> Editor:
        if not own and not options:
            return await open_document(pipelines)

        async def calm(page: "playwright.Page") -> None:
            await page.emulate_media(reduced_motion="reduce")
            await page.add_init_script("localStorage.setItem('agentui.tour', 'declined')")

        editor = await open_editor(pipelines, prepare=calm, **options)
        await editor.page.locator(".doc-tab").first.wait_for()
        return editor

    return open_one


@pytest_asyncio.fixture(loop_scope="session")
async def editor(open_editor: OpenEditor) -> Editor:
    """The editor at 1440x900 on a server with one pipeline to the demo."""
    return await open_editor()


COLOUR_RULES = ("color-contrast", "link-in-text-block")
"""The rules of axe-core that look at colours: all that another theme or contrast can break, in a page that keeps its elements."""
THEMES: tuple[tuple[str, Sequence[str]], ...] = (("dark", ()), ("light", COLOUR_RULES))
"""The themes, each with the rules that ``axe`` checks in it where a page is looked at in both."""


async def axe(page: "playwright.Page", within: str = "body", rules: Sequence[str] = ()) -> list[dict[str, Any]]:
    """
    What axe-core finds against the accessibility rules in this part of the page, as ``{"rule", "impact", "help", "where"}``.

    ``where`` lists the selectors of the elements. An empty list means no violation; every rule of axe-core that is on by
    default takes part (WCAG 2 A and AA, and best practices), or those of ``rules`` alone.
    """
    if not await page.evaluate("() => 'axe' in window"):
        await page.evaluate(AXE.read_text(encoding="utf-8"))
    await page.locator(within).first.wait_for(state="attached")
    return await _violations(page, within, rules) and await _violations(page, within, rules)


async def _violations(page: "playwright.Page", within: str, rules: Sequence[str]) -> list[dict[str, Any]]:
    """One look; what the next one does not find was on its way."""
    found: list[dict[str, Any]] = await page.evaluate(
        """async ([within, rules]) => {
          // A colour on its way to another has a contrast of its own.
          const ending = document.getAnimations().filter((one) => one.effect?.getComputedTiming().endTime < Infinity);
          await Promise.allSettled(ending.map((one) => one.finished));
          // Some rules are about the document as a whole, such as that it has a heading.
          const only = rules.length ? { runOnly: { type: "rule", values: rules } } : {};
          const { violations } = await axe.run(within === "body" ? document : within, { resultTypes: ["violations"], ...only });
          const selectors = (nodes) => nodes.map((node) => node.target.join(" "));
          return violations.map(({ id, impact, help, nodes }) => ({ rule: id, impact, help, where: selectors(nodes) }));
        }""",
        [within, list(rules)],
    )
    return found


async def box(place: "playwright.Locator") -> "playwright.FloatRect":
    """Where something stands, in pixels of the window, once it stands still: what was measured on its way is missed by the hand."""
    before = None
    for _ in range(WAIT_MS // 50):
        found = await place.bounding_box()
        if found is not None and found == before:
            return found
        before = found
        await place.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    raise AssertionError(f"{place} does not come to rest; the last was {before}")


async def retype(field: "playwright.Locator", text: str) -> None:
    """Write a text in place of all that an editor of code holds, as a user does, by keys.

    ``fill`` selects it behind the editor's back, from its edge: where the first word is coloured Chromium then gives the new
    text that word's look by a style of its own, about which the page complains, for its policy forbids it."""
    await field.press("ControlOrMeta+a")
    await field.page.keyboard.insert_text(text)


async def until(page: "playwright.Page", condition: str) -> None:
    """
    Wait until an expression is true, which may wait for the page's modules (``(await own('state/store.js')).store.get().x``).
    Playwright's own ``wait_for_function`` takes the promise of an async function for the truth, and waits for nothing.
    """
    await becomes(lambda: page.evaluate(f"async () => ({condition})"), bool, condition)


async def becomes(read: Callable[[], Awaitable[Any]], wanted: object, what: object = "") -> None:
    """
    Wait until what is read is what is wanted: equal to it, or true of it where ``wanted`` is a function of one argument. After
    ``WAIT_MS`` it fails, and names what it read last.

    A page does what it is told a moment later, on a busy machine a long moment: what is read once, right after a click, may be
    what was there before. For elements there is Playwright's ``expect``; this is for documents, the server and measures. A
    function that finds no such key or item yet counts as not true.
    """
    found = None
    for _ in range(WAIT_MS // 50):
        found = await read()
        try:
            if wanted(found) if callable(wanted) else found == wanted:
                return
        except (LookupError, TypeError, ValueError):
            pass
        await asyncio.sleep(0.05)
    if not callable(wanted):
        assert found == wanted, what
    raise AssertionError(f"It never came true{what and f' of {what}'}; the last was {found!r:.2000}")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def core(browser: "playwright.Browser", tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Evaluate]:
    """Runs scripts with the modules of ``js/core`` at hand, in one page for all tests: these modules keep nothing."""
    async with servers(tmp_path_factory.mktemp("core")) as start:
        server = await start({"default": call("openai", "demo")})
        context = await browser.new_context()
        page = await context.new_page()
        await page.goto(server.origin + "/ui/icon.svg")
        yield evaluator(page)
        await context.close()
