"""An editor with something to see in every place, and a walk through all of them."""

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from aiohttp import ClientSession
from playwright.async_api import expect

from agentui.jsonio import Json
from tests.browser.conftest import Editor, OpenEditor
from tests.conftest import ROOT

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
LEFT = ("nodes", "outline", "presets", "sessions")
DOCK = ("chat", "run", "preview", "variables", "problems")
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
    "rename": {"id": "default"},
    "save-as": {"tab": "FRONT"},
    "merge": {"tab": "FRONT", "id": "default", "theirs": {**PIPELINE, "name": "Theirs"}, "etag": '"x"'},
    "versions": {"id": "default"},
    "import": {"text": '{"format": 1, "name": "In", "nodes": [{"id": "n1", "type": "SetVars", "config": {}}], "edges": []}'},
    "export": {},
    "templates": {},
    "settings": {},
    "keys": {"add": ""},
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


def opener(open_calm: OpenEditor) -> Open:
    """Opens an editor where a run and a chat took place; it takes the options of ``open_calm``."""

    async def open_one(**more: Any) -> Screen:
        pipelines = {"default": PIPELINE, "other": {**PIPELINE, "nodes": PIPELINE["nodes"][:2], "edges": PIPELINE["edges"][:1]}}
        editor = await open_calm(pipelines, **more)
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


async def every_view(here: Screen) -> AsyncIterator[tuple[str, str]]:
    """Show every panel, every page of the inspector and every dialog, one after the other: a name, and the selector of its part."""
    page = here.page
    await here.show(dockHeight=360)
    for left, dock, node in zip((*LEFT, None), DOCK, ("n1", "n2", "n3", None, None), strict=True):
        await here.show(left=left, dock=dock)
        await here.select(*([node] if node else []))
        await page.wait_for_timeout(150)
        yield f"{left} {dock} {node}", "body"
    await here.select("n2")
    for tab in range(1, 3):
        await page.locator(".inspector [role=tablist]").nth(1).get_by_role("tab").nth(tab).click()
        yield f"call {tab}", ".inspector-side"
    for tab in range(1, 3):
        await page.locator(".inspector [role=tablist]").first.get_by_role("tab").nth(tab).click()
        yield f"node {tab}", ".inspector-side"
    await here.select("n1", "n2")
    yield "many", ".inspector-side"
    for kind in DIALOGS:
        await here.open_dialog(kind)
        yield kind, "dialog"
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
