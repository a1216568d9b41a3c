"""Jobs of memories, and what a session says of these."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0038"
down_revision = "0037"


def ident(length: int) -> sa.String:
    """Ids that sort by their bytes on both engines."""
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the table and the column."""
    op.add_column("sessions", sa.Column("memory", sa.String(16), comment="on, off or incognito; null: as the server is set."))
    op.create_table(
        "memory_jobs",
        sa.Column("id", ident(1000), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("scope", sa.String(8), nullable=False),
        sa.Column("scope_id", ident(800), nullable=False),
        sa.Column("session_id", ident(64), comment="The chat that it is about; null: none."),
        sa.Column("job_type", sa.String(16), nullable=False, comment="ingest_turn, compact_macro or rebuild_scope."),
        sa.Column("status", sa.String(16), nullable=False, comment="pending, running, retry_waiting, or how it ended."),
        sa.Column("floor_id", ident(64)),
        sa.Column("floor_no", sa.Integer()),
        sa.Column("page_id", ident(64), comment="The answer that is read."),
        sa.Column("based_on_revision", sa.Integer()),
        sa.Column("payload_json", sa.Text(), nullable=False),
        sa.Column("attempt_count", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("max_attempts", sa.Integer(), nullable=False),
        sa.Column("available_at", sa.BigInteger(), nullable=False, comment="When it may be tried."),
        sa.Column("lease_owner", sa.String(64)),
        sa.Column("lease_until", sa.BigInteger()),
        sa.Column("last_error", sa.Text()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), comment="Null while it is to be done."),
        sa.PrimaryKeyConstraint("id", name="pk_memory_jobs"),
        comment="What is to be written of memories, and what became of it.",
    )
    op.create_index("ix_memory_jobs_scope", "memory_jobs", ["account_id", "scope", "scope_id", "created_at"])
    op.create_index("ix_memory_jobs_account_id_created_at_id", "memory_jobs", ["account_id", "created_at", "id"])
    op.create_index("ix_memory_jobs_account_id_session_id", "memory_jobs", ["account_id", "session_id"])
    for name in ("page_id", "floor_id"):
        there = sa.text(f"{name} IS NOT NULL")
        op.create_index(f"ix_memory_jobs_{name}", "memory_jobs", [name], sqlite_where=there, postgresql_where=there)
