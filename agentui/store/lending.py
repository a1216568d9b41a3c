"""Lending a connection to a transaction function: the function works on it, only the store ends the transaction.

On SQLite neighbours share one transaction, so a function that committed or rolled back would do it for them too.
``with db.begin_nested():`` is a function's own way to try something and go on after its failure.
"""

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection, Engine, event

T = TypeVar("T")

_LENT = "agentui.lent"


def guard(engine: Engine) -> None:
    """Make commit and rollback of this engine's connections fail while they are lent."""
    event.listen(engine, "commit", _refuse)
    event.listen(engine, "rollback", _refuse)


def lend(db: Connection, transaction: Callable[[Connection], T]) -> T:
    """Run the function on the connection and return its result."""
    info = db.info
    info[_LENT] = True
    try:
        return transaction(db)
    finally:
        del info[_LENT]


def _refuse(db: Connection) -> None:
    if not db.invalidated and _LENT in db.info:  # a lost connection rolls itself back
        raise RuntimeError("A transaction function must not commit or roll back: return, or raise.")
