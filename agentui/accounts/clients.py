"""The rows of clients and of their keys. Every function is a transaction, or part of one."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Row, bindparam, func, insert, or_, select, update

from agentui.accounts.codes import failure
from agentui.accounts.key_hash import SHOWN, same_hash
from agentui.accounts.records import Account, Client, ClientKey, ClientPage, KeyStatus
from agentui.accounts.restrictions import restrictions_of, shown_restrictions, text_of
from agentui.accounts.stored import account_of
from agentui.ids import new_short_id
from agentui.jsonio import Json, dumps_text, loads
from agentui.principal import Restrictions
from agentui.store.paging import Place, newest
from agentui.store.prepared import Prepared
from agentui.store.tables import accounts, client_keys, clients

MAX_CLIENTS: Final = 500
"""Most clients of one account."""
MAX_KEYS: Final = 500
"""Most keys of one client, revoked ones included."""
MAX_ACCOUNT_KEYS: Final = 2000
"""Most keys of all clients of an account, which one answer lists."""

_BY_HASH = Prepared(
    select(
        client_keys.c.id.label("key_id"),
        client_keys.c.client_id,
        client_keys.c.status.label("key_status"),
        client_keys.c.key_hash,
        client_keys.c.previous_hash,
        client_keys.c.previous_until,
        client_keys.c.expires_at,
        client_keys.c.last_used_at,
        client_keys.c.restrictions_json,
        clients.c.status.label("client_status"),
        accounts,
    )
    .join_from(client_keys, clients, clients.c.id == client_keys.c.client_id)
    .join(accounts, accounts.c.id == client_keys.c.account_id)
    .where(or_(client_keys.c.key_hash == bindparam("hash"), client_keys.c.previous_hash == bindparam("hash")))
)


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A key by whose hash somebody asked, with its account, and until when it is good at the longest (None: without end)."""

    id: str
    client: str
    account: Account
    is_active: bool
    good_until: int | None
    last_used_at: int | None
    restrictions: Restrictions | None


def find_by_hash(db: Connection, hash: str) -> FoundKey | None:
    """The key of this hash, or that which took its place; None where there is none."""
    row = _BY_HASH.row(db, {"hash": hash})
    if row is None:
        return None
    ends = [row.expires_at]
    if not same_hash(row.key_hash, hash):
        if not same_hash(row.previous_hash or "", hash):
            return None
        ends.append(row.previous_until)
    known = [end for end in ends if end is not None]
    is_active = row.key_status == row.client_status == row.status == "active"
    until, restrictions = min(known, default=None), restrictions_of(row.restrictions_json)
    return FoundKey(row.key_id, row.client_id, account_of(row), is_active, until, row.last_used_at, restrictions)


def good_hashes(db: Connection, hashes: Set[str], now: int) -> dict[str, Restrictions | None]:
    """Which of these are hashes of keys that let their holders in now, with the keys' restrictions."""
    columns = client_keys.c
    query = (
        select(columns.key_hash, columns.previous_hash, columns.previous_until, columns.restrictions_json)
        .join(clients, clients.c.id == client_keys.c.client_id)
        .where(
            or_(client_keys.c.key_hash.in_(hashes), client_keys.c.previous_hash.in_(hashes)),
            or_(client_keys.c.expires_at.is_(None), client_keys.c.expires_at > now),
            client_keys.c.status == "active",
            clients.c.status == "active",
        )
    )
    good = {}
    for row in db.execute(query):
        restrictions = restrictions_of(row.restrictions_json)
        good[row.key_hash] = restrictions
        if row.previous_hash is not None and (row.previous_until or 0) > now:
            good[row.previous_hash] = restrictions
    return {hash: restrictions for hash, restrictions in good.items() if hash in hashes}


def note_use(db: Connection, key: str, now: int, before: int) -> None:
    """Remember that a key was used, unless that was noted since ``before``."""
    is_due = or_(client_keys.c.last_used_at.is_(None), client_keys.c.last_used_at < before)
    db.execute(update(client_keys).where(client_keys.c.id == key, is_due).values(last_used_at=now))


