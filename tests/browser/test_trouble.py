"""Trouble: a server that goes away, providers that fail in each way, broken files, two tabs, old drafts, and very much of everything."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import ClientSession
from playwright.async_api import Locator, Page, expect

from agentui.jsonio import Json, dumps, loads
from agentui.serving.application import create_app
from agentui.serving.listener import Listener
from agentui.settings import Settings
from agentui.upstream.http.exchange import Timeouts
from tests.browser.conftest import Editor, OpenEditor, axe, becomes, box, until
from tests.conftest import Server, ServerState, call
from tests.ports import held_port
from tests.upstreams.server import API_KEY, Mock, Step

pytestmark = pytest.mark.browser

REFUSED = r"status of (4|5)\d\d"
GONE = r"ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED_ENCODING|network error"
HEADERS: Json = {"Authorization": f"Bearer {API_KEY}"}
MOST_DRAWN = 400_000
"""How many characters of a text of millions may stand in the page."""


async def rename(page: Page, name: str) -> None:
    """Change the name of the document in front, by its field."""
    await page.evaluate("async () => (await own('state/tabs.js')).select({})")
    await page.get_by_role("region", name="Inspector").get_by_role("textbox", name="Name").fill(name)


async def say(page: Page, text: str) -> Locator:
    """Say something in the chat pane, and give the answer when it is there."""
    await page.get_by_role("button", name="Try", exact=True).click()
    field = page.get_by_role("textbox", name="Say something to the pipeline")
    await field.fill(text)
    await field.press("Enter")
    await expect(page.locator(".composer").get_by_role("button", name="Send", exact=True)).to_be_visible()
    return page.locator('[data-t="said-assistant"]').last


class Restartable:
    """An agentui that stops and starts again on one port with one set of folders."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.listener: Listener | None = None

    async def start(self) -> Server:
        folders = {name: self.folder / name for name in ("pipelines", "presets", "data")}
        for path in folders.values():
            path.mkdir(exist_ok=True)
        app = create_app(Settings(port=self.port, **folders))  # type: ignore[arg-type]  # settings by their names
        self.listener = Listener(app, stop_seconds=0.1)
        await self.listener.start("127.0.0.1", self.port)
        return Server(f"http://127.0.0.1:{self.port}", ServerState(app), app, folders["pipelines"], folders["data"])

    async def stop(self) -> None:
        if self.listener is not None:
            await self.listener.stop()
        self.listener = None


@pytest_asyncio.fixture(loop_scope="session")
async def restartable(tmp_path: Path, mock: Mock) -> AsyncIterator[Restartable]:
    """A server that has not been started yet, with one pipeline."""
    (tmp_path / "own" / "pipelines").mkdir(parents=True)
    (tmp_path / "own" / "pipelines" / "default.json").write_bytes(dumps(call("openai", mock.origin, headers=HEADERS)))
    with held_port() as port:
        server = Restartable(tmp_path / "own", port)
        yield server
        await server.stop()


async def test_the_server_stops_and_comes_back(open_calm: OpenEditor, restartable: Restartable, mock: Mock) -> None:
    server = await restartable.start()
    editor = await open_calm(server=server)
    editor.allow(GONE)
    editor.allow("Failed to load resource")
    page = editor.page
    mock.script(Step(hold=3))
    await page.get_by_role("button", name="Try", exact=True).click()
    await page.get_by_role("textbox", name="Say something to the pipeline").fill("Cut me off")
    await page.keyboard.press("Enter")
    await mock.was_asked()
    await restartable.stop()
    await expect(page.get_by_text("Server gone")).to_be_visible()
    # Whoever was being answered is told, and can say something else.
    await expect(page.locator('[data-t="said-assistant"]').last.get_by_role("alert")).to_be_visible()
    await rename(page, "Written while it was gone")
    await page.keyboard.press("Control+s")
    await expect(page.get_by_text("Not saved: The server does not answer.")).to_be_visible()
    await expect(page.get_by_role("tab", name="Written while it was gone")).to_contain_text("Unsaved")
    assert await axe(page) == []
    await page.get_by_role("tab", name="Problems").click()
    await expect(page.get_by_text("Not checked as it is now.")).to_be_visible()

    await restartable.start()
    await expect(page.get_by_text("Server gone")).to_have_count(0)
    # What could not be checked meanwhile is checked now.
    await expect(page.get_by_text("No problems.")).to_be_visible()
    await page.keyboard.press("Control+s")
    await expect(page.get_by_text("Saved as default.")).to_be_visible()
    assert loads((restartable.folder / "pipelines" / "default.json").read_bytes())["name"] == "Written while it was gone"
    mock.script(Step(text="Here again."))
    await expect(await say(page, "Hello again")).to_contain_text("Here again.")
    await expect(page.locator(".run-line-state")).to_contain_text("Finished")


