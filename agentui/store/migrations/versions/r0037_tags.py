"""Tags: names of turns and of versions of assets."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0037"
down_revision = "0036"


def ident() -> sa.String:
    """Ids that sort by their bytes on both engines."""
    return sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the table."""
    op.create_table(
        "tags",
        sa.Column("id", ident(), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("name", sa.String(120), nullable=False),
        sa.Column("target_type", sa.String(16), nullable=False, comment="floor or asset_version."),
        sa.Column("floor_id", ident()),
        sa.Column("asset_version_id", ident()),
        sa.Column("session_id", ident(), comment="The chat that it was given in."),
        sa.Column("metadata_json", sa.Text()),
        sa.Column("operation_id", ident(), comment="The entry of the operation log that tells of it."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tags"),
        sa.UniqueConstraint("account_id", "name", name="uq_tags_account_id_name"),
        sa.ForeignKeyConstraint(["floor_id"], ["floors.id"], name="fk_tags_floor_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["asset_version_id"], ["asset_versions.id"], name="fk_tags_asset_version_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_tags_session_id", ondelete="CASCADE"),
        comment="Names of turns and of versions of assets.",
    )
    op.create_index("ix_tags_account_id_created_at_id", "tags", ["account_id", "created_at", "id"])
    for column in ("floor_id", "asset_version_id", "session_id"):
        op.create_index(f"ix_tags_{column}", "tags", [column])
