"""The tables of the library: what prompts are made of, in versions."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from agentui.store.tables.columns import ID, KEY, metadata

assets = Table(
    "assets",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("kind", String(16), nullable=False, comment="character, user, preset, worldbook or regex."),
    Column("name", String(200), nullable=False),
    Column("folded_name", KEY, nullable=False, comment="The name in folded case: what lists sort by and look through."),
    Column("status", String(16), nullable=False, comment="active, disabled or deleted."),
    Column("source", String(40), nullable=False, comment="The format of the file that it came from; api where there was none."),
    Column("revision", Integer, nullable=False, comment="Counts the changes of any kind, from 0."),
    Column("current_version_id", ID, nullable=False, comment="Its newest version."),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("deleted_at", BigInteger),
    Column(
        "scripts_allowed",
        String(64),
        comment="The hash of the scripts inside that somebody allowed; empty: none. Null: it came from no file, and all run.",
    ),
    Index(None, "account_id", "kind", "updated_at"),
    Index(None, "account_id", "kind", "created_at"),
    Index(None, "account_id", "kind", "folded_name"),
    Index(
        "uq_assets_user_name",
        "account_id",
        "name",
        unique=True,
        sqlite_where=text("kind = 'user' AND status <> 'deleted'"),
        postgresql_where=text("kind = 'user' AND status <> 'deleted'"),
    ),
    comment="What prompts are made of: characters, users, prompt presets, worldbooks and regex profiles.",
)

asset_versions = Table(
    "asset_versions",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("asset_id", ID, ForeignKey("assets.id", ondelete="CASCADE"), nullable=False),
    Column("version_no", Integer, nullable=False),
    Column("content_hash", String(64), nullable=False, comment="SHA-256 of content_json, in hexadecimal digits."),
    Column("image", String(64), comment="The blob of its picture."),
    Column("files", String(64), comment="The blob of a ZIP archive with the other files that it came with."),
    Column("created_at", BigInteger, nullable=False),
    Column("origin_json", Text, comment="What its file held beside the content; null where there was none."),
    Column("content_json", Text, nullable=False, comment="SillyTavern's own JSON of this kind, whole."),
    ForeignKeyConstraint(["account_id", "image"], ["blobs.account_id", "blobs.hash"]),
    UniqueConstraint("asset_id", "version_no"),
    Index(None, "account_id", "image"),
    Index(None, "account_id", "files"),
    comment="What an asset was at some time; versions are never changed.",
)

asset_tags = Table(
    "asset_tags",
    metadata,
    Column("asset_id", ID, ForeignKey("assets.id", ondelete="CASCADE"), primary_key=True),
    Column("tag", KEY, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Index(None, "account_id", "tag"),
    comment="The words by which people sort their assets.",
)
