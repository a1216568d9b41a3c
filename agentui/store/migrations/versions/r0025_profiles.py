"""LLM profiles, their bindings and instance configs."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0025"
down_revision = "0024"


def ident() -> sa.String:
    """Ids that sort by their bytes on both engines."""
    return sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the tables."""
    op.create_table(
        "llm_profiles",
        sa.Column("id", ident(), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("preset_name", sa.String(120), nullable=False),
        sa.Column("provider", sa.String(24), nullable=False),
        sa.Column("model_id", sa.String(200), nullable=False),
        sa.Column("base_url", sa.String(500), comment="Null: the provider's own address."),
        sa.Column("api_key_name", sa.String(120), comment="What a person calls the key."),
        sa.Column("api_key_masked", sa.String(16), nullable=False),
        sa.Column("sealed_key", sa.Text(), nullable=False, comment="The key with its address, encrypted; empty once deleted."),
        sa.Column("status", sa.String(8), nullable=False, comment="active, disabled or deleted."),
        sa.Column("last_used_at", sa.BigInteger(), comment="Written at most once a minute."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_llm_profiles"),
        comment="Providers, addresses, models and keys of accounts.",
    )
    op.create_index("ix_llm_profiles_account_id_updated_at", "llm_profiles", ["account_id", "updated_at"])
    op.create_index(
        "uq_llm_profiles_account_id_preset_name",
        "llm_profiles",
        ["account_id", "preset_name"],
        unique=True,
        sqlite_where=sa.text("status <> 'deleted'"),
        postgresql_where=sa.text("status <> 'deleted'"),
    )
    op.create_table(
        "llm_bindings",
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("scope", sa.String(8), nullable=False, comment="global or session."),
        sa.Column("scope_id", ident(), nullable=False, comment="global, or the session."),
        sa.Column("instance_slot", sa.String(8), nullable=False, comment="*, narrator, director, verifier or memory."),
        sa.Column("profile_id", ident(), nullable=False),
        sa.Column("params_json", sa.Text()),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "scope", "scope_id", "instance_slot", name="pk_llm_bindings"),
        sa.ForeignKeyConstraint(["profile_id"], ["llm_profiles.id"], name="fk_llm_bindings_profile_id", ondelete="CASCADE"),
        comment="Which profile serves which slot.",
    )
    op.create_index("ix_llm_bindings_profile_id", "llm_bindings", ["profile_id"])
    op.create_table(
        "llm_instances",
        sa.Column("id", ident(), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("scope", sa.String(8), nullable=False, comment="global or session."),
        sa.Column("scope_id", ident(), nullable=False, comment="global, or the session."),
        sa.Column("instance_slot", sa.String(8), nullable=False, comment="*, narrator, director, verifier or memory."),
        sa.Column("preset_id", ident(), comment="The prompt preset that takes the place of the session's."),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("params_json", sa.Text()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_llm_instances"),
        comment="What slots are to do, and with which parameters.",
    )
    op.create_index(
        "uq_llm_instances_account_id_scope_scope_id_instance_slot",
        "llm_instances",
        ["account_id", "scope", "scope_id", "instance_slot"],
        unique=True,
    )
