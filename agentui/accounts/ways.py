"""Which ways an account has into the page. Every function is a transaction, or part of one."""

from collections.abc import Collection

from sqlalchemy import Connection, delete, exists, or_, select

from agentui.accounts.codes import failure
from agentui.store.tables import accounts, identities, passkeys, passwords


def check_another_way(db: Connection, account: str, ways: Collection[str]) -> None:
    """Raise 409 ``sign_in_last_way`` where an account has none of these ways into the page, those that are on: one was just
    taken away that was the last.

    Nobody gets to be without one by mistake: an admin who gives a password, or the shell, would be the only way back in.
    """
    # Of two ways that are taken away at once each would be the other's reason: they wait for each other at this row.
    db.execute(select(accounts.c.id).where(accounts.c.id == account).with_for_update())
    has = {
        "password": exists().where(passwords.c.account_id == account),
        "passkey": exists().where(passkeys.c.account_id == account),
        # A link that waits for somebody to come has let nobody in yet.
        "oidc": exists().where(identities.c.account_id == account, identities.c.subject.is_not(None)),
    }
    if not db.execute(select(or_(*(has[way] for way in ways)))).scalar():
        raise failure("sign_in_last_way", "This is the account's only way to sign in: add another one, or a password, first.")


def drop_other_ways(db: Connection, account: str) -> None:
    """Take an account's passkeys and linked sign-ons away: what counts is its password."""
    for table in (passkeys, identities):
        db.execute(delete(table).where(table.c.account_id == account))
