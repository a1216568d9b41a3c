"""The operation log: who changed what."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0026"
down_revision = "0025"


def ident(length: int) -> sa.String:
    """Ids that sort by their bytes on both engines."""
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the table."""
    op.create_table(
        "operation_logs",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False, comment="Whose log it stands in."),
        sa.Column("actor_type", sa.String(8), nullable=False, comment="account, client, llm or system."),
        sa.Column("actor_id", ident(140), nullable=False),
        sa.Column("actor_account_id", sa.String(120)),
        sa.Column("actor_client_id", ident(140)),
        sa.Column("source_type", sa.String(8), nullable=False, comment="http or llm_run."),
        sa.Column("operation_group_id", ident(64), comment="The same for all that one request did to several."),
        sa.Column("request_id", sa.String(64)),
        sa.Column("project_id", ident(64)),
        sa.Column("permission_action", sa.String(64), comment="The right that was asked for, where one was."),
        sa.Column("result", sa.String(8), comment="allowed or denied."),
        sa.Column("reason", sa.String(64), comment="The code of the error."),
        sa.Column("action", sa.String(64), nullable=False),
        sa.Column("status", sa.String(16), nullable=False, comment="succeeded or denied."),
        sa.Column("session_id", ident(64)),
        sa.Column("branch_id", ident(100)),
        sa.Column("floor_id", ident(64)),
        sa.Column("run_id", ident(64)),
        sa.Column("target_type", sa.String(32)),
        sa.Column("target_id", ident(256)),
        sa.Column("before_ref", ident(64)),
        sa.Column("after_ref", ident(64)),
        sa.Column("diff_json", sa.Text(), comment="Which fields changed, by the hashes of their values."),
        sa.Column("metadata_json", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_operation_logs"),
        comment="Who changed what, without the texts. Entries outlive what they tell of.",
    )
    op.create_index("ix_operation_logs_account_id_created_at_id", "operation_logs", ["account_id", "created_at", "id"])
    for column in ("session_id", "floor_id"):
        some = sa.text(f"{column} IS NOT NULL")
        op.create_index(
            f"ix_operation_logs_{column}",
            "operation_logs",
            [column, "created_at"],
            sqlite_where=some,
            postgresql_where=some,
        )
