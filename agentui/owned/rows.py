"""The rows of accounts' own pipelines, presets and keys. Every function is a transaction, or part of one."""

from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import Connection, Row, and_, delete, func, insert, not_, select, update

from agentui.documents.conditions import check_condition
from agentui.documents.versions import KEPT_VERSIONS, Version
from agentui.errors import Conflict, NotFound
from agentui.jsonio import Json, dumps_text, loads
from agentui.store.prepared import INSERT
from agentui.store.tables import account_document_versions, account_documents, account_secrets

Kind: TypeAlias = Literal["pipelines", "presets"]
NOUNS: Final[dict[Kind, str]] = {"pipelines": "pipeline", "presets": "preset"}
MOST_DOCUMENTS: Final = 200
"""Of one kind, of an account; they are read together."""
MOST_CHARACTERS: Final = 16 * 1024 * 1024
"""Of all documents of an account: whoever asks by one of them has all of them in the server's memory."""
MOST_SECRETS: Final = 100


@dataclass(frozen=True, slots=True)
class Stored:
    """A document as it is kept. ``good`` is the version that serves, None where there never was one."""

    kind: Kind
    id: str
    etag: str
    modified: int
    document: dict[str, Json] = field(compare=False)
    """Whose etag and time are the same is the same: of megabytes nobody wants to know it word by word."""
    good: dict[str, Json] | None = field(compare=False)


@dataclass(frozen=True, slots=True)
class SealedSecret:
    """A key as it is kept."""

    name: str
    shown_name: str
    origins: tuple[str, ...]
    sealed: str


Mark: TypeAlias = tuple[tuple[Any, ...], ...]
"""What tells that something of an account's has changed, without reading the documents."""


def mark_of(db: Connection, account: str) -> Mark:
    """The state of what an account has of its own."""
    documents = select(account_documents.c.kind, account_documents.c.id, account_documents.c.etag, account_documents.c.modified)
    keys = select(account_secrets.c.name, account_secrets.c.updated_at).where(account_secrets.c.account_id == account)
    rows = db.execute(documents.where(account_documents.c.account_id == account)).all()
    return (*sorted(tuple(row) for row in rows), *sorted(tuple(row) for row in db.execute(keys).all()))


def all_of(db: Connection, account: str) -> tuple[Mark, list[Stored], list[SealedSecret], int]:
    """All that an account has of its own, the state that this is, and how many characters its documents have."""
    documents = db.execute(select(account_documents).where(account_documents.c.account_id == account)).all()
    keys = db.execute(select(account_secrets).where(account_secrets.c.account_id == account)).all()
    size = sum(len(row.document_json) + len(row.good_json or "") for row in documents)
    return mark_of(db, account), [_stored(row) for row in documents], [_sealed(row) for row in keys], size


def save_document(
    db: Connection,
    account: str,
    new: Stored,
    is_good: bool,
    if_match: str | None,
    if_none_match: str | None,
) -> bool:
    """Keep a document as it was given, with a version of it; whether it is new. Raises PreconditionRequired,
    PreconditionFailed, Conflict where an account has as many as it may have, or as much."""
    kept = _find(db, account, new.kind, new.id)
    check_condition(NOUNS[new.kind], kept, if_match, if_none_match)
    text = dumps_text(new.document)
    own = _own(account, new.kind, new.id)
    others = select(func.sum(func.length(account_documents.c.document_json))).where(
        account_documents.c.account_id == account, not_(and_(*own))
    )
    if len(text) + (db.execute(others).scalar() or 0) > MOST_CHARACTERS:
        raise Conflict(
            f"An account's pipelines and presets have {MOST_CHARACTERS:,} characters at most together: remove one first."
        )
    if kept is None:
        same = account_documents.c.account_id == account, account_documents.c.kind == new.kind
        if db.execute(select(func.count()).select_from(account_documents).where(*same)).scalar_one() >= MOST_DOCUMENTS:
            raise Conflict(f"An account has {MOST_DOCUMENTS} {new.kind} at most: remove one first.")
        values = {"account_id": account, "kind": new.kind, "id": new.id, "document_json": text, "etag": new.etag}
        db.execute(insert(account_documents).values(**values, good_json=text if is_good else None, modified=new.modified))
    else:
        changed: dict[str, Json] = {"document_json": text, "etag": new.etag, "modified": max(new.modified, kept.modified + 1)}
        db.execute(update(account_documents).where(*own).values(**changed, **({"good_json": text} if is_good else {})))
    _add_version(db, account, new, text)
    return kept is None


def delete_document(db: Connection, account: str, kind: Kind, id: str, if_match: str | None) -> None:
    """Remove a document with its versions. Raises NotFound and as ``save_document`` does."""
    kept = _found(db, account, kind, id)
    check_condition(NOUNS[kind], kept, if_match, None)
    db.execute(delete(account_documents).where(*_own(account, kind, id)))


def rename_document(db: Connection, account: str, kind: Kind, id: str, new_id: str, if_match: str | None) -> None:
    """Give a document another id; its versions go with it. Raises NotFound, Conflict and as ``save_document`` does."""
    kept = _found(db, account, kind, id)
    check_condition(NOUNS[kind], kept, if_match, None)
    if new_id == id:
        return
    if _find(db, account, kind, new_id) is not None:
        raise Conflict(f"There is a {NOUNS[kind]} {new_id!r} already; choose another id.", id=new_id)
    db.execute(update(account_documents).where(*_own(account, kind, id)).values(id=new_id, modified=kept.modified + 1))


