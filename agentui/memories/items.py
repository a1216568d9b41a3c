"""The rows of items: writing, finding, listing, counting, changing and removing them (TavernHeadless' contract, 3.2 and 3.3).

Every function is a transaction or part of one: its first argument is a connection, its second the account. Whether an item is
seen from a place is no question of its row: ``sight.py`` says so.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    String,
    bindparam,
    cast,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB

from agentui.chats.codes import failure
from agentui.chats.conversations import BatchResult
from agentui.chats.listing import Listed, Paging, list_rows
from agentui.chats.records import AnyRow
from agentui.ids import new_short_id
from agentui.jsonio import Json, dumps_text, loads
from agentui.memories.history import ItemChange, history_of, keep_history, take_latest
from agentui.memories.hosts import Host, find_host, normal_scope_id
from agentui.memories.records import (
    Author,
    Item,
    ItemTypes,
    LifecycleStatus,
    MemoryScope,
    MemoryStats,
    MemoryStatus,
    MemoryType,
    Source,
    SummaryTier,
)
from agentui.memories.revisions import NO_SESSION, count_write, count_writes
from agentui.search.index import index_item
from agentui.store.kept import PAGE_IS_KEPT
from agentui.store.paging import length
from agentui.store.prepared import OneOf, Prepared, named, texts
from agentui.store.tables import floors, memory_edges, memory_items, memory_sources, pages

CHARACTERS_PER_TOKEN: Final = 4
"""How many characters are counted as a token (contract, 3.3)."""


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item to write. ``content`` is a text, or ``{"text": ...}``; ``sources`` are pages by their ids, with the words of each
    that say so. What a status is left out for follows from the other (contract, 3.3)."""

    scope: MemoryScope
    scope_id: str
    type: MemoryType
    content: Json
    summary_tier: SummaryTier | None = None
    importance: float = 0.5
    fact_key: str | None = None
    confidence: float = 1.0
    source_floor_id: str | None = None
    source_message_id: str | None = None
    status: MemoryStatus | None = None
    lifecycle_status: LifecycleStatus | None = None
    sources: Sequence[tuple[str, str | None]] = ()
    keys: Sequence[str] = ()
    entities: Sequence[str] = ()
    pinned: bool = False
    author: Author = "user"
    waiting: bool = False
    source_job_id: str | None = None
    token_count_estimate: int | None = None
    coverage_start_floor_no: int | None = None
    coverage_end_floor_no: int | None = None
    derived_from_count: int | None = None


@dataclass(frozen=True, slots=True)
class ItemFilter:
    """Which items: those whose columns hold what is named in ``equal``, that lie within ``ranges`` (by column: from, to, both
    included), and whose content holds ``q``. ``session_id`` keeps to the items of a chat and the global ones, ``ids`` and
    ``not_ids`` to some."""

    equal: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    q: str | None = None
    session_id: str | None = None
    ids: Collection[str] | None = None
    not_ids: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class StatusResult(BatchResult):
    """What became of one id whose status was to change."""

    data: Item | None = None


