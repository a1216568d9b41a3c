"""``Challenges``: what a sign-in is begun with and has to be answered by, in one browser and once.

The browser keeps the challenge sealed in a cookie, so to begin writes nothing, whoever does it and however often. The
transaction that believes an answer writes the challenge's id down: an answer that comes twice, or a cookie that somebody has
copied, finds it there.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, delete, insert
from sqlalchemy.exc import IntegrityError

from agentui.accounts.codes import Wrong, wrong
from agentui.ids import Clock
from agentui.jsonio import dumps, loads
from agentui.store.tables import spent_challenges

PURPOSE: Final = "challenges of sign-ins"
SIGN_IN: Final = "sign in"
"""What most challenges are for; the others add a way in to an account, which they name."""
SECONDS: Final = 600
"""How long one may be answered: people look for a device, or their second factor, meanwhile."""
LONGEST: Final = 4096
"""Characters of a cookie, which no browser has to keep more of (RFC 6265, 6.1)."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """What a sign-in was begun with: ``values`` are the way's own. ``expires_at`` is in milliseconds since 1970."""

    id: str
    values: Mapping[str, str]
    expires_at: int


@dataclass
class Challenges:
    """Makes challenges and reads them again. ``seal`` and ``unseal`` are the store's of keys, by a purpose."""

    seal: Callable[[str, bytes], str]
    unseal: Callable[[str, str], bytes | None]
    clock: Clock

    def issue(self, way: str, purpose: str, **values: str) -> str:
        """What the browser is to keep of a new challenge."""
        ends = self.clock.now_ms() + SECONDS * 1000
        return self.seal(PURPOSE, dumps([way, purpose, secrets.token_hex(16), ends, values]))

    def read(self, way: str, purpose: str, kept: str | None) -> Challenge:
        """The challenge that a browser has kept. Raises 409 ``sign_in_expired`` as ``Wrong``, in the same words whatever is
        wrong with it: it is made up, another way's or another account's, or over."""
        opened = self.unseal(PURPOSE, kept) if kept is not None and len(kept) <= LONGEST else None
        if opened is None:
            raise expired()
        for_way, for_purpose, id, ends, values = loads(opened)
        if (for_way, for_purpose) != (way, purpose) or ends <= self.clock.now_ms():
            raise expired()
        return Challenge(id, values, ends)


def spend_challenge(db: Connection, challenge: Challenge, now: int) -> None:
    """Note that a challenge was answered; those that are over are removed on the way. Raises 409 ``sign_in_expired`` where it
    was answered before."""
    db.execute(delete(spent_challenges).where(spent_challenges.c.expires_at <= now))
    try:
        with db.begin_nested():
            db.execute(insert(spent_challenges).values(id=challenge.id, expires_at=challenge.expires_at))
    except IntegrityError as error:
        raise expired() from error


def expired() -> Wrong:
    """The error of an answer to no challenge."""
    return wrong(
        "sign_in_expired", "This was begun too long ago, is done already, or was begun in another browser: begin again."
    )
