"""The rows of sign-ins: browsers in which somebody is signed in. Every function is a transaction, or part of one.

The browser keeps 256 random bits, the database their hash. What it keeps is new with every sign-in, so that nobody can plant
it before (session fixation).
"""

import secrets
from collections.abc import Set
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from sqlalchemy import Connection, delete, insert, select, update

from agentui.accounts.codes import failure
from agentui.ids import new_short_id
from agentui.store.tables import sign_ins

MOST: Final = 50
"""Sign-ins of one account; the oldest ones go."""
LONGEST_DEVICE: Final = 200


@dataclass(frozen=True, slots=True)
class SignIn:
    """A browser in which an account is signed in. ``device`` is what it says it is. Times are milliseconds since 1970."""

    id: str
    account_id: str
    method: str
    device: str
    created_at: int
    last_used_at: int
    expires_at: int


def new_sign_in_secret() -> str:
    """Make what a browser keeps."""
    return secrets.token_urlsafe(32)


def hash_of(secret: str) -> str:
    """What is kept here of it."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def create_sign_in(db: Connection, account: str, secret: str, method: str, device: str, now: int, expires_at: int) -> SignIn:
    """Sign an account in. What has expired is removed on the way."""
    db.execute(delete(sign_ins).where(sign_ins.c.expires_at <= now))
    mine = select(sign_ins.c.id).where(sign_ins.c.account_id == account)
    too_old = mine.order_by(sign_ins.c.created_at.desc(), sign_ins.c.id.desc()).offset(MOST - 1).limit(MOST)
    db.execute(delete(sign_ins).where(sign_ins.c.id.in_(db.execute(too_old).scalars().all())))
    id = new_short_id()
    own = {"id": id, "account_id": account, "token_hash": hash_of(secret), "method": method, "device": device[:LONGEST_DEVICE]}
    db.execute(insert(sign_ins).values({**own, "created_at": now, "last_used_at": now, "expires_at": expires_at}))
    return SignIn(id, account, method, device[:LONGEST_DEVICE], now, now, expires_at)


def find_sign_in(db: Connection, hash: str) -> SignIn | None:
    """The sign-in with this hash, or None."""
    row = db.execute(_SELECT.where(sign_ins.c.token_hash == hash)).first()
    return None if row is None else SignIn(*row)


def good_sign_ins(db: Connection, hashes: Set[str], now: int) -> frozenset[str]:
    """Which of these are hashes of sign-ins that are not over."""
    query = select(sign_ins.c.token_hash).where(sign_ins.c.token_hash.in_(hashes), sign_ins.c.expires_at > now)
    return frozenset(db.execute(query).scalars())


def list_sign_ins(db: Connection, account: str, now: int) -> list[SignIn]:
    """Where an account is signed in, the newest first."""
    query = _SELECT.where(sign_ins.c.account_id == account, sign_ins.c.expires_at > now)
    return [SignIn(*row) for row in db.execute(query.order_by(sign_ins.c.created_at.desc(), sign_ins.c.id.desc()))]


def end_sign_in(db: Connection, account: str, id: str) -> None:
    """Sign out of one browser. Raises 404 ``sign_in_not_found``."""
    if db.execute(delete(sign_ins).where(sign_ins.c.account_id == account, sign_ins.c.id == id)).rowcount == 0:
        raise failure("sign_in_not_found", "The account is not signed in there.")


def end_by_hash(db: Connection, hash: str) -> None:
    """Sign out of the browser that keeps what has this hash."""
    db.execute(delete(sign_ins).where(sign_ins.c.token_hash == hash))


def end_all(db: Connection, account: str) -> None:
    """Sign an account out everywhere."""
    db.execute(delete(sign_ins).where(sign_ins.c.account_id == account))


def note_visit(db: Connection, id: str, now: int, before: int) -> None:
    """Remember that somebody was there, unless that was noted since ``before``."""
    seen = update(sign_ins).where(sign_ins.c.id == id, sign_ins.c.last_used_at < before)
    db.execute(seen.values(last_used_at=now))


_SELECT = select(
    sign_ins.c.id,
    sign_ins.c.account_id,
    sign_ins.c.method,
    sign_ins.c.device,
    sign_ins.c.created_at,
    sign_ins.c.last_used_at,
    sign_ins.c.expires_at,
)
