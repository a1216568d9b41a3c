"""A turn as the memory keeps it: seven rows of one transaction."""

from sqlalchemy import Connection, func, insert, select

from agentui.store.tables import branches, floors, messages, pages, runs, sessions, variables

ACCOUNT = "test"
SESSION = "s1"
ROWS = 7
TEXT = "The quick brown fox jumps over the lazy dog. " * 10


def open_session(db: Connection, branch: str) -> None:
    """Make the session, if it is missing, and a branch of it."""
    times = {"created_at": 1, "updated_at": 1}
    if db.scalar(select(sessions.c.id)) is None:
        db.execute(insert(sessions).values(id=SESSION, account_id=ACCOUNT, **times))
    db.execute(insert(branches).values(session_id=SESSION, branch_id=branch, account_id=ACCOUNT, **times))


def save_turn(db: Connection, branch: str, number: int) -> str:
    """Write floor, run, two pages, two messages and a variable. Returns the turn's id."""
    id = f"{branch}-{number}"
    mine = {"account_id": ACCOUNT, "created_at": number}
    times = {"updated_at": number, **mine}
    floor = {"id": id, "session_id": SESSION, "branch_id": branch, "floor_no": number, "state": "committed"}
    run = {"floor_id": id, "account_id": ACCOUNT, "run_id": id, "run_type": "chat", "status": "done"}
    variable = {"id": id, "account_id": ACCOUNT, "scope": "floor", "scope_id": id, "key": "mood", "value_json": '"good"'}
    # Values beside the statement, not in it: SQLAlchemy then has next to nothing to build for a statement it knows.
    db.execute(insert(floors), {**floor, **times})
    db.execute(insert(runs), {**run, "started_at": number, "updated_at": number})
    db.execute(
        insert(pages),
        [
            {"id": f"{id}-{kind}", "floor_id": id, "page_no": no, "page_kind": kind, "is_active": True, **times}
            for no, kind in enumerate(("input", "output"))
        ],
    )
    db.execute(
        insert(messages),
        [
            {"id": f"{id}-{role}", "page_id": f"{id}-{kind}", "seq": 0, "role": role, "content": TEXT, **mine}
            for role, kind in (("user", "input"), ("assistant", "output"))
        ],
    )
    db.execute(insert(variables), {**variable, "updated_at": number})
    return id


def read_turn(db: Connection, id: str) -> list[tuple[str, str]]:
    """Role and text of a turn's messages."""
    query = select(messages.c.role, messages.c.content).join(pages).where(pages.c.floor_id == id).order_by(pages.c.page_no)
    return [(row.role, row.content) for row in db.execute(query)]


def rows_by_turn(db: Connection) -> dict[str, int]:
    """How many rows each turn has."""
    found: dict[str, int] = {}
    for query in (
        select(floors.c.id, func.count()).group_by(floors.c.id),
        select(runs.c.floor_id, func.count()).group_by(runs.c.floor_id),
        select(pages.c.floor_id, func.count()).group_by(pages.c.floor_id),
        select(pages.c.floor_id, func.count()).join(messages).group_by(pages.c.floor_id),
        select(variables.c.scope_id, func.count()).group_by(variables.c.scope_id),
    ):
        for id, rows in db.execute(query):
            found[id] = found.get(id, 0) + rows
    return found
