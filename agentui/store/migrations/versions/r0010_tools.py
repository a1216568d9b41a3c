"""Tools: what sessions allow, and the calls that turns made."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0010"
down_revision = "0009"


def ident() -> sa.String:
    """Ids that sort by their bytes on both engines."""
    return sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")


def branch() -> sa.String:
    """Names of branches that sort by their bytes on both engines."""
    return sa.String(100).with_variant(sa.String(100, collation="C"), "postgresql")


def key() -> sa.Text:
    """Texts that sort by their bytes on both engines."""
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Add the column, which is null where nobody said anything, and make the table."""
    of_session = "What models may do with tools here; null where nobody said."
    op.add_column("sessions", sa.Column("tools_json", sa.Text(), comment=of_session))
    op.create_table(
        "tool_executions",
        sa.Column("id", ident(), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("run_id", sa.String(64), nullable=False),
        sa.Column("session_id", ident(), nullable=False),
        sa.Column("branch_id", branch(), nullable=False),
        sa.Column("floor_id", ident(), nullable=False),
        sa.Column("page_id", ident(), nullable=False, comment="The input page of the turn."),
        sa.Column("node_id", sa.String(200), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False, comment="Counts the calls of a run, from 0."),
        sa.Column("call_id", sa.Text(), nullable=False, comment="The model's id of the call."),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("attempt_no", sa.Integer(), nullable=False),
        sa.Column("caller_slot", sa.String(16), nullable=False),
        sa.Column("provider_type", sa.String(16), nullable=False),
        sa.Column("provider_id", sa.String(200), nullable=False),
        sa.Column("tool_name", key(), nullable=False),
        sa.Column("delivery_mode", sa.String(16), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("lifecycle_state", sa.String(16), nullable=False),
        sa.Column("commit_outcome", sa.String(16), nullable=False),
        sa.Column("side_effect", sa.String(16), nullable=False),
        sa.Column("replay_safety", sa.String(24), nullable=False),
        sa.Column("replay_reason", sa.Text(), nullable=False),
        sa.Column("error_code", sa.String(64)),
        sa.Column("error_message", sa.Text()),
        sa.Column("is_truncated", sa.Boolean(), nullable=False),
        sa.Column("duration_ms", sa.Float()),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("policy_json", sa.Text(), nullable=False, comment="What was allowed when it was called."),
        sa.Column("arguments_json", sa.Text(), nullable=False),
        sa.Column("result_json", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tool_executions"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_tool_executions_session_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["floor_id"], ["floors.id"], name="fk_tool_executions_floor_id", ondelete="CASCADE"),
        comment="Calls of tools that turns made.",
    )
    op.create_index("ix_tool_executions_floor_id_run_id_seq", "tool_executions", ["floor_id", "run_id", "seq"])
    op.create_index("ix_tool_executions_session_id_created_at", "tool_executions", ["session_id", "created_at"])
    op.create_index("ix_tool_executions_account_id_run_id", "tool_executions", ["account_id", "run_id"])
    op.create_index("ix_tool_executions_account_id_created_at", "tool_executions", ["account_id", "created_at"])
