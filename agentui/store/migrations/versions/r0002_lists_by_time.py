"""Indexes for the lists of an account's sessions, floors, pages and messages, newest first as they come by default."""

from alembic.operations import Operations

revision = "0002"
down_revision = "0001"


def upgrade(op: Operations) -> None:
    """Make the indexes."""
    for table in ("sessions", "floors", "pages", "messages"):
        op.create_index(f"ix_{table}_account_id_created_at", table, ["account_id", "created_at"])
