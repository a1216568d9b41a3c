"""What the files of imported chats tell of their messages, kept so that it goes out again."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0014"
down_revision = "0013"

_ID = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the table; of chats that came in before nothing was kept."""
    op.create_table(
        "message_extras",
        sa.Column("message_id", _ID, nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("beside_json", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["message_id"], ["messages.id"], name="fk_message_extras_message_id_messages", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("message_id", name="pk_message_extras"),
        comment="What the file of an imported chat told of a message and nothing here reads; it goes out again.",
    )
