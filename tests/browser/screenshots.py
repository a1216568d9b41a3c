"""``python -m tests.browser.screenshots [--to FOLDER] [NAME ...]``: take the pictures of the documentation anew.

A server with the gallery and the demo model is started on a free port, a pipeline is opened in a real Chromium and tried in
the chat pane, and the pictures named in ``SHOTS`` are written to ``docs/images``. ``tests/test_docs.py`` holds that folder to
the same names.
"""

import argparse
import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiohttp import ClientSession, web

from agentui.demo import DemoServer, DemoSettings, create_demo_app
from agentui.jsonio import Json, dumps
from agentui.serving.application import create_app
from agentui.serving.listener import Listener
from agentui.settings import Settings
from tests.browser.conftest import ARGUMENTS, CHROMIUM, OWN_MODULES, WAIT_MS
from tests.conftest import ROOT

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

IMAGES = ROOT / "docs" / "images"
QUESTION = "I look around and listen."
SESSION = "adventure"
TURNS = 2
"""How often a client asks before the pictures, so that there is something in the memory and in the history."""
WAIT_S = 30
PAUSES = {"Continue carefully": 1.3, "Continue boldly": 0.8, "You are the narrator": 0.4}
"""How long the model thinks about a question that holds these words, in seconds."""
TOUR_SEEN = "agentui.tour"
"""Set in the browser's storage, so that the tour is not offered."""


def text(role: str, name: str, words: str) -> Json:
    """A Prompt Block with a text."""
    return {"kind": "text", "role": role, "name": name, "text": words, "enabled": True}


HISTORY: Json = {"kind": "history", "name": "Conversation", "enabled": True}


def call(id: str, title: str, x: int, y: int, *blocks: Json) -> Json:
    """A node that asks the demo model."""
    config: Json = {"provider": "openai", "base_url": "demo", "model": "demo-small", "blocks": list(blocks)}
    return {"id": id, "type": "ProviderCall", "title": title, "config": config, "position": {"x": x, "y": y}}


STORY: Json = {
    "format": 1,
    "name": "A story with two drafts",
    "description": "Counts gold for each branch of a chat, has two drafts written at the same time, and tells the story.",
    "nodes": [
        {
            "id": "n1",
            "type": "SetVars",
            "title": "State of the party",
            "config": {
                "variables": [
                    {"name": "gold", "mode": "json", "value": "{{ gold|default(0)|add(1) }}", "tier": "branch"},
                    {"name": "DICE", "mode": "expr", "value": "randint(1, 6)"},
                ]
            },
            "position": {"x": 0, "y": 110},
        },
        call("n2", "Careful draft", 330, 30, text("system", "Task", "Continue carefully. The dice shows [[DICE]]."), HISTORY),
        call("n3", "Bold draft", 330, 190, text("system", "Task", "Continue boldly. The dice shows [[DICE]]."), HISTORY),
        call(
            "n4",
            "Tell the story",
            690,
            110,
            text("system", "State", "You are the narrator. The party carries {{ gold }} gold."),
            HISTORY,
            text("user", "Drafts", "Make one of these:\n[[OUT2]]\n\n{{ OUT.n3.response_text|truncate(80) }}"),
        ),
    ],
    "edges": [
        {"from": "n1", "to": "n2", "from_port": "done"},
        {"from": "n1", "to": "n3", "from_port": "done"},
        {"from": "n2", "to": "n4", "from_port": "done"},
        {"from": "n3", "to": "n4", "from_port": "done"},
    ],
    "answer": "n4",
    "view": {
        "frames": [
            {"id": "f1", "title": "At the same time", "x": 300, "y": -20, "width": 300, "height": 300, "color": "violet"}
        ],
    },
}


async def do(page: "Page", script: str, argument: Any = None) -> None:
    """Call a function of the page's own modules: it gets ``{run, select, setView, chooseSession, join}`` and the argument."""
    await page.evaluate(
        f"""async (argument) => {{
          const load = (name) => own(`${{name}}.js`);
          const [actions, tabs, view, session, talk] = await Promise.all(
            ['actions', 'state/tabs', 'state/view', 'state/session', 'run/conversation'].map(load));
          await ({script})({{run: actions.runAction, select: tabs.select, setView: view.setView,
            chooseSession: session.chooseSession,
            join: (joins) => talk.setTalk(tabs.activeTab().key, {{joins}})}}, argument);
        }}""",
        argument,
    )


