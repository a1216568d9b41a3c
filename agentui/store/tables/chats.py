"""The tables of chats: sessions, their branches, floors, pages and messages with their media."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from agentui.store.tables.columns import BRANCH, ID, metadata

sessions = Table(
    "sessions",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("name", String(200), comment="The caller's own name for it (x-agentui-session), unique within the account."),
    Column("title", String(200)),
    Column("status", String(16), nullable=False, server_default="active"),
    Column("bindings_json", Text, nullable=False, server_default="{}", comment="Every other optional field of a session."),
    Column("metadata_json", Text, nullable=False, server_default="{}"),
    Column("policy_json", Text, comment="How its prompts are assembled: {version, updated_at, updated_by, value}."),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("tools_json", Text, comment="What models may do with tools here; null where nobody said."),
    Column(
        "caller", String(32), comment="Whose chat it is, told from the key that it began with; null: anybody's who names it."
    ),
    Column("project_id", ID, comment="The project that it is in."),
    Column("memory", String(16), comment="on, off or incognito; null: as the server is set."),
    Column(
        "shape",
        Integer,
        nullable=False,
        server_default="0",
        comment="Counts what changed the past of its branches: all but new floors at a head.",
    ),
    UniqueConstraint("account_id", "name"),
    Index(None, "account_id", "created_at"),
    Index(None, "account_id", "updated_at"),
    Index(None, "project_id"),
)

branches = Table(
    "branches",
    metadata,
    Column("session_id", ID, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("branch_id", BRANCH, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("source_floor_id", ID),
    Column("source_branch_id", BRANCH),
    Column("policy_json", Text, comment="What its prompts have otherwise than the session's, in the same form."),
    Column(
        "frozen_json",
        Text,
        comment="The assets and versions that it keeps for itself, by the session's fields; null: it has the session's.",
    ),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index(None, "account_id", "branch_id"),
)

floors = Table(
    "floors",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("session_id", ID, nullable=False),
    Column("branch_id", BRANCH, nullable=False),
    Column("floor_no", Integer, nullable=False),
    Column("parent_floor_id", ID),
    Column("state", String(16), nullable=False),
    Column("token_in", Integer, nullable=False, server_default="0"),
    Column("token_out", Integer, nullable=False, server_default="0"),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("superseded_at", BigInteger),
    Column("superseded_by_floor_id", ID),
    ForeignKeyConstraint(["session_id", "branch_id"], ["branches.session_id", "branches.branch_id"], ondelete="CASCADE"),
    Index(
        "uq_floors_live_number",
        "session_id",
        "branch_id",
        "floor_no",
        unique=True,
        sqlite_where=text("superseded_at IS NULL"),
        postgresql_where=text("superseded_at IS NULL"),
    ),
    Index(None, "session_id", "branch_id", "floor_no"),
    Index(None, "account_id", "created_at"),
    Index(None, "account_id", "updated_at"),
)

pages = Table(
    "pages",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("floor_id", ID, ForeignKey("floors.id", ondelete="CASCADE"), nullable=False),
    Column("page_no", Integer, nullable=False),
    Column("page_kind", String(16), nullable=False),
    Column("is_active", Boolean, nullable=False),
    Column("version", Integer, nullable=False, server_default="1"),
    Column("checksum", String(200)),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column(
        "is_partial", Boolean, nullable=False, server_default=text("false"), comment="The words of a run that did not end well."
    ),
    UniqueConstraint("floor_id", "page_no", "version"),
    Index(None, "account_id", "created_at"),
    Index(
        "uq_pages_active",
        "floor_id",
        "page_no",
        unique=True,
        sqlite_where=text("is_active"),
        postgresql_where=text("is_active"),
    ),
)

messages = Table(
    "messages",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("page_id", ID, ForeignKey("pages.id", ondelete="CASCADE"), nullable=False),
    Column("seq", Integer, nullable=False),
    Column("role", String(16), nullable=False),
    Column("content", Text, nullable=False),
    Column("content_format", String(16), nullable=False, server_default="text"),
    Column("token_count", Integer, nullable=False, server_default="0"),
    Column("is_hidden", Boolean, nullable=False, server_default=text("false")),
    Column("source", String(200)),
    Column("created_at", BigInteger, nullable=False),
    Column("parts_json", Text, comment="All parts, where the content is not all there is; media stand in blobs."),
    UniqueConstraint("page_id", "seq"),
    Index(None, "account_id", "created_at"),
)

blobs = Table(
    "blobs",
    metadata,
    Column("account_id", String(120), primary_key=True),
    Column("hash", String(64), primary_key=True, comment="SHA-256 of the data, in hexadecimal digits."),
    # Before the data: SQLite would read all of it to come to what stands behind.
    Column("used_at", BigInteger, nullable=False, comment="When a message was last given it."),
    Column("data", LargeBinary, nullable=False),
    comment="Images, sounds, films and files of messages, each content once.",
)

message_blobs = Table(
    "message_blobs",
    metadata,
    Column("message_id", ID, ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
    Column("hash", String(64), primary_key=True),
    Column("account_id", String(120), nullable=False),
    ForeignKeyConstraint(["account_id", "hash"], ["blobs.account_id", "blobs.hash"]),
    Index(None, "account_id", "hash"),
    comment="Which message needs which blob; a blob that none needs is removed after a while.",
)

message_extras = Table(
    "message_extras",
    metadata,
    Column("message_id", ID, ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("beside_json", Text, nullable=False),
    comment="What the file of an imported chat told of a message and nothing here reads; it goes out again.",
)

text_index = Table(
    "text_index",
    metadata,
    Column("floor_id", ID, ForeignKey("floors.id", ondelete="CASCADE"), primary_key=True),
    Column("page_id", ID, primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False, comment="The text's fingerprint."),
    Column("account_id", String(120), nullable=False),
    Column("session_id", ID, nullable=False),
    Column("side", String(16), nullable=False, comment="Who said it: user, assistant; else as note_sent."),
    Column("past", Integer, comment="How much the client sent before this question; null where that is not known."),
    Index(None, "account_id", "number", "session_id"),
    sqlite_with_rowid=False,
    comment="Where each text was said, so that a client's history is found again.",
)