def create_item(db: Connection, account: str, new: NewItem, now: int) -> Item:
    """Write an item. Raises 404 ``not_found`` for a host or a source of another account, and for a source that is not there,
    400 ``validation_error`` for sources of several chats."""
    host = find_host(db, account, new.scope, new.scope_id)
    sources = find_sources(db, account, new.sources)
    session_id = _session_of(db, account, host, sources)
    text, form = split_content(new.content)
    values: dict[str, Json] = {
        "id": new_short_id(),
        "account_id": account,
        "session_id": session_id,
        "scope": host.scope,
        "scope_id": host.scope_id,
        "type": new.type,
        "summary_tier": new.summary_tier if new.type == "summary" else None,
        "content": text,
        "content_form": form,
        "folded": text.casefold(),
        "importance": new.importance,
        "confidence": new.confidence,
        "fact_key": normal_fact_key(new.fact_key) if new.type == "fact" else None,
        "source_floor_id": new.source_floor_id,
        "source_message_id": new.source_message_id,
        "source_job_id": new.source_job_id,
        "status": new.status or ("deprecated" if new.lifecycle_status == "deprecated" else "active"),
        "lifecycle_status": new.lifecycle_status or new.status or "active",
        "author": new.author,
        "is_pinned": new.pinned,
        "is_waiting": new.waiting,
        "keys_json": dumps_text(list(new.keys)),
        "entities_json": dumps_text(list(new.entities)),
        "token_count_estimate": new.token_count_estimate,
        "last_used_at": None,
        "coverage_start_floor_no": new.coverage_start_floor_no,
        "coverage_end_floor_no": new.coverage_end_floor_no,
        "derived_from_count": new.derived_from_count,
        "revision": count_write(db, account, session_id),
        "created_at": now,
        "updated_at": now,
    }
    _INSERT.run(db, values)
    _put_sources(db, account, values["id"], sources)
    return _indexed(db, account, find_item(db, account, values["id"]))


def _indexed(db: Connection, account: str, item: Item) -> Item:
    """The item, after it was put into the index of words by all that it should be found by."""
    words = [item.text, (item.fact_key or "").replace("_", " "), *item.keys, *item.entities]
    index_item(db, account, item.session_id, item.id, "\n".join(words))
    return item


_INSERT = Prepared(insert(memory_items).values(named(memory_items, *memory_items.c.keys())))


def split_content(content: Json) -> tuple[str, str]:
    """The words of a content, and the form in which it was sent."""
    return (content, "text") if isinstance(content, str) else (content["text"], "object")


def normal_fact_key(key: str | None) -> str | None:
    """The key of a fact as it is compared; None for none."""
    return (key or "").strip().lower() or None


def find_sources(db: Connection, account: str, given: Sequence[tuple[str, str | None]]) -> dict[Source, str]:
    """Sources by the pages that they name, each with its session. Raises 404 ``not_found``."""
    ids = [page_id for page_id, _ in given]
    if not ids:
        return {}
    query = (
        select(pages.c.id, pages.c.floor_id, floors.c.session_id)
        .join(floors, floors.c.id == pages.c.floor_id)
        .where(pages.c.account_id == account, pages.c.id.in_(ids), PAGE_IS_KEPT)
    )
    found = {row.id: row for row in db.execute(query)}
    for page_id in ids:
        if page_id not in found:
            raise failure("not_found", "There is no such page to be a source.", page_id=page_id)
    return {Source(id, found[id].floor_id, quote): found[id].session_id for id, quote in given}


def _session_of(db: Connection, account: str, host: Host, sources: Mapping[Source, str]) -> str | None:
    """The chat that an item belongs to, held until the transaction ends. Raises 400 where that is several."""
    every = {*sources.values(), *([] if host.session_id is None else [host.session_id])}
    if len(every) > 1:
        raise failure("validation_error", "An item belongs to one chat: its scope and its sources name several.")
    session_id = next(iter(every), None)
    if sources and session_id is not None:
        find_host(db, account, "chat", session_id)
    return session_id


def _put_sources(db: Connection, account: str, item_id: str, sources: Iterable[Source]) -> None:
    for source in sources:
        names = {"item_id": item_id, "page_id": source.page_id, "floor_id": source.floor_id}
        _INSERT_SOURCE.run(db, {**names, "account_id": account, "quote": source.quote})


_INSERT_SOURCE = Prepared(insert(memory_sources).values(named(memory_sources, *memory_sources.c.keys())))


def find_item(db: Connection, account: str, item_id: str, *, hold: bool = False) -> Item:
    """An item. Raises 404 ``not_found``. ``hold`` lets nobody else change it until the transaction ends."""
    row = (_HOLD if hold else _FIND).row(db, {"item": item_id, "account": account})
    if row is None:
        raise failure("not_found", "There is no such memory.", id=item_id)
    return _items_of(db, account, [row])[0]


