"""What client keys are kept to."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0031"
down_revision = "0030"


def upgrade(op: Operations) -> None:
    """Add the column: no key is kept to anything yet."""
    comment = "What it is kept to; null: to nothing but what its account may."
    op.add_column("client_keys", sa.Column("restrictions_json", sa.Text(), comment=comment))
