"""The table of who changed what: the operation log."""

from sqlalchemy import BigInteger, Column, Index, String, Table, Text, text

from agentui.store.tables.accounts import CLIENT
from agentui.store.tables.columns import BRANCH, ID, NAME, metadata

operation_logs = Table(
    "operation_logs",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False, comment="Whose log it stands in."),
    Column("actor_type", String(8), nullable=False, comment="account, client, llm or system."),
    Column("actor_id", CLIENT, nullable=False),
    Column("actor_account_id", String(120)),
    Column("actor_client_id", CLIENT),
    Column("source_type", String(8), nullable=False, comment="http or llm_run."),
    Column("operation_group_id", ID, comment="The same for all that one request did to several."),
    Column("request_id", String(64)),
    Column("project_id", ID),
    Column("permission_action", String(64), comment="The right that was asked for, where one was."),
    Column("result", String(8), comment="allowed or denied."),
    Column("reason", String(64), comment="The code of the error."),
    Column("action", String(64), nullable=False),
    Column("status", String(16), nullable=False, comment="succeeded or denied."),
    # Nothing refers to what these name: an entry outlives it.
    Column("session_id", ID),
    Column("branch_id", BRANCH),
    Column("floor_id", ID),
    Column("run_id", ID),
    Column("target_type", String(32)),
    Column("target_id", NAME),
    Column("before_ref", ID),
    Column("after_ref", ID),
    Column("diff_json", Text, comment="Which fields changed, by the hashes of their values."),
    Column("metadata_json", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Index(None, "account_id", "created_at", "id"),
    # Admins read what all accounts did.
    Index(None, "created_at", "id"),
    # Few entries name a session or a floor, where turns write none.
    Index(
        "ix_operation_logs_session_id",
        "session_id",
        "created_at",
        sqlite_where=text("session_id IS NOT NULL"),
        postgresql_where=text("session_id IS NOT NULL"),
    ),
    Index(
        "ix_operation_logs_floor_id",
        "floor_id",
        "created_at",
        sqlite_where=text("floor_id IS NOT NULL"),
        postgresql_where=text("floor_id IS NOT NULL"),
    ),
    comment="Who changed what, without the texts. Entries outlive what they tell of.",
)
