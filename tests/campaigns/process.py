"""A server that is a process of its own, so that its memory and its descriptors are its own: read from /proc (Linux)."""

import asyncio
import contextlib
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from agentui.jsonio import Json, dumps
from tests.campaigns.fork_server import environment
from tests.conftest import ROOT

PROC = Path("/proc")
HAS_PROC = (PROC / "self" / "clear_refs").exists()
"""Whether this system tells what a process holds."""
_FAULTS = ("agentui itself", "before agentui could see it", "Traceback", "exception was never retrieved", "was never awaited")
"""What the log says of a fault of agentui's own."""


@dataclass
class Process:
    """A running ``agentui serve``."""

    pid: int
    origin: str
    log: Path

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.origin.rpartition(":")[2])

    def processor_seconds(self) -> float:
        """What it and the system for it have computed so far."""
        after_name = (PROC / str(self.pid) / "stat").read_text().rpartition(")")[2].split()
        return sum(map(int, after_name[11:13])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> int:
        """Resident bytes."""
        return self._bytes_of("VmRSS")

    def peak(self) -> int:
        """The most resident bytes since ``forget_peak``."""
        return self._bytes_of("VmHWM")

    def forget_peak(self) -> None:
        """Begin a new peak at what is resident now."""
        (PROC / str(self.pid) / "clear_refs").write_text("5")

    def descriptors(self) -> int:
        """Open files and sockets."""
        return len(os.listdir(PROC / str(self.pid) / "fd"))

    async def resting_descriptors(self) -> int:
        """How many are open once those who were connected are gone: the least of a second's looks."""
        looks = []
        for _ in range(10):
            await asyncio.sleep(0.1)
            looks.append(self.descriptors())
        return min(looks)

    def files(self) -> Counter[str]:
        """What the descriptors are: paths, and ``socket``, ``pipe`` and so on."""
        return Counter(_file_behind(link) for link in (PROC / str(self.pid) / "fd").iterdir())

    def faults(self) -> list[str]:
        """The lines of the log that tell of a fault of agentui's own."""
        return [line for line in self.log.read_text(errors="replace").splitlines() if any(word in line for word in _FAULTS)]

    async def health(self) -> dict[str, Json]:
        """What /health says, asked on a connection of its own. Raises TimeoutError when nothing comes in 30 seconds."""
        async with asyncio.timeout(30), aiohttp.ClientSession() as session, session.get(self.origin + "/health") as answer:
            if answer.status != 200:
                raise RuntimeError(f"/health answered {answer.status}.")
            body: dict[str, Json] = await answer.json()
            return body

    async def is_quiet(self, descriptors: int, seconds: float = 30.0) -> str:
        """Wait until nothing is under way and no more descriptors are open than these; what is left when time is up, or ""."""
        left = ""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while left := await self._left(descriptors):  # noqa: ASYNC110  # another process tells nobody
                    await asyncio.sleep(0.1)
        return left

    async def _left(self, descriptors: int) -> str:
        """What is still held, in words."""
        under_way = (await self.health())["in_flight"]
        # The connection that asked for the health may not be gone yet.
        held = self.descriptors() - descriptors - 1
        if not under_way and held <= 0:
            return ""
        return f"{under_way} requests are under way and {held} more descriptors are open: {dict(self.files())}"

    def _bytes_of(self, name: str) -> int:
        """A line of the process's status, which counts in KB."""
        status = (PROC / str(self.pid) / "status").read_text()
        return int(status.partition(f"{name}:")[2].split()[0]) * 1024


def _file_behind(link: Path) -> str:
    """What a descriptor is; "gone" where it was closed in this moment."""
    try:
        return link.readlink().as_posix().partition(":")[0]
    except OSError:
        return "gone"


@asynccontextmanager
async def serving(folder: Path, pipelines: Mapping[str, Json], **settings: str) -> AsyncIterator[Process]:
    """Serve these pipelines from below ``folder``; ``settings`` are the environment's, without ``AGENTUI_``."""
    (folder / "pipelines").mkdir(parents=True)
    (folder / "presets").mkdir()
    for id, document in pipelines.items():
        (folder / "pipelines" / f"{id}.json").write_bytes(dumps(document))
    log = folder / "log"
    folders = [f"--{name}={folder / name}" for name in ("pipelines", "presets", "data")]
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "agentui", "serve", "--port", "0", *folders),
            cwd=ROOT,
            env=environment({f"AGENTUI_{name.upper()}": value for name, value in settings.items()}),
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
        )
    assert process.stdout is not None
    try:
        first = (await process.stdout.readline()).decode()
        if "is running at" not in first:
            raise RuntimeError(f"The server did not start: {first}{log.read_text()}")
        async for line in process.stdout:
            if line.startswith(b"Stop with"):
                break
        yield Process(process.pid, first.split()[-1], log)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


def allow_descriptors(wanted: int) -> int:
    """Raise this process's limit of open files, which its children inherit, to ``wanted`` where the system lets it.

    Returns the limit that holds.
    """
    import resource  # Unix only; this module is imported everywhere

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)
