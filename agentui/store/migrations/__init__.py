"""The schema's history: revisions in ``versions/``, run by Alembic when the store starts.

A new revision is a file ``versions/r0002_what_it_does.py`` with ``revision``, ``down_revision`` (the one before) and
``upgrade(op)``, which gets Alembic's ``Operations`` as an argument instead of importing the global proxy: two stores may
migrate in one process. Shipped revisions never change. ``tests/store/test_migrations.py`` prints what is missing when
``tables`` says more than the revisions do.

Alembic is imported where a database is not at the newest revision: it takes 11 MB, and most starts find nothing to do.
"""

from functools import cache
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from agentui.errors import StoreReadOnly

FOLDER = Path(__file__).parent


def current_revision(db: Connection) -> str | None:
    """The revision the database is at; None when it is empty."""
    # Alembic's own table (its documentation, "version_table"), which has one row.
    return db.scalar(text("SELECT version_num FROM alembic_version")) if inspect(db).has_table("alembic_version") else None


@cache
def revisions(folder: Path = FOLDER) -> tuple[str, ...]:
    """The revisions that this agentui has, oldest first, by the names of their files (a test compares them with Alembic)."""
    return tuple(path.name[1:].partition("_")[0] for path in sorted((folder / "versions").glob("r[0-9]*_*.py")))


def head_revision(folder: Path = FOLDER) -> str:
    """The revision this agentui needs."""
    return revisions(folder)[-1]


def upgrade(db: Connection, folder: Path = FOLDER) -> None:
    """Bring the schema to the newest revision, in the transaction that the connection is in.

    Raises StoreReadOnly when the database is at a revision that this agentui does not know.
    """
    now = current_revision(db)
    if now == head_revision(folder):
        return
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    if now is not None and now not in revisions(folder):
        raise StoreReadOnly(
            f"The database is at revision {now}, which this agentui does not know: a newer one wrote it. Start that one.",
            revision=now,
        )
    script = ScriptDirectory(str(folder))
    context = MigrationContext.configure(db)
    missing = list(script.iterate_revisions("head", now or "base"))
    operations = Operations(context)
    for revision in reversed(missing):
        revision.module.upgrade(operations)
    if missing:
        context.stamp(script, "head")
