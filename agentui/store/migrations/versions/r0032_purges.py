"""Purges: accounts that are removed with all that is theirs."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0032"
down_revision = "0031"


def upgrade(op: Operations) -> None:
    """Make the table."""
    ident = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
    op.create_table(
        "purges",
        sa.Column("id", ident, nullable=False),
        sa.Column("subject", sa.String(120), nullable=False, comment="The account."),
        sa.Column("status", sa.String(12), nullable=False, comment="waiting, running, done or cancelled."),
        sa.Column("begins_at", sa.BigInteger(), nullable=False, comment="Until then it can be cancelled."),
        sa.Column("counted", sa.BigInteger(), nullable=False, comment="Rows of the account when the purge was asked for."),
        sa.Column("removed", sa.BigInteger(), nullable=False, comment="Rows that are gone."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), comment="When it was done or cancelled."),
        sa.PrimaryKeyConstraint("id", name="pk_purges"),
        comment="Accounts that go with everything, or went.",
    )
    op.create_index("ix_purges_subject_created_at", "purges", ["subject", "created_at"])
