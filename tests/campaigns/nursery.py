"""A nursery of server processes: one process that has read all of agentui's code and forks a server whenever one is wanted.

Starting Python and reading the code takes longer than all that a cycle of a kill campaign does. A fork of a process that has
read it is a process like any other, with its own memory, files and sockets, and it runs ``agentui serve`` from its first line.

``python -m tests.campaigns.nursery`` takes a JSON object a line, and answers each with a line:

    {"start": [arguments], "environment": {name: value}, "log": path}     the process id
    {"kill": process id, "signal": number}                               how it ended, once it is gone
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.conftest import ROOT
from tests.test_cli import environment


class Nursery:
    """The near end: asks for processes and for their deaths, one request at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._turn = asyncio.Lock()

    async def start(self, arguments: Sequence[str], settings: Mapping[str, str], log: Path) -> int:
        """Start ``agentui`` with these arguments; what it says goes to the log. Returns its process id."""
        return await self._ask({"start": list(arguments), "environment": dict(settings), "log": str(log)})

    async def kill(self, pid: int, number: int = signal.SIGKILL) -> int:
        """End a process that was started here, and wait until it is gone. Returns its exit code, negative for a signal."""
        return await self._ask({"kill": pid, "signal": int(number)})

    async def _ask(self, request: Mapping[str, Any]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        async with self._turn:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            return int(await self._process.stdout.readline())


@asynccontextmanager
async def nursery() -> AsyncIterator[Nursery]:
    """A nursery whose processes all end with it."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.campaigns.nursery"),
        cwd=ROOT,
        env=environment({}),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield Nursery(process)
    finally:
        if process.stdin is not None:
            process.stdin.close()
        await process.wait()


def main() -> None:
    """The far end: fork and kill until nobody asks any more, then end what is left."""
    read_the_code()
    alive: set[int] = set()
    for line in sys.stdin:
        request = json.loads(line)
        if "start" in request:
            pid = os.fork()
            if pid == 0:
                os._exit(serve(request["start"], request["environment"], request["log"]))
            alive.add(pid)
            answer = pid
        else:
            answer = end(request["kill"], request["signal"])
            alive.discard(request["kill"])
        print(answer, flush=True)
    for pid in alive:
        end(pid, signal.SIGKILL)


def read_the_code() -> None:
    """Import what a server needs from its start and what it loads with its first turn."""
    import agentui.api.chats
    import agentui.cli
    import agentui.store.migrations
    import agentui.store.postgres
    import agentui.store.sqlite
    import agentui.turns.service

    agentui.store.migrations.head_revision()


def serve(arguments: list[str], settings: Mapping[str, str], log: str) -> int:
    """Be a server: the child's whole life. Returns its exit code."""
    from agentui.cli import main as run

    # Its own standard streams: the nursery's belong to the conversation.
    for number, opened in ((0, os.open(os.devnull, os.O_RDONLY)), (1, os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))):
        os.dup2(opened, number)
        os.close(opened)
    os.dup2(1, 2)
    os.environ.update(settings)
    return run(arguments)


def end(pid: int, number: int) -> int:
    """Signal a child and wait for its end."""
    os.kill(pid, number)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    main()
