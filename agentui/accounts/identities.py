"""The rows of identities: people as an identity provider knows them, each linked to an account. Every function is a
transaction, or part of one.

What counts is the provider's own id of a person (its subject), which never changes hands. An address does: it makes a link only
where an admin has said that who has it is whose account this is, and once; from then on the subject counts.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from agentui.accounts.codes import failure
from agentui.accounts.stored import find_account
from agentui.accounts.ways import check_another_way
from agentui.ids import new_short_id
from agentui.store.tables import identities

MOST: Final = 20
"""Identities of one account."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A person as a provider knows them. ``subject`` is null until who has the ``email`` signs in for the first time. Times
    are milliseconds since 1970."""

    id: str
    account_id: str
    issuer: str
    subject: str | None
    email: str | None
    created_at: int
    last_used_at: int | None


def list_identities(db: Connection, account: str) -> list[Identity]:
    """The identities of an account, the oldest first. Raises 404 ``account_not_found``."""
    find_account(db, account)
    query = _SELECT.where(identities.c.account_id == account).order_by(identities.c.created_at, identities.c.id)
    return [Identity(*row) for row in db.execute(query)]


def link_identity(db: Connection, account: str, issuer: str, subject: str | None, email: str | None, now: int) -> Identity:
    """Link an account to a person that the provider calls ``subject``, or to the first one who has an address that the
    provider has verified. Raises 404, and 409 ``identity_conflict`` where the person or the address is linked already."""
    mine = list_identities(db, account)
    if len(mine) >= MOST:
        raise failure("identity_conflict", f"An account is linked to at most {MOST} sign-ons: remove one.")
    if subject is None and _expected(db, issuer, email) is not None:
        raise _conflict()
    made = Identity(new_short_id(), account, issuer, subject, email, now, None)
    columns = {"id": made.id, "account_id": account, "issuer": issuer, "subject": subject, "email": email, "created_at": now}
    try:
        with db.begin_nested():
            db.execute(insert(identities).values(columns))
    except IntegrityError as error:
        raise _conflict() from error
    return made


def use_identity(db: Connection, issuer: str, subject: str, email: str | None, verified: str | None, now: int) -> str | None:
    """The account of a person who has signed in just now; None where no account is linked to them. ``email`` is what the
    provider says, ``verified`` the same where it says that it has made sure of it."""
    known = _SELECT.where(identities.c.issuer == issuer, identities.c.subject == subject)
    row = db.execute(known).first()
    found = Identity(*row) if row is not None else _expected(db, issuer, verified)
    if found is None:
        return None
    values = {"subject": subject, "email": email or found.email, "last_used_at": now}
    db.execute(update(identities).where(identities.c.id == found.id).values(values))
    return found.account_id


def unlink_identity(db: Connection, account: str, id: str) -> None:
    """Take a link away. Raises 404 ``identity_not_found``."""
    mine = delete(identities).where(identities.c.account_id == account, identities.c.id == id)
    if db.execute(mine).rowcount == 0:
        raise failure("identity_not_found", "The account has no such linked sign-on.")


def unlink_own(db: Connection, account: str, id: str, ways: Collection[str]) -> None:
    """The same by the account itself: 409 ``sign_in_last_way`` where it has none of these ways in any more."""
    unlink_identity(db, account, id)
    check_another_way(db, account, ways)


def _expected(db: Connection, issuer: str, address: str | None) -> Identity | None:
    """The link that waits for who has this address."""
    if address is None:
        return None
    waits = (identities.c.issuer == issuer, identities.c.subject.is_(None), func.lower(identities.c.email) == address.lower())
    row = db.execute(_SELECT.where(*waits).order_by(identities.c.created_at, identities.c.id)).first()
    return None if row is None else Identity(*row)


def _conflict() -> Exception:
    return failure("identity_conflict", "This person, or this address, is linked to an account already.")


_SELECT = select(
    identities.c.id,
    identities.c.account_id,
    identities.c.issuer,
    identities.c.subject,
    identities.c.email,
    identities.c.created_at,
    identities.c.last_used_at,
)
