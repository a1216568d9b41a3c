"""How the prompts of a session, and of one of its branches, are assembled."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0005"
down_revision = "0004"


def upgrade(op: Operations) -> None:
    """Add the columns; null says nothing, so that the defaults hold."""
    of_session = "How its prompts are assembled: {version, updated_at, updated_by, value}."
    op.add_column("sessions", sa.Column("policy_json", sa.Text(), comment=of_session))
    of_branch = "What its prompts have otherwise than the session's, in the same form."
    op.add_column("branches", sa.Column("policy_json", sa.Text(), comment=of_branch))