async def ask(page: "Page") -> None:
    """Say something in the chat pane, and wait for the end of the run. Raises where it does not end well."""
    await do(page, "({run}, words) => run('run.start', words)", QUESTION)
    state = "running"
    for _ in range(WAIT_S * 10):
        state = await page.evaluate(
            """async () => {
              const load = (name) => own(`state/${name}.js`);
              const [{store}, {activeTab}] = await Promise.all(['store', 'tabs'].map(load));
              return store.get().runs.byId[activeTab()?.lastRun ?? '']?.state ?? 'running';
            }"""
        )
        if state != "running":
            break
        await asyncio.sleep(0.1)
    if state != "finished":
        raise SystemExit(f"The run is {state} after {WAIT_S} seconds at most.")


async def select(page: "Page", node: str) -> None:
    """Select a node; the inspector shows it."""
    await do(page, "({select}, node) => select({nodes: [node]})", node)


async def arrange(page: "Page", **view: Json) -> None:
    """Open and close panels, and fit the drawing into what is left of the canvas."""
    await do(page, "({setView}, patch) => setView(patch)", view)
    await page.wait_for_timeout(300)
    await do(page, "({run}) => run('canvas.fit')")


async def after_a_run(page: "Page") -> None:
    """The whole editor: canvas after a run, Prompt Blocks, chat pane, timeline."""
    await arrange(page, left=None, dock="run", dockHeight=330, minimap=False)
    await ask(page)
    await select(page, "n4")
    await page.get_by_role("tab", name="Prompt Blocks").click()
    await arrange(page)


async def previewed(page: "Page") -> None:
    """The preview of the node that answers, on the request of a client's run."""
    await arrange(page, left="outline", dock="run", dockHeight=400, minimap=False)
    await ask(page)
    await select(page, "n4")
    await do(page, "({run}) => run('run.preview')")
    request = page.get_by_role("combobox", name="Sample request")
    await request.select_option(index=await request.locator("option").count() - 1)
    await page.get_by_role("tab", name="Prompt Blocks").click()
    await arrange(page, dock="preview")


async def small(page: "Page") -> None:
    """A smaller window: the inspector with variables, and the run below."""
    await arrange(page, left=None, dock="run", dockHeight=270, inspectorWidth=330, minimap=False)
    await ask(page)
    await select(page, "n1")
    await arrange(page)


async def chatted(page: "Page") -> None:
    """The place to chat: what was said, two versions of an answer, and what the newest turn changed."""
    await arrange(page, dock="chat", dockMaximized=True)
    await page.get_by_label("Pipeline that answers").select_option("story")
    await page.locator("#chat-input").fill("I follow the sound, as quietly as I can.")
    await page.keyboard.press("Enter")
    await page.get_by_label("Floor 2", exact=True).wait_for()
    await page.get_by_role("button", name="Another version of the answer").click(timeout=WAIT_MS)
    await page.get_by_text("2/2").wait_for()
    await page.get_by_role("button", name="Send", exact=True).wait_for()


async def narrow(page: "Page") -> None:
    """A phone: the outline after a run."""
    await ask(page)
    await select(page, "n4")
    await do(page, "({setView}) => setView({left: 'outline', narrowPage: 'outline'})")


@dataclass(frozen=True)
class Shot:
    """A picture: what to do before it is taken, in a window of this size and look."""

    prepare: Callable[["Page"], Awaitable[None]]
    width: int
    height: int
    look: str = "dark"
    context: Mapping[str, Any] = field(default_factory=dict)


SHOTS: Mapping[str, Shot] = {
    "editor": Shot(after_a_run, 1440, 900),
    "editor-light": Shot(previewed, 1440, 900, look="light"),
    "editor-1024": Shot(small, 1024, 768),
    "editor-chat": Shot(chatted, 1440, 900),
    "editor-phone": Shot(narrow, 390, 844, context={"has_touch": True, "is_mobile": True, "device_scale_factor": 2}),
}


