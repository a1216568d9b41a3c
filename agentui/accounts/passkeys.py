"""The rows of passkeys: public halves of keys by which accounts sign in. Every function is a transaction, or part of one."""

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from agentui.accounts.codes import failure
from agentui.accounts.ways import check_another_way
from agentui.ids import new_short_id
from agentui.store.tables import passkeys

MOST: Final = 30
"""Passkeys of one account: each of a person's devices, and some."""
HANDLE_BYTES: Final = 64
"""As long as a user handle may be: random, because authenticators may show it to whoever holds them (WebAuthn 3, 14.6.1)."""


@dataclass(frozen=True, slots=True)
class Passkey:
    """A passkey as people see it. ``is_backed_up`` says that it is kept beyond one device; times are in milliseconds."""

    id: str
    name: str
    is_backed_up: bool
    created_at: int
    last_used_at: int | None


@dataclass(frozen=True, slots=True)
class KnownPasskey:
    """What an answer of an authenticator is checked with. Ids and keys are base64url."""

    id: str
    account_id: str
    user_handle: str
    public_key: str
    sign_count: int


@dataclass(frozen=True, slots=True)
class NewPasskey:
    """A passkey that an authenticator has made just now."""

    credential_id: str
    user_handle: str
    public_key: str
    sign_count: int
    is_backed_up: bool


def list_passkeys(db: Connection, account: str) -> list[Passkey]:
    """The passkeys of an account, the oldest first."""
    query = _SHOWN.where(passkeys.c.account_id == account).order_by(passkeys.c.created_at, passkeys.c.id)
    return [Passkey(*row) for row in db.execute(query)]


def handle_and_credentials(db: Connection, account: str) -> tuple[str, Sequence[str]]:
    """How authenticators are to call an account, and which credentials of it there are: one authenticator needs no second."""
    query = select(passkeys.c.user_handle, passkeys.c.credential_id).where(passkeys.c.account_id == account)
    rows = db.execute(query.order_by(passkeys.c.created_at, passkeys.c.id)).all()
    handle = rows[0].user_handle if rows else secrets.token_urlsafe(HANDLE_BYTES)
    return handle, [row.credential_id for row in rows]


def find_credential(db: Connection, credential: str) -> KnownPasskey | None:
    """The passkey that an authenticator calls so; None where there is none."""
    known = select(passkeys.c.id, passkeys.c.account_id, passkeys.c.user_handle, passkeys.c.public_key, passkeys.c.sign_count)
    row = db.execute(known.where(passkeys.c.credential_id == credential)).first()
    return None if row is None else KnownPasskey(*row)


def add_passkey(db: Connection, account: str, new: NewPasskey, name: str, now: int) -> Passkey:
    """Keep a passkey. Raises 409 ``passkey_conflict`` for one that is kept already, ``too_many_passkeys`` beyond ``MOST``."""
    count = db.execute(select(func.count()).select_from(passkeys).where(passkeys.c.account_id == account)).scalar_one()
    if count >= MOST:
        raise failure("too_many_passkeys", f"An account has at most {MOST} passkeys: remove one.")
    made = Passkey(new_short_id(), name, new.is_backed_up, now, None)
    own = {"id": made.id, "account_id": account, "name": name, "created_at": now, "is_backed_up": new.is_backed_up}
    key = {"public_key": new.public_key, "sign_count": new.sign_count, "user_handle": new.user_handle}
    try:
        with db.begin_nested():
            db.execute(insert(passkeys).values(**own, **key, credential_id=new.credential_id))
    except IntegrityError as error:
        raise failure("passkey_conflict", "This passkey is kept here already.") from error
    return made


def rename_passkey(db: Connection, account: str, id: str, name: str) -> Passkey:
    """Call a passkey otherwise. Raises 404 ``passkey_not_found``."""
    mine = (passkeys.c.account_id == account, passkeys.c.id == id)
    if db.execute(update(passkeys).where(*mine).values(name=name)).rowcount == 0:
        raise _not_found()
    return Passkey(*db.execute(_SHOWN.where(*mine)).one())


def remove_passkey(db: Connection, account: str, id: str, ways: Collection[str]) -> None:
    """Forget a passkey. Raises 404 ``passkey_not_found``, 409 ``sign_in_last_way`` where the account has none of these ways in
    any more."""
    if db.execute(delete(passkeys).where(passkeys.c.account_id == account, passkeys.c.id == id)).rowcount == 0:
        raise _not_found()
    check_another_way(db, account, ways)


def use_passkey(db: Connection, known: KnownPasskey, sign_count: int, now: int, *, is_backed_up: bool) -> bool:
    """Note that a passkey has signed; False where it is gone, or has signed something else meanwhile. Both of an
    authenticator and of its copy would count on from the same number, so of two answers at once one counts only."""
    mine = (passkeys.c.id == known.id, passkeys.c.sign_count == known.sign_count)
    values = {"sign_count": sign_count, "last_used_at": now, "is_backed_up": is_backed_up}
    return db.execute(update(passkeys).where(*mine).values(values)).rowcount == 1


def _not_found() -> Exception:
    return failure("passkey_not_found", "The account has no such passkey.")


_SHOWN = select(passkeys.c.id, passkeys.c.name, passkeys.c.is_backed_up, passkeys.c.created_at, passkeys.c.last_used_at)