def find_items(db: Connection, account: str, ids: Sequence[str]) -> dict[str, Item]:
    """Those of some items that there are, by id."""
    rows = _SOME.rows(db, {"ids": texts(ids), "account": account})
    return {item.id: item for item in _items_of(db, account, rows)}


_NAMED = select(memory_items).where(
    memory_items.c.id == bindparam("item", type_=String), memory_items.c.account_id == bindparam("account", type_=String)
)
_FIND, _HOLD = Prepared(_NAMED), Prepared(_NAMED.with_for_update())
_SOME = Prepared(
    select(memory_items).where(OneOf(memory_items.c.id, "ids"), memory_items.c.account_id == bindparam("account", type_=String))
)


def list_items(db: Connection, account: str, paging: Paging, wanted: ItemFilter) -> Listed[Item]:
    """The account's items, sorted by ``created_at``, ``updated_at``, ``importance`` or ``confidence``."""
    query = select(memory_items).where(*_conditions(db, account, wanted))
    order = memory_items.c[paging.sort_by], memory_items.c.id
    listed = list_rows(db, query, paging, *order, weight=_SIZE)
    return Listed(_items_of(db, account, listed.items), listed.total)


_QUOTED = select(func.sum(length(memory_sources.c.quote))).where(memory_sources.c.item_id == memory_items.c.id)
_SIZE = length(memory_items.c.content, memory_items.c.keys_json, memory_items.c.entities_json) + func.coalesce(
    _QUOTED.scalar_subquery(), 0
)
"""About how long an item is in an answer."""


def count_items(db: Connection, account: str, wanted: ItemFilter) -> MemoryStats:
    """The account's items in numbers."""
    columns = memory_items.c
    per_type = [func.sum(_one(columns.type == type)) for type in ("fact", "summary", "open_loop")]
    tokens = (func.length(columns.content) + (CHARACTERS_PER_TOKEN - 1)) / CHARACTERS_PER_TOKEN
    query: Any = select(
        func.count(),
        func.sum(_one(columns.status == "active")),
        func.sum(_one(columns.status == "deprecated")),
        *per_type,
        func.avg(columns.importance),
        func.avg(columns.confidence),
        func.sum(func.floor(tokens)),
    ).where(*_conditions(db, account, wanted))
    total, active, deprecated, fact, summary, loop, importance, confidence, estimated = db.execute(query).one()
    types = ItemTypes(int(fact or 0), int(summary or 0), int(loop or 0))
    averages = float(importance or 0), float(confidence or 0)
    return MemoryStats(int(total), int(active or 0), int(deprecated or 0), types, *averages, int(estimated or 0))


