"""The cases, played in SillyTavern: ``python -m tests.tavern.assembly.stage PACKAGES FOLDER [NAME...]``.

Started in a network namespace that holds nothing but loopback. It loads the files of each case into SillyTavern through its own
import and plays its turns before an upstream that remembers what it is asked; with names only those cases. What was sent is
written to standard output, as JSON by the case's name.
"""

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from zlib import crc32

from aiohttp import web
from playwright.async_api import Request, async_playwright

from tests.browser.conftest import ARGUMENTS, CHROMIUM
from tests.tavern.assembly.case import ANSWER, HERE, Case, cases
from tests.tavern.stage import PATIENCE, Client, opened, tavern

POSTED = "/api/backends/chat-completions/generate"
"""Where the page asks SillyTavern's server to generate."""


async def play(packages: Path, folder: Path, wanted: Sequence[Case]) -> dict[str, dict[str, Any]]:
    """What SillyTavern sends in each of these cases."""
    asked: list[dict[str, Any]] = []
    posted: list[Any] = []
    found: dict[str, dict[str, Any]] = {}
    async with (
        upstream(asked) as origin,
        tavern(packages, folder, f"{origin}/v1") as address,
        async_playwright() as engine,
    ):
        browser = await engine.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        client = Client(await browser.new_page(viewport={"width": 1400, "height": 900}))

        def remember(request: Request) -> None:
            if request.url.endswith(POSTED):
                posted.append(request.post_data_json)

        client.page.on("request", remember)
        await opened(client, address)
        await client.page.add_script_tag(type="module", content=(HERE / "page.js").read_text(encoding="utf-8"))
        await client.until("window.oracle !== undefined")
        for case in wanted:
            found[case.name] = {"digest": case.digest, "turns": await _turns(client, case, asked, posted)}
        await browser.close()
    return found


async def _turns(client: Client, case: Case, asked: list[dict[str, Any]], posted: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages of each turn of a case, and the numbers that its lorebooks drew.

    ``asked`` is what came to the upstream, ``posted`` what the page gave to SillyTavern's server: another vendor's dialect is
    the server's, and what counts is what it is made of.
    """
    turns = []
    async with asyncio.timeout(PATIENCE):
        await client.page.evaluate("(one) => window.oracle.load(one)", case.object())
        for number, turn in enumerate(case.turns):
            asked.clear()
            posted.clear()
            seed = crc32(f"{case.name} {number}".encode()) & 0x7FFFFFFF
            draws = await client.page.evaluate("([turn, seed]) => window.oracle.turn(turn, seed)", [turn, seed])
            await client.until("!document.body.dataset.generating")
            if len(asked) != 1:
                raise RuntimeError(f"{case.name!r}: SillyTavern sent {len(asked)} requests for turn {number}")
            sent = asked[0] if case.source == "custom" else posted[0]
            prefill = posted[0].get("assistant_prefill")
            turns.append({"messages": sent["messages"], "draws": draws} | ({"prefill": prefill} if prefill else {}))
    return turns


@asynccontextmanager
async def upstream(asked: list[dict[str, Any]]) -> AsyncIterator[str]:
    """A model that remembers what it is asked, and says the same every time."""

    async def answer(request: web.Request) -> web.Response:
        asked.append(await request.json())
        message = {"role": "assistant", "content": ANSWER}
        return web.json_response({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    async def claude(request: web.Request) -> web.Response:
        asked.append(await request.json())
        return web.json_response({"content": [{"type": "text", "text": ANSWER}], "stop_reason": "end_turn"})

    async def models(_: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "text"}]})

    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_post("/v1/chat/completions", answer)
    app.router.add_post("/v1/messages", claude)
    app.router.add_get("/v1/models", models)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


if __name__ == "__main__":
    where, room, *names = sys.argv[1:]
    shutil.rmtree(room, ignore_errors=True)
    Path(room).mkdir(parents=True)
    wanted = [case for case in cases() if not names or case.name in names]
    print(json.dumps(asyncio.run(play(Path(where).absolute(), Path(room).absolute(), wanted))))