FAILURES = {
    "refused": "Nobody answers at the provider's address.",
    "error-401": "refused the key",
    "error-429": "too many requests just now",
    "error-500": "(HTTP 500)",
    "truncated-reset": "broke off",
    "hang": "took too long",
    "invalid-json": "cannot be understood",
}


async def test_each_failure_is_told_at_the_node_and_in_the_chat(
    open_calm: OpenEditor, mock: Mock, closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody = f"http://127.0.0.1:{closed_port}"
    pipelines = {
        name: call("openai", nobody if name == "refused" else mock.origin, headers=HEADERS, model=name, name=name)
        for name in FAILURES
    }
    editor = await open_calm({"default": pipelines["refused"], **pipelines})
    editor.allow(REFUSED)
    page = editor.page
    for name, words in FAILURES.items():
        await page.evaluate("async (id) => (await own('state/tabs.js')).openPipeline(id)", name)
        with monkeypatch.context() as hasty:
            if name == "hang":  # whoever answers may take his time on a busy machine
                hasty.setitem(vars(editor.server.state.services), "timeouts", Timeouts(first_byte=0.5))
            failure = (await say(page, "Hello")).get_by_role("alert")
            await expect(failure).to_contain_text(words)
        # The node says that it failed, and its page says why.
        await expect(page.locator('.react-flow__node[data-id="n1"]')).to_contain_text("Failed")
        await failure.get_by_role("button", name="Go to node n1").click()
        await page.locator(".run-tabs").get_by_role("tab", name="Node").click()
        await expect(page.locator(".run-io .failure"), name).to_have_text(re.compile(".{21}"))
        await page.locator(".run-tabs").get_by_role("tab", name="Timeline").click()
        await expect(page.locator(".run-line-state")).to_contain_text("Failed")


async def test_a_provider_that_asks_to_wait_is_asked_again(open_calm: OpenEditor, mock: Mock) -> None:
    document = call("openai", mock.origin, headers=HEADERS, model="text", retries=2)
    editor = await open_calm({"default": document})
    mock.script([Step(status=429, retry_after=1), Step(text="Now I have time.")])
    page = editor.page
    await expect(await say(page, "Hello")).to_contain_text("Now I have time.")
    await page.locator(".run-tabs").get_by_role("tab", name="Node").click()
    attempts = page.locator(".run-io")
    await expect(attempts).to_contain_text("status 429")
    await expect(attempts).to_contain_text("then waited")
    await expect(attempts).to_contain_text("status 200")


SHAPES: dict[str, tuple[str, str]] = {
    "comma": ('{"format": 1, "name": "Mended", "nodes": [],, "edges": []}', "It is not JSON"),
    "nodes": ('{"format": 1, "name": "Mended", "nodes": {"n1": 1}, "edges": []}', "what stands at nodes"),
    "entry": ('{"format": 1, "name": "Mended", "nodes": ["n1"], "edges": []}', "what stands at nodes.0"),
    "list": ("[1, 2]", "This is JSON, but no object."),
}


DISMISS = """async () => {
  const {store} = await own('state/store.js');
  const {dismiss} = await own('state/notices.js');
  for (const {key} of store.get().notices) dismiss(key);
}"""
"""Closes every notice."""


async def test_a_broken_file_is_mended_as_text(open_calm: OpenEditor) -> None:
    editor = await open_calm()
    for shape, (text, remark) in SHAPES.items():
        await mended(editor, shape, text, remark)
        await editor.page.keyboard.press("Alt+w")
        await expect(editor.page.get_by_role("tab", name="Mended")).to_have_count(0)
        # Not by its button: it goes by itself a moment later, and may be gone already.
        await editor.page.evaluate(DISMISS)
        await expect(editor.page.get_by_text("Saved as broken")).to_have_count(0)


async def mended(editor: Editor, shape: str, text: str, remark: str) -> None:
    """Open a broken file, mend it as a text, and save it."""
    page, folder = editor.page, editor.server.pipelines
    (folder / "broken.json").write_text(text, encoding="utf-8")
    editor.server.state.pipelines.refresh()
    await page.get_by_role("button", name="Menu").click()
    await page.get_by_role("menuitem", name="Pipelines…").click()
    await page.get_by_role("dialog").locator(".file-open", has_text="broken").click()
    await expect(page.get_by_role("heading", name="This file cannot be drawn")).to_be_visible()
    await expect(page.get_by_text(remark)).to_be_visible()
    field = page.get_by_role("textbox", name="Text of broken")
    shown = await page.evaluate(
        "async () => { const {activeTab} = await own('state/tabs.js'); return activeTab().brokenText; }"
    )
    assert (shown == text) if shape in ("comma", "list") else (json.loads(shown) == json.loads(text))
    # Saving would lose what is there, so it is refused; and nobody is asked to save what was not touched.
    await page.keyboard.press("Control+s")
    await expect(page.get_by_text("Not saved: the text is no pipeline yet.")).to_be_visible()
    assert (folder / "broken.json").read_text(encoding="utf-8") == text
    assert await axe(page) == []
    await expect(page.get_by_role("tab", name="broken")).not_to_contain_text("Unsaved")

    await field.press("Control+a")
    await page.keyboard.insert_text(
        '{"format": 1, "name": "Mended", "nodes": [{"id": "n1", "type": "SetVars", "config": {}}], "edges": []}'
    )
    await expect(page.get_by_text("The text is whole now.")).to_be_visible()
    await page.get_by_role("button", name="Draw it", exact=True).click()
    await expect(page.locator('.react-flow__node[data-id="n1"]')).to_be_visible()
    await page.keyboard.press("Control+s")
    await expect(page.get_by_text("Saved as broken")).to_be_visible()
    assert loads((folder / "broken.json").read_bytes())["name"] == "Mended"


async def test_a_half_mended_file_survives_a_reload(open_calm: OpenEditor) -> None:
    editor = await open_calm(own=True)
    page = editor.page
    (editor.server.pipelines / "broken.json").write_text("{", encoding="utf-8")
    editor.server.state.pipelines.refresh()
    await page.evaluate("async () => (await own('state/tabs.js')).openPipeline('broken')")
    await page.get_by_role("textbox", name="Text of broken").click()
    await page.keyboard.press("Control+End")
    await page.keyboard.insert_text('"half": ')
    await until(page, "JSON.stringify(await (await own('api/drafts.js')).loadDrafts()).includes('half')")
    page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.accept()))
    await page.reload()
    await page.get_by_role("tab", name="broken").click()
    await expect(page.get_by_role("textbox", name="Text of broken")).to_contain_text('"half": ')


