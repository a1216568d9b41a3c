"""What the working variables of a branch come to: the rows along its path, first to last.

It is read from the newest floor back, as far as a checkpoint: what a turn reads does not grow with its chat. Rows beyond the
active versions of floors do not count, nor what people wrote on a branch after the next one was forked from it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, and_, or_, select

from agentui.chats.lineage import ancestors, source_of
from agentui.chats.records import AnyRow
from agentui.chats.rows import on_branch
from agentui.chats.working.checkpoints import checkpoints_of, read_checkpoint, save_checkpoint
from agentui.jsonio import dumps_text, loads
from agentui.store.tables import branches, floors, pages, working_variables
from agentui.tools.vars.record import WorkingVariable

_AT_ONCE = 64
"""Floors of one statement."""
LONG = 128
"""Floors and rows beyond the number of variables; whose turn reads more leaves a checkpoint."""
_ALWAYS = 2**53


@dataclass(frozen=True, slots=True)
class Stored:
    """A variable without its value, which is that of the row ``value_id``; ``length`` is in characters."""

    variable: WorkingVariable
    value_id: str
    length: int


@dataclass(frozen=True, slots=True)
class Folded:
    """What a branch holds, by name, and how many floors and rows were read for it."""

    stored: dict[str, Stored]
    steps: int

    @property
    def is_long(self) -> bool:
        """Whether so much was read that it is worth a checkpoint: no more is kept than was written since the last."""
        return self.steps > LONG + len(self.stored)


class _At(NamedTuple):
    """A floor of a path, and the branch that it lies on."""

    floor_id: str
    branch_id: str


def folded(db: Connection, account: str, session_id: str, branch_id: str, until: str | None = None) -> Folded:
    """What a branch holds; ``until`` names the floor of a turn whose own writes do not count, nor those behind it."""
    path, base = _path_back(db, account, session_id, branch_id, until)
    rows = _rows(db, account, [at.floor_id for at in path], {until, base})
    order = list(dict.fromkeys((branch_id, *(at.branch_id for at in path))))
    if base is None:
        rows += _first_rows(db, account, session_id, order)
    ends = _ends(db, session_id, order)
    found = {} if base is None else _held_at(db, base)
    back = {at.floor_id: number for number, at in enumerate(path)}

    def counts(row: AnyRow) -> bool:
        return row.page_id is not None or (row.branch_id in ends and row.written_at <= ends[row.branch_id])

    def position(row: AnyRow) -> tuple[int, bool, int, str]:
        is_persons = row.page_id is None
        return -back.get(row.floor_id, len(path)), is_persons, -order.index(row.branch_id) if is_persons else 0, row.id

    for row in sorted(filter(counts, rows), key=position):
        if row.facts_json is None:
            found.pop(row.name, None)
        elif row.length is not None:
            found[row.name] = Stored(variable_of(row.name, row.facts_json), row.id, row.length)
        elif row.name in found:
            found[row.name] = replace(found[row.name], variable=variable_of(row.name, row.facts_json))
    return Folded(found, len(path) + len(rows))


def keep_checkpoint(
    db: Connection, account: str, session_id: str, branch_id: str, floor_id: str, page_id: str, now: int
) -> None:
    """Keep what the newest turn of a branch, which is committed now, leaves."""
    stored = folded(db, account, session_id, branch_id).stored
    number: int = db.execute(select(floors.c.floor_no).where(floors.c.id == floor_id)).scalar_one()
    held = {name: (facts_text(each.variable), each.value_id, each.length) for name, each in stored.items()}
    save_checkpoint(db, account, session_id, number, page_id, held, now)


def facts_text(variable: WorkingVariable) -> str:
    """All of a variable but its name and its value, as JSON."""
    facts = variable.facts()
    del facts["name"], facts["length"]
    return dumps_text(facts)


def variable_of(name: str, text: str) -> WorkingVariable:
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


def _path_back(
    db: Connection, account: str, session_id: str, branch_id: str, until: str | None
) -> tuple[list[_At], str | None]:
    """The floors of a branch, newest first, as far as the first one with a checkpoint, which is told as well."""
    path: list[_At] = []
    for part in _parts(db, account, session_id, branch_id, until):
        having = checkpoints_of(db, [at.floor_id for at in part if at.floor_id != until])
        for at in part:
            path.append(at)
            if at.floor_id in having:
                return path, at.floor_id
    return path, None


def _parts(db: Connection, account: str, session_id: str, branch_id: str, until: str | None) -> Iterator[list[_At]]:
    """The floors that a branch leads through (``lineage.branch_path``), newest first, from ``until`` on where it is one of the
    branch's own; as many at once as one statement finds."""
    here = on_branch(account, session_id, branch_id)
    last = db.execute(select(floors.c.floor_no).where(*here, floors.c.id == until)).scalar_one_or_none()
    bounds = () if last is None else (floors.c.floor_no <= last,)
    while True:
        query = select(floors.c.id, floors.c.floor_no).where(*here, *bounds).order_by(floors.c.floor_no.desc())
        own = db.execute(query.limit(_AT_ONCE)).all()
        if own:
            yield [_At(row.id, branch_id) for row in own]
        if len(own) < _AT_ONCE:
            break
        bounds = (floors.c.floor_no < own[-1].floor_no,)
    source = source_of(db, account, session_id, branch_id)
    if source is None:
        return
    yield [_At(source.id, source.branch_id)]
    for ids in ancestors(db, account, source.id):
        named = db.execute(select(floors.c.id, floors.c.branch_id).where(floors.c.id.in_(ids)))
        lying = {row.id: row.branch_id for row in named}
        yield [_At(id, lying[id]) for id in ids]


