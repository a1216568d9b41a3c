"""A server that nobody has asked for its memory, a sealed key or a dialect has not loaded the code for it."""

import asyncio
import sys
from pathlib import Path

import orjson

from agentui.api.chats import ROUTES
from agentui.api.memory import PREFIXES
from agentui.secrets.store import SecretStore
from tests.conftest import call
from tests.upstreams.server import API_KEY, Mock

ROOT = Path(__file__).parent.parent

PROGRAM = """
import asyncio, sys, aiohttp, orjson
from pathlib import Path
from agentui.serving.application import Listener, create_app
from agentui.cli import main  # all that the command line loads
from agentui.settings import Settings

WATCHED = {"sqlalchemy", "alembic", "sqlite3", "cryptography", "httpx", "rich", "agentui.turns.service"}
WATCHED |= {"agentui.api.chats", "agentui.demo", "agentui.vendors.claude", "agentui.vendors.gemini"}
WATCHED |= {"agentui.vendors.openai", "agentui.vendors.openai_responses"}

def loaded():
    return sorted(WATCHED & set(sys.modules))

async def run(folder):
    settings = Settings(pipelines=folder / "pipelines", presets=folder / "presets", data=folder / "data", port=0)
    listener = Listener(create_app(settings, secret_env={}))
    origin = f"http://127.0.0.1:{await listener.start('127.0.0.1', 0)}"
    steps = {}
    async with aiohttp.ClientSession(origin, headers={"authorization": f"Bearer {sys.argv[2]}"}) as http:
        async def ask(name, method, path, **more):
            async with http.request(method, path, **more) as response:
                await response.read()
                steps[name] = [response.status, loaded()]
        body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
        await ask("health", "GET", "/health")
        await ask("chat", "POST", "/v1/chat/completions", json=body)
        await ask("editor", "GET", "/api/pipelines")
        await ask("nowhere", "GET", "/nowhere")
        await ask("sealed", "POST", "/p/sealed/v1/chat/completions", json=body)
        await ask("session", "POST", "/v1/chat/completions", json=body, headers={"x-agentui-session": "s"})
        await ask("memory", "GET", "/sessions")
    await listener.stop()
    print(orjson.dumps(steps).decode())

asyncio.run(run(Path(sys.argv[1])))
"""


async def test_code_is_loaded_when_it_is_needed_and_not_before(tmp_path: Path, mock: Mock) -> None:
    (tmp_path / "pipelines").mkdir()
    sealed = call("openai", mock.origin, headers={"Authorization": "Bearer [[SECRET:mine]]"})
    for name, pipeline in (("default", call("openai", mock.origin)), ("sealed", sealed)):
        (tmp_path / "pipelines" / f"{name}.json").write_bytes(orjson.dumps(pipeline))
    SecretStore(tmp_path / "data", {}).set("mine", API_KEY, None)
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), API_KEY]
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    steps = orjson.loads((await process.communicate())[0])
    spoken = ["agentui.vendors.openai"]
    assert steps["health"] == [200, []]
    assert steps["chat"] == [200, spoken]
    assert steps["editor"] == [200, spoken]
    assert steps["nowhere"] == [404, spoken]
    assert steps["sealed"] == [200, [*spoken, "cryptography"]]
    status, loaded = steps["session"]
    assert status == 200 and {"agentui.turns.service", "sqlalchemy"} < set(loaded)
    assert "agentui.api.chats" not in loaded
    status, loaded = steps["memory"]
    assert status == 200 and "agentui.api.chats" in loaded


def test_every_route_of_the_memory_lies_below_a_known_prefix_and_no_prefix_is_idle() -> None:
    assert {f"/{route.path.split('/')[1]}" for route in ROUTES} == set(PREFIXES)
