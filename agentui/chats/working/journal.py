"""What was written to working variables, each row at the place in the chat where that was done.

    a turn's writes       stand by its output page, and count where that is its floor's active version
    a person's writes     stand by the newest floor of the branch on which they were made

A branch holds what the rows along its path come to, first to last. So a fork sees what was written before it, another version
of an answer brings its own variables, and a turn that fails leaves none. A row without a value leaves the value as it was.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, or_, select, update

from agentui.chats.lineage import branch_path, source_of
from agentui.chats.records import AnyRow
from agentui.chats.rows import branch_head
from agentui.ids import new_short_id
from agentui.jsonio import Json, dumps_text, loads
from agentui.store.tables import branches, pages, working_variables
from agentui.tools.vars.record import WorkingVariable
from agentui.tools.vars.system import Change, VariableSystem

_AT_ONCE = 500
"""Values that one statement reads."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where something is written: by a turn on its page, or by a person (no page) on a branch, behind its newest floor."""

    session_id: str
    branch_id: str
    floor_id: str | None
    page_id: str | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """A variable without its value, which is that of the row ``value_id``; ``length`` is in characters."""

    variable: WorkingVariable
    value_id: str
    length: int


def stored_on(db: Connection, account: str, session_id: str, branch_id: str, until: str | None = None) -> dict[str, Stored]:
    """What a branch holds, by name; ``until`` names the floor of a turn whose own writes do not count, nor those behind it."""
    path = branch_path(db, account, session_id, branch_id)
    place = {floor.id: number for number, floor in enumerate(path)}
    end = place.get(until, len(path)) if until is not None else len(path)
    order = list(dict.fromkeys((*(floor.branch_id for floor in path), branch_id)))
    ends = _ends(db, session_id, order)

    def counts(row: AnyRow) -> bool:
        at = -1 if row.floor_id is None else place.get(row.floor_id, len(path) + 1)
        if row.page_id is not None:
            return at < end
        return at <= end and row.branch_id in ends and row.written_at <= ends[row.branch_id]

    def position(row: AnyRow) -> tuple[int, bool, int, str]:
        at = -1 if row.floor_id is None else place[row.floor_id]
        return at, row.page_id is None, 0 if row.page_id is not None else order.index(row.branch_id), row.id

    found: dict[str, Stored] = {}
    for row in sorted(filter(counts, _rows(db, account, session_id)), key=position):
        if row.facts_json is None:
            found.pop(row.name, None)
        elif row.length is not None:
            found[row.name] = Stored(_variable(row.name, row.facts_json), row.id, row.length)
        elif row.name in found:
            found[row.name] = replace(found[row.name], variable=_variable(row.name, row.facts_json))
    return found


def load_system(
    db: Connection,
    account: str,
    session_id: str,
    branch_id: str,
    now: Callable[[], int],
    rules: Iterable[WorkingVariable] = (),
    until: str | None = None,
) -> VariableSystem:
    """The working variables of a branch with the rules of this server; ``until`` as in ``stored_on``."""
    stored = stored_on(db, account, session_id, branch_id, until)
    values = _values(db, [each.value_id for each in stored.values()])
    held = [replace(each.variable, value=values[each.value_id]) for each in stored.values()]
    return VariableSystem([*held, *rules], now=now)


def read_value(db: Connection, value_id: str, start: int, length: int | None) -> str:
    """A part of a value, in characters; all from ``start`` where ``length`` is None."""
    column = working_variables.c.value
    part = func.substr(column, start + 1) if length is None else func.substr(column, start + 1, length)
    text: str = db.execute(select(part).where(working_variables.c.id == value_id)).scalar_one()
    return text


def person_spot(db: Connection, account: str, session_id: str, branch_id: str) -> Spot:
    """Where a person writes on a branch now."""
    head = branch_head(db, account, session_id, branch_id) or source_of(db, account, session_id, branch_id)
    return Spot(session_id, branch_id, None if head is None else head.id)


