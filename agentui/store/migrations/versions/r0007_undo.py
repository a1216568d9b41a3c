"""What turns changed, so that it can be taken back; what they came to beside the answer; words of runs that were stopped."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0007"
down_revision = "0006"


def ident(length: int) -> sa.String:
    """Ids that sort by their bytes on both engines."""
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the columns and tables. Turns from before have no journal: what they changed is not known."""
    no, partial = sa.text("false"), "The words of a run that did not end well."
    op.add_column("pages", sa.Column("is_partial", sa.Boolean(), server_default=no, nullable=False, comment=partial))
    known = "Whether variable_changes knows what the floor's turn changed; it does not for turns of older versions."
    op.add_column("branch_snapshots", sa.Column("is_journaled", sa.Boolean(), server_default=no, nullable=False, comment=known))
    op.create_table(
        "variable_changes",
        sa.Column("page_id", ident(64), nullable=False),
        sa.Column("scope", sa.String(8), nullable=False),
        sa.Column("scope_id", sa.String(240), nullable=False),
        sa.Column("key", sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("before_json", sa.Text(), comment="The value before the turn; null where there was none."),
        sa.Column("after_json", sa.Text(), comment="The value that the turn left; null where it deleted the variable."),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name="fk_variable_changes_page_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("page_id", "scope", "scope_id", "key", name="pk_variable_changes"),
        comment="What the turn of an output page changed in the global, chat and branch tiers, so that it can be taken back.",
    )
    op.create_table(
        "page_results",
        sa.Column("page_id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("token_in", sa.Integer(), nullable=False),
        sa.Column("token_out", sa.Integer(), nullable=False),
        sa.Column("summaries_json", sa.Text(), server_default="[]", nullable=False),
        sa.Column("verifier_json", sa.Text(), comment="The verifier's judgement; null where none was asked."),
        sa.Column("explain_json", sa.Text(), comment="What the prompt was made of, as it was at the commit."),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name="fk_page_results_page_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("page_id", name="pk_page_results"),
        comment="What the turn of an output page came to, beside the answer.",
    )
