"""A nursery of server processes: one process that has read all of agentui's code and forks a server whenever one is wanted.

Starting Python and reading the code takes longer than all that a cycle of a kill campaign does. A fork of a process that has
read it is a process like any other, with its own memory, files and sockets, and it runs ``agentui serve`` from its first line.

``python -m tests.campaigns.nursery`` takes a JSON object a line, and answers each with a line:

    {"start": [arguments], "environment": {name: value}, "log": path}     the process id
    {"kill": process id, "signal": number}                               how it ended, once it is gone
    {"run": [arguments], "environment": {name: value}, "folder": path}    how it ended; what it was told is the folder's file
                                                                         ``in``, what it said are ``out`` and ``err``
"""

import asyncio
import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

from tests.conftest import ROOT


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without proxies, and with these variables. Most callers ask one thing again and again, which
    is to be a turn of its own each time."""
    proxies = {"http_proxy", "https_proxy", "all_proxy"}
    kept = {name: value for name, value in os.environ.items() if name.lower() not in proxies}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "NO_PROXY": "*", "AGENTUI_TURN_MATCHING": "false", **more}


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


class Commands:
    """The near end of a nursery whose processes run to their end, for whoever waits for each."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.campaigns.nursery"],
            cwd=ROOT,
            env=environment({}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, arguments: Sequence[str], settings: Mapping[str, str], said: str) -> subprocess.CompletedProcess[str]:
        """Run ``agentui`` with these arguments in this environment, and tell it ``said``; how it ended, and what it said."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with tempfile.TemporaryDirectory(prefix="agentui-command-") as folder:
            told, *heard = (Path(folder) / name for name in ("in", "out", "err"))
            told.write_text(said)
            request = {"run": list(arguments), "environment": dict(settings), "folder": folder}
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            code = int(self._process.stdout.readline())
            return subprocess.CompletedProcess(arguments, code, *(path.read_text() for path in heard))

    def close(self) -> None:
        """End the nursery."""
        self._process.communicate()


@cache
def commands() -> Commands:
    """The one of this process."""
    made = Commands()
    atexit.register(made.close)
    return made


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
        elif "run" in request:
            pid = os.fork()
            if pid == 0:
                os._exit(obey(request["run"], request["environment"], Path(request["folder"])))
            answer = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
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


def obey(arguments: list[str], settings: Mapping[str, str], folder: Path) -> int:
    """Be a command: the child's whole life. Returns its exit code."""
    from agentui.cli import main as run

    os.environ.clear()
    os.environ.update(settings)
    with open(folder / "in") as sys.stdin, open(folder / "out", "w") as sys.stdout, open(folder / "err", "w") as sys.stderr:
        for number, opened in enumerate((sys.stdin, sys.stdout, sys.stderr)):
            os.dup2(opened.fileno(), number)
        try:
            return run(arguments)
        except SystemExit as ended:
            return int(ended.code or 0)
        except Exception:  # noqa: BLE001  # the child must not go on as the nursery
            traceback.print_exc()
            return 1


def end(pid: int, number: int) -> int:
    """Signal a child and wait for its end."""
    os.kill(pid, number)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    main()
