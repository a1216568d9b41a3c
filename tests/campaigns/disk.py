"""A disk under control: ``disk.c`` built, preloaded into a process, and given orders (Linux, where there is a C compiler)."""

import mmap
import os
import shutil
import struct
import subprocess
import sys
from enum import IntEnum
from pathlib import Path

SOURCE = Path(__file__).with_name("disk.c")


class Kind(IntEnum):
    """What fails; the numbers of ``disk.c``."""

    NO_SPACE = 1
    WRITE_FAILS = 2
    SHORT_WRITE = 3
    SYNC_FAILS = 4
    READ_FAILS = 5
    LOCKED = 6
    CANNOT_OPEN = 7


def compiler() -> str | None:
    """The C compiler; None where there is none or where libc takes no preload."""
    return shutil.which("cc") or shutil.which("gcc") if sys.platform == "linux" else None


def build(folder: Path) -> Path:
    """Compile the shim into a folder."""
    library = folder / "disk.so"
    command = [str(compiler()), "-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl", "-lpthread"]
    subprocess.run(command, check=True, capture_output=True)
    return library


class Control:
    """Orders to the shim of a process; made by whoever starts it, opened by the process itself through ``opened``."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(16))
        with open(path, "r+b") as file:
            self._shared = mmap.mmap(file.fileno(), 16)

    def order(self, kind: Kind, after: int, *, is_sticky: bool = False) -> None:
        """Let the call fail that comes after so many of its kind; and all later ones, if it is sticky."""
        self._shared[:] = struct.pack("4i", 0, after, is_sticky, 0)
        self._shared[:4] = struct.pack("i", kind)

    def stop(self) -> int:
        """Nothing fails any more; how many calls have."""
        self._shared[:4] = struct.pack("i", 0)
        return int(struct.unpack("4i", self._shared[:])[3])


def preloaded(library: Path, folder: Path, *, control: Path | None = None, log: Path | None = None) -> dict[str, str]:
    """The environment of a process whose files below ``folder`` are on this disk."""
    given = {"DISK_FOLDER": folder, "DISK_CONTROL": control, "DISK_LOG": log}
    chosen = {name: str(path) for name, path in given.items() if path is not None}
    return {**os.environ, "LD_PRELOAD": str(library), **chosen}
