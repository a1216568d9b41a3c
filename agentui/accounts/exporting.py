"""All that is kept for an account, as lines of JSON: what somebody takes along before the account goes.

    {"format": "agentui.account", "version": 1, "account": {...}, "exported_at": ...}
    {"table": "sessions", "row": {...}}
    ...

Keys and passwords are left out, sealed and hashed ones too: they open nothing elsewhere and are nobody's to keep.
"""

import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict
from typing import Any, Final, TypeAlias

from sqlalchemy import Connection, Table, select, tuple_

from agentui.accounts.purging import tables_of_accounts
from agentui.accounts.stored import find_account
from agentui.jsonio import Json, dumps

Read: TypeAlias = Callable[..., Awaitable[Any]]
"""Runs a transaction that reads, as ``Store.read`` does."""

FORMAT: Final = "agentui.account"
LEFT_OUT: Final = frozenset({"passwords", "sign_ins", "claims", "generations", "reservations", "text_index", "vendor_objects"})
"""Tables of which nothing is exported: ways in, what only this server can use, and what is made of other rows."""
SECRET_COLUMNS: Final = frozenset({"sealed", "sealed_key", "key_hash", "previous_hash", "reached"})
"""The last is how an MCP server is reached, in whose headers keys stand."""
AT_ONCE: Final = 100
"""Rows that are read in one transaction. Those of pictures are read one by one: each may have megabytes."""


async def exported(read: Read, account: str, now: int, at_once: int = AT_ONCE) -> AsyncIterator[bytes]:
    """The lines of an account's export, some at a time: ``at_once`` rows are read in one transaction, which ``read`` runs.
    What is written meanwhile may be in it or not. Raises 404 ``account_not_found`` before the first line."""
    found = await read(find_account, account)
    head: Json = {"format": FORMAT, "version": 1, "account": asdict(found), "exported_at": now}
    yield dumps(head) + b"\n"
    for table in reversed(tables_of_accounts()):
        if table.name in LEFT_OUT:
            continue
        after: tuple[Any, ...] | None = None
        while True:
            lines, after = await read(_lines, account, table, after, 1 if "data" in table.c else at_once)
            if lines:
                yield lines
            if after is None:
                break


def _lines(
    db: Connection, account: str, table: Table, after: tuple[Any, ...] | None, most: int
) -> tuple[bytes, tuple[Any, ...] | None]:
    """The next lines of a table, and behind which key the ones after them stand; None at the end."""
    keys = tuple(table.primary_key.columns)
    query = select(table).where(table.c.account_id == account).order_by(*keys).limit(most)
    if after is not None:
        query = query.where(tuple_(*keys) > tuple_(*after))
    rows = db.execute(query).all()
    lines = b"".join(dumps({"table": table.name, "row": _shown(row._mapping)}) + b"\n" for row in rows)
    last = tuple(rows[-1]._mapping[key.name] for key in keys) if len(rows) == most else None
    return lines, last


def _shown(row: Any) -> dict[str, Json]:
    """A row without what is secret; bytes as base 64."""
    return {
        name: base64.b64encode(value).decode() if isinstance(value, bytes) else value
        for name, value in row.items()
        if name not in SECRET_COLUMNS
    }
