"""What was written to working variables, each row at the place in the chat where that was done.

    a turn's writes       stand by its output page, and count where that is its floor's active version
    a person's writes     stand by the newest floor of the branch on which they were made

A branch holds what the rows along its path come to (``folding.py``). So a fork sees what was written before it, another version
of an answer brings its own variables, and a turn that fails leaves none. A row without a value leaves the value as it was.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, bindparam, delete, exists, func, insert, select, update

from agentui.chats.lineage import source_of
from agentui.chats.rows import branch_head
from agentui.chats.working.folding import facts_text, folded
from agentui.ids import new_short_id
from agentui.jsonio import Json
from agentui.store.prepared import Prepared
from agentui.store.tables import branches, floors, messages, working_variables
from agentui.tools.vars.record import WorkingVariable
from agentui.tools.vars.system import Change, VariableSystem

_AT_ONCE = 500
"""Values that one statement reads."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The variables that a run works with; ``is_long``: much was read for them, so that its turn should keep a checkpoint."""

    system: VariableSystem
    is_long: bool


@dataclass(frozen=True, slots=True)
class Spot:
    """Where something is written: by a turn on its page, or by a person (no page) on a branch, behind its newest floor."""

    session_id: str
    branch_id: str
    floor_id: str | None
    page_id: str | None = None


def load_system(
    db: Connection,
    account: str,
    session_id: str,
    branch_id: str,
    now: Callable[[], int],
    rules: Iterable[WorkingVariable] = (),
    until: str | None = None,
) -> Loaded:
    """The working variables of a branch with the rules of this server; ``until`` as in ``folded``."""
    found = folded(db, account, session_id, branch_id, until)
    values = _values(db, [each.value_id for each in found.stored.values()])
    held = [replace(each.variable, value=values[each.value_id]) for each in found.stored.values() if each.value_id in values]
    return Loaded(VariableSystem([*held, *rules], now=now), found.is_long)


def asked_on(db: Connection, page_id: str) -> str:
    """What a user said on an input page; "" for nothing."""
    said = select(messages.c.content).where(messages.c.page_id == page_id, messages.c.role == "user")
    return "\n\n".join(db.execute(said.order_by(messages.c.seq)).scalars())


def read_value(db: Connection, value_id: str, start: int, length: int | None) -> str | None:
    """A part of a value, in characters; all from ``start`` where ``length`` is None. None where the row is gone."""
    column = working_variables.c.value
    part = func.substr(column, start + 1) if length is None else func.substr(column, start + 1, length)
    text: str | None = db.execute(select(part).where(working_variables.c.id == value_id)).scalar_one_or_none()
    return text


def person_spot(db: Connection, account: str, session_id: str, branch_id: str) -> Spot:
    """Where a person writes on a branch now."""
    head = branch_head(db, account, session_id, branch_id) or source_of(db, account, session_id, branch_id)
    return Spot(session_id, branch_id, None if head is None else head.id)


def save_changes(db: Connection, account: str, spot: Spot, changes: Sequence[Change], now: int) -> None:
    """Keep what was changed at a place. What was written there before under the same names goes, unless another branch
    still sees it."""
    is_seen = spot.page_id is None and spot.floor_id is not None and _is_seen_behind(db, spot)
    for change in changes:
        here = (*_at(spot), working_variables.c.name == change.name)
        facts = None if change.after is None else facts_text(change.after)
        value = change.after.value if change.after is not None and change.has_new_value else None
        if facts is not None and value is None and not is_seen:
            described = update(working_variables).where(*here).values(facts_json=facts, written_at=now)
            if db.execute(described).rowcount:
                continue
        if not is_seen:
            db.execute(delete(working_variables).where(*here))
        db.execute(insert(working_variables), _row(account, spot, change.name, facts, value, now))


def carry_over(db: Connection, account: str, spot: Spot, new_floor_id: str) -> None:
    """Let what a person wrote behind a floor stand behind the one that takes its place, too."""
    place = {"session": spot.session_id, "branch": spot.branch_id, "floor": spot.floor_id}
    for row in _BEHIND.rows(db, place):
        db.execute(insert(working_variables), {**row._asdict(), "id": new_short_id(), "floor_id": new_floor_id})


_BEHIND = Prepared(
    select(working_variables)
    .where(
        working_variables.c.session_id == bindparam("session"),
        working_variables.c.branch_id == bindparam("branch"),
        working_variables.c.page_id.is_(None),
        working_variables.c.floor_id == bindparam("floor"),
    )
    .order_by(working_variables.c.id)
)


def move_working_variables(db: Connection, session_id: str, source: str, target: str) -> None:
    """Give a branch that took over the floors of another what people wrote on that one."""
    there = (working_variables.c.session_id == session_id, working_variables.c.branch_id == source)
    db.execute(update(working_variables).where(*there).values(branch_id=target))


def _is_seen_behind(db: Connection, spot: Spot) -> bool:
    """Whether another branch may see what stands behind a floor: one that was forked from it, or from a floor that stood behind
    it and was set aside."""
    forked = select(branches.c.branch_id).where(branches.c.source_floor_id == spot.floor_id)
    number = select(floors.c.floor_no).where(floors.c.id == spot.floor_id).scalar_subquery()
    here = (floors.c.session_id == spot.session_id, floors.c.branch_id == spot.branch_id)
    behind = select(floors.c.id).where(*here, floors.c.floor_no > number, floors.c.superseded_at.is_not(None))
    return bool(db.execute(select(exists(forked) | exists(behind))).scalar_one())


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
