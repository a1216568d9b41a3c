"""A SillyTavern on a stage of its own: a mock of the vendors, agentui, SillyTavern, and a Chromium in which somebody chats.

``python -m tests.tavern.stage PACKAGES FOLDER``, started in a network namespace that holds nothing but loopback, plays all
scenes and writes what happened as JSON to standard output: a list of ``{"scene", "headers", "body", "told"}``, one for each
request that came to agentui, ``told`` being what its answer said in its headers.
"""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from playwright.async_api import Page, async_playwright

from tests.browser.conftest import ARGUMENTS, CHROMIUM
from tests.conftest import servers
from tests.turns.house import chain, sets, target
from tests.upstreams.server import API_KEY, start_mock
from tests.upstreams.step import Step

PATIENCE = 300.0
"""Seconds for anything that SillyTavern does, its first start among them."""
COUNTS = sets(("branch", "gold", "json", "{{ gold|default(0)|add(1) }}"))
HEADERS = "x-agentui-session: {{char}}\nx-agentui-intent: '{{lastGenerationType}}'"
SETTINGS: Mapping[str, Any] = {
    "chat_completion_source": "custom",
    "custom_model": "text",
    "custom_include_headers": HEADERS,
    "stream_openai": True,
    "bypass_status_check": True,
}
Scene = Callable[["Client"], Awaitable[None]]


class Client:
    """The person before SillyTavern. ``requests`` are those that SillyTavern has sent."""

    def __init__(self, page: Page, requests: Sequence[Any] = ()) -> None:
        self.page = page
        self.requests = requests

    async def ready(self) -> None:
        """SillyTavern is there, with its characters."""
        await self.until("window.SillyTavern?.getContext().characters.length > 0 && !document.querySelector('#preloader')")

    async def until(self, condition: str) -> None:
        """Wait until an expression is true in the page."""
        async with asyncio.timeout(PATIENCE):
            while not await self.page.evaluate(condition):  # noqa: ASYNC110  # the page tells nobody
                await asyncio.sleep(0.1)

    async def run(self, command: str) -> None:
        """A slash command, to its end."""
        await self.page.evaluate("(text) => SillyTavern.getContext().executeSlashCommandsWithOptions(text)", command)
        await self.settled()

    async def say(self, text: str, answers: int = 1) -> None:
        """Write and send, and hear the whole of so many answers."""
        asked = len(self.requests) + answers
        await self.page.fill("#send_textarea", text)
        await self.page.click("#send_but")
        await self.answered(asked)

    async def swipe(self, side: str, answers: int = 0) -> None:
        """Swipe the last answer: to one that is there already, or to one more, which is asked for."""
        asked = len(self.requests) + answers
        await self.page.locator(f"#chat .last_mes .swipe_{side}").last.click(force=True)
        await self.answered(asked)

    async def edit(self, number: int, text: str) -> None:
        """Change a message in place."""
        message = self.page.locator(f'#chat .mes[mesid="{number}"]')
        await message.locator(".mes_edit").evaluate("(button) => button.click()")
        await message.locator("textarea.edit_textarea").fill(text)
        await message.locator(".mes_edit_done").evaluate("(button) => button.click()")
        await self.settled()

    async def answered(self, asked: int) -> None:
        """Wait until so many requests were sent in all, however long SillyTavern takes to begin, and the last is answered."""
        async with asyncio.timeout(PATIENCE):
            while len(self.requests) < asked:  # noqa: ASYNC110  # what is asked is a list
                await asyncio.sleep(0.1)
        await self.settled()

    async def settled(self) -> None:
        """Wait until nothing is generated any more."""
        # It begins, and shows what came, a moment after it was asked or has ended.
        await asyncio.sleep(0.4)
        await self.until("!document.body.dataset.generating")
        await asyncio.sleep(0.4)


async def turns(client: Client) -> None:
    """Three turns."""
    await client.say("I look around.")
    await client.say("I dig a hole.")
    await client.say("I climb out of it.")


async def swipes(client: Client) -> None:
    """Two other answers, back to the first, and on from there."""
    await client.swipe("right", answers=1)
    await client.swipe("right", answers=1)
    await client.swipe("left")
    await client.swipe("left")
    await client.say("I walk to the river.")


async def regenerate(client: Client) -> None:
    """The last answer again."""
    await client.run("/regenerate await=true")


async def edit(client: Client) -> None:
    """The question before the last one changed, what follows removed, and answered anew."""
    await client.run("/cut 6-{{lastMessageId}}")
    await client.edit(5, "I stay in the hole.")
    await client.run("/trigger await=true")
    await client.say("I sing in the hole.")