def _rows(db: Connection, account: str, floor_ids: Sequence[str], before: set[str | None]) -> list[AnyRow]:
    """What was written at some floors, without values; of those of ``before`` only what people wrote behind them."""
    table = working_variables
    found: list[AnyRow] = []
    for start in range(0, len(floor_ids), _AT_ONCE):
        part = floor_ids[start : start + _AT_ONCE]
        turns = [id for id in part if id not in before]
        query = _columns().outerjoin(pages, pages.c.id == table.c.page_id).where(table.c.account_id == account)
        written = or_(table.c.page_id.is_(None), and_(pages.c.is_active, table.c.floor_id.in_(turns)))
        found += db.execute(query.where(table.c.floor_id.in_(part), written)).all()
    return found


def _first_rows(db: Connection, account: str, session_id: str, branch_ids: Sequence[str]) -> list[AnyRow]:
    """What people wrote before the first floor."""
    table = working_variables
    here = (table.c.account_id == account, table.c.session_id == session_id, table.c.branch_id.in_(branch_ids))
    return list(db.execute(_columns().where(*here, table.c.floor_id.is_(None))).all())


def _columns() -> Select[Any]:
    """Rows of the journal without their values."""
    return select(*(column for column in working_variables.c if column.name not in ("value", "account_id", "session_id")))


def _ends(db: Connection, session_id: str, order: Sequence[str]) -> dict[str, int]:
    """Until when what people wrote on each branch of a path, newest first, counts: until the next one was forked from it."""
    query = select(branches.c.branch_id, branches.c.created_at).where(
        branches.c.session_id == session_id, branches.c.branch_id.in_(order)
    )
    made = {row.branch_id: row.created_at for row in db.execute(query)}
    newest, *older = order
    return {newest: _ALWAYS, **{branch: made.get(after, 0) for branch, after in zip(older, order, strict=False)}}


def _held_at(db: Connection, floor_id: str) -> dict[str, Stored]:
    """What the turn of a floor with a checkpoint left."""
    held = read_checkpoint(db, floor_id)
    return {name: Stored(variable_of(name, facts), value_id, length) for name, (facts, value_id, length) in held.items()}
