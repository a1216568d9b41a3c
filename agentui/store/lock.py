"""``FolderLock``: one process to a data folder, kept by the operating system, so that it ends with the process."""

import logging
import os
import sys
from pathlib import Path

from agentui.errors import StoreInUse

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

log = logging.getLogger("agentui.store")

FILE = "agentui.lock"
_FAR = 1 << 30
"""Windows forbids reading what is locked: the locked byte lies far behind the process id."""


class FolderLock:
    """Holds ``agentui.lock`` in the folder; the file keeps the id of the process that has it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._descriptor: int | None = None
        self.is_claimed = False
        """Taken before it was needed: a store that fails to open keeps it."""

    def claim(self) -> None:
        """Make the folder, and take it before it is needed. Raises StoreInUse.

        A folder that cannot be written is left alone: who needs the memory will hear of it.
        """
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.take()
        except OSError as error:
            log.warning("The data folder %s cannot be locked: %s", self._path.parent, error.strerror)
            return
        self.is_claimed = True

    def take(self) -> None:
        """Lock the folder, unless it is ours already. Raises StoreInUse with the other process's id."""
        if self._descriptor is not None:
            return
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(descriptor)
        except (BlockingIOError, PermissionError):  # the second is what Windows says
            pid = _read_pid(descriptor)
            os.close(descriptor)
            raise StoreInUse(
                f"The data folder is in use by process {pid or 'of unknown number'}. "
                "Stop that one, choose another folder with --data, or give both a PostgreSQL database.",
                pid=pid,
            ) from None
        try:
            os.truncate(descriptor, 0)
            os.write(descriptor, str(os.getpid()).encode())
        except OSError:
            os.close(descriptor)  # else nobody could take the folder before this process ends, not even this one
            raise
        self._descriptor = descriptor

    def release(self) -> None:
        """Let the next process in. The file stays: removing it would let two processes lock two files of one name."""
        self.is_claimed = False
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _read_pid(descriptor: int) -> int | None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    text = os.read(descriptor, 20)
    return int(text) if text.isdigit() else None
