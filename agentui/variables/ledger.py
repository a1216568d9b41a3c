"""A page's ledger: the writes that its run made to it and to its floor, and which of them were promoted further.

    write to the page                 a row with status accepted_page_only
    write to the floor                a row with status promoted, and the promotion from the page to the floor
    a tool's write to the branch      the same with the branch

Rows come into being with the turn's commit; one row a variable, with the value that the run left in it. They go with
their page. Seed 000, "查看页级候选变量写入" and "查看页级变量提升轨迹".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Table, insert, select

from agentui.ids import new_short_id
from agentui.jsonio import Json, dumps_text
from agentui.store.paging import total_length
from agentui.store.prepared import Prepared, named
from agentui.store.tables import promotions, staged_writes, variable_changes
from agentui.variables.errors import PageNotFound, TooMuchAtOnce
from agentui.variables.places import place_of_page
from agentui.variables.records import Variable
from agentui.variables.values import parse


@dataclass(frozen=True, slots=True)
class Entry:
    """One write with its intent: the variable it ended in, and the page's variable of the same key (the same one for a page's
    write)."""

    intent: str
    variable: Variable
    on_page: Variable
    reason: str | None
    source: Mapping[str, Json]
    staged_at: int


def write_ledger(db: Connection, account: str, run_id: str, entries: Sequence[Entry], now: int) -> None:
    """Record a run's writes, in the order given."""
    if not entries:
        return
    evidence = dumps_text({"runId": run_id, "generationAttemptNo": 1})  # an attempt that is given up leaves no writes
    # Ids sort as they were made, and so do the rows when they are read.
    ids = [new_short_id() for _ in entries]
    writes = [_write(account, id, entry, evidence, now) for id, entry in zip(ids, entries, strict=True)]
    promoted = [_promotion(account, id, entry, now) for id, entry in zip(ids, entries, strict=True) if _is_promoted(entry)]
    _STAGED.each(db, writes)
    if promoted:
        _PROMOTED.each(db, promoted)


def _insertion(table: Table, *left_out: str) -> Prepared:
    return Prepared(insert(table).values(named(table, *(column.name for column in table.c if column.name not in left_out))))


_STAGED = _insertion(staged_writes, "decision_reason")
_PROMOTED = _insertion(promotions)


def _is_promoted(entry: Entry) -> bool:
    return entry.variable.scope != "page"


def _write(account: str, id: str, entry: Entry, evidence: str, now: int) -> dict[str, Json]:
    is_promoted = _is_promoted(entry)
    return {
        "id": id,
        "account_id": account,
        "page_id": entry.on_page.scope_id,
        "key": entry.variable.key,
        "op": "set",
        "value_json": entry.variable.value_json,
        "intent": entry.intent,
        "conflict_policy": "replace",
        "reason": entry.reason,
        "source_json": dumps_text(entry.source),
        "evidence_json": evidence,
        "status": "promoted" if is_promoted else "accepted_page_only",
        "created_at": entry.staged_at,
        "resolved_at": now,
    }


def _promotion(account: str, staged_id: str, entry: Entry, now: int) -> dict[str, Json]:
    return {
        "id": new_short_id(),
        "account_id": account,
        "page_id": entry.on_page.scope_id,
        "staged_write_id": staged_id,
        "key": entry.variable.key,
        "from_scope": entry.on_page.scope,
        "from_scope_id": entry.on_page.scope_id,
        "to_scope": entry.variable.scope,
        "to_scope_id": entry.variable.scope_id,
        "conflict_policy": "replace",
        "source_variable_id": entry.on_page.id,
        "target_variable_id": entry.variable.id,
        "value_json": entry.variable.value_json,
        "created_at": now,
    }


def read_staged(db: Connection, account: str, page_id: str) -> dict[str, Json]:
    """The page's writes as seed 000 shows them, with what the contract has beside it (spec: tavern-api part 4). Raises
    PageNotFound, TooMuchAtOnce."""
    told = _of_page(db, account, page_id)
    rows = _rows(db, account, page_id, staged_writes, (staged_writes.c.value_json,), (staged_writes.c.id,))
    return {**told, "items": [{**_item(row), **_provenance(row), "decision_code": None} for row in rows]}


def read_promotions(db: Connection, account: str, page_id: str) -> dict[str, Json]:
    """The page's promotions as seed 000 shows them, with whose write each was. Raises PageNotFound, TooMuchAtOnce."""
    told = _of_page(db, account, page_id)
    of_page = (staged_writes.c.page_id == page_id, staged_writes.c.account_id == account)
    columns = (staged_writes.c.id, staged_writes.c.source_json, staged_writes.c.evidence_json)
    writes = {row.id: row._asdict() for row in db.execute(select(*columns).where(*of_page))}
    rows = _rows(db, account, page_id, promotions, (promotions.c.value_json,), (promotions.c.id,))
    decided = {"decision_code": "promotion_allowed", "decision_reason": None}
    return {
        **told,
        "items": [
            {**_item(row), "source": parse(write["source_json"]), "evidence": parse(write["evidence_json"])}
            | _provenance(write)
            | decided
            for row in rows
            for write in (writes[row["staged_write_id"]],)
        ],
    }


def _provenance(write: Mapping[str, Json]) -> dict[str, Json]:
    """Who made a write, by the names that the contract has beside the seed's: tools and nodes write here, and nothing goes to
    Session State instead."""
    source, evidence = parse(write["source_json"]), parse(write["evidence_json"])
    return {
        "source_kind": "tool",
        "actor_client_id": None,
        "source_json": source,
        "evidence_json": evidence,
        "rerouted_target": None,
        "linked_session_state_mutation_id": None,
    }


def read_changes(db: Connection, account: str, page_id: str) -> dict[str, Json]:
    """What the page's turn changed in the global, chat and branch tiers. ``before`` or ``after`` is missing where the variable
    was: of one that the turn made, or deleted. Raises PageNotFound, TooMuchAtOnce."""
    columns = variable_changes.c
    texts, order = (columns.before_json, columns.after_json), (columns.scope, columns.scope_id, columns.key)
    told = _of_page(db, account, page_id)
    rows = _rows(db, account, page_id, variable_changes, texts, order)
    return {**told, "items": [_item({name: value for name, value in row.items() if value is not None}) for row in rows]}


def _of_page(db: Connection, account: str, page_id: str) -> dict[str, Json]:
    place = place_of_page(db, account, page_id)
    if place is None:
        raise PageNotFound(f"There is no page {page_id[:100]!r}.", page_id=page_id[:100])
    return {
        "page_id": page_id,
        "floor_id": place.floor_id,
        "session_id": place.session_id,
        "branch_id": place.branch_id,
    }


def _rows(
    db: Connection,
    account: str,
    page_id: str,
    table: Table,
    texts: Sequence[ColumnElement[str]],
    order: Sequence[ColumnElement[str]],
) -> list[dict[str, Json]]:
    of_page = (table.c.page_id == page_id, table.c.account_id == account)
    TooMuchAtOnce.check(db.execute(total_length(*of_page, of=(table.c.key, *texts))).scalar() or 0)
    return [row._asdict() for row in db.execute(select(table).where(*of_page).order_by(*order))]


def _item(row: Mapping[str, Json]) -> dict[str, Json]:
    """A row under the names of the seed: ``value_json`` as text becomes ``value`` as JSON."""
    return {
        name.removesuffix("_json"): parse(value) if name.endswith("_json") else value
        for name, value in row.items()
        if name not in ("account_id", "page_id")
    }
