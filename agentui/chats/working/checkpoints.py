"""What the working variables came to with the turn of a page, kept now and then so that later turns need not read what came
before.

A checkpoint says what its page's turn left, with everything before it on the branch. It holds as long as nothing of that
changes; what does change a floor's past, or its active version, forgets those of the floors behind (``forget_checkpoints``).
Numbers of floors only rise along a branch, so that all that go on from a floor have greater ones.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from sqlalchemy import Connection, bindparam, delete, insert, select

from agentui.jsonio import Json, dumps_text, loads
from agentui.store.prepared import Prepared
from agentui.store.tables import pages, working_checkpoints

Held: TypeAlias = Mapping[str, tuple[str, str, int]]
"""What was held, by name: facts as JSON text, the row of the value, and its length in characters."""


def checkpoints_of(db: Connection, floor_ids: Sequence[str]) -> set[str]:
    """Those of some floors whose active version has a checkpoint."""
    query = select(pages.c.floor_id).join(working_checkpoints, working_checkpoints.c.page_id == pages.c.id)
    return set(db.execute(query.where(pages.c.floor_id.in_(floor_ids), pages.c.is_active)).scalars())


def read_checkpoint(db: Connection, floor_id: str) -> Held:
    """The checkpoint of a floor that has one."""
    query = select(working_checkpoints.c.held_json).join(pages, pages.c.id == working_checkpoints.c.page_id)
    text: str = db.execute(query.where(pages.c.floor_id == floor_id, pages.c.is_active)).scalar_one()
    held: Mapping[str, Sequence[Json]] = loads(text)
    return {name: (facts, value_id, length) for name, (facts, value_id, length) in held.items()}


def save_checkpoint(
    db: Connection,
    account: str,
    session_id: str,
    floor_no: int,
    page_id: str,
    held: Held,
    now: int,
) -> None:
    """Keep what a turn that is committed now leaves."""
    row = {
        "page_id": page_id,
        "account_id": account,
        "session_id": session_id,
        "floor_no": floor_no,
        "held_json": dumps_text(dict(held)),
        "created_at": now,
    }
    db.execute(insert(working_checkpoints), row)


def forget_checkpoints(db: Connection, session_id: str, floor_no: int) -> None:
    """Forget those of all floors behind a number: what they go on from is about to change."""
    _FORGET.run(db, {"session": session_id, "number": floor_no})


_FORGET = Prepared(
    delete(working_checkpoints).where(
        working_checkpoints.c.session_id == bindparam("session"), working_checkpoints.c.floor_no > bindparam("number")
    )
)