def create_client(db: Connection, account: str, fields: Mapping[str, Any], now: int) -> Client:
    """Make a client of ``name``, ``kind`` and ``metadata``. Raises 409 ``too_many_clients``."""
    count = db.execute(select(func.count()).where(clients.c.account_id == account)).scalar_one()
    if count >= MAX_CLIENTS:
        raise failure("too_many_clients", f"The account has {MAX_CLIENTS} clients already.")
    id = f"cli_{new_short_id()}"
    own = {"id": id, "account_id": account, "status": "active", "is_default": False, "created_at": now, "updated_at": now}
    db.execute(insert(clients).values({**own, **_columns(fields)}))
    return find_client(db, account, id)


def find_client(db: Connection, account: str, id: str) -> Client:
    """A client. Raises 404 ``client_not_found``."""
    row = db.execute(select(clients).where(clients.c.account_id == account, clients.c.id == id)).first()
    if row is None:
        raise failure("client_not_found", "There is no such client.")
    return _client_of(row)


def list_clients(db: Connection, account: str, limit: int, place: Place | None, wanted: Mapping[str, str | None]) -> ClientPage:
    """Clients from a place on, the newest first; ``wanted`` are the values of columns, None for any."""
    query = select(clients).where(clients.c.account_id == account)
    for column, value in wanted.items():
        if value is not None:
            query = query.where(clients.c[column] == value)
    rows, cursor = newest(db, query, clients.c.created_at, clients.c.id, limit, place)
    return ClientPage([_client_of(row) for row in rows], cursor)


def change_client(db: Connection, account: str, id: str, fields: Mapping[str, Any], now: int) -> Client:
    """Change ``name``, ``kind``, ``metadata`` or ``status``. Raises 404, and 409 ``client_default_disable_not_supported``."""
    client = find_client(db, account, id)
    if client.is_default and fields.get("status") == "disabled":
        raise failure("client_default_disable_not_supported", "The default client of an account cannot be disabled.")
    db.execute(update(clients).where(clients.c.id == id).values(**_columns(fields), updated_at=now))
    return find_client(db, account, id)


def create_key(
    db: Connection, account: str, client: str, fields: Mapping[str, Any], secret: str, hash: str, now: int
) -> ClientKey:
    """Keep a new key of a client, with ``name``, ``expires_at`` and ``restrictions``, by its hash. Raises 404, 409
    ``client_disabled`` and 409 ``too_many_clients``."""
    if find_client(db, account, client).status == "disabled":
        raise failure("client_disabled", "The client is disabled: enable it first.")
    count = db.execute(select(func.count()).where(client_keys.c.client_id == client)).scalar_one()
    if count >= MAX_KEYS:
        raise failure("too_many_clients", f"The client has {MAX_KEYS} keys already: use another client.")
    of_account = db.execute(select(func.count()).where(client_keys.c.account_id == account)).scalar_one()
    if of_account >= MAX_ACCOUNT_KEYS:
        raise failure("too_many_clients", f"The account has {MAX_ACCOUNT_KEYS} keys already, revoked ones included.")
    id = f"cak_{new_short_id()}"
    own = {"id": id, "account_id": account, "client_id": client, "status": "active", **_key_columns(fields)}
    made = {"key_prefix": secret[:SHOWN], "key_hash": hash, "created_at": now, "updated_at": now}
    db.execute(insert(client_keys).values({**own, **made}))
    return find_key(db, account, client, id)


def change_key(db: Connection, account: str, client: str, id: str, fields: Mapping[str, Any], now: int) -> ClientKey:
    """Change ``name``, ``expires_at`` or ``restrictions`` of a key, which stays what it is. Raises 404, 409
    ``client_api_key_revoked``."""
    if find_key(db, account, client, id).status == "revoked":
        raise failure("client_api_key_revoked", "The key is revoked: make a new one.")
    db.execute(update(client_keys).where(client_keys.c.id == id).values(**_key_columns(fields), updated_at=now))
    return find_key(db, account, client, id)


