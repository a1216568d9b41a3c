"""The working variables of chats: what was written to them, and where."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0012"
down_revision = "0011"


def ident(size: int = 64) -> sa.String:
    """Ids that sort by their bytes on both engines."""
    return sa.String(size).with_variant(sa.String(size, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the table."""
    op.create_table(
        "working_variables",
        sa.Column("id", ident(), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("session_id", ident(), nullable=False),
        sa.Column("branch_id", ident(100), comment="Where a person wrote; null where a turn did."),
        sa.Column("floor_id", ident(), comment="Null before the first floor."),
        sa.Column("page_id", ident(), comment="The turn's; null for a person."),
        sa.Column("name", sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), nullable=False),
        sa.Column("facts_json", sa.Text(), comment="All but name and value; null where the variable was removed."),
        sa.Column("written_at", sa.BigInteger(), nullable=False),
        sa.Column("length", sa.BigInteger(), comment="Characters of the value; null where it stayed as it was."),
        sa.Column("value", sa.Text()),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_working_variables_session_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["floor_id"], ["floors.id"], name="fk_working_variables_floor_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name="fk_working_variables_page_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["session_id", "branch_id"],
            ["branches.session_id", "branches.branch_id"],
            name="fk_working_variables_session_id_branch_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_working_variables"),
        comment="What was written to the working variables of a chat, and where in it.",
    )
    for columns in (["floor_id"], ["page_id"], ["session_id", "branch_id"]):
        op.create_index(f"ix_working_variables_{'_'.join(columns)}", "working_variables", columns)
