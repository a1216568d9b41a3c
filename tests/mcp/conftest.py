"""Real MCP servers: programs, and one that listens on loopback."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from agentui.jsonio import Json, dumps
from tests.api.chats.conftest import Reader, reader

__all__ = ["Reader", "reader"]

PROGRAM = Path(__file__).with_name("program.py")


class Says:
    """The file that decides which tools a program has when it is started next."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tell()

    def tell(self, **said: Json) -> None:
        """Let the next start have these tools."""
        self.path.write_bytes(dumps(said))

    @property
    def stdio(self) -> dict[str, Any]:
        """How the program is started."""
        return {"command": sys.executable, "args": [str(PROGRAM), str(self.path)]}


class Served:
    """A program that listens on loopback, and may be stopped and started at the same port."""

    def __init__(self, says: Says) -> None:
        self.says = says
        self.port = 0
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}/mcp"

    async def start(self, **said: Json) -> None:
        """Start it with these tools, and wait until it listens."""
        self.says.tell(port=self.port, **said)
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(PROGRAM), str(self.says.path), stdout=asyncio.subprocess.PIPE
        )
        self._process = process
        assert process.stdout is not None
        self.port = int(await process.stdout.readline())

    async def stop(self) -> None:
        """Kill it."""
        if self._process is not None:
            self._process.kill()
            await self._process.communicate()
            self._process = None


@pytest.fixture
def says(tmp_path: Path) -> Says:
    """What a program's tools are."""
    return Says(tmp_path / "says.json")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """A server that listens: one for all tests of a module, which leave it as it is."""
    server = Served(Says(tmp_path_factory.mktemp("mcp") / "served.json"))
    await server.start()
    yield server
    await server.stop()
