"""What the working variables of a branch come to at some of its floors, so that no turn reads all that was ever written."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0019"
down_revision = "0018"


def ident() -> sa.String:
    """Ids that sort by their bytes on both engines."""
    return sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the table. Chats that exist get theirs with turns to come."""
    op.create_table(
        "working_checkpoints",
        sa.Column("page_id", ident(), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("session_id", ident(), nullable=False),
        sa.Column("floor_no", sa.Integer(), nullable=False),
        sa.Column("held_json", sa.Text(), nullable=False, comment="By name: its facts, the row of its value, and its length."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name="fk_working_checkpoints_page_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("page_id", name="pk_working_checkpoints"),
        comment="What the working variables came to with the turn of an output page.",
    )
    op.create_index("ix_working_checkpoints_session_id_floor_no", "working_checkpoints", ["session_id", "floor_no"])