async def cut(client: Client) -> None:
    """The last turn removed and another one played."""
    await client.run("/cut 7-{{lastMessageId}}")
    await client.say("I sleep in the hole.")


async def aside(client: Client) -> None:
    """What is no turn: a quiet prompt within the chat, one without it, and the user's words written by the model."""
    await client.run("/gen lock=off Say in one word where we are.")
    await client.run("/genraw lock=off Name a colour.")
    await client.run("/impersonate await=true")
    await client.page.fill("#send_textarea", "")


async def goes_on(client: Client) -> None:
    """The last answer continued, and a turn after it."""
    await client.run("/continue await=true")
    await client.say("I wake up.")


async def checkpoint(client: Client) -> None:
    """A branch from an earlier message, a turn in it, and back to where it came from."""
    await client.run("/checkpoint-create mesId=4 the fork")
    await client.run("/checkpoint-go 4")
    await client.say("I fill the hole.")
    await client.run("/checkpoint-exit")
    await client.say("I go home.")


async def branch(client: Client) -> None:
    """A branch from an earlier message, which SillyTavern opens at once, and a turn in it."""
    await client.run("/branch-create 4")
    await client.say("I sell the hole.")


async def another(client: Client) -> None:
    """A second chat with the same character."""
    await client.run("/newchat")
    await client.say("I come back after years.")
    await client.say("I ask for my old room.")


async def note(client: Client) -> None:
    """An author's note that is injected as the user's words, two messages before the end."""
    for name, value in (("frequency", "1"), ("depth", "2"), ("role", "user"), ("position", "chat")):
        await client.run(f"/note-{name} {value}")
    await client.run("/note It rains all day.")
    await client.say("I look out of the window.")
    await client.swipe("right", answers=1)


async def group(client: Client) -> None:
    """A chat with two characters at once, of whom both answer, and a swipe of the last."""
    await client.run("/char-create name=Bob greeting='Hello, I am Bob.' A smith.")
    await client.page.evaluate(
        """async () => {
          const {characters, getRequestHeaders} = SillyTavern.getContext();
          const members = characters.map((one) => one.avatar);
          const body = JSON.stringify({name: 'Inn', members, chat_id: 'inn', chats: ['inn'], activation_strategy: 1});
          await fetch('/api/groups/create', {method: 'POST', headers: getRequestHeaders(), body});
        }"""
    )
    await client.page.reload()
    await client.ready()
    await client.run("/go Inn")
    await client.say("I greet you both.", answers=2)
    await client.say("I order a beer.", answers=2)
    await client.swipe("right", answers=1)


SCENES: Mapping[str, Scene] = {
    "turns": turns,
    "swipes": swipes,
    "regenerate": regenerate,
    "edit": edit,
    "cut": cut,
    "aside": aside,
    "continue": goes_on,
    "checkpoint": checkpoint,
    "branch": branch,
    "another chat": another,
    "note": note,
    "group": group,
}


STORY: Sequence[tuple[str, str, str, int | None]] = (
    ("turns", "Seraphina", "new", 1),
    ("turns", "Seraphina", "new", 2),
    ("turns", "Seraphina", "new", 3),
    ("swipes", "Seraphina", "regenerate", 3),
    ("swipes", "Seraphina", "regenerate", 3),
    ("swipes", "Seraphina", "new", 4),
    ("regenerate", "Seraphina", "regenerate", 4),
    ("edit", "Seraphina", "fork", 3),
    ("edit", "Seraphina", "new", 4),
    ("cut", "Seraphina", "fork", 4),
    ("aside", "Seraphina", "background", None),
    ("aside", "Seraphina", "background", None),
    ("aside", "Seraphina", "background", None),
    ("continue", "Seraphina", "regenerate", 4),
    ("continue", "Seraphina", "new", 5),
    ("checkpoint", "Seraphina", "fork", 3),
    ("checkpoint", "Seraphina", "new", 6),
    ("branch", "Seraphina", "fork", 3),
    ("another chat", "Seraphina", "fork", 1),
    ("another chat", "Seraphina", "new", 2),
    ("note", "Seraphina", "new", 3),
    ("note", "Seraphina", "regenerate", 3),
    ("group", "Bob", "new", 1),
    ("group", "Seraphina", "fork", 1),
    ("group", "Bob", "new", 2),
    ("group", "Seraphina", "new", 2),
    ("group", "Seraphina", "regenerate", 2),
)
"""What each request of the scenes has to come to: its scene and session, what it was, and what the branch counts after it: as
many turns as the screen shows (in a group, of the character who answers)."""


