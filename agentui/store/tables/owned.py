"""The tables of accounts' own pipelines, provider presets and keys."""

from sqlalchemy import BigInteger, Column, ForeignKeyConstraint, Integer, String, Table, Text

from agentui.store.tables.columns import ID, metadata

account_documents = Table(
    "account_documents",
    metadata,
    Column("account_id", String(120), primary_key=True),
    Column("kind", String(12), primary_key=True, comment="pipelines or presets."),
    Column("id", ID, primary_key=True, comment="With the ~ before it."),
    Column("document_json", Text, nullable=False),
    Column("etag", String(24), nullable=False, comment="A hash of the document."),
    Column("good_json", Text, comment="The last version without problems, which serves; null where there was none."),
    Column("modified", BigInteger, nullable=False),
    comment="Pipelines and presets of accounts.",
)

account_document_versions = Table(
    "account_document_versions",
    metadata,
    Column("account_id", String(120), primary_key=True),
    Column("kind", String(12), primary_key=True),
    Column("id", ID, primary_key=True),
    Column("number", Integer, primary_key=True, comment="From 1 on, and never again."),
    Column("document_json", Text, nullable=False),
    Column("etag", String(24), nullable=False),
    Column("name", String(200), nullable=False, comment="Empty, or what somebody called it, which keeps it."),
    Column("created_at", BigInteger, nullable=False),
    ForeignKeyConstraint(
        ["account_id", "kind", "id"],
        ["account_documents.account_id", "account_documents.kind", "account_documents.id"],
        ondelete="CASCADE",
        onupdate="CASCADE",
    ),
    comment="Their earlier versions.",
)

account_secrets = Table(
    "account_secrets",
    metadata,
    Column("account_id", String(120), primary_key=True),
    Column("name", String(64), primary_key=True, comment="In lower case."),
    Column("shown_name", String(64), nullable=False),
    Column("origins_json", Text, nullable=False, comment="Where it may be sent, for people; what counts is sealed."),
    Column("sealed", Text, nullable=False, comment="The key with its account, name and origins, encrypted."),
    Column("updated_at", BigInteger, nullable=False),
    comment="Keys of accounts for their own pipelines and presets.",
)
