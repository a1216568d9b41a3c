"""A memory for tests of transaction functions: a store on either engine, and hosts made by hand."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from itertools import count
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, delete, insert, update

from agentui.principal import DEFAULT_ACCOUNT
from agentui.store.base import Store
from agentui.store.tables import branches, floors, metadata, pages, sessions
from agentui.variables.places import place_of_floor
from agentui.variables.snapshots import save_snapshot_of

P = ParamSpec("P")
T = TypeVar("T")

ACCOUNT = DEFAULT_ACCOUNT


def save_branch_snapshot(db: Connection, account: str, floor_id: str, now: int) -> None:
    """Keep the variables of the floor's branch, as a commit does."""
    place = place_of_floor(db, account, floor_id)
    assert place is not None and place.branch_id is not None, floor_id
    save_snapshot_of(db, account, floor_id, place.session_id, place.branch_id, now)


class Database:
    """Transactions, one at a time, and a clock that counts them."""

    def __init__(self, runner: asyncio.Runner, store: Store) -> None:
        self._runner = runner
        self.store = store
        self.now = 1_735_689_600_000
        self._numbers: Iterator[int] = count(1)

    def run(self, transaction: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run one writing transaction; what it raises undoes it."""
        self.now += 1
        return self._runner.run(self.store.write(transaction, *args, **kwargs))

    def read(self, transaction: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run one transaction that only reads."""
        return self._runner.run(self.store.read(transaction, *args, **kwargs))

    def finish(self, work: Coroutine[object, object, T]) -> T:
        """Run something that awaits the store."""
        return self._runner.run(work)

    def empty(self) -> None:
        """Remove every row."""
        self.run(_empty)

    def add_session(self, account: str = ACCOUNT) -> str:
        """A session with its branch main."""
        id = f"sess_{next(self._numbers)}"
        times = {"created_at": self.now, "updated_at": self.now}
        self.run(lambda db: db.execute(insert(sessions).values(id=id, account_id=account, **times)))
        self.add_branch(id, "main", account)
        return id

    def add_branch(self, session_id: str, branch_id: str, account: str = ACCOUNT) -> str:
        """A registered branch."""
        times = {"created_at": self.now, "updated_at": self.now}
        row = {"session_id": session_id, "branch_id": branch_id, "account_id": account, **times}
        self.run(lambda db: db.execute(insert(branches).values(row)))
        return branch_id

    def add_floor(self, session_id: str, branch_id: str = "main", state: str = "draft", account: str = ACCOUNT) -> str:
        """A floor on a branch."""
        number = next(self._numbers)
        id = f"floor_{number}"
        row = {"id": id, "account_id": account, "session_id": session_id, "branch_id": branch_id, "floor_no": number}
        times = {"created_at": self.now, "updated_at": self.now}
        self.run(lambda db: db.execute(insert(floors).values(**row, **times, state=state)))
        return id

    def add_page(self, floor_id: str, account: str = ACCOUNT) -> str:
        """A page of a floor."""
        number = next(self._numbers)
        id = f"page_{number}"
        row = {"id": id, "account_id": account, "floor_id": floor_id, "page_no": number, "page_kind": "output"}
        times = {"created_at": self.now, "updated_at": self.now}
        self.run(lambda db: db.execute(insert(pages).values(**row, **times, is_active=True)))
        return id

    def set_state(self, floor_id: str, state: str) -> None:
        """Move a floor to another state."""
        self.run(lambda db: db.execute(update(floors).where(floors.c.id == floor_id).values(state=state)))


def _empty(db: Connection) -> None:
    for table in reversed(metadata.sorted_tables):
        db.execute(delete(table))
