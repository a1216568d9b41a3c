"""Passwords: their hashes by Argon2id, and the rows that keep them.

The only import of argon2, which waits for the first password.
"""

import asyncio
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, delete, insert, select

from agentui.accounts.codes import failure
from agentui.accounts.sign_ins import end_all
from agentui.accounts.stored import find_account
from agentui.accounts.ways import drop_other_ways
from agentui.store.tables import passwords
from agentui.threads import in_thread

if TYPE_CHECKING:
    from argon2 import PasswordHasher

SHORTEST: Final = 8
LONGEST: Final = 1000
"""Characters of a password."""

_ROUNDS: Final = 2
_KIBIBYTES: Final = 19 * 1024
"""What OWASP names as the least for Argon2id (Password Storage Cheat Sheet), in one thread: some 20 ms."""
_AT_ONCE: Final = 2
"""Passwords that are looked at at the same time; others wait, so that a crowd takes no memory."""


class Passwords:
    """Makes and checks hashes of passwords, in threads."""

    def __init__(self) -> None:
        self._turn = asyncio.Semaphore(_AT_ONCE)

    async def hash(self, password: str) -> str:
        """The hash of a password, with its salt and its costs."""
        async with self._turn:
            return await in_thread(lambda: hashed(password))

    async def matches(self, hash: str | None, password: str) -> bool:
        """Whether this is the password. Where there is none (``hash`` None) it takes as long to say so."""
        async with self._turn:
            return await in_thread(lambda: _matches(hash, password))


def hashed(password: str) -> str:
    """The hash of a password."""
    return _hasher().hash(_normal(password))


def keep_password(db: Connection, account: str, hash: str, now: int, *, is_only: bool = False) -> None:
    """Give an account another password. It is signed out everywhere; where this is to be its only way in, its passkeys and
    linked sign-ons are gone, too. Raises 404."""
    find_account(db, account)
    drop_password(db, account)
    if is_only:
        drop_other_ways(db, account)
    db.execute(insert(passwords).values(account_id=account, hash=hash, updated_at=now))


def change_password(db: Connection, account: str, present: str | None, hash: str, now: int) -> None:
    """The same where the account's hash is still that which the present password was compared with. Raises 403
    ``password_wrong`` where somebody gave the account another one meanwhile: who knew the one before counts no more."""
    if find_password(db, account) != present:
        raise failure("password_wrong", "The password was changed in the meantime.")
    keep_password(db, account, hash, now)


def drop_password(db: Connection, account: str) -> None:
    """Take an account's password away, and sign it out everywhere."""
    db.execute(delete(passwords).where(passwords.c.account_id == account))
    end_all(db, account)


def find_password(db: Connection, account: str) -> str | None:
    """The hash of an account's password; None where it has none."""
    found: str | None = db.execute(select(passwords.c.hash).where(passwords.c.account_id == account)).scalar()
    return found


def _matches(hash: str | None, password: str) -> bool:
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        _hasher().verify(hash if hash is not None else _nobodys(), _normal(password))
    except (VerificationError, InvalidHashError):
        return False
    return hash is not None


def _normal(password: str) -> bytes:
    """The same for every keyboard that writes it (NIST SP 800-63B, 3.1.1.2)."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")


@cache
def _hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher

    return PasswordHasher(time_cost=_ROUNDS, memory_cost=_KIBIBYTES, parallelism=1)


@cache
def _nobodys() -> str:
    """A hash that is compared with where there is none."""
    return hashed("nobody has this password")
