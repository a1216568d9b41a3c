"""Client keys: how they look, and the keyed hash by which they are found.

A key holds 256 random bits, so a hash without salt and without costs is as good as a slow one; that it is keyed means that who
reads the database, or writes to it, can neither test nor plant keys without the server's secret key.
"""

import hmac
import secrets
from collections.abc import Callable
from hashlib import sha256
from typing import Final

from agentui.principal import KEY_PREFIX

SHOWN: Final = 18
"""How many of a key's first characters people may see."""
LONGEST: Final = 200
"""Characters; nothing longer is looked up."""

PURPOSE: Final = "client keys"


class KeyHash:
    """Hashes client keys with a key that ``derive`` makes of the server's own for a purpose. It is asked once, when it is first
    needed, and raises what that raises."""

    def __init__(self, derive: Callable[[str], bytes]) -> None:
        self._derive = derive
        self._key: bytes | None = None

    def of(self, secret: str) -> str:
        """The hash of a client key, in hex."""
        if self._key is None:
            self._key = self._derive(PURPOSE)
        return hmac.new(self._key, secret.encode("utf-8", "surrogatepass"), sha256).hexdigest()


def new_secret() -> str:
    """Make a client key."""
    return f"{KEY_PREFIX}{secrets.token_urlsafe(32)}"


def same_hash(one: str, other: str) -> bool:
    """Compare without telling by the time it takes how much was right."""
    return hmac.compare_digest(one, other)


def same_text(given: str, expected: str) -> bool:
    """The same of any text that somebody has sent."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode("utf-8", "surrogatepass"))
