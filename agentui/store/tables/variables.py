"""The tables of variables: the five tiers, what turns changed in them, and the working variables."""

from sqlalchemy import (
    BigInteger,
    Boolean,
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

from agentui.store.tables.columns import BRANCH, ID, KEY, metadata

variables = Table(
    "variables",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("scope", String(8), nullable=False),
    Column("scope_id", String(240), nullable=False),
    Column("key", KEY, nullable=False),
    Column("value_json", Text, nullable=False),
    Column("version", Integer, nullable=False, server_default="1", comment="Counts the writes since the row was made."),
    Column("updated_at", BigInteger, nullable=False),
    UniqueConstraint("account_id", "scope", "scope_id", "key"),
    Index(None, "account_id", "updated_at"),
)

staged_writes = Table(
    "staged_writes",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("page_id", ID, ForeignKey("pages.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("key", KEY, nullable=False),
    Column("op", String(8), nullable=False),
    Column("value_json", Text, nullable=False),
    Column("intent", String(40), nullable=False),
    Column("conflict_policy", String(16), nullable=False),
    Column("reason", Text),
    Column("source_json", Text, nullable=False),
    Column("evidence_json", Text, nullable=False),
    Column("status", String(24), nullable=False),
    Column("decision_reason", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("resolved_at", BigInteger),
)

promotions = Table(
    "promotions",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("page_id", ID, ForeignKey("pages.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("staged_write_id", String(64), nullable=False),
    Column("key", KEY, nullable=False),
    Column("from_scope", String(8), nullable=False),
    Column("from_scope_id", String(240), nullable=False),
    Column("to_scope", String(8), nullable=False),
    Column("to_scope_id", String(240), nullable=False),
    Column("conflict_policy", String(16), nullable=False),
    Column("source_variable_id", String(64), nullable=False),
    Column("target_variable_id", String(64), nullable=False),
    Column("value_json", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

variable_changes = Table(
    "variable_changes",
    metadata,
    Column("page_id", ID, ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True),
    Column("scope", String(8), primary_key=True),
    Column("scope_id", String(240), primary_key=True),
    Column("key", KEY, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("before_json", Text, comment="The value before the turn; null where there was none."),
    Column("after_json", Text, comment="The value that the turn left; null where it deleted the variable."),
    comment="What the turn of an output page changed in the global, chat and branch tiers, so that it can be taken back.",
)

branch_snapshots = Table(
    "branch_snapshots",
    metadata,
    Column("floor_id", ID, ForeignKey("floors.id", ondelete="CASCADE"), primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("values_json", Text, nullable=False, comment="The branch's variables as this floor saw them: {key: value}."),
    Column("created_at", BigInteger, nullable=False),
    Column(
        "is_journaled",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="Whether variable_changes knows what the floor's turn changed; it does not for turns of older versions.",
    ),
)

working_variables = Table(
    "working_variables",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("session_id", ID, ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False),
    Column("branch_id", BRANCH, comment="Where a person wrote; null where a turn did."),
    Column("floor_id", ID, ForeignKey("floors.id", ondelete="CASCADE"), index=True, comment="Null before the first floor."),
    Column("page_id", ID, ForeignKey("pages.id", ondelete="CASCADE"), index=True, comment="The turn's; null for a person."),
    Column("name", KEY, nullable=False),
    Column("facts_json", Text, comment="All but name and value; null where the variable was removed."),
    Column("written_at", BigInteger, nullable=False),
    Column("length", BigInteger, comment="Characters of the value; null where it stayed as it was."),
    Column("value", Text),
    ForeignKeyConstraint(["session_id", "branch_id"], ["branches.session_id", "branches.branch_id"], ondelete="CASCADE"),
    Index(None, "session_id", "branch_id"),
    comment="What was written to the working variables of a chat, and where in it.",
)

working_checkpoints = Table(
    "working_checkpoints",
    metadata,
    Column("page_id", ID, ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("session_id", ID, nullable=False),
    Column("floor_no", Integer, nullable=False),
    Column("held_json", Text, nullable=False, comment="By name: its facts, the row of its value, and its length."),
    Column("created_at", BigInteger, nullable=False),
    Index(None, "session_id", "floor_no"),
    comment="What the working variables came to with the turn of an output page.",
)
