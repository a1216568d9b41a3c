"""Projects: each session is in one."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0028"
down_revision = "0027"


def ident(length: int) -> sa.String:
    """Ids that sort by their bytes on both engines."""
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the table, and a project for each session that is there."""
    op.create_table(
        "projects",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("description", sa.Text()),
        sa.Column(
            "kind",
            sa.String(16),
            nullable=False,
            comment="session_default: made with a session, and gone with its last; manual.",
        ),
        sa.Column("status", sa.String(8), nullable=False, comment="active or archived."),
        sa.Column("settings_json", sa.Text(), nullable=False, comment="What its sessions have otherwise than the workspace."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_projects"),
        comment="Sessions that belong together.",
    )
    op.create_index("ix_projects_account_id_updated_at_id", "projects", ["account_id", "updated_at", "id"])
    op.add_column("sessions", sa.Column("project_id", ident(64), comment="The project that it is in."))
    op.create_index("ix_sessions_project_id", "sessions", ["project_id"])
    op.execute(
        "INSERT INTO projects (id, account_id, name, kind, status, settings_json, created_at, updated_at) "
        "SELECT 'prj_' || id, account_id, coalesce(title, name, 'Untitled'), 'session_default', 'active', '{}', created_at, "
        "updated_at FROM sessions WHERE account_id <> ''"
    )
    op.execute("UPDATE sessions SET project_id = 'prj_' || id WHERE account_id <> ''")
