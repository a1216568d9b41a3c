"""Writes ``recorded/<agent>.json``: what the real packages send while they do the task, for the tests that replay it.

    python -m tests.agents.record PACKAGES FOLDER

in a network namespace (see ``conftest.py``). Of each agent's requests the first, the one with the long results and the last are
kept, and token counts. Texts are cut to their beginnings, for they belong to the agents' makers and only their shape matters;
what is particular to this machine or this moment is replaced.
"""

import asyncio
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, web

from tests.agents.programs import DIALECTS, NAMES, Program
from tests.agents.stage import MODELS, ended, running
from tests.agents.task import PROMPT, model, steps, write_files
from tests.conftest import call, servers
from tests.upstreams.server import API_KEY, start_mock

RECORDED = Path(__file__).parent / "recorded"
LONG = "LONG:"
"""Begins a text that stands for one of so many characters."""
_KEPT_HEADERS = ("anthropic-beta", "anthropic-version", "content-type", "x-openai-internal-codex-responses-lite")
_TEXTS = ("text", "description", "content", "output", "definition", "instructions")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")


async def record(name: str, packages: Path, folder: Path) -> None:
    """Let one agent do the task over its own vendor (Codex's script over another: the mock has no tools of free text)."""
    for part in ("home", "work"):
        (folder / part).mkdir(parents=True)
    write_files(folder / "work")
    upstream = "openai" if name == "codex-gpt" else DIALECTS[name]
    mock = await start_mock()
    requests: list[dict[str, Any]] = []
    async with servers(folder) as start, ClientSession() as session:
        server = await start({"coding": call(upstream, mock.origin, model=MODELS[upstream])})

        async def relay(request: web.Request) -> web.StreamResponse:
            """Pass a request on to agentui, and remember it."""
            body = await request.read()
            if body:
                headers = {key.lower(): value for key, value in request.headers.items() if key.lower() in _KEPT_HEADERS}
                path = request.path_qs.removeprefix("/p/coding")
                requests.append({"path": path, "headers": headers, "body": json.loads(body)})
            passed = {key: value for key, value in request.headers.items() if key.lower() not in ("host", "accept-encoding")}
            async with session.request(request.method, server.origin + request.path_qs, headers=passed, data=body) as answer:
                response = web.StreamResponse(status=answer.status, headers={"Content-Type": answer.headers["Content-Type"]})
                await response.prepare(request)
                async for chunk in answer.content.iter_any():
                    await response.write(chunk)
                await response.write_eof()
                return response

        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/{anything:.*}", relay)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        base = f"http://127.0.0.1:{runner.addresses[0][1]}/p/coding"
        program = Program(name, packages, folder / "home", folder / "work", base, API_KEY)
        program.set_up()
        mock.play(model(steps(program), {}))
        async with running(program, PROMPT) as process:
            assert (await ended(process))["code"] == 0
        await runner.cleanup()
    await mock.close()
    told = {"issued": mock.vault.content_by_token, "requests": _choose(requests)}
    RECORDED.mkdir(exist_ok=True)
    text = json.dumps(_scrubbed(told, folder), ensure_ascii=False, indent=1)
    (RECORDED / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def _choose(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first, the last, the one whose long results are new, and the token counts."""
    counts = [request for request in requests if "count" in request["path"]]
    chats = [request for request in requests if request not in counts]
    sizes = [len(json.dumps(request)) for request in chats]
    longest = max(range(1, len(sizes)), key=lambda number: sizes[number] - sizes[number - 1])
    return [chats[0], *counts[:1], chats[longest], chats[-1]]


def _scrubbed(value: Any, folder: Path, key: str = "") -> Any:
    """A value without what belongs to others, to this machine or to this moment."""
    match value:
        case dict():
            return {name: _scrubbed(inner, folder, name) for name, inner in value.items()}
        case list():
            return [_scrubbed(inner, folder, key) for inner in value]
        case str():
            text = value.replace(str(folder), "/home/user")
            text = _DIGEST.sub("0" * 64, _UUID.sub("00000000-0000-7000-8000-000000000000", text))
            if len(text) > 5000 and key in _TEXTS:
                return f"{LONG}{len(text)}"
            return text if len(text) <= 200 or key not in _TEXTS else f"{text[:120]} (shortened)"
    return value


def replayed(value: Any) -> Any:
    """A recorded value with its long texts at their length again."""
    match value:
        case dict():
            return {name: replayed(inner) for name, inner in value.items()}
        case list():
            return [replayed(inner) for inner in value]
        case str() if value.startswith(LONG):
            size = int(value.removeprefix(LONG))
            return ("a line of a long log: naïve \u2603 \u2028\n" * (size // 30 + 1))[:size]
    return value


def recorded(name: str) -> Mapping[str, Any]:
    """What was recorded of an agent: ``{"issued": {token: content}, "requests": [{"path", "headers", "body"}]}``."""
    told: Mapping[str, Any] = replayed(json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8")))
    return told


if __name__ == "__main__":
    for agent in NAMES:
        asyncio.run(record(agent, Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute() / agent))