def _one(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.coalesce(cast(condition, memory_items.c.coverage_start_floor_no.type), 0)


def _conditions(db: Connection, account: str, wanted: ItemFilter) -> list[ColumnElement[bool]]:
    columns = memory_items.c
    found = [columns.account_id == account, *(columns[name] == value for name, value in wanted.equal.items())]
    for name, (least, most) in wanted.ranges.items():
        found += [] if least is None else [columns[name] >= least]
        found += [] if most is None else [columns[name] <= most]
    if wanted.q is not None:
        found.append(columns.folded.contains(wanted.q.casefold(), autoescape=True))
    if wanted.session_id is not None:
        found.append(or_(columns.session_id == wanted.session_id, columns.scope == "global"))
    if wanted.ids is not None:
        found.append(columns.id.in_(_each_of(db, wanted.ids)))
    if wanted.not_ids is not None:
        found.append(columns.id.not_in(_each_of(db, wanted.not_ids)))
    return found


def _each_of(db: Connection, ids: Collection[str]) -> Select[Any]:
    """The ids as rows: a list of parameters would be longer than either engine takes."""
    given = literal(texts(list(ids)))
    if db.dialect.name == "sqlite":
        return select(func.json_each(given).table_valued("value").c.value)
    return select(func.jsonb_array_elements_text(cast(given, JSONB)).column_valued("value"))


def change_item(db: Connection, account: str, item_id: str, fields: Mapping[str, Any], now: int) -> Item:
    """Change an item as a person says; what it was before is kept (``history.py``). ``fields`` are named as in the API; of
    statuses and of what only one type has follows the rest as the contract says (3.3). Raises as ``create_item`` does."""
    before = find_item(db, account, item_id, hold=True)
    values = _changed(before, fields)
    sources = None
    if {"scope", "scope_id", "sources"} & fields.keys():
        host = find_host(db, account, fields.get("scope", before.scope), fields.get("scope_id", before.scope_id))
        given = fields.get("sources")
        named_now = [(source.page_id, source.quote) for source in before.sources] if given is None else given
        sources = find_sources(db, account, named_now) if given is not None else None
        session_id = _session_of(db, account, host, sources or {}) if sources is not None else _kept_session(before, host)
        values |= {"scope": host.scope, "scope_id": host.scope_id, "session_id": session_id}
    keep_history(db, account, before, "update", now)
    _write(db, account, before, values, now)
    if sources is not None:
        db.execute(delete(memory_sources).where(memory_sources.c.item_id == item_id, memory_sources.c.account_id == account))
        _put_sources(db, account, item_id, sources)
    return _indexed(db, account, find_item(db, account, item_id))


def _kept_session(before: Item, host: Host) -> str | None:
    """The chat of an item whose scope changes while its sources stay."""
    if not before.sources:
        return host.session_id
    if host.session_id not in (None, before.session_id):
        raise failure("validation_error", "An item belongs to one chat: its scope and its sources name several.")
    return before.session_id


def _changed(before: Item, fields: Mapping[str, Any]) -> dict[str, Json]:
    """The columns that change with an item's fields, but for those of its place."""
    plain = ("type", "importance", "confidence", "source_floor_id", "source_message_id", "status", "lifecycle_status")
    values: dict[str, Json] = {name: fields[name] for name in plain if name in fields}
    if "status" in fields and "lifecycle_status" not in fields:
        values["lifecycle_status"] = fields["status"]
    type = fields.get("type", before.type)
    values["summary_tier"] = fields.get("summary_tier", before.summary_tier) if type == "summary" else None
    values["fact_key"] = normal_fact_key(fields.get("fact_key", before.fact_key)) if type == "fact" else None
    if "content" in fields:
        text, form = split_content(fields["content"])
        values |= {"content": text, "content_form": form, "folded": text.casefold()}
    for name, column in (("pinned", "is_pinned"), ("waiting", "is_waiting")):
        if name in fields:
            values[column] = fields[name]
    for name in ("keys", "entities"):
        if name in fields:
            values[f"{name}_json"] = dumps_text(list(fields[name]))
    return values


def _write(db: Connection, account: str, before: Item, values: Mapping[str, Json], now: int) -> None:
    """Change columns of an item. What the rule of sight reads may be among them, so its readers begin anew."""
    session_id = values.get("session_id", before.session_id)
    numbers = count_writes(db, account, {before.session_id, session_id}, rewrites=True)
    own = memory_items.c.id == before.id, memory_items.c.account_id == account
    counted = {"revision": numbers[session_id or NO_SESSION], "updated_at": now}
    db.execute(update(memory_items).where(*own).values(**values, **counted))
    if session_id != before.session_id:
        ends = or_(memory_edges.c.from_id == before.id, memory_edges.c.to_id == before.id)
        moved = {"session_id": session_id, "revision": counted["revision"]}
        db.execute(update(memory_edges).where(memory_edges.c.account_id == account, ends).values(moved))


def set_status(db: Connection, account: str, ids: Sequence[str], status: MemoryStatus, now: int) -> list[BatchResult]:
    """Give many items a status, and a lifecycle status that follows; unknown ones are reported, not refused."""
    rows = db.execute(
        select(memory_items)
        .where(memory_items.c.account_id == account, memory_items.c.id.in_(ids))
        .order_by(memory_items.c.id)
        .with_for_update()
    ).all()
    before = _items_of(db, account, rows)
    numbers = count_writes(db, account, {item.session_id for item in before}, rewrites=True)
    for item in before:
        keep_history(db, account, item, "update", now)
    both = {"status": status, "lifecycle_status": status, "updated_at": now}
    for session_id, number in numbers.items():
        of_session = [item.id for item in before if (item.session_id or NO_SESSION) == session_id]
        own = memory_items.c.account_id == account, memory_items.c.id.in_(of_session)
        db.execute(update(memory_items).where(*own).values(revision=number, **both))
    after = find_items(db, account, ids)
    return [StatusResult(index, id, "updated" if id in after else "not_found", after.get(id)) for index, id in enumerate(ids)]


def delete_item(db: Connection, account: str, item_id: str, now: int) -> None:
    """Remove an item with its edges; it is kept among what people changed. Raises 404 ``not_found``."""
    _remove(db, account, [find_item(db, account, item_id, hold=True)], now)


def delete_items(db: Connection, account: str, ids: Sequence[str], now: int) -> list[BatchResult]:
    """Remove many items with their edges; unknown ones are reported, not refused."""
    held = select(memory_items).where(memory_items.c.account_id == account, memory_items.c.id.in_(ids))
    known = _items_of(db, account, db.execute(held.order_by(memory_items.c.id).with_for_update()).all())
    _remove(db, account, known, now)
    gone = {item.id for item in known}
    return [BatchResult(index, id, "deleted" if id in gone else "not_found") for index, id in enumerate(ids)]


def _remove(db: Connection, account: str, every: Sequence[Item], now: int) -> None:
    count_writes(db, account, {item.session_id for item in every}, rewrites=True)
    for item in every:
        keep_history(db, account, item, "delete", now)
    ids = [item.id for item in every]
    db.execute(delete(memory_items).where(memory_items.c.account_id == account, memory_items.c.id.in_(ids)))


def item_history(db: Connection, account: str, item_id: str) -> list[ItemChange]:
    """What people changed of an item, the latest first; of one that is removed, too. Raises 404 ``not_found``."""
    changes = history_of(db, account, item_id)
    if not changes:
        find_item(db, account, item_id)
    return changes


def undo_change(db: Connection, account: str, item_id: str, now: int) -> Item:
    """Make an item what it was before its latest change, or its removal, which is not to be undone again. A host and sources
    that are gone meanwhile stay named; edges that went with it do not come back. Raises 404 ``not_found``, 409
    ``invalid_state`` where nobody changed it."""
    session_now = _session_held(db, account, item_id)
    change = take_latest(db, account, item_id)
    if change is None:
        find_item(db, account, item_id)
        raise failure("invalid_state", "Nobody changed this memory: there is nothing to undo.", id=item_id)
    item = change.before
    numbers = count_writes(db, account, {item.session_id, session_now}, rewrites=True)
    values = {**_row_of(account, item, now), "revision": numbers[item.session_id or NO_SESSION]}
    own = memory_items.c.id == item.id, memory_items.c.account_id == account
    if db.execute(update(memory_items).where(*own).values(**values)).rowcount == 0:
        db.execute(insert(memory_items).values(**values))
    db.execute(delete(memory_sources).where(memory_sources.c.item_id == item.id, memory_sources.c.account_id == account))
    _put_sources(db, account, item.id, item.sources)
    return _indexed(db, account, find_item(db, account, item.id))


def _session_held(db: Connection, account: str, item_id: str) -> str | None:
    """The chat of an item, which nobody else changes until the transaction ends: all hold the item first, and count then."""
    own = memory_items.c.id == item_id, memory_items.c.account_id == account
    return db.execute(select(memory_items.c.session_id).where(*own).with_for_update()).scalar_one_or_none()


def _row_of(account: str, item: Item, now: int) -> dict[str, Json]:
    text, form = split_content(item.content)
    same = set(memory_items.c.keys()) & set(Item.__dataclass_fields__) - {"content"}
    return {
        **{name: getattr(item, name) for name in same},
        "account_id": account,
        "content": text,
        "content_form": form,
        "folded": text.casefold(),
        "is_pinned": item.pinned,
        "is_waiting": item.waiting,
        "keys_json": dumps_text(list(item.keys)),
        "entities_json": dumps_text(list(item.entities)),
        "updated_at": now,
    }


def note_used(db: Connection, account: str, ids: Sequence[str], now: int) -> None:
    """Remember that items went into the prompt of a turn that is committed: one write for all (contract, 3.2)."""
    if ids:
        _NOTE_USED.run(db, {"ids": texts(ids), "account": account, "now": now})


_NOTE_USED = Prepared(
    update(memory_items)
    .where(OneOf(memory_items.c.id, "ids"), memory_items.c.account_id == bindparam("account", type_=String))
    .values(last_used_at=bindparam("now"))
)


def wanted_scope(account: str, equal: Mapping[str, str]) -> dict[str, str]:
    """A filter's columns with the scope_id and the key in the form that is stored. Raises 400."""
    found = dict(equal)
    if "scope_id" in found:
        match found.get("scope"):
            case "global" | "branch" as scope:
                found["scope_id"] = normal_scope_id(account, scope, found["scope_id"])
    if "fact_key" in found:
        found["fact_key"] = normal_fact_key(found["fact_key"]) or ""
    return found


def _items_of(db: Connection, account: str, rows: Sequence[AnyRow]) -> list[Item]:
    """Items as their rows say them, with their sources."""
    by_item: dict[str, list[Source]] = {}
    if rows:
        for item_id, *source in _SOURCES.all(db, {"ids": texts([row.id for row in rows]), "account": account}):
            by_item.setdefault(item_id, []).append(Source(*source))
    return [_item_of(row, by_item.get(row.id, [])) for row in rows]


_SOURCES = Prepared(
    select(memory_sources.c.item_id, memory_sources.c.page_id, memory_sources.c.floor_id, memory_sources.c.quote)
    .where(OneOf(memory_sources.c.item_id, "ids"), memory_sources.c.account_id == bindparam("account", type_=String))
    .order_by(memory_sources.c.item_id, memory_sources.c.page_id)
)


def _item_of(row: AnyRow, sources: Sequence[Source]) -> Item:
    return Item(
        id=row.id,
        scope=row.scope,
        scope_id=row.scope_id,
        type=row.type,
        summary_tier=row.summary_tier,
        content=row.content if row.content_form == "text" else {"text": row.content},
        importance=row.importance,
        fact_key=row.fact_key,
        confidence=row.confidence,
        source_floor_id=row.source_floor_id,
        source_message_id=row.source_message_id,
        status=row.status,
        lifecycle_status=row.lifecycle_status,
        source_job_id=row.source_job_id,
        token_count_estimate=row.token_count_estimate,
        last_used_at=row.last_used_at,
        coverage_start_floor_no=row.coverage_start_floor_no,
        coverage_end_floor_no=row.coverage_end_floor_no,
        derived_from_count=row.derived_from_count,
        created_at=row.created_at,
        updated_at=row.updated_at,
        session_id=row.session_id,
        author=row.author,
        pinned=bool(row.is_pinned),
        waiting=bool(row.is_waiting),
        keys=loads(row.keys_json),
        entities=loads(row.entities_json),
        sources=sources,
    )