async def test_two_tabs_of_one_browser_on_one_pipeline(open_calm: OpenEditor) -> None:
    editor = await open_calm(own=True)
    first = editor.page
    second = await first.context.new_page()
    await second.goto(editor.server.origin + "/ui/", wait_until="load")
    await second.locator(".doc-tab").first.wait_for()
    # Where nothing was edited, what the other saved is shown at once.
    await rename(first, "From the first")
    await first.keyboard.press("Control+s")
    await expect(second.get_by_role("tab", name="From the first")).to_be_visible()
    # Edits in both: the one that saves later is asked, and nothing is overwritten.
    await rename(first, "Mine")
    await rename(second, "Yours")
    await first.keyboard.press("Control+s")
    await expect(first.get_by_text("Saved as default.").first).to_be_visible()
    await expect(second.get_by_text("default changed on disk while you were editing.")).to_be_visible()
    await second.keyboard.press("Control+s")
    dialog = second.get_by_role("dialog")
    await expect(dialog).to_contain_text("1 place was changed by both:")
    assert loads((editor.server.pipelines / "default.json").read_bytes())["name"] == "Mine"
    await second.keyboard.press("Escape")
    await expect(second.get_by_role("tab", name="Yours")).to_be_visible()


async def test_a_draft_of_last_week_comes_back(open_calm: OpenEditor) -> None:
    editor = await open_calm(own=True)
    page = editor.page
    await rename(page, "Begun last week")
    await until(page, "(await own('api/drafts.js')).loadDrafts().then((drafts) => drafts.length === 1)")
    await page.evaluate(
        """async () => {
          const drafts = await own('api/drafts.js');
          const [{key, document, base, etag}] = await drafts.loadDrafts();
          await drafts.saveDraft(key, {document, base, etag, time: Date.now() - 8 * 24 * 3600 * 1000});
        }"""
    )
    page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.accept()))
    # A page of the same server that is not the editor.
    await page.goto(editor.server.origin + "/health")
    editor.server.put("default", {**call("openai", "demo"), "description": "Changed meanwhile"})
    await page.goto(editor.server.origin + "/ui/", wait_until="load")
    await expect(page.get_by_role("tab", name="Begun last week")).to_contain_text("Unsaved")
    await expect(page.get_by_text("default changed on disk while you were editing.")).to_be_visible()
    await page.get_by_role("button", name="Compare").click()
    await page.get_by_role("dialog").get_by_role("button", name="Save both together").click()
    await expect(page.get_by_text("Saved as default.")).to_be_visible()
    saved = loads((editor.server.pipelines / "default.json").read_bytes())
    assert (saved["name"], saved["description"]) == ("Begun last week", "Changed meanwhile")


