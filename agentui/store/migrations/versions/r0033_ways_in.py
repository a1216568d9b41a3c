"""Passkeys, and people of identity providers."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0033"
down_revision = "0032"


def ident(length: int) -> sa.String:
    """Ids that sort by their bytes on both engines."""
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the tables."""
    op.create_table(
        "passkeys",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("credential_id", sa.Text(), nullable=False, comment="As the authenticator calls it, in base64url."),
        sa.Column("user_handle", sa.String(88), nullable=False, comment="As authenticators call the account, in base64url."),
        sa.Column("public_key", sa.Text(), nullable=False, comment="A COSE key, in base64url."),
        sa.Column(
            "sign_count",
            sa.BigInteger(),
            nullable=False,
            comment="The authenticator's own count of signatures; 0: it has none.",
        ),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("is_backed_up", sa.Boolean(), nullable=False, comment="Whether it is kept beyond one device."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name="pk_passkeys"),
        comment="By which accounts sign in to the page. The private halves never leave their authenticators.",
    )
    op.create_index("uq_passkeys_credential_id", "passkeys", ["credential_id"], unique=True)
    op.create_index("ix_passkeys_account_id_created_at", "passkeys", ["account_id", "created_at"])
    op.create_table(
        "identities",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("issuer", sa.String(512), nullable=False, comment="The identity provider."),
        sa.Column(
            "subject",
            sa.String(255),
            comment="The provider's id of the person; null until who has the address signs in.",
        ),
        sa.Column("email", sa.Text(), comment="What the provider said last, or what an admin expects."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name="pk_identities"),
        comment="By which accounts sign in to the page: people as identity providers know them.",
    )
    op.create_index("uq_identities_issuer_subject", "identities", ["issuer", "subject"], unique=True)
    op.create_index("ix_identities_account_id_created_at", "identities", ["account_id", "created_at"])
    op.create_table(
        "spent_challenges",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False, comment="When the challenge ends by itself."),
        sa.PrimaryKeyConstraint("id", name="pk_spent_challenges"),
        comment="Challenges of sign-ins that were answered: none counts twice.",
    )
    op.create_index("ix_spent_challenges_expires_at", "spent_challenges", ["expires_at"])
