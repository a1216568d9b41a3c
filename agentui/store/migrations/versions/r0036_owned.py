"""Owned: pipelines, provider presets and keys of accounts."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0036"
down_revision = "0035"


def upgrade(op: Operations) -> None:
    """Make the tables."""
    ident = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
    op.create_table(
        "account_documents",
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("kind", sa.String(12), nullable=False, comment="pipelines or presets."),
        sa.Column("id", ident, nullable=False, comment="With the ~ before it."),
        sa.Column("document_json", sa.Text(), nullable=False),
        sa.Column("etag", sa.String(24), nullable=False, comment="A hash of the document."),
        sa.Column(
            "good_json", sa.Text(), comment="The last version without problems, which serves; null where there was none."
        ),
        sa.Column("modified", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "kind", "id", name="pk_account_documents"),
        comment="Pipelines and presets of accounts.",
    )
    op.create_table(
        "account_document_versions",
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("kind", sa.String(12), nullable=False),
        sa.Column("id", ident, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False, comment="From 1 on, and never again."),
        sa.Column("document_json", sa.Text(), nullable=False),
        sa.Column("etag", sa.String(24), nullable=False),
        sa.Column("name", sa.String(200), nullable=False, comment="Empty, or what somebody called it, which keeps it."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "kind", "id", "number", name="pk_account_document_versions"),
        sa.ForeignKeyConstraint(
            ["account_id", "kind", "id"],
            ["account_documents.account_id", "account_documents.kind", "account_documents.id"],
            name="fk_account_document_versions_account_id_kind_id",
            ondelete="CASCADE",
            onupdate="CASCADE",
        ),
        comment="Their earlier versions.",
    )
    op.create_table(
        "account_secrets",
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("name", sa.String(64), nullable=False, comment="In lower case."),
        sa.Column("shown_name", sa.String(64), nullable=False),
        sa.Column(
            "origins_json", sa.Text(), nullable=False, comment="Where it may be sent, for people; what counts is sealed."
        ),
        sa.Column("sealed", sa.Text(), nullable=False, comment="The key with its account, name and origins, encrypted."),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "name", name="pk_account_secrets"),
        comment="Keys of accounts for their own pipelines and presets.",
    )
