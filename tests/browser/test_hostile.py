"""
Texts that try to become more than text, in every place of the editor that shows what others wrote.

Each test puts all payloads into a group of places and looks at one page: nothing ran, nothing was asked of another host, no
element came out of a text, no rule of the Content-Security-Policy was broken (the console says so, and any complaint fails the
test), and the texts stand there letter for letter.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio
from aiohttp import ClientSession
from playwright.async_api import Page, expect

from agentui.jsonio import Json, dumps
from tests.browser.conftest import Editor, OpenEditor, becomes
from tests.browser.payloads import PAYLOADS
from tests.conftest import call
from tests.upstreams.server import API_KEY, Mock, Step

pytestmark = pytest.mark.browser

REFUSED = r"status of (4|5)\d\d"
LONGEST = 200
"""How long names of sessions, versions and presets may be, in characters."""
SESSION_LABEL = 120
"""How much of a session's title the tree shows."""
SHORT = tuple(text for text in PAYLOADS if len(text) <= LONGEST and text.strip() == text and text.isprintable())
FOREIGN = "script:not([src^='/ui/']):not([type='importmap']), iframe, object, embed, base, video, audio, math, marquee, form[action], \
meta[http-equiv]:not([http-equiv='Content-Security-Policy']), link:not([href^='/ui/']), style:not([nonce]), img:not(.cm-widgetBuffer), \
[onerror], [onload], [onclick], [onfocus], [onmouseover], [onpointerenter], a[href^='javascript'], a[href^='data'], template, plaintext"
"""What no text may turn into."""

Open = Callable[..., Awaitable["Watched"]]


class Watched:
    """An editor whose page is watched for anything that a text should not be able to do."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.page = editor.page
        self.asked: list[str] = []
        self.dialogs: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("dialog", self._hear_dialog)

    async def _hear_dialog(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        await dialog.dismiss()

    async def foreign(self) -> list[str]:
        """The elements that stand in the page and that the editor itself makes none of."""
        found: list[str] = await self.page.evaluate(
            "(selector) => [...document.querySelectorAll(selector)].map((one) => one.outerHTML.slice(0, 200))", FOREIGN
        )
        return found

    async def is_unharmed(self) -> None:
        """Nothing ran, nothing came out of a text, nobody else was asked."""
        harm = await self.page.evaluate("[window.xss, ({}).xss, Object.prototype.hasOwnProperty('xss')]")
        assert harm == [None, None, False]
        assert self.dialogs == []
        await becomes(self.foreign, [])
        inside = (self.editor.server.origin, "blob:" + self.editor.server.origin, "data:")
        assert [url for url in self.asked if not url.startswith(inside)] == []

    async def texts(self, selector: str) -> list[str]:
        """The texts of elements as they are in the page, whatever style makes of them."""
        found: list[str] = await self.page.eval_on_selector_all(selector, "(all) => all.map((one) => one.textContent)")
        return found

    async def do(self, script: str, argument: Any = None) -> Any:
        """Call a function of the page's modules; it gets ``{store, tabs, view, commands, dialogs, notices, session, library}``."""
        return await self.page.evaluate(
            f"""async (argument) => {{
              const load = (name) => own(`${{name}}.js`);
              const names = ['store', 'tabs', 'view', 'dialogs', 'notices', 'session', 'library'];
              const [commands, ...all] = await Promise.all([load('core/commands'), ...names.map((name) => load(`state/${{name}}`))]);
              const parts = Object.fromEntries(names.map((name, position) => [name, all[position]]));
              return ({script})({{...parts, store: parts.store.store, commands}}, argument);
            }}""",
            argument,
        )


@pytest_asyncio.fixture(loop_scope="session")
async def watched(open_calm: OpenEditor) -> Open:
    """Open an editor that is watched: ``await watched(pipelines, ...)``; it takes the options of ``open_calm``."""

    async def open_one(pipelines: dict[str, Json] | None = None, **more: Any) -> Watched:
        return Watched(await open_calm(pipelines, **more))

    return open_one


def holds(texts: Sequence[str], wanted: Iterable[str]) -> list[str]:
    """The wanted texts that stand in none of these."""
    whole = "\n".join(texts)
    return [text for text in wanted if text not in whole]