def list_versions(db: Connection, account: str, kind: Kind, id: str) -> list[Version]:
    """The kept versions, the newest first: a document has one at least. Raises NotFound."""
    table = account_document_versions.c
    rows = db.execute(select(account_document_versions).where(*_versions(account, kind, id)).order_by(table.number.desc()))
    versions = [_version(row) for row in rows.all()]
    if not versions:
        raise NotFound(f"There is no {NOUNS[kind]} {id!r}.", id=id)
    return versions


def find_version(db: Connection, account: str, kind: Kind, id: str, number: int) -> tuple[Version, Json]:
    """One version and its document. Raises NotFound."""
    numbered = account_document_versions.c.number == number
    row = db.execute(select(account_document_versions).where(*_versions(account, kind, id), numbered)).one_or_none()
    if row is None:
        raise NotFound(f"There is no version {number}; it may be too old.", version=number)
    return _version(row), loads(row.document_json)


def name_version(db: Connection, account: str, kind: Kind, id: str, number: int, name: str) -> Version:
    """Name a version, which keeps it for good. Raises NotFound."""
    find_version(db, account, kind, id, number)
    numbered = account_document_versions.c.number == number
    db.execute(update(account_document_versions).where(*_versions(account, kind, id), numbered).values(name=name))
    return find_version(db, account, kind, id, number)[0]


def keep_secret(db: Connection, account: str, secret: SealedSecret, now: int) -> bool:
    """Keep a key, replacing one of the same name; whether it is new. Raises Conflict where there are too many."""
    own = account_secrets.c.account_id == account
    known = db.execute(select(account_secrets.c.updated_at).where(own, account_secrets.c.name == secret.name)).scalar()
    if known is None and db.execute(select(func.count()).select_from(account_secrets).where(own)).scalar_one() >= MOST_SECRETS:
        raise Conflict(f"An account has {MOST_SECRETS} keys at most: remove one first.")
    values = {
        "shown_name": secret.shown_name,
        "origins_json": dumps_text(list(secret.origins)),
        "sealed": secret.sealed,
        "updated_at": max(now, (known or 0) + 1),
    }
    statement = INSERT[db.dialect.name](account_secrets).values(account_id=account, name=secret.name, **values)
    db.execute(statement.on_conflict_do_update(index_elements=["account_id", "name"], set_=values))
    return known is None


def delete_secret(db: Connection, account: str, name: str) -> None:
    """Remove a key. Raises NotFound."""
    own = account_secrets.c.account_id == account, account_secrets.c.name == name
    if not db.execute(delete(account_secrets).where(*own)).rowcount:
        raise NotFound(f"You have no secret {name!r}.", name=name)


def _add_version(db: Connection, account: str, new: Stored, text: str) -> None:
    """Keep a version unless the newest is the same one; of those without a name the newest stay."""
    table, own = account_document_versions.c, _versions(account, new.kind, new.id)
    newest = db.execute(select(table.number, table.etag).where(*own).order_by(table.number.desc()).limit(1)).one_or_none()
    if newest is not None and newest.etag == new.etag:
        return
    number = 1 if newest is None else newest.number + 1
    place = {"account_id": account, "kind": new.kind, "id": new.id, "number": number}
    values = {"document_json": text, "etag": new.etag, "name": "", "created_at": new.modified}
    db.execute(insert(account_document_versions).values(**place, **values))
    unnamed = select(table.number).where(*own, table.name == "").order_by(table.number.desc()).offset(KEPT_VERSIONS)
    old = db.execute(unnamed).scalars().all()
    if old:
        db.execute(delete(account_document_versions).where(*own, table.number.in_(old)))


def _find(db: Connection, account: str, kind: Kind, id: str) -> Stored | None:
    """A document, which nobody else changes until the end of the transaction."""
    row = db.execute(select(account_documents).where(*_own(account, kind, id)).with_for_update()).one_or_none()
    return None if row is None else _stored(row)


def _found(db: Connection, account: str, kind: Kind, id: str) -> Stored:
    kept = _find(db, account, kind, id)
    if kept is None:
        raise NotFound(f"There is no {NOUNS[kind]} {id!r}.", id=id)
    return kept


def _own(account: str, kind: Kind, id: str) -> tuple[Any, ...]:
    return account_documents.c.account_id == account, account_documents.c.kind == kind, account_documents.c.id == id


def _versions(account: str, kind: Kind, id: str) -> tuple[Any, ...]:
    table = account_document_versions.c
    return table.account_id == account, table.kind == kind, table.id == id


def _stored(row: Row[Any]) -> Stored:
    good = None if row.good_json is None else loads(row.good_json)
    return Stored(row.kind, row.id, row.etag, row.modified, loads(row.document_json), good)


def _sealed(row: Row[Any]) -> SealedSecret:
    return SealedSecret(row.name, row.shown_name, tuple(loads(row.origins_json)), row.sealed)


def _version(row: Row[Any]) -> Version:
    return Version(row.number, row.created_at, row.etag, row.name, len(row.document_json.encode()))