async def play(packages: Path, folder: Path) -> list[dict[str, Any]]:
    """Play all scenes one after the other, in one SillyTavern."""
    mock = await start_mock()
    mock.play(answers())
    requests: list[dict[str, Any]] = []
    try:
        async with servers(folder) as start, aiohttp.ClientSession() as http:
            server = await start({"gold": chain(COUNTS, target("caller", mock.origin))})
            base = f"{server.origin}/p/gold"
            async with (
                relaying(http, base, requests) as origin,
                tavern(packages, folder, f"{origin}/v1") as address,
                async_playwright() as engine,
            ):
                browser = await engine.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
                client = Client(await browser.new_page(viewport={"width": 1400, "height": 900}), requests)
                await opened(client, address)
                for name, scene in SCENES.items():
                    before = len(requests)
                    await scene(client)
                    for request in requests[before:]:
                        request["scene"] = name
                await browser.close()
    finally:
        await mock.close()
    return requests


def answers() -> Callable[[Any], Step]:
    """Answers that no two turns share."""
    count = 0

    def choose(_: Any) -> Step:
        nonlocal count
        count += 1
        return Step(text=f"Answer number {count}, which the innkeeper gives with a nod.")

    return choose


@asynccontextmanager
async def relaying(http: aiohttp.ClientSession, base: str, requests: list[dict[str, Any]]) -> AsyncIterator[str]:
    """What stands before agentui and remembers what is asked and what is told."""

    async def relay(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        kept: dict[str, Any] = {}
        if body:
            named = {name.lower(): value for name, value in request.headers.items() if name.lower().startswith("x-agentui")}
            kept |= {"headers": named, "body": json.loads(body)}
            requests.append(kept)
        headers = {**request.headers, "Authorization": f"Bearer {API_KEY}"}
        for name in ("Host", "Accept-Encoding", "Content-Length"):
            headers.pop(name, None)
        async with http.request(request.method, base + request.path_qs, headers=headers, data=body or None) as answer:
            response = web.StreamResponse(status=answer.status, headers={"Content-Type": answer.headers["Content-Type"]})
            await response.prepare(request)
            told = {name.lower(): value for name, value in answer.headers.items() if name.lower().startswith("x-agentui")}
            kept["told"] = {name: told[name] for name in ("x-agentui-turn", "x-agentui-branch") if name in told}
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
            return response

    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_route("*", "/{anything:.*}", relay)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


@asynccontextmanager
async def tavern(packages: Path, folder: Path, upstream: str) -> AsyncIterator[str]:
    """A running SillyTavern that knows one provider."""
    source = packages / "node_modules" / "sillytavern"
    data = folder / "data"
    user = data / "default-user"
    user.mkdir(parents=True)
    # What SillyTavern's first start compiles, for minutes, is kept beside the package.
    (packages / "_webpack").mkdir(exist_ok=True)
    (data / "_webpack").symlink_to(packages / "_webpack")
    settings = json.loads((source / "default" / "content" / "settings.json").read_text())
    settings |= {"firstRun": False, "main_api": "openai"}
    settings["power_user"] |= {"auto_connect": True, "auto_load_chat": True}
    settings["oai_settings"] |= {**SETTINGS, "custom_url": upstream}
    (user / "settings.json").write_text(json.dumps(settings))
    config = folder / "config.yaml"
    text = (source / "default" / "config.yaml").read_text()
    config.write_text(text.replace("enabled: true\n  browser:", "enabled: false\n  browser:"))
    port = 18_000 + os.getpid() % 1000
    command = ["node", "server.js", "--configPath", str(config), "--dataRoot", str(data), "--port", str(port)]
    command += ["--browserLaunchEnabled", "false", "--listen", "false", "--whitelist", "false"]
    with (folder / "tavern.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(*command, cwd=source, stdout=log, stderr=log)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


async def opened(client: Client, address: str) -> None:
    """SillyTavern in the browser, connected, with a character to talk to."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                await client.page.goto(address)
                break
            except Exception:  # noqa: BLE001  # playwright's error for a port at which nobody listens yet
                await asyncio.sleep(0.5)
    await client.ready()
    await client.run("/go Seraphina")


if __name__ == "__main__":
    where, room = sys.argv[1:]
    shutil.rmtree(room, ignore_errors=True)
    Path(room).mkdir(parents=True)
    print(json.dumps(asyncio.run(play(Path(where).absolute(), Path(room).absolute()))))
