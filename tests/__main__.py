"""``python -m tests``: installs what the tests need (once) and runs the whole suite; arguments go to pytest.

The tests run in one process more than the machine has cores, because they often wait, but not in more than ``MOST``. ``-n 0``
runs them in one. Their folders are in memory where that has room: they write thousands of SQLite files, and a disk would let
every one of their transactions wait. ``--basetemp FOLDER`` puts them elsewhere, as ``python -m pytest`` does.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentui.bootstrap import ROOT, enter_environment

MOST = 4
"""Each process has a browser and a PostgreSQL of its own."""
MEMORY = Path("/dev/shm")
"""A file system in memory, as Linux has it."""
ROOM = 8 * 1024**3
"""Bytes that have to be free there: what the tests hold at once, several times."""


def has_room() -> bool:
    """Whether the tests' folders may be in memory; tests start programs out of theirs."""
    if not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK):
        return False
    return not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC and shutil.disk_usage(MEMORY).free >= ROOM


@contextmanager
def _folders() -> Iterator[list[str]]:
    """pytest's arguments for folders in memory, which are gone afterwards; none where there is no room for them."""
    if not has_room():
        yield []
        return
    with tempfile.TemporaryDirectory(prefix="agentui-tests-", dir=MEMORY, ignore_cleanup_errors=True) as folder:
        yield ["--basetemp", f"{folder}/all"]


if __name__ == "__main__":
    enter_environment("tests", "test")
    processes = ["-n", str(min(MOST, (os.cpu_count() or 1) + 1)), "--dist", "worksteal"]
    # Hundreds of programs are started: without their bytecode each would compile agentui anew, which is half of a start.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with _folders() as folders:
        command = [sys.executable, "-m", "pytest", *processes, *folders, *sys.argv[1:]]
        code = subprocess.call(command, cwd=ROOT, env=environment)
    sys.exit(code)
