"""``SqliteFile``: how the database file is opened, checked and brought to the newest schema."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import cast

from sqlalchemy import Connection, Engine, NullPool, create_engine

from agentui.errors import Busy
from agentui.files import sync_folder
from agentui.store import migrations, planner
from agentui.store.backups import Backups, found_damage
from agentui.store.base import guard
from agentui.store.faults import Fault, sqlite_fault

_DURABLE = ("synchronous=FULL", "fullfsync=ON", "checkpoint_fullfsync=ON", "foreign_keys=ON", "journal_size_limit=67108864")
"""fullfsync: on macOS an ordinary fsync leaves data in the drive's cache. The last: bytes a log may keep after its peak."""


class SqliteFile:
    """One database file. ``busy_timeout`` is how many seconds to wait for other programs' locks."""

    def __init__(self, path: Path, busy_timeout: float, migrations_folder: Path = migrations.FOLDER) -> None:
        self.path = path
        self._busy_timeout = busy_timeout
        self._migrations = migrations_folder
        self.may_write = True
        """Whether connections opened from now on can write."""
        self._engine: Engine = create_engine(
            "sqlite://",
            creator=self._connect,
            poolclass=NullPool,
            hide_parameters=True,  # errors are shown and logged; what is written is private
        )
        guard(self._engine)

    @property
    def is_new(self) -> bool:
        """Whether nothing was ever written to it."""
        try:
            return self.path.stat().st_size == 0
        except FileNotFoundError:
            return True

    def damage(self) -> str | None:
        """What is wrong with the file, in SQLite's words; None when it is sound. Raises Busy while it is locked."""
        try:
            try:
                return self._check("ro")
            except sqlite3.OperationalError as error:
                if sqlite_fault(error) is not Fault.READ_ONLY:
                    raise
                return self._check("rw")  # a journal left by a kill wants to be rolled back first
        except (sqlite3.DatabaseError, MemoryError) as error:  # a wild length in a damaged file reads as no memory
            if sqlite_fault(error) is Fault.BUSY:
                raise Busy(f"{self.path.name} is locked by another program.", retry_after=1) from error
            return str(error) or "it asks for more memory than there is"

    @contextmanager
    def writer(self) -> Iterator[tuple[Connection, sqlite3.Connection]]:
        """The connection that writes, and the driver's under it, in autocommit mode: who begins and commits says so."""
        with self._open() as (db, raw):
            for pragma in ("journal_mode=WAL", *_DURABLE):
                raw.execute(f"PRAGMA {pragma}").fetchone()
            yield db, raw

    @contextmanager
    def reader(self) -> Iterator[tuple[Connection, sqlite3.Connection]]:
        """A connection that cannot write."""
        with self._open() as (db, raw):
            raw.execute("PRAGMA query_only=ON")
            yield db, raw

    def migrate(self, backups: Backups) -> None:
        """Bring the schema to the newest revision in one transaction, after a copy of what was there, and tell SQLite's planner
        of it.

        Raises StoreReadOnly for a file that a newer agentui wrote.
        """
        is_new = self.is_new
        with self.writer() as (db, raw):
            raw.execute("PRAGMA foreign_keys=OFF")  # rebuilding a table must not cascade; checked below instead
            now = migrations.current_revision(db)
            db.rollback()
            head = migrations.head_revision(self._migrations)
            if now == head and planner.is_told(raw):
                return
            if now not in (None, head) and now in migrations.revisions(self._migrations):
                backups.before_migration(now, head)
            with db.begin():
                raw.execute("BEGIN IMMEDIATE")
                migrations.upgrade(db, self._migrations)
                _check_foreign_keys(raw)
                planner.tell(raw)
        if is_new:
            sync_folder(self.path.parent)

    def _check(self, mode: str) -> str | None:
        with closing(self._connect(mode)) as raw:
            return found_damage(raw)

    def _connect(self, mode: str | None = None) -> sqlite3.Connection:
        uri = f"{self.path.absolute().as_uri()}?mode={mode or ('rwc' if self.may_write else 'ro')}"
        return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=self._busy_timeout)

    @contextmanager
    def _open(self) -> Iterator[tuple[Connection, sqlite3.Connection]]:
        with self._engine.connect() as db:
            raw = cast(sqlite3.Connection, db.connection.dbapi_connection)  # what ``_connect`` made
            db.rollback()
            yield db, raw


def _check_foreign_keys(raw: sqlite3.Connection) -> None:
    orphans = raw.execute("PRAGMA foreign_key_check").fetchmany(3)
    if orphans:
        raise sqlite3.IntegrityError(f"the migration would leave rows without their parents: {orphans}")
