"""Everybody can use it: axe over every panel and dialog in every look, focus that is never lost, Escape, and reduced motion."""

import shutil
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import ClientSession
from playwright.async_api import Page, expect

from agentui.jsonio import Json
from tests.browser.conftest import Editor, OpenEditor, axe
from tests.conftest import ROOT

pytestmark = pytest.mark.browser

PIPELINE: Json = {
    "format": 1,
    "name": "Everything",
    "description": "One of each kind.",
    "nodes": [
        {
            "id": "n1",
            "type": "SetVars",
            "config": {
                "variables": [
                    {"name": "A", "value": "1", "tier": "branch"},
                    {"name": "B", "mode": "expr", "value": "randint(1, 6)"},
                ]
            },
            "position": {"x": 0, "y": 0},
        },
        {
            "id": "n2",
            "type": "ProviderCall",
            "config": {
                "provider": "openai",
                "base_url": "demo",
                "headers": {"x-one": "1", "x-two": "[[A]]"},
                "blocks": [
                    {"kind": "text", "role": "system", "name": "Rule", "text": "Be [[A]] and [[NOBODY]]."},
                    {"kind": "text", "role": "user", "text": "Second"},
                    {"kind": "history"},
                ],
            },
            "position": {"x": 320, "y": 0},
        },
        {
            "id": "n3",
            "type": "Nowhere",
            "title": "Not installed",
            "config": {"x": 1},
            "position": {"x": 640, "y": 120},
            "enabled": False,
        },
    ],
    "edges": [{"from": "n1", "to": "n2"}, {"from": "n2", "to": "n3"}],
    "answer": "n2",
    "view": {
        "frames": [{"id": "f1", "title": "A frame", "x": -40, "y": -80, "width": 320, "height": 240, "color": "green"}],
        "notes": [{"id": "t1", "text": "A note", "x": 0, "y": 260, "width": 200, "height": 120, "color": "amber"}],
    },
}
LOOKS = [
    ("en", "dark", "normal"),
    ("en", "light", "more"),
    ("ru", "light", "normal"),
    ("ru", "dark", "more"),
]
LEFT = ("nodes", "outline", "presets", "sessions")
DOCK = ("run", "preview", "variables", "problems")
DIALOGS: dict[str, dict[str, Any]] = {
    "question": {
        "title": "Really?",
        "text": "It is asked.",
        "details": ["One thing"],
        "choices": [{"id": "yes", "label": "Yes", "tone": "danger"}],
    },
    "text": {"title": "A name", "label": "Name", "confirm": "Save", "hint": "Letters."},
    "palette": {},
    "open": {},
    "save-as": {"tab": "FRONT"},
    "merge": {"tab": "FRONT", "id": "default", "theirs": {**PIPELINE, "name": "Theirs"}, "etag": '"x"'},
    "versions": {"id": "default"},
    "import": {"text": '{"format": 1, "name": "In", "nodes": [{"id": "n1", "type": "SetVars", "config": {}}], "edges": []}'},
    "export": {},
    "templates": {},
    "settings": {},
    "shortcuts": {},
    "preset": {"id": "openai"},
    "variables-bulk": {"mode": "import", "items": []},
    "compare-runs": {"a": "RUN", "b": "RUN"},
}
"""Every dialog with what it is opened with; FRONT and RUN stand for the tab in front and the last run."""

Open = Callable[..., Awaitable["Screen"]]


class Screen:
    """An editor with something to see in every panel."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.page = editor.page

    async def do(self, script: str, argument: Any = None) -> Any:
        """Call a function of the page's modules; it gets ``{store, tabs, view, dialogs}`` and the argument."""
        return await self.page.evaluate(
            f"""async (argument) => {{
              const names = ['store', 'tabs', 'view', 'dialogs'];
              const [store, tabs, view, dialogs] = await Promise.all(names.map((name) => own(`state/${{name}}.js`)));
              return ({script})({{store: store.store, tabs, view, dialogs}}, argument);
            }}""",
            argument,
        )

    async def show(self, **patch: Json) -> None:
        """Open and close panels."""
        await self.do("({view}, patch) => view.setView(patch)", patch)

    async def select(self, *nodes: str) -> None:
        await self.do("({tabs}, nodes) => tabs.select({nodes})", list(nodes))

    async def open_dialog(self, kind: str) -> None:
        """Open a dialog, and wait until it is there."""
        await self.do(
            """({store, dialogs}, [kind, props]) => {
              const state = store.get();
              const run = state.runs.list[0]?.id;
              const real = Object.entries(props).map(([name, value]) => [name, value === 'FRONT' ? state.activeTab : value === 'RUN' ? run : value]);
              const answer = kind === 'question' || kind === 'text' ? {answer: () => {}} : {};
              dialogs.openDialog(kind, {...Object.fromEntries(real), ...answer});
            }""",
            [kind, DIALOGS[kind]],
        )
        await expect(self.page.get_by_role("dialog").last).to_be_visible()

    async def focused(self) -> str:
        """What has the focus, once the page has come to rest; ``BODY`` where it was lost."""
        found: str = await self.page.evaluate(
            """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => {
              const {activeElement} = document;
              done(activeElement === null || activeElement === document.body ? 'BODY' : activeElement.outerHTML.slice(0, 160));
            }))))"""
        )
        return found


