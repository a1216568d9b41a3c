"""The schema's history: revisions in ``versions/``, run by Alembic when the store starts.

A new revision is a file ``versions/r0002_what_it_does.py`` with ``revision``, ``down_revision`` (the one before) and
``upgrade(op)``, which gets Alembic's ``Operations`` as an argument instead of importing the global proxy: two stores may
migrate in one process. Shipped revisions never change. ``tests/store/test_migrations.py`` prints what is missing when
``tables`` says more than the revisions do.
"""

from functools import cache
from pathlib import Path

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from agentui.errors import StoreReadOnly

FOLDER = Path(__file__).parent


def current_revision(db: Connection) -> str | None:
    """The revision the database is at; None when it is empty."""
    return MigrationContext.configure(db).get_current_revision()


@cache
def head_revision(folder: Path = FOLDER) -> str:
    """The revision this agentui needs."""
    head = ScriptDirectory(str(folder)).get_current_head()
    if head is None:
        raise RuntimeError(f"{folder} has no revisions.")
    return head


def is_known(revision: str, folder: Path = FOLDER) -> bool:
    """Whether this agentui has the revision; it lacks those of newer ones."""
    return any(script.revision == revision for script in ScriptDirectory(str(folder)).walk_revisions())


def upgrade(db: Connection, folder: Path = FOLDER) -> None:
    """Bring the schema to the newest revision, in the transaction that the connection is in.

    Raises StoreReadOnly when the database is at a revision that this agentui does not know.
    """
    context = MigrationContext.configure(db)
    now = context.get_current_revision()
    if now == head_revision(folder):
        return  # to read all revisions would be half of a start
    script = ScriptDirectory(str(folder))
    if now is not None and not is_known(now, folder):
        raise StoreReadOnly(
            f"The database is at revision {now}, which this agentui does not know: a newer one wrote it. Start that one.",
            revision=now,
        )
    missing = list(script.iterate_revisions("head", now or "base"))
    operations = Operations(context)
    for revision in reversed(missing):
        revision.module.upgrade(operations)
    if missing:
        context.stamp(script, "head")
