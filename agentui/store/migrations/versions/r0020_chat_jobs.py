"""Chats that come in or go out as jobs, with their files."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0020"
down_revision = "0019"


def ident() -> sa.String:
    """Ids that sort by their bytes on both engines."""
    return sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the table."""
    op.create_table(
        "chat_jobs",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("job_kind", sa.String(16), nullable=False, comment="import_chat or export_chat"),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("format", sa.String(16), comment="Of an import: once its file was read."),
        sa.Column("requested_session_id", ident(), comment="The session that is to be exported."),
        sa.Column("result_session_id", ident(), comment="The session that an import made."),
        sa.Column("options_json", sa.Text(), nullable=False, server_default="{}"),
        sa.Column("ticket", ident(), nullable=False, comment="The background job that may do it now; others do not."),
        sa.Column(
            "attempts",
            sa.Integer(),
            nullable=False,
            server_default="0",
            comment="Begun since it was asked for, or retried.",
        ),
        sa.Column("result_json", sa.Text(), comment="What an import came to."),
        sa.Column("error_json", sa.Text(), comment="Why the last attempt failed."),
        sa.Column("file_name", sa.Text(), comment="Of an export, once it is written; without its ending."),
        sa.Column("size", sa.Integer(), nullable=False, server_default="0", comment="Bytes of the file that is kept."),
        sa.Column("available_at", sa.BigInteger(), nullable=False, comment="When it may be tried (again)."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger()),
        sa.Column("finished_at", sa.BigInteger()),
        sa.Column(
            "data", sa.LargeBinary(), comment="The file of an import until it is done, or that of an export until it expires."
        ),
        sa.PrimaryKeyConstraint("id", name="pk_chat_jobs"),
        comment="Chats that come in or go out in the background.",
    )
    op.create_index("ix_chat_jobs_account_id_created_at", "chat_jobs", ["account_id", "created_at"])
    op.create_index("ix_chat_jobs_account_id_status_size", "chat_jobs", ["account_id", "status", "size"])
    op.create_index("ix_chat_jobs_finished_at", "chat_jobs", ["finished_at"])
