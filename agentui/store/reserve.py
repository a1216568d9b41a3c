"""``Reserve``: a file that takes up room on the disk, so that on a full one things can still be removed.

Removing writes: SQLite puts what it changes into its log first, and a file of several secrets is written anew without one. Only
such work is lent the room; whatever else is written finds the disk full and leaves the room where it is.
"""

import errno
import logging
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Final

log = logging.getLogger("agentui.store")

FILE = "reserve.bin"
NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""What the system says where a disk is full, a quota is used up, or a file may not grow."""

_is_freeing: ContextVar[bool] = ContextVar("is_freeing", default=False)


@contextmanager
def freeing() -> Iterator[None]:
    """Within, what this task writes makes room, or ends what was begun, and may use the reserve of a full disk."""
    token = _is_freeing.set(True)
    try:
        yield
    finally:
        _is_freeing.reset(token)


def is_freeing() -> bool:
    """Whether this task is within ``freeing``."""
    return _is_freeing.get()


class Reserve:
    """``size`` bytes in the folder. Any thread may lend them; one at a time does."""

    def __init__(self, folder: Path, size: int) -> None:
        self._path = folder / FILE
        self._size = size
        self._lock = threading.Lock()

    def make(self) -> bool:
        """Take the room, all of it; False while the disk has too little: that, and as much again for what is to be written."""
        with self._lock:
            there = self._there()
            if (there or 0) + shutil.disk_usage(self._path.parent).free < 2 * self._size:
                return False
            if there != self._size:
                self._release()
                self._take(self._size)
            if self._there() == self._size:
                return True
            # There is less than the disk tells, as with a quota: to take all that is left would fill the disk ourselves.
            self._release()
            if there:
                self._take(there)
            return False

    @contextmanager
    def lent(self) -> Iterator[bool]:
        """Within, the room is free; True when there was some. Afterwards what is left of it is taken again."""
        with self._lock:
            was_there = self._release()
            try:
                yield was_there
            finally:
                if was_there:
                    self._take(min(self._size, shutil.disk_usage(self._path.parent).free))

    def _there(self) -> int | None:
        """How many bytes are taken; None where there is no file."""
        try:
            return self._path.stat().st_size
        except FileNotFoundError:
            return None

    def _release(self) -> bool:
        try:
            self._path.unlink()
        except FileNotFoundError:
            return False
        return True

    def _take(self, size: int) -> None:
        """Take so many bytes, or as many as there are. Random ones: a file system may store zeros for nothing."""
        try:
            with open(self._path, "xb", buffering=0) as file:
                data = memoryview(os.urandom(size))
                while data:
                    data = data[file.write(data) :]
                os.fsync(file.fileno())
        except OSError as error:
            log.warning("No room for the whole reserve of %d bytes: %s", size, error.strerror)
