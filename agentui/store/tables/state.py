"""The tables of Session State."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, ForeignKeyConstraint, Index, Integer, String, Table, Text

from agentui.store.tables.columns import BRANCH, ID, NAME, metadata

state_namespaces = Table(
    "state_namespaces",
    metadata,
    Column("session_id", ID, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("namespace", NAME, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("owner_type", String(128), nullable=False),
    Column("owner_id", String(256), nullable=False),
    Column("replay_safety", String(24), nullable=False, comment="Of the turns that write here."),
    Column("created_at", BigInteger, nullable=False),
    comment="The namespaces of Session State that clients registered.",
)

state_mutations = Table(
    "state_mutations",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("session_id", ID, ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False),
    Column("branch_id", BRANCH, nullable=False),
    Column("namespace", NAME, nullable=False),
    Column("slot", NAME, nullable=False),
    Column("page_id", ID, comment="The answer whose turn wrote it; null for a write by itself."),
    Column("floor_id", ID),
    Column("run_id", String(64)),
    Column("write_mode", String(16), nullable=False),
    Column("status", String(16), nullable=False),
    Column("replay_safety", String(24), nullable=False),
    Column("before_id", ID, comment="The mutation whose place it took; null where nothing was there."),
    Column("is_present", Boolean, nullable=False),
    Column("size", Integer, nullable=False, comment="Bytes of the value."),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("value_json", Text, nullable=False),
    Index(None, "page_id"),
    Index(None, "session_id", "created_at"),
    comment="Every write to Session State. They stay when their floor goes, for other branches may hold them.",
)

state_heads = Table(
    "state_heads",
    metadata,
    Column("session_id", ID, primary_key=True),
    Column("branch_id", BRANCH, primary_key=True),
    Column("namespace", NAME, primary_key=True),
    Column("slot", NAME, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("mutation_id", ID, nullable=False),
    Column("size", Integer, nullable=False),
    ForeignKeyConstraint(["session_id", "branch_id"], ["branches.session_id", "branches.branch_id"], ondelete="CASCADE"),
    Index(None, "account_id", "size"),
    comment="The mutation that holds, for every slot of a branch.",
)

state_snapshots = Table(
    "state_snapshots",
    metadata,
    Column("floor_id", ID, ForeignKey("floors.id", ondelete="CASCADE"), primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("mutations_json", Text, nullable=False, comment="The ids of the mutations that held when the floor was committed."),
    Column("created_at", BigInteger, nullable=False),
)
