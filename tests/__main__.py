"""``python -m tests``: installs what the tests need (once) and runs the whole suite; arguments go to pytest.

The tests run in one process more than the machine has cores, because they often wait, but not in more than ``MOST``. Each takes
the next whole file when it has nearly done with its last, those that take long first (``tests/order.py``). ``-n 0`` runs all of
them in one process. Their folders are in memory where that has room: they write thousands of SQLite files, and a disk would let
every one of their transactions wait. ``--basetemp FOLDER`` puts them elsewhere, as ``python -m pytest`` does.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from agentui.bootstrap import ROOT, enter_environment

MOST = 4
"""Each process has a browser and a PostgreSQL of its own."""
MEMORY = Path("/dev/shm")
"""A file system in memory, as Linux has it."""
PREFIX = "agentui-memory-"
"""How the names of folders there begin."""
ROOM = 8 * 1024**3
"""Bytes that have to be free there: what the tests hold at once, several times."""


def has_room() -> bool:
    """Whether the tests' folders may be in memory; tests start programs out of theirs."""
    if not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK):
        return False
    return not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC and shutil.disk_usage(MEMORY).free >= ROOM


@contextmanager
def in_memory() -> Iterator[str]:
    """A folder in memory, gone afterwards: by ``clear_memory`` where this process is killed, for the lock ends with it."""
    import fcntl  # systems that have no such memory lack it, too

    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=MEMORY, ignore_cleanup_errors=True) as folder:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield folder
        finally:
            os.close(descriptor)


def clear_memory() -> None:
    """Remove what killed runs left in memory. A PostgreSQL whose folder is gone ends by itself."""
    import fcntl

    for folder in MEMORY.glob(f"{PREFIX}*"):
        with suppress(OSError):  # somebody holds it
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(descriptor)


@contextmanager
def _folders() -> Iterator[list[str]]:
    """pytest's arguments for folders in memory, which are gone afterwards; none where there is no room for them."""
    if not has_room():
        yield []
        return
    clear_memory()
    with in_memory() as folder:
        yield ["--basetemp", f"{folder}/all"]


if __name__ == "__main__":
    enter_environment("tests", "test")
    processes = ["-n", str(min(MOST, (os.cpu_count() or 1) + 1)), "--dist", "loadfile", "--no-loadscope-reorder"]
    # Hundreds of programs are started: without their bytecode each would compile agentui anew, which is half of a start.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with _folders() as folders:
        command = [sys.executable, "-m", "pytest", *processes, *folders, *sys.argv[1:]]
        code = subprocess.call(command, cwd=ROOT, env=environment)
    sys.exit(code)
