"""``SignInService``: people sign in to the page, by one of several ways to prove which account is theirs.

A way is asked twice at most: ``begin`` gives what a browser needs to answer (a challenge for its passkey, the address of an
identity provider), ``finish`` reads the answer and says whose it is. A password needs no beginning.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import Connection

from agentui.accounts.codes import failure, wrong
from agentui.accounts.passwords import LONGEST, Passwords, find_password
from agentui.accounts.sign_ins import SignIn, create_sign_in, end_by_hash, hash_of, new_sign_in_secret
from agentui.accounts.stored import seen_account
from agentui.ids import Clock
from agentui.jsonio import Json
from agentui.store.base import Store


@dataclass(frozen=True, slots=True)
class Begun:
    """What a browser needs to answer, and what it has to keep until it does: a sealed challenge that no page can read."""

    answer: Mapping[str, Json]
    kept: str


@dataclass(frozen=True, slots=True)
class Proven:
    """What somebody has proved. To look at the proof takes a while, in which it may have been taken away: ``account`` gives in
    the transaction that signs in, at a time in milliseconds since 1970, the id of the account, or None where the proof is none
    any more. Raises as ``Way.finish`` does."""

    account: Callable[[Connection, int], str | None]


class Way(Protocol):
    """One way to prove which account is somebody's. ``name`` is what callers choose it by."""

    name: str

    async def begin(self) -> Begun:
        """What the browser needs to answer. Raises 400 for a way that has no beginning."""

    async def finish(self, said: Mapping[str, Json], kept: str | None) -> Proven:
        """What is proved by what the browser says, and has kept since the beginning. Raises 401 ``sign_in_failed`` as
        ``Wrong``, in the same words whatever was wrong, and what else the way may fail with."""


@dataclass
class PasswordWay:
    """By ``account`` and ``password``."""

    store: Store
    passwords: Passwords
    name: str = "password"

    async def begin(self) -> Begun:
        """A password has no beginning: 400."""
        raise failure("sign_in_way_unknown", "A password needs no beginning: send it.")

    async def finish(self, said: Mapping[str, Json], kept: str | None) -> Proven:
        """The account, where the password is its own."""
        account, password = said.get("account"), said.get("password")
        if not isinstance(account, str) or not isinstance(password, str) or len(password) > LONGEST or "\0" in account:
            raise sign_in_failed()
        stored = await self.store.read(find_password, account)
        if not await self.passwords.matches(stored, password):
            raise sign_in_failed()
        # What stands in the database before and after: nothing that the caller gave is compared here.
        return Proven(lambda db, now: account if find_password(db, account) == stored else None)


@dataclass
class SignInService:
    """Signs people in, each for ``age`` seconds."""

    store: Store
    clock: Clock
    ways: Sequence[Way]
    age: float

    async def sign_in(
        self, way: str, said: Mapping[str, Json], device: str, before: str | None, *, is_multi: bool, kept: str | None = None
    ) -> tuple[str, SignIn]:
        """Sign somebody in: what the browser is to keep, and the sign-in. What it kept ``before`` counts no more; ``kept`` is
        what it was given to begin with.

        Raises 400 ``sign_in_way_unknown``, 401 ``sign_in_failed`` as ``Wrong``, 403 ``auth_account_disabled``, and as the way.
        """
        proven = await self.way(way).finish(said, kept)
        secret, now = new_sign_in_secret(), self.clock.now_ms()

        def begin(db: Connection) -> SignIn:
            proved = proven.account(db, now)
            account = seen_account(db, proved) if proved is not None else None
            if account is None or not (is_multi or account.is_default):
                raise sign_in_failed()
            if account.status == "disabled":
                raise failure("auth_account_disabled", "The account is disabled; an admin can enable it.")
            if before is not None:
                end_by_hash(db, hash_of(before))
            return create_sign_in(db, account.id, secret, way, device, now, now + int(self.age * 1000))

        return secret, await self.store.write(begin)

    def way(self, name: str) -> Way:
        """The way of this name. Raises 400 ``sign_in_way_unknown``."""
        for way in self.ways:
            if way.name == name:
                return way
        raise failure("sign_in_way_unknown", f"There is no way to sign in called {name!r:.40}.")


def sign_in_failed() -> Exception:
    """The same words whatever was wrong: they tell nobody which accounts there are."""
    return wrong("sign_in_failed", "The account or the password is wrong.")
