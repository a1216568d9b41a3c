"""The first schema: sessions, branches, floors, pages, messages, variables, and what belongs to them."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0001"
down_revision = None


def ident(length: int) -> sa.String:
    """Ids and names that sort by their bytes on both engines."""
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def words() -> sa.Text:
    """Text of any length that sorts by its bytes on both engines."""
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make every table."""
    op.create_table(
        "sessions",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column(
            "name", sa.String(200), comment="The caller's own name for it (x-agentui-session), unique within the account."
        ),
        sa.Column("title", sa.String(200)),
        sa.Column("status", sa.String(16), server_default="active", nullable=False),
        sa.Column(
            "bindings_json", sa.Text(), server_default="{}", nullable=False, comment="Every other optional field of a session."
        ),
        sa.Column("metadata_json", sa.Text(), server_default="{}", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
        sa.UniqueConstraint("account_id", "name", name="uq_sessions_account_id_name"),
    )
    op.create_index("ix_sessions_account_id_updated_at", "sessions", ["account_id", "updated_at"])
    op.create_table(
        "variables",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("scope", sa.String(8), nullable=False),
        sa.Column("scope_id", sa.String(240), nullable=False),
        sa.Column("key", words(), nullable=False),
        sa.Column("value_json", sa.Text(), nullable=False),
        sa.Column(
            "version", sa.Integer(), server_default="1", nullable=False, comment="Counts the writes since the row was made."
        ),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_variables"),
        sa.UniqueConstraint("account_id", "scope", "scope_id", "key", name="uq_variables_account_id_scope_scope_id_key"),
    )
    op.create_index("ix_variables_account_id_updated_at", "variables", ["account_id", "updated_at"])
    op.create_table(
        "branches",
        sa.Column("session_id", ident(64), nullable=False),
        sa.Column("branch_id", ident(100), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("source_floor_id", ident(64)),
        sa.Column("source_branch_id", ident(100)),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_branches_session_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("session_id", "branch_id", name="pk_branches"),
    )
    op.create_index("ix_branches_account_id_branch_id", "branches", ["account_id", "branch_id"])
    op.create_table(
        "floors",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("session_id", ident(64), nullable=False),
        sa.Column("branch_id", ident(100), nullable=False),
        sa.Column("floor_no", sa.Integer(), nullable=False),
        sa.Column("parent_floor_id", ident(64)),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("token_in", sa.Integer(), server_default="0", nullable=False),
        sa.Column("token_out", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("superseded_at", sa.BigInteger()),
        sa.Column("superseded_by_floor_id", ident(64)),
        sa.ForeignKeyConstraint(
            ["session_id", "branch_id"],
            ["branches.session_id", "branches.branch_id"],
            name="fk_floors_session_id_branch_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_floors"),
    )
    op.create_index("ix_floors_account_id_updated_at", "floors", ["account_id", "updated_at"])
    op.create_index("ix_floors_session_id_branch_id_floor_no", "floors", ["session_id", "branch_id", "floor_no"])
    op.create_index(
        "uq_floors_live_number",
        "floors",
        ["session_id", "branch_id", "floor_no"],
        unique=True,
        sqlite_where=sa.text("superseded_at IS NULL"),
        postgresql_where=sa.text("superseded_at IS NULL"),
    )
    op.create_table(
        "branch_snapshots",
        sa.Column("floor_id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column(
            "values_json", sa.Text(), nullable=False, comment="The branch's variables as this floor saw them: {key: value}."
        ),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["floor_id"], ["floors.id"], name="fk_branch_snapshots_floor_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("floor_id", name="pk_branch_snapshots"),
    )
    op.create_table(
        "generations",
        sa.Column("session_id", ident(64), nullable=False),
        sa.Column("branch_id", ident(100), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("floor_id", ident(64), nullable=False),
        sa.Column("run_id", sa.String(64), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False, comment="The process that generates; a new one after every start."),
        sa.Column(
            "expires_at", sa.BigInteger(), nullable=False, comment="Past this the generation is dead and may be reclaimed."
        ),
        sa.ForeignKeyConstraint(["floor_id"], ["floors.id"], name="fk_generations_floor_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["session_id", "branch_id"],
            ["branches.session_id", "branches.branch_id"],
            name="fk_generations_session_id_branch_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("session_id", "branch_id", name="pk_generations"),
        sa.UniqueConstraint("floor_id", name="uq_generations_floor_id"),
        comment="One row a branch that generates right now: the lock that keeps turns of one branch apart.",
    )
    op.create_table(
        "pages",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("floor_id", ident(64), nullable=False),
        sa.Column("page_no", sa.Integer(), nullable=False),
        sa.Column("page_kind", sa.String(16), nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("checksum", sa.String(200)),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["floor_id"], ["floors.id"], name="fk_pages_floor_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_pages"),
        sa.UniqueConstraint("floor_id", "page_no", "version", name="uq_pages_floor_id_page_no_version"),
    )
    op.create_index(
        "uq_pages_active",
        "pages",
        ["floor_id", "page_no"],
        unique=True,
        sqlite_where=sa.text("is_active"),
        postgresql_where=sa.text("is_active"),
    )
    op.create_table(
        "runs",
        sa.Column("floor_id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("run_id", sa.String(64), nullable=False),
        sa.Column("run_type", sa.String(32), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("error_json", sa.Text()),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("completed_at", sa.BigInteger()),
        sa.ForeignKeyConstraint(["floor_id"], ["floors.id"], name="fk_runs_floor_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("floor_id", name="pk_runs"),
        comment="What the model call of a floor is doing, or how it ended; written at its start and at its end.",
    )
    op.create_table(
        "messages",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("page_id", ident(64), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("content_format", sa.String(16), server_default="text", nullable=False),
        sa.Column("token_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_hidden", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("source", sa.String(200)),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name="fk_messages_page_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_messages"),
        sa.UniqueConstraint("page_id", "seq", name="uq_messages_page_id_seq"),
    )
    op.create_table(
        "promotions",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("page_id", ident(64), nullable=False),
        sa.Column("staged_write_id", sa.String(64), nullable=False),
        sa.Column("key", words(), nullable=False),
        sa.Column("from_scope", sa.String(8), nullable=False),
        sa.Column("from_scope_id", sa.String(240), nullable=False),
        sa.Column("to_scope", sa.String(8), nullable=False),
        sa.Column("to_scope_id", sa.String(240), nullable=False),
        sa.Column("conflict_policy", sa.String(16), nullable=False),
        sa.Column("source_variable_id", sa.String(64), nullable=False),
        sa.Column("target_variable_id", sa.String(64), nullable=False),
        sa.Column("value_json", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name="fk_promotions_page_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_promotions"),
    )
    op.create_index("ix_promotions_page_id", "promotions", ["page_id"])
    op.create_table(
        "staged_writes",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("page_id", ident(64), nullable=False),
        sa.Column("key", words(), nullable=False),
        sa.Column("op", sa.String(8), nullable=False),
        sa.Column("value_json", sa.Text(), nullable=False),
        sa.Column("intent", sa.String(40), nullable=False),
        sa.Column("conflict_policy", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("source_json", sa.Text(), nullable=False),
        sa.Column("evidence_json", sa.Text(), nullable=False),
        sa.Column("status", sa.String(24), nullable=False),
        sa.Column("decision_reason", sa.Text()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("resolved_at", sa.BigInteger()),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name="fk_staged_writes_page_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_staged_writes"),
    )
    op.create_index("ix_staged_writes_page_id", "staged_writes", ["page_id"])
