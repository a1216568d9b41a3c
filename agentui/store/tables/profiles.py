"""The tables of LLM profiles: what calls models, what is bound to which slot, and what slots are to do."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, String, Table, Text, text

from agentui.store.tables.columns import ID, metadata

llm_profiles = Table(
    "llm_profiles",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("preset_name", String(120), nullable=False),
    Column("provider", String(24), nullable=False),
    Column("model_id", String(200), nullable=False),
    Column("base_url", String(500), comment="Null: the provider's own address."),
    Column("api_key_name", String(120), comment="What a person calls the key."),
    Column("api_key_masked", String(16), nullable=False),
    Column("sealed_key", Text, nullable=False, comment="The key with its address, encrypted; empty once deleted."),
    Column("status", String(8), nullable=False, comment="active, disabled or deleted."),
    Column("last_used_at", BigInteger, comment="Written at most once a minute."),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index(None, "account_id", "updated_at"),
    Index(
        "uq_llm_profiles_account_id_preset_name",
        "account_id",
        "preset_name",
        unique=True,
        sqlite_where=text("status <> 'deleted'"),
        postgresql_where=text("status <> 'deleted'"),
    ),
    comment="Providers, addresses, models and keys of accounts.",
)

llm_bindings = Table(
    "llm_bindings",
    metadata,
    Column("account_id", String(120), primary_key=True),
    Column("scope", String(8), primary_key=True, comment="global or session."),
    Column("scope_id", ID, primary_key=True, comment="global, or the session."),
    Column("instance_slot", String(8), primary_key=True, comment="*, narrator, director, verifier or memory."),
    Column("profile_id", ID, ForeignKey("llm_profiles.id", ondelete="CASCADE"), nullable=False),
    Column("params_json", Text),
    Column("updated_at", BigInteger, nullable=False),
    Index(None, "profile_id"),
    comment="Which profile serves which slot.",
)

llm_instances = Table(
    "llm_instances",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("scope", String(8), nullable=False, comment="global or session."),
    Column("scope_id", ID, nullable=False, comment="global, or the session."),
    Column("instance_slot", String(8), nullable=False, comment="*, narrator, director, verifier or memory."),
    Column("preset_id", ID, comment="The prompt preset that takes the place of the session's."),
    Column("enabled", Boolean, nullable=False),
    Column("params_json", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index(
        "uq_llm_instances_account_id_scope_scope_id_instance_slot",
        "account_id",
        "scope",
        "scope_id",
        "instance_slot",
        unique=True,
    ),
    comment="What slots are to do, and with which parameters.",
)
