"""Chats that are found by what their client sends are their caller's."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0022"
down_revision = "0021"


def upgrade(op: Operations) -> None:
    """Add the column; chats that are there already are found by whoever sends their history, as before."""
    of_caller = "Whose chat it is, told from the key that it began with; null: anybody's who names it."
    op.add_column("sessions", sa.Column("caller", sa.String(32), comment=of_caller))
