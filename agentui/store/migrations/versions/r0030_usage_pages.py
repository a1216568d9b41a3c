"""What an admin chose of budgets, and the indexes by which the page finds the calls of a turn and all accounts' operations."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0030"
down_revision = "0029"


def upgrade(op: Operations) -> None:
    """Make the table and the indexes."""
    op.create_table(
        "usage_rules",
        sa.Column("account_id", sa.String(120), nullable=False, comment="Empty: it is the server's."),
        sa.Column("name", sa.String(32), nullable=False),
        sa.Column("value", sa.String(32), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "name", name="pk_usage_rules"),
        comment="What an admin chose of how calls are counted.",
    )
    is_of_a_turn = sa.text("floor_id IS NOT NULL")
    op.create_index("ix_usage_floor_id", "usage", ["floor_id"], sqlite_where=is_of_a_turn, postgresql_where=is_of_a_turn)
    op.create_index("ix_operation_logs_created_at_id", "operation_logs", ["created_at", "id"])