@pytest_asyncio.fixture(loop_scope="session")
async def screen(open_editor: OpenEditor) -> Open:
    """Open an editor where a run and a chat took place; the tour is declined."""

    async def open_one(**more: Any) -> Screen:
        async def prepare(page: Page) -> None:
            await page.emulate_media(reduced_motion="reduce")
            await page.add_init_script("localStorage.setItem('agentui.tour', 'declined')")

        pipelines = {"default": PIPELINE, "other": {**PIPELINE, "nodes": PIPELINE["nodes"][:2], "edges": PIPELINE["edges"][:1]}}
        editor = await open_editor(pipelines, prepare=prepare, **more)
        editor.allow(r"status of 4\d\d")
        shutil.copytree(ROOT / "presets", editor.server.pipelines.parent / "presets", dirs_exist_ok=True)
        editor.server.state.presets.refresh()
        await editor.page.locator(".doc-tab").first.wait_for()
        headers = {"x-agentui-session": "adventure"}
        async with ClientSession(editor.server.origin, headers=headers) as session:
            for words in ("Hello", "Go on"):
                asked = {"model": "demo-small", "messages": [{"role": "user", "content": words}]}
                async with session.post("/p/other/v1/chat/completions", json=asked) as response:
                    assert response.status == 200, await response.text()
        await editor.page.evaluate(
            """async () => {
              await (await own('state/library.js')).refreshLibrary();
              await (await own('state/runs.js')).refreshRuns();
            }"""
        )
        return Screen(editor)

    return open_one


@pytest.mark.parametrize(("locale", "theme", "contrast"), LOOKS)
async def test_no_panel_and_no_dialog_breaks_a_rule(screen: Open, locale: str, theme: str, contrast: str) -> None:
    here = await screen(context={"locale": locale})
    page = here.page
    await here.show(theme=theme, contrast=contrast, dockHeight=360)
    found: dict[str, Any] = {}
    for left, dock, node in zip(LEFT, DOCK, ("n1", "n2", "n3", None), strict=True):
        await here.show(left=left, dock=dock)
        await here.select(*([node] if node else []))
        await page.wait_for_timeout(150)
        found[f"{left} {dock} {node}"] = await axe(page)
    await here.select("n2")
    for tab in range(1, 3):
        await page.locator(".inspector [role=tablist]").nth(1).get_by_role("tab").nth(tab).click()
        found[f"call {tab}"] = await axe(page, ".inspector-side")
    for tab in range(1, 3):
        await page.locator(".inspector [role=tablist]").first.get_by_role("tab").nth(tab).click()
        found[f"node {tab}"] = await axe(page, ".inspector-side")
    await here.select("n1", "n2")
    found["many"] = await axe(page, ".inspector-side")
    for kind in DIALOGS:
        await here.open_dialog(kind)
        found[kind] = await axe(page, "dialog")
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
    assert {place: wrong for place, wrong in found.items() if wrong} == {}


async def test_every_dialog_closes_with_escape_and_gives_the_focus_back(screen: Open) -> None:
    here = await screen()
    page = here.page
    opener = page.get_by_role("button", name="Menu")
    for kind in DIALOGS:
        await opener.focus()
        await here.open_dialog(kind)
        assert await page.evaluate("document.querySelector('dialog').contains(document.activeElement)"), kind
        for _ in range(3):
            await page.keyboard.press("Tab")
        assert await page.evaluate(
            "document.activeElement === document.body || document.querySelector('dialog').contains(document.activeElement)"
        ), kind
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(opener).to_be_focused()


