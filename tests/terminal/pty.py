"""A program in a terminal of its own, whose output is read as it comes."""

import asyncio
import fcntl
import os
import re
import signal
import struct
import sys
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.campaigns.fork_server import environment
from tests.conftest import ROOT

_SEQUENCES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[=>()][0-9A-B]?)")


PATIENCE = 60
"""Seconds without any output after which a program hangs."""


class Terminal:
    """The side of a terminal at which a person sits."""

    def __init__(self, fd: int, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.seen = ""
        """Everything that came, without what moves the cursor and changes colours."""
        self._fd = fd
        self._raw = ""
        self._place = 0
        self._came = asyncio.Event()
        asyncio.get_running_loop().add_reader(fd, self._read)

    def type(self, text: str) -> None:
        """Type something."""
        os.write(self._fd, text.encode())

    def enter(self, line: str) -> None:
        """Type a line, and let what comes from here on count as its outcome."""
        self._place = len(self.seen)
        self.type(f"{line}\r")

    async def until(self, pattern: str) -> str:
        """Wait until something new comes; what came with it."""
        while (found := re.search(pattern, self.seen[self._place :])) is None:
            self._came.clear()
            if self.process.returncode is not None:
                raise AssertionError(f"it ended without {pattern!r}:\n{self.seen}")
            try:
                await asyncio.wait_for(self._came.wait(), PATIENCE)
            except TimeoutError:
                raise AssertionError(f"nothing came any more, and {pattern!r} never did:\n{self.seen}") from None
        return found[0]

    async def ended(self) -> int:
        """Wait for the end; the exit code."""
        return await self.process.wait()

    def _read(self) -> None:
        try:
            chunk = os.read(self._fd, 65536)
        except OSError:
            # The program's side is closed.
            chunk = b""
        if not chunk:
            asyncio.get_running_loop().remove_reader(self._fd)
        self._raw += chunk.decode("utf-8", "replace")
        self.seen = _SEQUENCES.sub("", self._raw).replace("\r\n", "\n")
        self._came.set()


def _sit_down() -> None:
    """Give a new process its terminal. Tests that run in the background of a shell ignore Ctrl+C, and it would too."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@asynccontextmanager
async def running(*arguments: str, **env: str) -> AsyncIterator[Terminal]:
    """Python with these arguments in a terminal of 160 columns."""
    ours, its = os.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    variables = {"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", "NO_COLOR": "1", **env}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        stdin=its,
        stdout=its,
        stderr=its,
        cwd=ROOT,
        env=environment(variables),
        preexec_fn=_sit_down,
    )
    os.close(its)
    terminal = Terminal(ours, process)
    try:
        yield terminal
    finally:
        asyncio.get_running_loop().remove_reader(ours)
        if process.returncode is None:
            process.kill()
        await process.wait()
        os.close(ours)