LARGE = 10_000_000


async def test_ten_megabytes_are_drawn_in_part_and_kept_whole(open_calm: OpenEditor, mock: Mock) -> None:
    line = "0123456789 abcdefgh "
    mock.script(Step(text=line * (LARGE // len(line)), chunks=(line * 5000,) * (LARGE // len(line) // 5000)))
    document = call("openai", mock.origin, headers=HEADERS, model="text")
    rows: Json = [{"name": "BIG", "mode": "string", "value": "{{ OUT.n1.response_text|truncate(8000000) }}"}]
    document = {
        **document,
        "nodes": [
            *document["nodes"],
            {"id": "n2", "type": "SetVars", "config": {"variables": rows}, "position": {"x": 320, "y": 0}},
        ],
        "edges": [{"from": "n1", "to": "n2"}],
        "answer": "n1",
    }
    editor = await open_calm({"default": document})
    page = editor.page
    answer = await say(page, "Tell me everything")
    await expect(page.locator(".run-line-state")).to_contain_text("Finished")
    # What was said is whole, and only a part of it is in the page; more comes when it is asked for.
    await becomes(lambda: drawn(page), lambda found: found < MOST_DRAWN)
    before = len(await answer.inner_text())
    await answer.get_by_role("button", name="more").click()
    await until(page, f"document.querySelector('.said-assistant').innerText.length > {before}")
    await becomes(lambda: drawn(page), lambda found: found < MOST_DRAWN)
    for node in ("n1", "n2"):
        await page.evaluate("async (id) => (await own('state/tabs.js')).select({nodes: [id]})", node)
        await page.locator(".run-tabs").get_by_role("tab", name="Node").click()
        load = page.get_by_role("button", name="Load all")
        if await load.count():
            await load.first.click()
            await expect(page.locator(".dock .json-tree").last).to_be_visible()
        await page.get_by_role("region", name="Inspector").get_by_role("tab", name="Output").click()
        await expect(page.locator(".inspector .json-tree")).to_be_visible()
        await becomes(lambda: drawn(page), lambda found: found < MOST_DRAWN)
    length = await page.evaluate(
        """async () => {
          const [{talks}, {activeTab}] = await Promise.all([own('run/conversation.js'), own('state/tabs.js')]);
          return talks.get().byTab[activeTab().key].messages.at(-1).text.length;
        }"""
    )
    assert length == LARGE
    # The page still does what it is told.
    await rename(page, "Still alive")
    await expect(page.get_by_role("tab", name="Still alive")).to_be_visible()


async def drawn(page: Page) -> int:
    """How many characters of text stand in the page."""
    found: int = await page.evaluate("document.body.textContent.length")
    return found


STREAMS, TOKENS = 50, 100


async def test_fifty_streams_are_drawn_in_batches(open_calm: OpenEditor, mock: Mock) -> None:
    """Every event is taken in, in far fewer steps than there are events, and the page does not grow with them."""
    editor = await open_calm({"default": call("openai", mock.origin, headers=HEADERS)})
    page = editor.page
    await page.get_by_role("button", name="Try", exact=True).click()
    await until(page, "(await own('state/store.js')).store.get().runs.live === 'open'")
    elements = await page.evaluate("document.querySelectorAll('*').length")
    await page.evaluate(
        """async () => {
          const {store} = await own('state/store.js');
          window.updates = 0;
          let runs = store.get().runs.byId;
          store.subscribe(() => { if (store.get().runs.byId !== runs) { runs = store.get().runs.byId; window.updates += 1; } });
        }"""
    )
    mock.script([Step(text="tick " * TOKENS, pause=0.01) for _ in range(STREAMS)])
    body = {"model": "x", "stream": True, "messages": [{"role": "user", "content": "Go"}]}

    async def ask(session: ClientSession) -> None:
        async with session.post("/v1/chat/completions", json=body) as response:
            await response.read()

    async with ClientSession(editor.server.origin) as session:
        await asyncio.gather(*(ask(session) for _ in range(STREAMS)))
    finished = (
        "Object.values((await own('state/store.js')).store.get().runs.byId).filter((run) => run.state === 'finished').length"
    )
    await until(page, f"{finished} === {STREAMS}")
    heard, complete = await page.evaluate(
        """async () => {
          const {runs} = (await own('state/store.js')).store.get();
          const all = Object.values(runs.byId);
          return [all.reduce((sum, run) => sum + run.lastSeq + 1, 0), all.every((run) => run.lastSeq === run.summary.event_count - 1)];
        }"""
    )
    updates = await page.evaluate("window.updates")
    assert complete
    assert heard >= STREAMS * 10
    assert updates < heard / 3, (updates, heard)
    await becomes(lambda: page.evaluate("document.querySelectorAll('*').length"), lambda found: found < elements + 400)


async def test_two_hundred_nodes_can_be_worked_with(open_calm: OpenEditor) -> None:
    count = 200
    nodes = [
        {
            "id": f"n{n}",
            "type": "SetVars",
            "title": f"Step {n}",
            "config": {"variables": [{"name": f"V{n}", "value": f"[[V{n - 1}]]" if n else "0"}]},
            "position": {"x": 280 * (n % 20), "y": 140 * (n // 20)},
        }
        for n in range(count)
    ]
    document: Json = {
        "format": 1,
        "name": "Many",
        "nodes": nodes,
        "edges": [{"from": f"n{n}", "to": f"n{n + 1}"} for n in range(count - 1)],
    }
    editor = await open_calm({"default": document})
    page = editor.page
    await page.locator(".react-flow__pane").click(position={"x": 5, "y": 5})
    await page.keyboard.press("f")
    await page.get_by_role("combobox", name="Find in the pipeline").fill("Step 150")
    await page.keyboard.press("Enter")
    node = page.locator('.react-flow__node[data-id="n150"]')
    await expect(node).to_be_visible()
    await expect(page.get_by_role("textbox", name="Value of V150")).to_contain_text("[[V149]]")
    place = await box(node)
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x + 40, y + 60, steps=6)
    await page.mouse.up()
    moved = (
        "async () => { const {activeTab, docOf} = await own('state/tabs.js'); return docOf(activeTab()).nodes[150].position; }"
    )
    await becomes(lambda: page.evaluate(moved), lambda found: found != nodes[150]["position"])
    await page.keyboard.press("Control+z")
    await becomes(lambda: page.evaluate(moved), nodes[150]["position"])
    await page.keyboard.press("Control+a")
    await page.keyboard.press("Delete")
    await expect(page.locator(".react-flow__node-pipe")).to_have_count(0)
    await page.keyboard.press("Control+z")
    await expect(page.locator(".react-flow__node-pipe").first).to_be_visible()
    async with ClientSession(editor.server.origin) as session:
        asked = {"model": "demo-small", "messages": [{"role": "user", "content": "Go"}]}
        async with session.post("/v1/chat/completions", json=asked) as response:
            assert response.status == 200
    await page.get_by_role("button", name="Try", exact=True).click()
    await expect(page.locator(".run-line-state")).to_contain_text("Finished")
