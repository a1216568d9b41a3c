"""Accounts, their clients with their keys, and sign-in to the page."""

import time

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0023"
down_revision = "0022"


def ident(length: int) -> sa.String:
    """Ids that sort by their bytes on both engines."""
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the tables, and the account that is always there with its client."""
    accounts = op.create_table(
        "accounts",
        sa.Column("id", sa.String(120), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.String(8), nullable=False, comment="admin or user."),
        sa.Column("status", sa.String(8), nullable=False, comment="active or disabled."),
        sa.Column(
            "may_edit", sa.Boolean(), nullable=False, comment="Whether a user changes pipelines and presets; admins always do."
        ),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_accounts"),
        comment="To whom what is stored belongs.",
    )
    op.create_index("ix_accounts_updated_at", "accounts", ["updated_at"])
    clients = op.create_table(
        "clients",
        sa.Column("id", ident(140), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(8), nullable=False, comment="basic, advanced, deriver, worker or custom."),
        sa.Column("status", sa.String(8), nullable=False, comment="active or disabled."),
        sa.Column("is_default", sa.Boolean(), nullable=False),
        sa.Column("metadata_json", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_clients"),
        comment="The programs by which accounts come in.",
    )
    op.create_index("ix_clients_account_id_created_at_id", "clients", ["account_id", "created_at", "id"])
    op.create_table(
        "client_keys",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("client_id", ident(140), nullable=False),
        sa.Column("name", sa.Text()),
        sa.Column("key_prefix", sa.String(24), nullable=False, comment="The first characters of the key, for people."),
        sa.Column("key_hash", sa.String(64), nullable=False, comment="HMAC-SHA256 of the key, in hex."),
        sa.Column("previous_hash", sa.String(64), comment="That of the key which this one took the place of."),
        sa.Column("previous_until", sa.BigInteger(), comment="Until when that one is taken as well."),
        sa.Column("status", sa.String(8), nullable=False, comment="active or revoked."),
        sa.Column("last_used_at", sa.BigInteger(), comment="Written at most once a minute."),
        sa.Column("expires_at", sa.BigInteger()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_client_keys"),
        sa.ForeignKeyConstraint(["client_id"], ["clients.id"], name="fk_client_keys_client_id", ondelete="CASCADE"),
        comment="Keys of clients. What they are is nowhere: only their hashes are kept.",
    )
    op.create_index("ix_client_keys_client_id_created_at", "client_keys", ["client_id", "created_at"])
    op.create_index("ix_client_keys_account_id_created_at", "client_keys", ["account_id", "created_at"])
    op.create_index("uq_client_keys_key_hash", "client_keys", ["key_hash"], unique=True)
    op.create_index("uq_client_keys_previous_hash", "client_keys", ["previous_hash"], unique=True)
    op.create_table(
        "passwords",
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False, comment="By Argon2id, with its salt and its costs."),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", name="pk_passwords"),
        comment="By which accounts sign in to the page.",
    )
    op.create_table(
        "sign_ins",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False, comment="SHA-256 of what the browser keeps, in hex."),
        sa.Column("method", sa.String(16), nullable=False, comment="How somebody proved who it is: password."),
        sa.Column("device", sa.Text(), nullable=False, comment="What the browser says it is."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger(), nullable=False, comment="Written at most once a minute."),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sign_ins"),
        comment="Browsers in which somebody is signed in.",
    )
    op.create_index("uq_sign_ins_token_hash", "sign_ins", ["token_hash"], unique=True)
    op.create_index("ix_sign_ins_account_id_created_at", "sign_ins", ["account_id", "created_at"])
    op.create_index("ix_sign_ins_expires_at", "sign_ins", ["expires_at"])
    _insert_default(op, accounts, clients)


def _insert_default(op: Operations, accounts: sa.Table, clients: sa.Table) -> None:
    """Everything that was stored so far belongs to this account."""
    now = time.time_ns() // 1_000_000
    times = {"created_at": now, "updated_at": now}
    own = {"id": "default-admin", "name": "Default Admin", "role": "admin", "status": "active", "may_edit": True}
    op.bulk_insert(accounts, [{**own, **times}])
    client = {"id": "cli_default_default-admin", "account_id": "default-admin", "name": "Default Client", "kind": "custom"}
    op.bulk_insert(clients, [{**client, "status": "active", "is_default": True, "metadata_json": "{}", **times}])
