"""Where each text of a chat was said: written with every message, and asked by who looks for a client's place."""

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

from sqlalchemy import (
    CTE,
    JSON,
    ColumnElement,
    Connection,
    FromClause,
    Integer,
    Select,
    String,
    bindparam,
    case,
    func,
    literal,
    literal_column,
    null,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.sql.expression import cast

from agentui.chat.fingerprints import LONGEST, fingerprint
from agentui.jsonio import dumps_text
from agentui.store.kept import FLOOR_IS_KEPT
from agentui.store.prepared import INSERT, Found, Prepared
from agentui.store.tables import floors, messages, pages, sessions, text_index

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


def note_sent(db: Connection, place: tuple[str, str, str, str], notes: "Said") -> None:
    """Write down what a client sent with what it asks on a page, in one statement: texts that stood ``beside`` the question and
    may be it, those that the client ``added``, each ``part`` that may be all of it, and how its chat begins (``opening``).
    ``place`` is account, session, floor and page."""
    if notes:
        names = ("of_account", "of_session", "of_floor", "of_page")
        _NOTE_SENT.run(db, {**dict(zip(names, place, strict=True)), "said": dumps_text(list(notes))})


def renew_question(db: Connection, account: str, floor_id: str, page_id: str, question: str, added: Collection[int]) -> None:
    """Have a page be found by another question; what it asked until now, and these texts, the client had added."""
    mine = (text_index.c.floor_id == floor_id, text_index.c.page_id == page_id, text_index.c.account_id == account)
    asked = (text_index.c.session_id, text_index.c.past)
    row = db.execute(select(*asked).where(*mine, text_index.c.side == "user").limit(1)).one_or_none()
    number = fingerprint(question)
    if row is None or number is None:
        return
    db.execute(update(text_index).where(*mine, text_index.c.side == "user").values(side="added"))
    texts = [(number, "user"), *((text, "added") for text in added if text != number)]
    ids = {"floor_id": floor_id, "page_id": page_id, "account_id": account, "session_id": row.session_id, "past": row.past}
    statement = INSERT[db.dialect.name](text_index).values([{**ids, "number": text, "side": side} for text, side in texts])
    key = ["floor_id", "page_id", "number"]
    db.execute(statement.on_conflict_do_update(index_elements=key, set_={"side": statement.excluded.side}))


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


def _note_sent() -> Prepared:
    by_engine = {}
    for engine, insert in INSERT.items():
        given = _looked_for(engine)
        mine = [bindparam(f"of_{name}", type_=String) for name in ("floor", "page", "account", "session")]
        columns = ["floor_id", "page_id", "account_id", "session_id", "number", "side"]
        # SQLite's parser takes the ON of the conflict for one of a join, unless a condition stands before it.
        rows = select(*(cast(one, String) for one in mine), given.c.number, given.c.side).where(true())
        by_engine[engine] = insert(text_index).from_select(columns, rows).on_conflict_do_nothing()
    return Prepared(by_engine)


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


Said: TypeAlias = Collection[tuple[str, int]]
"""Texts that are looked for: the side that said each, and its number."""


def floors_saying(db: Connection, account: str, session_id: str, said: Said) -> set[str]:
    """The latest committed floors of a session on which each of these was said."""
    values = {"account": account, "session": session_id, "said": dumps_text(list(said)), "most": _MOST_HITS}
    return {row[0] for row in _SAYING.all(db, values)}


def sessions_saying(db: Connection, account: str, caller: str, said: Said, most: int) -> Sequence[Found]:
    """The sessions in which each of these was said, whoever said it, the newest first: side, number and session. Those of other
    callers are passed over, however many they are: the same opening begins many people's chats."""
    return _SESSIONS.all(db, {"account": account, "caller": caller, "said": dumps_text(list(said)), "most": most})


def _looked_for(engine: str) -> FromClause:
    """The texts of ``said`` as rows: one statement looks for all of them."""
    said = bindparam("said", type_=String)
    if engine == "sqlite":
        pair = func.json_each(said).table_valued("value").c.value
        side, number = func.json_extract(pair, "$[0]"), func.json_extract(pair, "$[1]")
    else:
        pair = func.json_array_elements(cast(said, JSON)).table_valued("value").c.value
        side, number = func.json_extract_path_text(pair, "0"), func.json_extract_path_text(pair, "1")
    types = text_index.c.side.type, text_index.c.number.type
    return select(cast(side, types[0]).label("side"), cast(number, types[1]).label("number")).subquery("given")


def _saying() -> Prepared:
    """What SQLite's index has in the order of the floors, step by step; PostgreSQL sorts it, so that it is asked once."""
    given = _looked_for("postgresql")
    newest = _floors_saying(given).limit(bindparam("most", type_=Integer)).lateral()
    found = _steps(_looked_for("sqlite"), lambda said, *before: _floors_saying(said, *before).limit(1))
    return Prepared(
        {
            "postgresql": select(newest.c.floor_id).select_from(given.join(newest, true())),
            "sqlite": select(found.c.id).where(found.c.id.is_not(null())),
        }
    )


def _floors_saying(said: FromClause, before: ColumnElement[str] | None = None) -> Select[tuple[str]]:
    """The committed floors of the session on which a text was said, the latest first; those before another if that is given."""
    index = text_index.alias()
    query = select(index.c.floor_id).join(floors, floors.c.id == index.c.floor_id)
    place = (index.c.account_id == bindparam("account", type_=String), index.c.session_id == bindparam("session", type_=String))
    is_live = (floors.c.state == "committed", floors.c.superseded_at.is_(null()), FLOOR_IS_KEPT)
    query = query.where(*place, index.c.number == said.c.number, index.c.side == said.c.side, *is_live).correlate(said)
    return (query if before is None else query.where(index.c.floor_id < before)).order_by(index.c.floor_id.desc())


def _sessions() -> Prepared:
    by_engine = {}
    for engine in INSERT:
        found = _steps(_looked_for(engine), _newest_session)
        columns = select(found.c.side, found.c.number, found.c.id)
        by_engine[engine] = columns.where(found.c.id.is_not(null())).order_by(found.c.count)
    return Prepared(by_engine)


def _newest_session(said: FromClause, before: ColumnElement[str] | None = None) -> Select[tuple[str]]:
    """The newest session of the caller's, or of nobody's, in which a text was said; of those before another if that is given.
    The index has them in their order, so that one row is read where no other caller's stands before it."""
    index = text_index.alias()
    place = (index.c.account_id == bindparam("account", type_=String), index.c.number == said.c.number)
    is_own = sessions.c.caller.is_(null()) | (sessions.c.caller == bindparam("caller", type_=String))
    query = select(index.c.session_id).join(sessions, sessions.c.id == index.c.session_id).where(*place, is_own)
    query = query.correlate(said).order_by(index.c.session_id.desc()).limit(literal_column("1"))
    return query if before is None else query.where(index.c.session_id < before)


def _steps(given: FromClause, newest: Callable[..., Select[tuple[str]]]) -> CTE:
    """What ``newest`` finds of each text, then what it finds before that, and so on: one step of the index each, from its end,
    for some texts are said thousands of times."""
    first = newest(given).scalar_subquery()
    found = select(given.c.side, given.c.number, first.label("id"), literal(1).label("count")).cte("found", recursive=True)
    is_wanted = (found.c.id.is_not(null()), found.c.count < bindparam("most", type_=Integer))
    before = newest(found, found.c.id).scalar_subquery()
    return found.union_all(select(found.c.side, found.c.number, before, found.c.count + 1).where(*is_wanted))


_NOTE_SENT = _note_sent()
_SAYING = _saying()
_SESSIONS = _sessions()


def answers_said(db: Connection, account: str, page_ids: Collection[str]) -> Sequence[tuple[str, str]]:
    """The pages of these on which something was said, each with the beginning of its first message (``LONGEST``)."""
    said = select(messages.c.page_id, func.substr(messages.c.content, 1, 2 * LONGEST)).where(
        messages.c.page_id.in_(page_ids), messages.c.account_id == account
    )
    return [(row[0], row[1]) for row in db.execute(said.order_by(messages.c.seq.desc()))]
