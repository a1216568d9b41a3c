"""Tools that users define."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0015"
down_revision = "0014"


def ident() -> sa.String:
    """Ids that sort by their bytes on both engines."""
    return sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the table."""
    op.create_table(
        "tool_definitions",
        sa.Column("id", ident(), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("source", sa.String(16), nullable=False, comment="preset, character or custom."),
        sa.Column("source_id", sa.String(200)),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("handler_type", sa.String(16), nullable=False, comment="http or pipeline."),
        sa.Column("handler", sa.Text(), nullable=False, comment="What serves its calls: JSON."),
        sa.Column("told", sa.Text(), nullable=False, comment="What models and permissions are told of it: JSON."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tool_definitions"),
        comment="The tools that users defined.",
    )
    op.create_index("uq_tool_definitions_account_id_name", "tool_definitions", ["account_id", "name"], unique=True)
