"""The library of prompt assets: characters, users, prompt presets, worldbooks and regex profiles with their versions."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0008"
down_revision = "0007"

_LIVE_USER = sa.text("kind = 'user' AND status <> 'deleted'")


def ident() -> sa.String:
    """Ids that sort by their bytes on both engines."""
    return sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")


def key() -> sa.Text:
    """Texts that sort by their bytes on both engines."""
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the tables."""
    op.create_table(
        "assets",
        sa.Column("id", ident(), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False, comment="character, user, preset, worldbook or regex."),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column(
            "folded_name", key(), nullable=False, comment="The name in folded case: what lists sort by and look through."
        ),
        sa.Column("status", sa.String(16), nullable=False, comment="active, disabled or deleted."),
        sa.Column(
            "source",
            sa.String(40),
            nullable=False,
            comment="The format of the file that it came from; api where there was none.",
        ),
        sa.Column("revision", sa.Integer(), nullable=False, comment="Counts the changes of any kind, from 0."),
        sa.Column("current_version_id", ident(), nullable=False, comment="Its newest version."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name="pk_assets"),
        comment="What prompts are made of: characters, users, prompt presets, worldbooks and regex profiles.",
    )
    for column in ("updated_at", "created_at", "folded_name"):
        op.create_index(f"ix_assets_account_id_kind_{column}", "assets", ["account_id", "kind", column])
    op.create_index(
        "uq_assets_user_name",
        "assets",
        ["account_id", "name"],
        unique=True,
        sqlite_where=_LIVE_USER,
        postgresql_where=_LIVE_USER,
    )
    op.create_table(
        "asset_versions",
        sa.Column("id", ident(), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("asset_id", ident(), nullable=False),
        sa.Column("version_no", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.String(64), nullable=False, comment="SHA-256 of content_json, in hexadecimal digits."),
        sa.Column("image", sa.String(64), comment="The blob of its picture."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("origin_json", sa.Text(), comment="What its file held beside the content; null where there was none."),
        sa.Column("content_json", sa.Text(), nullable=False, comment="SillyTavern's own JSON of this kind, whole."),
        sa.ForeignKeyConstraint(["asset_id"], ["assets.id"], name="fk_asset_versions_asset_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["account_id", "image"], ["blobs.account_id", "blobs.hash"], name="fk_asset_versions_account_id_image"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_asset_versions"),
        sa.UniqueConstraint("asset_id", "version_no", name="uq_asset_versions_asset_id_version_no"),
        comment="What an asset was at some time; versions are never changed.",
    )
    op.create_index("ix_asset_versions_account_id_image", "asset_versions", ["account_id", "image"])
    op.create_table(
        "asset_tags",
        sa.Column("asset_id", ident(), nullable=False),
        sa.Column("tag", key(), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.ForeignKeyConstraint(["asset_id"], ["assets.id"], name="fk_asset_tags_asset_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("asset_id", "tag", name="pk_asset_tags"),
        comment="The words by which people sort their assets.",
    )
    op.create_index("ix_asset_tags_account_id_tag", "asset_tags", ["account_id", "tag"])
