"""The table of tags: names that an account gives to turns and to versions of assets."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, String, Table, Text, UniqueConstraint

from agentui.store.tables.columns import ID, metadata

tags = Table(
    "tags",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("name", String(120), nullable=False),
    Column("target_type", String(16), nullable=False, comment="floor or asset_version."),
    # One of the two, which the tag goes with.
    Column("floor_id", ID, ForeignKey("floors.id", ondelete="CASCADE")),
    Column("asset_version_id", ID, ForeignKey("asset_versions.id", ondelete="CASCADE")),
    Column("session_id", ID, ForeignKey("sessions.id", ondelete="CASCADE"), comment="The chat that it was given in."),
    Column("metadata_json", Text),
    Column("operation_id", ID, comment="The entry of the operation log that tells of it."),
    Column("created_at", BigInteger, nullable=False),
    UniqueConstraint("account_id", "name"),
    Index(None, "account_id", "created_at", "id"),
    Index(None, "floor_id"),
    Index(None, "asset_version_id"),
    Index(None, "session_id"),
    comment="Names of turns and of versions of assets.",
)
