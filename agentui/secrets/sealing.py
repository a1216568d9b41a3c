"""The sealed file and its key: atomic writes, and encryption with Fernet."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cryptography.fernet import Fernet

KEY_FILE = "secret.key"


def fernet_of(key: str) -> Fernet:
    """The cipher of a key as ``secret.key`` holds it: 32 bytes in base64url. Raises ValueError for anything else."""
    try:
        return Fernet(key.strip())
    except ValueError as error:
        raise ValueError(
            "The key of the secret store is not one: it is 32 random bytes in base64url (44 characters)."
        ) from error


def read_or_make_key(folder: Path) -> str:
    """The key file's text, made first if there is none. Two processes that begin together end up with the same key."""
    path = folder / KEY_FILE
    with contextlib.suppress(FileNotFoundError):
        return path.read_text("ascii")
    with _written_beside(path, Fernet.generate_key() + b"\n") as temporary:
        try:
            os.link(temporary, path)  # unlike a rename, this never replaces the key of somebody faster
        except FileExistsError:
            pass
        except OSError:  # a file system without hard links
            if not path.exists():
                os.replace(temporary, path)
    _sync_folder(folder)
    return path.read_text("ascii")


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file so that a reader, or a power cut, finds the old content or the new one. Only the owner can read it."""
    with _written_beside(path, data) as temporary:
        os.replace(temporary, path)
    _sync_folder(path.parent)


@contextmanager
def _written_beside(path: Path, data: bytes) -> Iterator[str]:
    """A temporary file in the same folder with this content, on the disk already; removed if it is still there at the end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # made with mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _sync_folder(folder: Path) -> None:
    """Put the folder's new entry on the disk. Windows cannot open folders and does not need to."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
