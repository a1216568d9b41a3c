"""Session State: namespaces, what was written, what holds on branches, and what held when floors were committed."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0009"
down_revision = "0008"


def ident(length: int) -> sa.String:
    """Ids and names that sort by their bytes on both engines."""
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the tables."""
    op.create_table(
        "state_namespaces",
        sa.Column("session_id", ident(64), nullable=False),
        sa.Column("namespace", ident(256), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("owner_type", sa.String(128), nullable=False),
        sa.Column("owner_id", sa.String(256), nullable=False),
        sa.Column("replay_safety", sa.String(24), nullable=False, comment="Of the turns that write here."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_state_namespaces_session_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("session_id", "namespace", name="pk_state_namespaces"),
        comment="The namespaces of Session State that clients registered.",
    )
    op.create_table(
        "state_mutations",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("session_id", ident(64), nullable=False),
        sa.Column("branch_id", ident(100), nullable=False),
        sa.Column("namespace", ident(256), nullable=False),
        sa.Column("slot", ident(256), nullable=False),
        sa.Column("page_id", ident(64), comment="The answer whose turn wrote it; null for a write by itself."),
        sa.Column("floor_id", ident(64)),
        sa.Column("run_id", sa.String(64)),
        sa.Column("write_mode", sa.String(16), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("replay_safety", sa.String(24), nullable=False),
        sa.Column("before_id", ident(64), comment="The mutation whose place it took; null where nothing was there."),
        sa.Column("is_present", sa.Boolean(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False, comment="Bytes of the value."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("value_json", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_state_mutations_session_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_state_mutations"),
        comment="Every write to Session State. They stay when their floor goes, for other branches may hold them.",
    )
    op.create_index("ix_state_mutations_page_id", "state_mutations", ["page_id"])
    op.create_index("ix_state_mutations_session_id_created_at", "state_mutations", ["session_id", "created_at"])
    op.create_table(
        "state_heads",
        sa.Column("session_id", ident(64), nullable=False),
        sa.Column("branch_id", ident(100), nullable=False),
        sa.Column("namespace", ident(256), nullable=False),
        sa.Column("slot", ident(256), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("mutation_id", ident(64), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id", "branch_id"],
            ["branches.session_id", "branches.branch_id"],
            name="fk_state_heads_session_id_branch_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("session_id", "branch_id", "namespace", "slot", name="pk_state_heads"),
        comment="The mutation that holds, for every slot of a branch.",
    )
    op.create_index("ix_state_heads_account_id_size", "state_heads", ["account_id", "size"])
    op.create_table(
        "state_snapshots",
        sa.Column("floor_id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column(
            "mutations_json",
            sa.Text(),
            nullable=False,
            comment="The ids of the mutations that held when the floor was committed.",
        ),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["floor_id"], ["floors.id"], name="fk_state_snapshots_floor_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("floor_id", name="pk_state_snapshots"),
    )
