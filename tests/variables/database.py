"""A database for tests of transaction functions: the schema, and hosts made by hand."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, insert, update

from agentui.store.tables import DEFAULT_ACCOUNT, branches, floors, metadata, pages, sessions

P = ParamSpec("P")
T = TypeVar("T")

ACCOUNT = DEFAULT_ACCOUNT


@contextmanager
def sqlite_engine(folder: Path) -> Iterator[Engine]:
    """A new SQLite file with the schema, foreign keys on."""
    engine = create_engine(f"sqlite:///{folder / 'memory.db'}")

    @event.listens_for(engine, "connect")
    def keep_foreign_keys(connection: Any, record: Any) -> None:
        connection.execute("PRAGMA foreign_keys=ON")

    metadata.create_all(engine)
    yield engine
    engine.dispose()


@dataclass
class Database:
    """Transactions, one at a time, and a clock that counts them."""

    engine: Engine
    now: int = 1_735_689_600_000
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def run(self, transaction: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run one transaction; what it raises undoes it."""
        self.now += 1
        with self.engine.begin() as db:
            return transaction(db, *args, **kwargs)

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