def save_changes(db: Connection, account: str, spot: Spot, changes: Sequence[Change], now: int) -> None:
    """Keep what was changed at a place. What was written there before under the same names goes, unless a branch was forked
    there and still sees it."""
    is_forked = spot.page_id is None and spot.floor_id is not None and _has_forks(db, spot.floor_id)
    for change in changes:
        here = (*_at(spot), working_variables.c.name == change.name)
        facts = None if change.after is None else _facts(change.after)
        value = change.after.value if change.after is not None and change.has_new_value else None
        if facts is not None and value is None and not is_forked:
            described = update(working_variables).where(*here).values(facts_json=facts, written_at=now)
            if db.execute(described).rowcount:
                continue
        if not is_forked:
            db.execute(delete(working_variables).where(*here))
        db.execute(insert(working_variables), _row(account, spot, change.name, facts, value, now))


def carry_over(db: Connection, account: str, spot: Spot, new_floor_id: str) -> None:
    """Let what a person wrote behind a floor stand behind the one that takes its place, too."""
    rows = db.execute(select(working_variables).where(*_at(spot)).order_by(working_variables.c.id)).all()
    for row in rows:
        db.execute(insert(working_variables), {**row._mapping, "id": new_short_id(), "floor_id": new_floor_id})


def move_working_variables(db: Connection, session_id: str, source: str, target: str) -> None:
    """Give a branch that took over the floors of another what people wrote on that one."""
    there = (working_variables.c.session_id == session_id, working_variables.c.branch_id == source)
    db.execute(update(working_variables).where(*there).values(branch_id=target))


def _rows(db: Connection, account: str, session_id: str) -> list[AnyRow]:
    """All rows of a session but those of versions that are not active, without values."""
    table = working_variables
    query: Select[Any] = (
        select(
            table.c.id,
            table.c.branch_id,
            table.c.floor_id,
            table.c.page_id,
            table.c.name,
            table.c.facts_json,
            table.c.written_at,
            table.c.length,
        )
        .outerjoin(pages, pages.c.id == table.c.page_id)
        .where(table.c.account_id == account, table.c.session_id == session_id)
        .where(or_(table.c.page_id.is_(None), pages.c.is_active))
    )
    return list(db.execute(query).all())


def _ends(db: Connection, session_id: str, order: Sequence[str]) -> dict[str, int]:
    """Until when what people wrote on each branch of a path counts: until the next branch was forked from it."""
    query = select(branches.c.branch_id, branches.c.created_at).where(branches.c.session_id == session_id)
    made = {row.branch_id: row.created_at for row in db.execute(query)}
    ends = {branch: made.get(after, 0) for branch, after in pairwise(order)}
    return {**ends, order[-1]: 2**53}


def _has_forks(db: Connection, floor_id: str) -> bool:
    return db.execute(select(branches.c.branch_id).where(branches.c.source_floor_id == floor_id).limit(1)).first() is not None


def _values(db: Connection, ids: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for start in range(0, len(ids), _AT_ONCE):
        query = select(working_variables.c.id, working_variables.c.value).where(
            working_variables.c.id.in_(ids[start : start + _AT_ONCE])
        )
        found.update((row.id, row.value) for row in db.execute(query))
    return found


def _at(spot: Spot) -> tuple[Any, ...]:
    """The rows of one place."""
    table = working_variables
    if spot.page_id is not None:
        return (table.c.page_id == spot.page_id,)
    floor = table.c.floor_id.is_(None) if spot.floor_id is None else table.c.floor_id == spot.floor_id
    return table.c.session_id == spot.session_id, table.c.branch_id == spot.branch_id, table.c.page_id.is_(None), floor


def _row(account: str, spot: Spot, name: str, facts: str | None, value: str | None, now: int) -> dict[str, Json]:
    return {
        "id": new_short_id(),
        "account_id": account,
        "session_id": spot.session_id,
        "branch_id": spot.branch_id if spot.page_id is None else None,
        "floor_id": spot.floor_id,
        "page_id": spot.page_id,
        "name": name,
        "facts_json": facts,
        "written_at": now,
        "length": None if value is None else len(value),
        "value": value,
    }


def _facts(variable: WorkingVariable) -> str:
    facts = variable.facts()
    del facts["name"], facts["length"]
    return dumps_text(facts)


def _variable(name: str, text: str) -> WorkingVariable:
    """A variable of its facts, without its value."""
    facts = loads(text)
    return WorkingVariable(
        name,
        "",
        facts["type"],
        facts["created_at"],
        facts["updated_at"],
        facts["last_visited_at"],
        facts["desc"],
        tuple(facts["tags"]),
        facts["keep"],
        facts["is_literal"],
        facts["reference_count"],
    )
