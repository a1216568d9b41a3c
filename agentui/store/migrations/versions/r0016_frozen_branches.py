"""What a branch of a session with deep_binding keeps of what it was forked from."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0016"
down_revision = "0015"


def upgrade(op: Operations) -> None:
    """Add the column. Branches that exist keep nothing: they go on with what their session is bound to."""
    told = "The assets and versions that it keeps for itself, by the session's fields; null: it has the session's."
    op.add_column("branches", sa.Column("frozen_json", sa.Text(), comment=told))
