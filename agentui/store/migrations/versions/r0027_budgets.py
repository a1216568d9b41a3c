"""Budgets, and what calls under way may cost."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0027"
down_revision = "0026"


def ident(length: int) -> sa.String:
    """Ids and names that sort by their bytes on both engines."""
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the tables."""
    op.create_table(
        "budgets",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False, comment="Whose it is; empty for that of the whole server."),
        sa.Column("level", sa.String(8), nullable=False, comment="key, account or server."),
        sa.Column("subject", ident(256), nullable=False, comment="The id of the key or the account; empty for the server."),
        sa.Column("unit", sa.String(8), nullable=False, comment="money (nano-dollars), tokens, requests, or calls at once."),
        sa.Column("period", sa.String(8), nullable=False, comment="minute, day, month or ever."),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("window_start", sa.BigInteger(), nullable=False, comment="When the period began that was spent in."),
        sa.Column("spent", sa.BigInteger(), nullable=False),
        sa.Column("reserved", sa.BigInteger(), nullable=False, comment="For calls under way."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_budgets"),
        comment="How much may be spent, and what was.",
    )
    place = ["level", "subject", "unit", "period"]
    op.create_index("uq_budgets_level_subject_unit_period", "budgets", place, unique=True)
    op.create_table(
        "reservations",
        sa.Column("id", ident(64), nullable=False, comment="That of its row in the ledger, too."),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("owner", sa.String(120), nullable=False, comment="The process that makes the call."),
        sa.Column("expires_at", sa.BigInteger(), nullable=False, comment="From then on its process counts as dead."),
        sa.Column("held_json", sa.Text(), nullable=False, comment="What is held, by the ids of the budgets."),
        sa.Column("row_json", sa.Text(), nullable=False, comment="Its row in the ledger, should its process die."),
        sa.PrimaryKeyConstraint("id", name="pk_reservations"),
        comment="What calls under way may cost at most.",
    )
    op.create_index("ix_reservations_account_id_expires_at", "reservations", ["account_id", "expires_at"])
    op.create_index("ix_reservations_expires_at", "reservations", ["expires_at"])
    op.create_index("ix_reservations_owner", "reservations", ["owner"])
