"""The answers that are kept for requests that carry an Idempotency-Key."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0003"
down_revision = "0002"


def upgrade(op: Operations) -> None:
    """Make the table and its indexes."""
    op.create_table(
        "claims",
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column(
            "key",
            sa.Text().with_variant(sa.Text(collation="C"), "postgresql"),
            nullable=False,
            comment="The caller's Idempotency-Key.",
        ),
        sa.Column("fingerprint", sa.String(64), nullable=False, comment="SHA-256 of what the request asked for."),
        sa.Column(
            "floor_id",
            sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql"),
            comment="The turn's; null for other writes.",
        ),
        sa.Column("status", sa.Integer(), comment="Of the answer that is kept; null while the floor generates."),
        sa.Column("headers_json", sa.Text()),
        sa.Column("body", sa.LargeBinary(), comment="Compressed; null where it is too large, or was given up for newer ones."),
        sa.Column("size", sa.Integer(), server_default="0", nullable=False, comment="Bytes of the body."),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["floor_id"], ["floors.id"], name="fk_claims_floor_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("account_id", "key", name="pk_claims"),
        comment="One row a request that carried a key: its answer, kept so that the same request again is answered and not "
        "repeated.",
    )
    op.create_index("ix_claims_floor_id", "claims", ["floor_id"])
    op.create_index("ix_claims_updated_at_size", "claims", ["updated_at", "size"])
