"""How far the memories of a chat have come: each write is counted, so that who has read them reads what is new alone."""

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, bindparam, case, literal_column

from agentui.store.prepared import INSERT, Prepared, named
from agentui.store.tables import memory_revisions

NO_SESSION = ""
"""In the place of a session's id: what belongs to no chat."""


def count_write(db: Connection, account: str, session_id: str | None, *, rewrites: bool = False) -> int:
    """Count a write to the memories of a chat, None for those of none; returns its number. ``rewrites``: something that was
    there changed in what the rule of sight reads, or went. Other writers of the chat wait until the transaction ends."""
    flag = 1 if rewrites else 0
    values = {"account_id": account, "session_id": session_id or NO_SESSION, "revision": 1, "rewritten": flag, "rewrites": flag}
    found = _COUNT.first(db, values)
    assert found is not None
    return int(found[0])


def count_writes(db: Connection, account: str, sessions: Iterable[str | None], *, rewrites: bool = False) -> Mapping[str, int]:
    """The same for several chats, in one order for all callers; the numbers by session."""
    every = sorted({session_id or NO_SESSION for session_id in sessions})
    return {session_id: count_write(db, account, session_id, rewrites=rewrites) for session_id in every}


def _counting() -> Prepared:
    old = memory_revisions.c
    after = old.revision + literal_column("1")
    values = {
        "revision": after,
        "rewritten": case((bindparam("rewrites") == literal_column("1"), after), else_=old.rewritten),
    }
    return Prepared(
        {
            engine: insert(memory_revisions)
            .values(named(memory_revisions, "account_id", "session_id", "revision", "rewritten"))
            .on_conflict_do_update(index_elements=["account_id", "session_id"], set_=values)
            .returning(memory_revisions.c.revision)
            for engine, insert in INSERT.items()
        }
    )


_COUNT = _counting()
