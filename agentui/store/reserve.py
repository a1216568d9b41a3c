"""``Reserve``: a file that takes up room on the disk, to be given back when the disk is full.

What is freed lets the store go on reading, say what happened, and delete: SQLite needs room even for that.
"""

import logging
import os
import shutil
from pathlib import Path

log = logging.getLogger("agentui.store")

FILE = "reserve.bin"


class Reserve:
    """``size`` bytes in the folder. Made anew once the disk has room for twice as much."""

    def __init__(self, folder: Path, size: int) -> None:
        self._path = folder / FILE
        self._size = size

    @property
    def is_there(self) -> bool:
        """Whether the room is taken."""
        return self._path.exists()

    def make(self) -> bool:
        """Take the room; False while the disk has too little. Random bytes: a file system may store zeros for nothing."""
        if self.is_there:
            return True
        if shutil.disk_usage(self._path.parent).free < 2 * self._size:
            return False
        try:
            with open(self._path, "xb") as file:
                file.write(os.urandom(self._size))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            log.warning("No room for the reserve of %d bytes: %s", self._size, error.strerror)
            self.release()
            return False
        return True

    def release(self) -> bool:
        """Give the room back; True when there was some."""
        try:
            self._path.unlink()
        except FileNotFoundError:
            return False
        return True
