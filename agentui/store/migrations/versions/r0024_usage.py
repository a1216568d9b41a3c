"""What calls to models took and cost."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0024"
down_revision = "0023"


def ident(length: int) -> sa.String:
    """Ids and names that sort by their bytes on both engines."""
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the table."""
    op.create_table(
        "usage",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("key_id", ident(64), comment="The client key that the caller came with, where it did."),
        sa.Column("session_id", ident(64), comment="The chat that the call was made for."),
        sa.Column("floor_id", ident(64), comment="The turn that it was made for."),
        sa.Column("run_id", ident(64), nullable=False),
        sa.Column("pipeline_id", ident(256), nullable=False),
        sa.Column("node_id", ident(256), nullable=False),
        sa.Column("vendor", sa.String(32), nullable=False, comment="The dialect that was spoken."),
        sa.Column("host", ident(256), nullable=False, comment="Whom the call went to."),
        sa.Column("model", ident(256), nullable=False),
        sa.Column("operation", sa.String(16), nullable=False, comment="chat, count_tokens, embeddings or forward."),
        sa.Column("purpose", sa.String(16), nullable=False, comment="answer, try, director, verifier or tool."),
        sa.Column(
            "outcome", sa.String(16), nullable=False, comment="answered, refused, failed or left; lost where its process died."
        ),
        sa.Column("status", sa.Integer(), comment="The upstream's; none where there was no answer."),
        sa.Column("input_tokens", sa.BigInteger(), comment="Cached ones included."),
        sa.Column("output_tokens", sa.BigInteger(), comment="Those of thoughts included."),
        sa.Column("cache_read_tokens", sa.BigInteger()),
        sa.Column("cache_write_tokens", sa.BigInteger()),
        sa.Column("reasoning_tokens", sa.BigInteger()),
        sa.Column(
            "price_nano", sa.BigInteger(), comment="In billionths of a dollar; none where the model's price is not known."
        ),
        sa.Column("basis", sa.String(16), nullable=False, comment="Whence the tokens are: told, estimated, or unknown."),
        sa.Column("latency_ms", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_usage"),
        comment="Every request that went out to a model.",
    )
    op.create_index("ix_usage_account_id_created_at_id", "usage", ["account_id", "created_at", "id"])
    op.create_index("ix_usage_created_at_id", "usage", ["created_at", "id"])
