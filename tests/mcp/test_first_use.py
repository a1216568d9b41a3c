"""The first use of MCP loads its library, a third of a second of Python, where it holds nobody up."""

import subprocess
import sys
from pathlib import Path

from agentui.jsonio import dumps, loads
from tests.mcp.conftest import PROGRAM, Says

CONNECT = """
import asyncio, json, sys, threading
from importlib.abc import MetaPathFinder
from pathlib import Path

import aiohttp
from tests.api.editor_client import say
from tests.conftest import servers

LOADED = set()

class Watch(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name in ("mcp.client.session", "agentui.mcp.connection", "agentui.mcp.streams"):
            LOADED.add((name, threading.current_thread() is threading.main_thread()))

async def main(folder, stdio):
    sys.meta_path.insert(0, Watch())
    async with servers(Path(folder)) as start, aiohttp.ClientSession() as http:
        server = await start({"default": say()}, mcp_programs=True)
        before = set(LOADED)
        named = {"name": "parts", "transport": "stdio", "stdio": stdio}
        async with http.post(server.origin + "/mcp/servers", json=named) as made:
            id = (await made.json())["data"]["id"]
        async with http.post(f"{server.origin}/mcp/servers/{id}/connect", json={}) as connected:
            print(json.dumps([connected.status, sorted(before), sorted(LOADED)]))

asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))
"""
"""In a process of its own, for this one may have used MCP already."""


def test_the_first_use_loads_the_library_in_a_thread(tmp_path: Path, says: Says) -> None:
    arguments = [str(tmp_path), dumps(says.stdio).decode()]
    command = [sys.executable, "-c", CONNECT, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200, cwd=PROGRAM.parents[2])
    assert done.returncode == 0, done.stderr
    names = ("agentui.mcp.connection", "agentui.mcp.streams", "mcp.client.session")
    assert loads(done.stdout) == [200, [], [[name, False] for name in names]]
