"""The rows of accounts. Every function is a transaction, or part of one."""

from collections.abc import Mapping, Set
from typing import Any, Final

from sqlalchemy import Connection, Row, Table, bindparam, delete, exists, insert, select, update
from sqlalchemy.exc import IntegrityError

from agentui.accounts.codes import failure
from agentui.accounts.records import Account, default_client_id, is_default_account
from agentui.ids import new_short_id
from agentui.jsonio import Json
from agentui.principal import DEFAULT_ACCOUNT, Role
from agentui.store.prepared import Prepared
from agentui.store.tables import (
    accounts,
    budgets,
    claims,
    client_keys,
    clients,
    identities,
    metadata,
    operation_logs,
    passkeys,
    passwords,
    search_spaces,
    sign_ins,
    usage,
    vendor_objects,
)

GOES_ALONG: Final = (
    client_keys, clients, passwords, passkeys, identities, sign_ins, claims, budgets, usage, operation_logs, vendor_objects,
    search_spaces,
)  # fmt: skip
"""What an account's removal takes along: its ways in, answers that are kept for a while, what its calls cost and may cost, the
log of what it did, which things at vendors were its own, and its index of words. All else that is stored for it has to be gone
before."""

_FIND = Prepared(select(accounts).where(accounts.c.id == bindparam("account")))


def create_account(db: Connection, id: str | None, name: str, role: Role, now: int, *, may_edit: bool = False) -> Account:
    """Make an account with its default client. Raises 409 ``account_conflict`` for an id that there is, and for one for which
    something is stored: what a request wrote after its account was removed belongs to nobody who comes later."""
    if id is not None and any(_has_row(db, table, id) for table in owned_tables()):
        raise failure("account_conflict", f"Something is stored for an account {id!r}: choose another id.", id=id)
    id = id or f"acc_{new_short_id()}"
    times = {"created_at": now, "updated_at": now}
    values = {"id": id, "name": name, "role": role, "status": "active", "may_edit": may_edit, **times}
    try:
        with db.begin_nested():
            db.execute(insert(accounts).values(values))
    except IntegrityError as error:
        raise failure("account_conflict", f"There is an account {id!r} already: choose another id.", id=id) from error
    own = {"id": default_client_id(id), "account_id": id, "name": "Default Client", "kind": "custom", "status": "active"}
    db.execute(insert(clients).values({**own, "is_default": True, "metadata_json": "{}", **times}))
    return find_account(db, id)


def find_account(db: Connection, id: str) -> Account:
    """An account. Raises 404 ``account_not_found``."""
    account = seen_account(db, id)
    if account is None:
        raise failure("account_not_found", f"There is no account {id!r}.", id=id)
    return account


def seen_account(db: Connection, id: str) -> Account | None:
    """An account, or None where there is none of this id."""
    row = _FIND.row(db, {"account": id})
    return None if row is None else account_of(row)


def active_accounts(db: Connection, ids: Set[str]) -> dict[str, Account]:
    """Those of these accounts that are let in, by id."""
    query = select(accounts).where(accounts.c.id.in_(ids), accounts.c.status == "active")
    return {row.id: account_of(row) for row in db.execute(query)}


def list_accounts(db: Connection) -> list[Account]:
    """Every account, the one that was changed last first."""
    query = select(accounts).order_by(accounts.c.updated_at.desc(), accounts.c.id)
    return [account_of(row) for row in db.execute(query)]


def change_account(db: Connection, id: str, changes: Mapping[str, Json], now: int) -> Account:
    """Change name, role, status or the right to edit. Who is disabled is signed out. Raises 404, and 409 ``account_protected``
    for the default account's role and status."""
    find_account(db, id)
    if is_default_account(id) and changes.keys() & {"role", "status", "may_edit"}:
        raise failure("account_protected", f"The account {id!r} stays an active admin; its name may change.", id=id)
    db.execute(update(accounts).where(accounts.c.id == id).values(**changes, updated_at=now))
    if changes.get("status") == "disabled":
        db.execute(delete(sign_ins).where(sign_ins.c.account_id == id))
    return find_account(db, id)


def delete_account(db: Connection, id: str) -> None:
    """Remove an account with its clients, keys and sign-in. Raises 404, 409 ``account_protected`` for the default one, 409
    ``account_has_resources`` where anything else is stored for it."""
    find_account(db, id)
    if is_default_account(id):
        raise failure("account_protected", f"The account {id!r} cannot be removed.", id=id)
    held = [table.name for table in owned_tables() if _has_row(db, table, id)]
    if held:
        raise failure("account_has_resources", f"The account has {', '.join(held)}: remove them first.", id=id, resources=held)
    for table in GOES_ALONG:
        db.execute(delete(table).where(table.c.account_id == id))
    db.execute(delete(accounts).where(accounts.c.id == id))


def owned_tables() -> list[Table]:
    """The tables whose rows keep an account from being removed. What hangs from another table goes with its rows, and is looked
    for there: few of those tables have an index by account, and the others would be read whole."""
    owned = [table for table in metadata.sorted_tables if "account_id" in table.c and table not in GOES_ALONG]
    return [table for table in owned if not _hangs(table)]


def account_of(row: Row[Any]) -> Account:
    """An account as its row says it."""
    is_default = row.id == DEFAULT_ACCOUNT
    may_edit = bool(row.may_edit) or row.role == "admin"
    return Account(row.id, row.name, row.role, row.status, is_default, may_edit, row.created_at, row.updated_at)


def _hangs(table: Table) -> bool:
    """Whether each row of a table belongs to a row of another one that belongs to an account."""
    parents = [key.column.table for column in table.c for key in column.foreign_keys if not column.nullable]
    return any("account_id" in parent.c for parent in parents if parent is not table)


def _has_row(db: Connection, table: Table, account: str) -> bool:
    return bool(db.execute(select(exists().where(table.c.account_id == account))).scalar())
