"""Where each text of a chat was said: written with every message, and asked by who looks for a client's place."""

from collections.abc import Sequence

from sqlalchemy import Connection, Integer, String, bindparam, case, func, literal, null, or_, select, update
from sqlalchemy.sql.expression import cast

from agentui.chat.fingerprints import fingerprint
from agentui.store.prepared import INSERT, Found, Prepared
from agentui.store.tables import floors, pages, text_index
from agentui.variables.places import FLOOR_IS_KEPT

MOST_FLOORS = 48
"""Of a path from a floor upward: enough to tell it from every other."""
_MOST_HITS = 4


def index_text(db: Connection, account: str, page_id: str, role: str, text: str) -> None:
    """Write down that this was said on a page, by the user or the model; what others say is not looked for."""
    number = fingerprint(text) if role in ("user", "assistant") else None
    if number is not None:
        _INDEX.run(db, {"page": page_id, "account": account, "number_now": number, "side_now": role})


def note_past(db: Connection, floor_id: str, page_id: str, past: int) -> None:
    """Write down how many answers the client sent before what it asks on this page."""
    _NOTE.run(db, {"floor": floor_id, "page": page_id, "past_now": past})


_NOTE = Prepared(
    update(text_index)
    .where(text_index.c.floor_id == bindparam("floor"), text_index.c.page_id == bindparam("page"))
    .values(past=bindparam("past_now"))
)


def _index() -> Prepared:
    """An INSERT that does nothing where the page says the text already."""
    said = (
        select(
            floors.c.id,
            pages.c.id,
            cast(bindparam("number_now"), text_index.c.number.type),
            floors.c.account_id,
            floors.c.session_id,
            cast(bindparam("side_now"), String(16)),
        )
        .join(floors, floors.c.id == pages.c.floor_id)
        .where(pages.c.id == bindparam("page"), pages.c.account_id == bindparam("account"))
    )
    columns = ["floor_id", "page_id", "number", "account_id", "session_id", "side"]
    return Prepared(
        {engine: insert(text_index).from_select(columns, said).on_conflict_do_nothing() for engine, insert in INSERT.items()}
    )


_INDEX = _index()


def path_rows(db: Connection, account: str, floor_id: str, most: int = MOST_FLOORS) -> Sequence[Found]:
    """The floors from this one upward, through the branches that it was forked from, each text of them a row: depth (0 is the
    floor itself), floor, branch, parent, 1 where it is live and nothing follows on its branch, side, page, number, past, and
    whether the page is active (1), not (0) or gone (None). A floor that says nothing is one row of nulls."""
    return _PATH.all(db, {"account": account, "floor": floor_id, "most": most})


def _path() -> Prepared:
    account = bindparam("account", type_=String)
    chain = select(cast(bindparam("floor"), floors.c.id.type).label("id"), literal(0).label("depth")).cte(
        "chain", recursive=True
    )
    above = (
        select(floors.c.parent_floor_id, chain.c.depth + 1)
        .join(chain, floors.c.id == chain.c.id)
        .where(chain.c.depth + 1 < bindparam("most", type_=Integer), floors.c.parent_floor_id.is_not(null()))
    )
    chain = chain.union_all(above)
    other = floors.alias()
    # The greatest number and not "is there a greater one": for that PostgreSQL goes through the table where it expects many.
    newest = (
        select(func.max(other.c.floor_no))
        .where(
            other.c.session_id == floors.c.session_id,
            other.c.branch_id == floors.c.branch_id,
            other.c.superseded_at.is_(null()),
            other.c.state == "committed",
        )
        .correlate(floors)
        .scalar_subquery()
    )
    return Prepared(
        select(
            chain.c.depth,
            floors.c.id,
            floors.c.branch_id,
            floors.c.parent_floor_id,
            case((or_(newest > floors.c.floor_no, floors.c.superseded_at.is_not(null())), 0), else_=1),
            text_index.c.side,
            text_index.c.page_id,
            text_index.c.number,
            text_index.c.past,
            case((pages.c.id.is_(null()), None), (pages.c.is_active, 1), else_=0),
        )
        .select_from(chain)
        .join(floors, floors.c.id == chain.c.id)
        .outerjoin(text_index, text_index.c.floor_id == floors.c.id)
        .outerjoin(pages, pages.c.id == text_index.c.page_id)
        .where(floors.c.account_id == account)
        .order_by(chain.c.depth)
    )


_PATH = _path()


def floors_saying(db: Connection, account: str, session_id: str, side: str, number: int) -> Sequence[str]:
    """The latest committed floors of a session on which this was said."""
    values = {"account": account, "session": session_id, "side": side, "number": number, "most": _MOST_HITS}
    return [row[0] for row in _SAYING.all(db, values)]


_SAYING = Prepared(
    select(floors.c.id)
    .join(text_index, text_index.c.floor_id == floors.c.id)
    .where(
        text_index.c.account_id == bindparam("account", type_=String),
        text_index.c.number == bindparam("number", type_=text_index.c.number.type),
        text_index.c.session_id == bindparam("session", type_=String),
        text_index.c.side == bindparam("side", type_=String),
        floors.c.state == "committed",
        floors.c.superseded_at.is_(null()),
        FLOOR_IS_KEPT,
    )
    .order_by(text_index.c.floor_id.desc())  # as SQLite's index has them: it stops at the last that is wanted
    .limit(bindparam("most", type_=Integer))
)


def sessions_saying(db: Connection, account: str, number: int, most: int) -> Sequence[str]:
    """The sessions in which this was said, the newest first."""
    return [row[0] for row in _SESSIONS.all(db, {"account": account, "number": number, "most": most})]


def _sessions() -> Prepared:
    """One step of the index a session, from the last to the first: some texts are said thousands of times in each."""
    said = (
        text_index.c.account_id == bindparam("account", type_=String),
        text_index.c.number == bindparam("number", type_=text_index.c.number.type),
    )
    newest = func.max(text_index.c.session_id)
    found = select(newest.label("id"), literal(1).label("count")).where(*said).cte("found", recursive=True)
    before = select(newest).where(*said, text_index.c.session_id < found.c.id).correlate(found).scalar_subquery()
    is_wanted = (found.c.id.is_not(null()), found.c.count < bindparam("most", type_=Integer))
    found = found.union_all(select(before, found.c.count + 1).where(*is_wanted))
    return Prepared(select(found.c.id).where(found.c.id.is_not(null())).order_by(found.c.count))


_SESSIONS = _sessions()
