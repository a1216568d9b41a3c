"""``Cipher``: encryption with Fernet, and the file that keeps its key.

The only import of cryptography, which waits for the first secret: it takes 6 MB, and many servers keep none.
"""

import base64
import contextlib
import hmac
import os
from hashlib import sha256
from pathlib import Path

from agentui.errors import NotSaved
from agentui.files import sync_folder, written_beside


class Cipher:
    """Encrypts and decrypts with a key as ``secret.key`` holds it: 32 bytes in base64url.

    Raises ValueError for anything else.
    """

    def __init__(self, key: str) -> None:
        from cryptography.fernet import Fernet

        try:
            self._fernet = Fernet(key.strip())
        except ValueError as error:
            raise ValueError(
                "The key of the secret store is not one: it is 32 random bytes in base64url (44 characters)."
            ) from error
        self._key = base64.urlsafe_b64decode(key.strip())

    def derive(self, purpose: str) -> bytes:
        """Another key of 32 bytes for a purpose, from which this one is not found (HMAC-SHA256 as a key derivation function,
        NIST SP 800-108)."""
        return hmac.new(self._key, f"agentui {purpose}".encode(), sha256).digest()

    def of(self, purpose: str) -> "Cipher":
        """One with a key of its own for a purpose, as ``derive`` makes it."""
        return Cipher(base64.urlsafe_b64encode(self.derive(purpose)).decode())

    def encrypt(self, data: bytes) -> str:
        """The data as nobody without the key can read or change it."""
        return self._fernet.encrypt(data).decode()

    def decrypt(self, sealed: str) -> bytes | None:
        """What ``encrypt`` was given; None for what was encrypted with another key or has been changed."""
        from cryptography.fernet import InvalidToken

        try:
            return self._fernet.decrypt(sealed.encode())
        except InvalidToken:
            return None


def read_or_make_key(path: Path) -> str:
    """The key file's text, made first if there is none. Two processes that begin together end up with the same key.

    Raises NotSaved when it cannot be made, OSError or ValueError when it cannot be read.
    """
    with contextlib.suppress(FileNotFoundError):
        return path.read_text("ascii")
    try:
        _make_key(path)
    except OSError as error:
        raise NotSaved(f"{path.name} could not be written: {error.strerror}.", file=path.name) from error
    return path.read_text("ascii")


def _make_key(path: Path) -> None:
    """Write a new key, unless somebody was faster. Raises OSError."""
    from cryptography.fernet import Fernet

    with written_beside(path, Fernet.generate_key() + b"\n", private=True) as draft:
        try:
            os.link(draft, path)  # unlike a rename, this never replaces the key of somebody faster
        except FileExistsError:
            pass
        except OSError:  # a file system without hard links
            if not path.exists():
                os.replace(draft, path)
    sync_folder(path.parent)
