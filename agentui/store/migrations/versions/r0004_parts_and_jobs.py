"""All parts of messages with their media, background jobs, and the lock that says that a generation's process lives."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0004"
down_revision = "0003"


def ident(length: int) -> sa.String:
    """Ids that sort by their bytes on both engines."""
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the columns and tables. Messages from before have no parts: their content is all there is."""
    lock = "PostgreSQL's advisory lock that the owner holds as long as it lives."
    op.add_column("generations", sa.Column("lock_key", sa.BigInteger(), comment=lock))
    parts = "All parts, where the content is not all there is; media stand in blobs."
    op.add_column("messages", sa.Column("parts_json", sa.Text(), comment=parts))
    op.create_table(
        "blobs",
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False, comment="SHA-256 of the data, in hexadecimal digits."),
        sa.Column("used_at", sa.BigInteger(), nullable=False, comment="When a message was last given it."),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "hash", name="pk_blobs"),
        comment="Images, sounds, films and files of messages, each content once.",
    )
    op.create_table(
        "message_blobs",
        sa.Column("message_id", ident(64), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.ForeignKeyConstraint(["message_id"], ["messages.id"], name="fk_message_blobs_message_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["account_id", "hash"], ["blobs.account_id", "blobs.hash"], name="fk_message_blobs_account_id_hash"
        ),
        sa.PrimaryKeyConstraint("message_id", "hash", name="pk_message_blobs"),
        comment="Which message needs which blob; a blob that none needs is removed after a while.",
    )
    op.create_index("ix_message_blobs_account_id_hash", "message_blobs", ["account_id", "hash"])
    op.create_table(
        "jobs",
        sa.Column("id", ident(64), nullable=False, comment="A periodic job has its kind's name."),
        sa.Column("kind", sa.String(64), nullable=False),
        sa.Column("payload_json", sa.Text(), server_default="null", nullable=False),
        sa.Column("every_ms", sa.BigInteger(), comment="Between two runs of a periodic job; null for one that runs once."),
        sa.Column("due_at", sa.BigInteger(), comment="Null for a job that was given up."),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False, comment="Since it last succeeded."),
        sa.Column("error", sa.Text(), comment="Why the last try failed."),
        sa.Column("owner", sa.String(64), comment="The process that works on it; null where nobody does."),
        sa.Column("expires_at", sa.BigInteger(), comment="Past this the owner has it no longer."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
        comment="Background work that is to be done, once by whichever process takes it.",
    )
    op.create_index("ix_jobs_due_at", "jobs", ["due_at"])
