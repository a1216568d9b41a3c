"""The lock of a data folder where the disk takes nothing."""

import os
import sys
from pathlib import Path

import pytest

from agentui.store.lock import FILE, FolderLock


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no /dev/full.")
def test_a_lock_that_cannot_be_written_is_nobodys(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    file = tmp_path / FILE
    file.symlink_to("/dev/full")
    for _ in range(2):
        with pytest.raises(OSError):
            lock.take()
    file.unlink()
    lock.take()
    assert file.read_text() == str(os.getpid())
    lock.release()
