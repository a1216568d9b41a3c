"""The table of projects, in which sessions are."""

from sqlalchemy import BigInteger, Column, Index, String, Table, Text

from agentui.store.tables.columns import ID, metadata

projects = Table(
    "projects",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("name", String(200), nullable=False),
    Column("description", Text),
    Column("kind", String(16), nullable=False, comment="session_default: made with a session, and gone with its last; manual."),
    Column("status", String(8), nullable=False, comment="active or archived."),
    Column("settings_json", Text, nullable=False, comment="What its sessions have otherwise than the workspace."),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index(None, "account_id", "updated_at", "id"),
    comment="Sessions that belong together.",
)