def find_key(db: Connection, account: str, client: str, id: str) -> ClientKey:
    """A key of a client. Raises 404 ``client_api_key_not_found``."""
    query = select(client_keys).where(
        client_keys.c.account_id == account, client_keys.c.client_id == client, client_keys.c.id == id
    )
    row = db.execute(query).first()
    if row is None:
        raise failure("client_api_key_not_found", "The client has no such key.")
    return _key_of(row)


def list_keys(db: Connection, account: str, client: str, status: KeyStatus | None) -> list[ClientKey]:
    """The keys of a client, the newest first. Raises 404."""
    find_client(db, account, client)
    query = select(client_keys).where(client_keys.c.account_id == account, client_keys.c.client_id == client)
    if status is not None:
        query = query.where(client_keys.c.status == status)
    rows = db.execute(query.order_by(client_keys.c.created_at.desc(), client_keys.c.id.desc()))
    return [_key_of(row) for row in rows]


def account_keys(db: Connection, account: str) -> list[ClientKey]:
    """The keys of all clients of an account, the newest first."""
    query = select(client_keys).where(client_keys.c.account_id == account)
    rows = db.execute(query.order_by(client_keys.c.created_at.desc(), client_keys.c.id.desc()))
    return [_key_of(row) for row in rows]


def account_of_key(db: Connection, id: str) -> str | None:
    """Whose key this is; None where there is none of this id."""
    found: str | None = db.execute(select(client_keys.c.account_id).where(client_keys.c.id == id)).scalar()
    return found


def rotate_key(db: Connection, account: str, client: str, id: str, secret: str, hash: str, until: int, now: int) -> ClientKey:
    """Put another secret in a key's place, which keeps its id and all that is counted by it. The old one is taken until
    ``until``; one from before that no more. Raises 404, 409 ``client_api_key_revoked``, 409 ``client_disabled``."""
    key = find_key(db, account, client, id)
    if find_client(db, account, client).status == "disabled":
        raise failure("client_disabled", "The client is disabled: enable it first.")
    if key.status == "revoked":
        raise failure("client_api_key_revoked", "The key is revoked: make a new one.")
    values = {"key_prefix": secret[:SHOWN], "key_hash": hash, "previous_until": until, "updated_at": now}
    db.execute(update(client_keys).where(client_keys.c.id == id).values(previous_hash=client_keys.c.key_hash, **values))
    return find_key(db, account, client, id)


def revoke_key(db: Connection, account: str, client: str, id: str, now: int) -> ClientKey:
    """Let a key, and the one that it took the place of, be taken no more; doing it again changes nothing. Raises 404."""
    if find_key(db, account, client, id).status == "active":
        gone = {"previous_hash": None, "previous_until": None}
        db.execute(update(client_keys).where(client_keys.c.id == id).values(status="revoked", updated_at=now, **gone))
    return find_key(db, account, client, id)


def _columns(fields: Mapping[str, Any]) -> dict[str, Any]:
    columns = {name: value for name, value in fields.items() if name != "metadata"}
    return columns if "metadata" not in fields else {**columns, "metadata_json": dumps_text(fields["metadata"])}


def _key_columns(fields: Mapping[str, Any]) -> dict[str, Any]:
    columns = {name: value for name, value in fields.items() if name != "restrictions"}
    return columns if "restrictions" not in fields else {**columns, "restrictions_json": text_of(fields["restrictions"])}


def _client_of(row: Row[Any]) -> Client:
    told: dict[str, Json] = loads(row.metadata_json)
    times: Sequence[int] = (row.created_at, row.updated_at)
    return Client(row.id, row.account_id, row.name, row.kind, row.status, row.is_default, told, *times)


def _key_of(row: Row[Any]) -> ClientKey:
    return ClientKey(
        id=row.id,
        account_id=row.account_id,
        client_id=row.client_id,
        name=row.name,
        key_prefix=row.key_prefix,
        status=row.status,
        last_used_at=row.last_used_at,
        expires_at=row.expires_at,
        previous_until=row.previous_until,
        created_at=row.created_at,
        updated_at=row.updated_at,
        restrictions=shown_restrictions(row.restrictions_json),
    )