def nodes(type_: str, configs: Iterable[dict[str, Json]]) -> list[Json]:
    """A node for each payload, with the payload as title."""
    return [
        {
            "id": f"n{number}",
            "type": type_,
            "title": text,
            "config": config,
            "position": {"x": 260 * (number % 20), "y": 120 * (number // 20)},
        }
        for number, (text, config) in enumerate(zip(PAYLOADS, configs, strict=True))
    ]


def document(nodes_: Sequence[Json], **more: Json) -> dict[str, Json]:
    """A pipeline whose own words are payloads too."""
    return {"format": 1, "name": PAYLOADS[0], "description": "\n".join(PAYLOADS), "nodes": list(nodes_), "edges": [], **more}


async def test_titles_notes_frames_types_and_wrong_values(watched: Open) -> None:
    wrong = [
        {text: text, "base_url": [text], "variables": {text: [text]}, "blocks": text, "headers": text} for text in PAYLOADS
    ]
    boxes = [{"x": 300 * (n % 20), "y": 3000 + 200 * (n // 20), "width": 260, "height": 160} for n in range(len(PAYLOADS))]
    view: Json = {
        "frames": [{"id": f"f{n}", "title": text, "color": text, **boxes[n]} for n, text in enumerate(PAYLOADS)],
        "notes": [{"id": f"t{n}", "text": text, "color": text, **boxes[n]} for n, text in enumerate(PAYLOADS)],
    }
    here = await watched({"default": document(nodes("ProviderCall", wrong), view=view)})
    page = here.page
    await here.do("({view}) => view.setView({left: 'outline', dock: 'problems'})")
    titles = page.locator(".canvas-outline-item .canvas-outline-title")
    await expect(titles.first).to_be_visible()
    outline = await here.texts(".canvas-outline-title")
    assert holds(outline, PAYLOADS) == []
    await expect(page.get_by_role("textbox", name="Description")).to_have_value("\n".join(PAYLOADS))
    # The inspector draws a node of every kind of payload; what it cannot edit it shows as JSON.
    for number in range(0, len(PAYLOADS), 16):
        await here.do("({tabs}, id) => tabs.select({nodes: [id]})", f"n{number}")
        await expect(page.locator(".inspector .node-head, .inspector").first).to_be_visible()
    await here.is_unharmed()


async def test_every_name_a_pipeline_can_have(watched: Open) -> None:
    here = await watched()
    seen = await here.do(
        """async ({tabs, commands}, payloads) => {
          const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
          const seen = [];
          for (const text of payloads) {
            tabs.edit('app.edit', (doc) => commands.setDocument(doc, {name: text, description: text, [text]: text}));
            await frame();
            seen.push(['.topbar-name', '.doc-tab-text'].map((selector) => document.querySelector(selector).textContent));
          }
          return seen;
        }""",
        list(PAYLOADS),
    )
    for text, (top, tab) in zip(PAYLOADS, seen, strict=True):
        assert text in top or text.strip() == ""
        assert tab == text
    await here.page.keyboard.press("Control+z")
    await here.is_unharmed()


async def test_ids_and_types_of_a_broken_file(watched: Open) -> None:
    odd = [
        {
            "id": text,
            "type": text,
            "title": text,
            "enabled": text,
            "on_error": text,
            "config": {text: {text: [text]}},
            text: text,
        }
        for text in PAYLOADS
    ]
    edges = [{"from": text, "to": other, "from_port": text} for text, other in zip(PAYLOADS, reversed(PAYLOADS), strict=True)]
    broken = {
        "format": 1,
        "name": "Broken",
        "nodes": odd,
        "edges": edges,
        "answer": PAYLOADS[0],
        "view": {"frames": [], PAYLOADS[1]: 1},
    }
    here = await watched({"default": call("openai", "demo"), "broken": broken}, path="/#broken")
    await here.do("({view}) => view.setView({left: 'outline', dock: 'problems'})")
    await expect(here.page.locator(".canvas-outline-item").first).to_be_visible()
    await becomes(lambda: here.texts(".canvas-outline-title"), lambda found: holds(found, PAYLOADS) == [])
    await becomes(lambda: here.texts(".canvas-outline-line"), lambda found: holds(found, PAYLOADS) == [])
    await expect(here.page.locator(".problem-text").first).to_be_visible()
    for text in PAYLOADS[::8]:
        await here.do("({tabs}, id) => tabs.select({nodes: [id]})", text)
    await becomes(lambda: here.texts(".inspector"), lambda found: len(found) == 1)
    # Not JSON at all: the text is shown in a field of its own.
    path = here.editor.server.pipelines / "text.json"
    path.write_text("\n".join(PAYLOADS), encoding="utf-8", errors="surrogatepass")
    here.editor.server.state.pipelines.refresh()
    await here.do("({tabs}) => tabs.openPipeline('text')")
    await expect(here.page.get_by_role("heading", name="This file cannot be drawn")).to_be_visible()
    await here.is_unharmed()


FEW = [PAYLOADS[start : start + 40] for start in range(0, len(PAYLOADS), 40)]
"""As many as are not folded in one list."""


def rows(texts: Sequence[str]) -> Json:
    return [{"name": text, "value": text, "mode": "string", "tier": "run"} for text in texts]


def blocks(texts: Sequence[str]) -> Json:
    return [{"kind": "text", "role": "user", "name": text, "text": text} for text in texts]


async def test_variables_blocks_headers_and_their_values(watched: Open) -> None:
    two: list[Json] = [
        {"id": "n1", "type": "SetVars", "config": {"variables": rows(PAYLOADS)}, "position": {"x": 0, "y": 0}},
        {
            "id": "n2",
            "type": "ProviderCall",
            "config": {
                "provider": "openai",
                "base_url": "demo",
                "model": PAYLOADS[1],
                "preset": PAYLOADS[2],
                "blocks": blocks(PAYLOADS),
                "headers": {text: text for text in PAYLOADS},
            },
            "position": {"x": 300, "y": 0},
        },
    ]
    for number, texts in enumerate(FEW):
        place = {"y": 200 * (number + 1)}
        two.append({"id": f"v{number}", "type": "SetVars", "config": {"variables": rows(texts)}, "position": {"x": 0, **place}})
        settings: Json = {"provider": "openai", "base_url": "demo", "model": "m", "blocks": blocks(texts)}
        two.append({"id": f"p{number}", "type": "ProviderCall", "config": settings, "position": {"x": 300, **place}})
    here = await watched({"default": {**document(two), "edges": [{"from": "n1", "to": "n2"}]}})
    here.editor.allow(REFUSED)
    page = here.page
    await here.do("({tabs}) => tabs.select({nodes: ['n1']})")
    await expect(page.locator(".variable .fold-row")).to_have_count(len(PAYLOADS))
    await here.do("({tabs}) => tabs.select({nodes: ['n2']})")
    await expect(page.locator(".key-row")).to_have_count(len(PAYLOADS))
    await page.get_by_role("tab", name="Prompt Blocks").click()
    await expect(page.locator(".block")).to_have_count(len(PAYLOADS))
    for number, texts in enumerate(FEW):
        # A field of one line drops line breaks, as HTML says.
        shown = [text.replace("\n", "").replace("\r", "") for text in texts]
        await here.do(f"({{tabs}}) => tabs.select({{nodes: ['v{number}']}})")
        await expect(page.get_by_role("tab", name="Prompt Blocks")).to_have_count(0)
        await expect(page.locator(".variable-name")).to_have_count(len(texts))
        assert await page.eval_on_selector_all(".variable-name", "(all) => all.map((one) => one.value)") == shown
        await here.do(f"({{tabs}}) => tabs.select({{nodes: ['p{number}']}})")
        await page.get_by_role("tab", name="Prompt Blocks").click()
        await expect(page.locator(".block")).to_have_count(len(texts))
        assert await page.eval_on_selector_all(".block-name", "(all) => all.map((one) => one.value)") == shown
    # What the fields show is what was in the file: nothing was changed by looking at it.
    kept = await here.do("({tabs}) => tabs.docOf(tabs.activeTab()).nodes[0].config.variables.map((row) => row.value)")
    assert kept == list(PAYLOADS)
    await here.do("({view}) => view.setView({dock: 'variables'})")
    await expect(page.locator(".variables-body")).to_be_visible()
    await here.is_unharmed()


async def test_stored_variables_and_sessions(watched: Open) -> None:
    here = await watched()
    page = here.page
    here.editor.allow(REFUSED)
    keys = [text for text in PAYLOADS if len(text.encode()) <= 2000]
    async with ClientSession(here.editor.server.origin) as session:
        for title in SHORT:
            async with session.post("/sessions", json={"title": title, "metadata": {title: title}}) as answer:
                assert answer.status == 201, await answer.text()
        refused = []
        for key in keys:
            body = {"scope": "global", "scope_id": "global", "key": key, "value": {key: key}}
            async with session.put("/variables", json=body) as answer:
                if answer.status >= 400:
                    refused.append(key)
    await here.do("({view}) => view.setView({left: 'sessions', dock: 'variables', dockHeight: 500})")
    await page.get_by_role("tab", name="Stored").click()
    await expect(page.locator(".variables-table [data-key]").first).to_be_visible()
    more = page.get_by_role("button", name="Show", exact=False).filter(has_text="more")

    async def shown() -> set[str]:
        if await more.count():
            await more.first.click()
        return set(await page.eval_on_selector_all(".variables-table [data-key]", "(all) => all.map((one) => one.dataset.key)"))

    await becomes(shown, lambda found: set(keys) - set(refused) <= found)
    assert len(refused) <= 4, refused
    await expect(page.get_by_role("tree", name="Sessions").get_by_role("treeitem").first).to_be_visible()
    await becomes(
        lambda: here.texts("[role=tree]"), lambda found: holds(found, [title[:SESSION_LABEL] for title in SHORT[-40:]]) == []
    )
    await here.is_unharmed()


async def test_presets_versions_and_lists_of_files(watched: Open) -> None:
    many = {f"p{n}": {**call("openai", "demo"), "name": text, "description": text} for n, text in enumerate(PAYLOADS)}
    secrets = {"AGENTUI_SECRET___PROTO__": "sk-0123456789", "AGENTUI_SECRET_CONSTRUCTOR": "sk-0123456789"}
    here = await watched({"default": call("openai", "demo"), **many}, secret_env=secrets)
    page, server = here.page, here.editor.server
    folder = server.pipelines.parent / "presets"
    for n, text in enumerate(PAYLOADS):
        preset = {
            "format": 1,
            "name": text,
            "description": text,
            "provider": "openai",
            "base_url": text,
            "model": text,
            "models": [text],
        }
        (folder / f"x{n}.json").write_bytes(dumps(preset))
    server.state.presets.refresh()
    async with ClientSession(server.origin) as session:
        for text in SHORT[:15]:
            document_ = {**call("openai", "demo"), "description": text}
            async with session.put("/api/pipelines/default", json=document_, headers={"If-Match": "*"}) as answer:
                assert answer.ok
            async with session.get("/api/pipelines/default/versions") as answer:
                number = (await answer.json())[0]["number"]
            async with session.put(f"/api/pipelines/default/versions/{number}/name", json={"name": text}) as answer:
                assert answer.ok, await answer.text()
    await here.do("({library}) => library.refreshLibrary()")
    await here.do("({view}) => view.setView({left: 'presets'})")
    await expect(page.locator(".preset-line")).to_have_count(len(PAYLOADS))
    await becomes(lambda: here.texts(".preset-line"), lambda found: holds(found, PAYLOADS) == [])
    await here.do("({dialogs}) => dialogs.openDialog('open')")
    await expect(page.locator(".file-list li").first).to_be_visible()
    await becomes(lambda: here.texts(".file-list"), lambda found: holds(found, PAYLOADS) == [])
    await page.keyboard.press("Escape")
    await here.do("({dialogs}) => dialogs.openDialog('versions', {id: 'default'})")
    await expect(page.locator(".version-name").first).to_be_visible()
    await becomes(lambda: here.texts(".version-list"), lambda found: holds(found, SHORT[:15]) == [])
    await page.keyboard.press("Escape")
    await here.do("({dialogs}) => dialogs.openDialog('preset', {id: 'x3'})")
    await expect(page.get_by_role("dialog")).to_be_visible()
    await page.keyboard.press("Escape")
    await here.is_unharmed()


async def test_imports_exports_messages_and_complaints(watched: Open) -> None:
    here = await watched()
    page = here.page
    here.editor.allow(REFUSED)
    config: Json = {
        "provider": "openai",
        "base_url": "https://evil.example/v1",
        "headers": {"Authorization": "Bearer sk-abcdefghijklmnopqrstuvwx"},
    }
    foreign = document(nodes("ProviderCall", [{**config, "model": text} for text in PAYLOADS]))
    foreign["nodes"] = [*foreign["nodes"], *nodes("Evil<script>", [{} for _ in PAYLOADS])[:3]]
    await here.do("({dialogs}, text) => dialogs.openDialog('import', {text})", json.dumps(foreign))
    dialog = page.get_by_role("dialog", name="Import a pipeline")
    await expect(dialog).to_contain_text("evil.example")
    await expect(dialog).to_contain_text("Evil<script>")
    await dialog.get_by_role("button", name="Open it").click()
    await expect(page.locator(".doc-tab")).to_have_count(2)
    await here.do("({dialogs}) => dialogs.openDialog('export')")
    await expect(page.get_by_role("dialog")).to_contain_text("keys stand in this document")
    await page.keyboard.press("Escape")
    # Two messages of each kind are on the screen at a time; the last of them is the last payload.
    shown = await here.do(
        """async ({notices, store}, payloads) => {
          const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
          const shown = [];
          store.set((state) => ({server: {...state.server, complaints: payloads}}));
          for (const text of payloads) {
            const key = notices.notifyFailure(new Error(text));
            notices.announce(text);
            await frame();
            shown.push([...document.querySelectorAll('.notice-text')].at(-1).textContent);
            notices.dismiss(key);
          }
          return shown;
        }""",
        list(PAYLOADS),
    )
    assert shown == list(PAYLOADS)
    await here.do("({view}) => view.setView({dock: 'problems'})")
    await expect(page.get_by_role("list", name="What the server complains of").get_by_role("listitem")).to_have_count(
        len(PAYLOADS)
    )
    await becomes(lambda: here.texts(".problem-list"), lambda found: holds(found, PAYLOADS) == [])
    await here.is_unharmed()


GROUP = 15
"""How many payloads one answer of the model holds."""


async def test_models_answers_errors_and_what_clients_send(watched: Open, mock: Mock) -> None:
    headers: Json = {"Authorization": f"Bearer {API_KEY}"}
    here = await watched({"default": call("openai", mock.origin, headers=headers)})
    here.editor.allow(REFUSED)
    page, origin = here.page, here.editor.server.origin
    await here.do("({view}) => view.setView({dock: 'run', dockHeight: 420})")
    groups = [PAYLOADS[at : at + GROUP] for at in range(0, len(PAYLOADS), GROUP)]
    mock.script(
        [
            Step(text="\n".join(group), chunks=tuple(part for text in group for part in (text[:7], text[7:] + "\n") if part))
            for group in groups
        ]
    )
    for group in groups:
        await say(page, "\n".join(group))
    answers = await here.texts('[data-t="said-assistant"] .said-text')
    assert holds(answers, PAYLOADS) == []
    await becomes(lambda: here.texts('[data-t="said-user"] .said-text'), lambda found: holds(found, PAYLOADS) == [])
    await here.is_unharmed()

    mock.script([Step(status=400, message="\n".join(group)) for group in groups])
    async with ClientSession(origin) as session:
        for group in groups:
            asked = {"model": group[0], "messages": [{"role": "user", "content": "Hello"}]}
            async with session.post(f"/v1/chat/completions?x={quote(group[1], errors='replace')}", json=asked) as answer:
                await answer.read()
    await expect(page.locator(".run-line-state").first).to_contain_text("Failed")
    await page.locator(".run-tabs").get_by_role("tab", name="Node").click()
    await expect(page.locator(".run-io")).to_be_visible()
    await page.locator(".run-tabs").get_by_role("tab", name="History").click()
    await expect(page.locator(".run-line")).to_have_count(2 * len(groups))
    await becomes(lambda: here.texts(".run-line"), lambda found: holds(found, [group[0] for group in groups]) == [])
    await here.is_unharmed()


async def say(page: Page, text: str) -> None:
    """Say something in the chat pane, and wait for the end of the answer."""
    field = page.get_by_role("textbox", name="Say something to the pipeline")
    await field.fill(text)
    await field.press("Enter")
    await expect(page.locator(".composer").get_by_role("button", name="Send")).to_be_visible()
