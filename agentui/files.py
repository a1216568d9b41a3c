"""Files written whole or not at all, so that a reader, or a power cut, finds the old content or the new one."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

if sys.platform != "win32":
    import fcntl

from agentui.errors import NotSaved
from agentui.ids import new_short_id

_BINARY: int = getattr(os, "O_BINARY", 0)
"""Windows would write other line ends."""


def write_atomically(path: Path, data: bytes, *, private: bool = False) -> None:
    """Replace a file: written beside it, synced, renamed over it, and the folder synced (spec: reliability S7).

    Makes missing folders. A new file is its owner's alone to read: prompts and keys may stand in it. One that is there stays as
    readable as somebody made it, unless it is ``private``. Raises NotSaved; the old file is then as it was.
    """
    try:
        with written_beside(path, data, private=private) as draft:
            os.replace(draft, path)
        sync_folder(path.parent)
    except OSError as error:
        raise NotSaved(f"{path.name} could not be written: {error.strerror}.", file=path.name) from error


def remove_file(path: Path) -> None:
    """Remove a file for good; one that is gone already is fine. Raises NotSaved."""
    try:
        path.unlink(missing_ok=True)
        if path.parent.is_dir():
            sync_folder(path.parent)
    except OSError as error:
        raise NotSaved(f"{path.name} could not be removed: {error.strerror}.", file=path.name) from error


def move_file(path: Path, target: Path) -> None:
    """Give a file another name for good; makes missing folders. One that is not there is left alone. Raises NotSaved."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            os.replace(path, target)
        for folder in {path.parent, target.parent}:
            if folder.is_dir():
                sync_folder(folder)
    except OSError as error:
        raise NotSaved(f"{path.name} could not be renamed: {error.strerror}.", file=path.name) from error


@contextmanager
def written_beside(path: Path, data: bytes, *, private: bool) -> Iterator[Path]:
    """A file in the same folder with this content, on the disk already; removed if it is still there at the end.

    Makes missing folders. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{new_short_id()}.tmp")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if not private and path.exists():
            draft.chmod(path.stat().st_mode & 0o777)
        yield draft
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()


def signature_of(path: Path) -> tuple[int, int, int] | None:
    """What tells that a file was replaced, without reading it: modified, size, inode. None where there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


class FileLock:
    """One thread of one process at a time, of all that lock the same file; the thread that has it may take it again.

    The operating system frees it when a process dies. Where the file cannot be made, and on Windows, the threads of this
    process keep out each other and no other process.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._threads = threading.RLock()
        self._depth = 0
        self._descriptor: int | None = None

    def __enter__(self) -> None:
        self._threads.acquire()
        self._depth += 1
        if self._depth == 1:
            with suppress(OSError):
                self._descriptor = _locked(self._path)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._depth -= 1
        if self._depth == 0 and self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        self._threads.release()


def _locked(path: Path) -> int | None:
    """A descriptor that holds the file's lock, once nobody else does. Raises OSError."""
    if sys.platform == "win32":
        return None
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last through a power cut. Windows has no way to open a folder, and needs none."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_private(path: Path) -> None:
    """Let nobody but its owner read a file, which is made where it is not there. Raises OSError."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600))
    except FileExistsError:
        if path.stat().st_mode & 0o077:
            with suppress(PermissionError):  # somebody else's, who decides
                path.chmod(0o600)