@web.middleware
async def thinking(request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> web.StreamResponse:
    """The demo answers at once, so its bars could not be seen; a real model thinks first, some questions longer than others."""
    asked = await request.text()
    await asyncio.sleep(next((pause for words, pause in PAUSES.items() if words in asked), 0))
    return await handler(request)


async def start_model() -> DemoServer:
    """The demo model, as slow as a real one that is quick."""
    app = create_demo_app(DemoSettings(delay=0.02))
    app.middlewares.append(thinking)
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return DemoServer(f"http://127.0.0.1:{runner.addresses[0][1]}", runner)


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[tuple[str, str]]:
    """A server with the gallery, the story, the demo model and a chat that has begun; its address and the chat's id."""
    for name in ("pipelines", "presets"):
        shutil.copytree(ROOT / name, folder / name)
    (folder / "pipelines" / "story.json").write_bytes(dumps(STORY))
    upstream = await start_model()
    settings = Settings(port=0, pipelines=folder / "pipelines", presets=folder / "presets", data=folder / "data")
    listener = Listener(create_app(settings, named_origins={"demo": upstream.origin}, default_active="story"))
    port = await listener.start("127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{port}", await play(f"http://127.0.0.1:{port}")
    finally:
        await listener.stop()
        await upstream.close()


async def play(origin: str) -> str:
    """Let a client take turns in a chat; the chat's id."""
    body = {"model": "demo-small", "messages": [{"role": "user", "content": QUESTION}]}
    session = ""
    # It has no history that would tell its second turn from a second try at the first.
    async with ClientSession(headers={"x-agentui-session": SESSION, "x-agentui-turn": "new"}) as client:
        for _ in range(TURNS):
            async with client.post(f"{origin}/v1/chat/completions", json=body) as reply:
                reply.raise_for_status()
                session = reply.headers["x-agentui-session"]
    return session


async def take(browser: "Browser", origin: str, session: str, name: str, to: Path) -> Path:
    """Take one picture. Raises where the page complains, because a broken page should not be shown."""
    shot = SHOTS[name]
    context = await browser.new_context(
        viewport={"width": shot.width, "height": shot.height},
        color_scheme="light" if shot.look == "light" else "dark",
        reduced_motion="reduce",
        locale="en-US",
        **shot.context,
    )
    await context.add_init_script(OWN_MODULES)
    page = await context.new_page()
    page.set_default_timeout(WAIT_MS)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None)
    await page.add_init_script(f"localStorage.setItem('{TOUR_SEEN}', 'seen')")
    await page.goto(origin)
    await page.locator(".doc-tab").first.wait_for()
    # The story counts gold in its chat, so that a try of it is a turn there.
    await do(page, "({chooseSession, join}, session) => { chooseSession({session, branch: 'main'}); join(session); }", session)
    await shot.prepare(page)
    await page.mouse.move(0, 0)
    await page.wait_for_timeout(1000)
    path = to / f"{name}.png"
    await page.screenshot(path=path, animations="disabled")
    await context.close()
    if complaints:
        raise SystemExit(f"{name}: the page complained: {complaints}")
    return path


async def main(names: list[str], to: Path) -> None:
    """Take these pictures, each with a server of its own, so that the runs of one do not stand in another's history."""
    from playwright.async_api import async_playwright

    async with async_playwright() as engine:
        browser = await engine.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                async with running(Path(folder)) as (origin, session):
                    path = await take(browser, origin, session, name, to)
            print(f"{path}: {path.stat().st_size:,} bytes")
        await browser.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Take the pictures of the documentation anew.")
    parser.add_argument("names", nargs="*", choices=[*SHOTS, []], help="which ones; all unless named")
    parser.add_argument("--to", type=Path, default=IMAGES, help="the folder, docs/images unless told")
    told = parser.parse_args()
    told.to.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(told.names or list(SHOTS), told.to))
