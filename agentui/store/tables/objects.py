"""The table of whose each thing is that a vendor keeps under one of the server's keys."""

from sqlalchemy import BigInteger, Column, Index, String, Table

from agentui.store.tables.columns import metadata

vendor_objects = Table(
    "vendor_objects",
    metadata,
    Column("target", String(255), primary_key=True, comment="The origin where it is kept."),
    Column("kind", String(16), primary_key=True, comment="response, file, batch ..."),
    Column("object_id", String(500), primary_key=True, comment="The vendor's id."),
    Column("account_id", String(120), nullable=False, comment="Who made it."),
    Column("created_at", BigInteger, nullable=False),
    Index(None, "account_id", "created_at"),
    comment="Whose the things are that vendors keep under keys of the server.",
)
