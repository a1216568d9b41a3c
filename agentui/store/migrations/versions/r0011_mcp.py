"""MCP servers."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0011"
down_revision = "0010"


def ident() -> sa.String:
    """Ids that sort by their bytes on both engines."""
    return sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the table."""
    op.create_table(
        "mcp_servers",
        sa.Column("id", ident(), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("source", sa.String(8), nullable=False, comment="api, or file for one of mcp.json."),
        sa.Column("transport", sa.String(8), nullable=False, comment="stdio or http."),
        sa.Column(
            "reached", sa.Text(), nullable=False, comment="How it is reached: JSON; values of env and headers may be secrets."
        ),
        sa.Column("settings", sa.Text(), nullable=False, comment="How it is used: JSON."),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("approved", sa.Text(), comment="Its tools as somebody approved them: JSON."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_mcp_servers"),
        comment="The MCP servers whose tools models may call.",
    )
    op.create_index("uq_mcp_servers_account_id_name", "mcp_servers", ["account_id", "name"], unique=True)
