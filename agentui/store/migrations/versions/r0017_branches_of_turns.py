"""Which generating branches were made for their turn: they go with it where it fails, whoever finds that out."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0017"
down_revision = "0016"


def upgrade(op: Operations) -> None:
    """Add the column, and mark the branches of edits that are under way."""
    told = "Whether the branch was made for this turn, and goes with it where it fails."
    none = sa.text("false")
    op.add_column("generations", sa.Column("is_new_branch", sa.Boolean(), nullable=False, server_default=none, comment=told))
    op.execute(
        "UPDATE generations SET is_new_branch = true WHERE EXISTS (SELECT 1 FROM runs"
        " WHERE runs.floor_id = generations.floor_id AND run_type = 'edit_and_regenerate')"
    )
