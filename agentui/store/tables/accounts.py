"""The tables of who asks: accounts, the programs that come in for them, those programs' keys, and people's ways into
the page.

    account 1-n client 1-n client key
    account 1-0..1 password · account 1-n passkey · account 1-n identity · account 1-n sign-in
"""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, String, Table, Text

from agentui.store.tables.columns import ID, metadata

CLIENT = String(140).with_variant(String(140, collation="C"), "postgresql")
"""The id of a client: that of an account's default client holds the account's."""

accounts = Table(
    "accounts",
    metadata,
    Column("id", String(120), primary_key=True),
    Column("name", Text, nullable=False),
    Column("role", String(8), nullable=False, comment="admin or user."),
    Column("status", String(8), nullable=False, comment="active or disabled."),
    Column("may_edit", Boolean, nullable=False, comment="Whether a user changes pipelines and presets; admins always do."),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index(None, "updated_at"),
    comment="To whom what is stored belongs.",
)

clients = Table(
    "clients",
    metadata,
    Column("id", CLIENT, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("name", Text, nullable=False),
    Column("kind", String(8), nullable=False, comment="basic, advanced, deriver, worker or custom."),
    Column("status", String(8), nullable=False, comment="active or disabled."),
    Column("is_default", Boolean, nullable=False),
    Column("metadata_json", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index(None, "account_id", "created_at", "id"),
    comment="The programs by which accounts come in.",
)

client_keys = Table(
    "client_keys",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("client_id", CLIENT, ForeignKey("clients.id", ondelete="CASCADE"), nullable=False),
    Column("name", Text),
    Column("key_prefix", String(24), nullable=False, comment="The first characters of the key, for people."),
    Column("key_hash", String(64), nullable=False, comment="HMAC-SHA256 of the key, in hex."),
    Column("previous_hash", String(64), comment="That of the key which this one took the place of."),
    Column("previous_until", BigInteger, comment="Until when that one is taken as well."),
    Column("status", String(8), nullable=False, comment="active or revoked."),
    Column("last_used_at", BigInteger, comment="Written at most once a minute."),
    Column("expires_at", BigInteger),
    Column("restrictions_json", Text, comment="What it is kept to; null: to nothing but what its account may."),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index(None, "client_id", "created_at"),
    Index(None, "account_id", "created_at"),
    Index("uq_client_keys_key_hash", "key_hash", unique=True),
    Index("uq_client_keys_previous_hash", "previous_hash", unique=True),
    comment="Keys of clients. What they are is nowhere: only their hashes are kept.",
)

passwords = Table(
    "passwords",
    metadata,
    Column("account_id", String(120), primary_key=True),
    Column("hash", Text, nullable=False, comment="By Argon2id, with its salt and its costs."),
    Column("updated_at", BigInteger, nullable=False),
    comment="By which accounts sign in to the page.",
)

sign_ins = Table(
    "sign_ins",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("token_hash", String(64), nullable=False, comment="SHA-256 of what the browser keeps, in hex."),
    Column("method", String(16), nullable=False, comment="How somebody proved who it is: password."),
    Column("device", Text, nullable=False, comment="What the browser says it is."),
    Column("created_at", BigInteger, nullable=False),
    Column("last_used_at", BigInteger, nullable=False, comment="Written at most once a minute."),
    Column("expires_at", BigInteger, nullable=False),
    Index("uq_sign_ins_token_hash", "token_hash", unique=True),
    Index(None, "account_id", "created_at"),
    Index(None, "expires_at"),
    comment="Browsers in which somebody is signed in.",
)

passkeys = Table(
    "passkeys",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("credential_id", Text, nullable=False, comment="As the authenticator calls it, in base64url."),
    Column("user_handle", String(88), nullable=False, comment="As authenticators call the account, in base64url."),
    Column("public_key", Text, nullable=False, comment="A COSE key, in base64url."),
    Column("sign_count", BigInteger, nullable=False, comment="The authenticator's own count of signatures; 0: it has none."),
    Column("name", Text, nullable=False),
    Column("is_backed_up", Boolean, nullable=False, comment="Whether it is kept beyond one device."),
    Column("created_at", BigInteger, nullable=False),
    Column("last_used_at", BigInteger),
    Index("uq_passkeys_credential_id", "credential_id", unique=True),
    Index(None, "account_id", "created_at"),
    comment="By which accounts sign in to the page. The private halves never leave their authenticators.",
)

identities = Table(
    "identities",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("issuer", String(512), nullable=False, comment="The identity provider."),
    Column("subject", String(255), comment="The provider's id of the person; null until who has the address signs in."),
    Column("email", Text, comment="What the provider said last, or what an admin expects."),
    Column("created_at", BigInteger, nullable=False),
    Column("last_used_at", BigInteger),
    Index("uq_identities_issuer_subject", "issuer", "subject", unique=True),
    Index(None, "account_id", "created_at"),
    comment="By which accounts sign in to the page: people as identity providers know them.",
)

spent_challenges = Table(
    "spent_challenges",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("expires_at", BigInteger, nullable=False, comment="When the challenge ends by itself."),
    Index(None, "expires_at"),
    comment="Challenges of sign-ins that were answered: none counts twice.",
)