async def test_dialogs_over_dialogs_close_one_by_one(screen: Open) -> None:
    here = await screen()
    page = here.page
    await page.get_by_role("button", name="Menu").focus()
    await here.open_dialog("settings")
    first = page.get_by_role("dialog")
    await first.get_by_role("combobox").first.focus()
    await here.open_dialog("question")
    await expect(page.get_by_role("dialog", name="Really?")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog", name="Really?")).to_have_count(0)
    await expect(first.get_by_role("combobox").first).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Menu")).to_be_focused()


async def test_the_focus_is_never_lost(screen: Open) -> None:
    """What had the focus goes away or is switched off, in every way that is there; its neighbour takes over."""
    here = await screen()
    page = here.page
    inspector = page.get_by_role("region", name="Inspector")
    lost: list[str] = []

    async def check(what: str) -> None:
        if await here.focused() == "BODY":
            lost.append(what)

    await here.select("n1")
    await inspector.get_by_role("button", name="More for A").press("Enter")
    await page.get_by_role("menuitem", name="Delete").press("Enter")
    await expect(inspector.locator(".variable")).to_have_count(1)
    await check("a row")
    await inspector.get_by_role("button", name="More for B").press("Enter")
    await page.get_by_role("menuitem", name="Delete").press("Enter")
    await check("the last row")
    await inspector.get_by_role("button", name="Add variable").press("Enter")
    await expect(inspector.get_by_role("textbox", name="Name of variable 1")).to_be_focused()

    await here.select("n2")
    await inspector.get_by_role("button", name="Remove x-one").press("Enter")
    await check("a header")
    await inspector.get_by_role("button", name="Add header").press("Enter")
    await check("a new header")
    await inspector.get_by_role("tab", name="Prompt Blocks").press("Enter")
    await inspector.get_by_role("button", name="More for Rule").press("Enter")
    await page.get_by_role("menuitem", name="Delete").press("Enter")
    await expect(inspector.locator(".block")).to_have_count(2)
    await check("a block")

    undo = page.get_by_role("button", name="Undo")
    await undo.focus()
    while await undo.is_enabled():
        await page.keyboard.press("Enter")
    await check("the last undo")

    await here.show(left="outline")
    await page.locator(".canvas-outline-main").first.focus()
    await here.select("n1")
    await page.keyboard.press("Delete")
    await expect(page.locator(".canvas-outline-main[data-node]")).to_have_count(2)
    await check("a node in the outline")
    await page.locator('.react-flow__node[data-id="n2"]').focus()
    await page.keyboard.press("Enter")
    await page.locator('.react-flow__node[data-id="n2"]').focus()
    await page.keyboard.press("Delete")
    await expect(page.locator('.react-flow__node[data-id="n2"]')).to_have_count(0)
    await check("a node on the canvas")
    await here.select("n3")
    await inspector.get_by_role("button", name="Node menu").press("Enter")
    await page.get_by_role("menuitem", name="Delete").press("Enter")
    await expect(page.locator(".canvas-outline-main[data-node]")).to_have_count(0)
    await check("a node by its menu")

    await here.show(dock="run")
    await page.get_by_role("button", name="Close the dock").press("Enter")
    await check("the dock")
    await page.keyboard.press("Control+s")
    await page.get_by_role("button", name="Dismiss").first.press("Enter")
    await check("a message")
    await page.get_by_role("button", name="New pipeline").press("Enter")
    await page.get_by_role("tab", name="Untitled").focus()
    await page.keyboard.press("Delete")
    await expect(page.get_by_role("tab", name="Untitled")).to_have_count(0)
    await check("a tab")
    await page.get_by_role("tab", name="Everything").focus()
    await page.keyboard.press("Delete")
    await expect(page.get_by_role("heading", name="What should happen to a request?")).to_be_visible()
    await check("the last tab")
    assert lost == []


async def test_reduced_motion_is_honoured(screen: Open) -> None:
    here = await screen()
    page = here.page
    await here.show(left="nodes", dock="run")
    longest = """() => Math.max(0, ...[...document.querySelectorAll('*')].flatMap((element) => {
      const style = getComputedStyle(element);
      const seconds = (text) => text.split(',').map((one) => parseFloat(one) * (one.trim().endsWith('ms') ? 0.001 : 1));
      const moves = style.animationName === 'none' ? [] : seconds(style.animationDuration);
      return [...seconds(style.transitionDuration), ...moves];
    }))"""
    assert await page.evaluate(longest) <= 0.01
    await here.open_dialog("settings")
    assert await page.evaluate(longest) <= 0.01


async def test_a_part_that_fails_takes_nothing_else_with_it(screen: Open) -> None:
    here = await screen()
    page = here.page
    here.editor.allow("reading 'map'")
    # A dialog that gets nothing of what it needs.
    await here.do("({dialogs}) => dialogs.openDialog('variables-bulk', {})")
    await expect(page.get_by_text("This part of the editor failed")).to_be_visible()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(page.locator(".react-flow__node").first).to_be_visible()
    await here.open_dialog("settings")
    await page.keyboard.press("Escape")
