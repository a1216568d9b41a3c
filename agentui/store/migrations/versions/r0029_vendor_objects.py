"""Vendor objects: whose the things are that vendors keep under keys of the server."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0029"
down_revision = "0028"


def upgrade(op: Operations) -> None:
    """Make the table. What is kept at vendors already belongs to nobody, so that admins alone reach it."""
    op.create_table(
        "vendor_objects",
        sa.Column("target", sa.String(255), nullable=False, comment="The origin where it is kept."),
        sa.Column("kind", sa.String(16), nullable=False, comment="response, file, batch ..."),
        sa.Column("object_id", sa.String(500), nullable=False, comment="The vendor's id."),
        sa.Column("account_id", sa.String(120), nullable=False, comment="Who made it."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("target", "kind", "object_id", name="pk_vendor_objects"),
        comment="Whose the things are that vendors keep under keys of the server.",
    )
    op.create_index("ix_vendor_objects_account_id_created_at", "vendor_objects", ["account_id", "created_at"])
