"""Memories: items, what they were made of, and the edges between them."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0034"
down_revision = "0033"


def ident(length: int) -> sa.String:
    """Ids that sort by their bytes on both engines."""
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade(op: Operations) -> None:
    """Make the tables, and count what changes the past of chats."""
    op.add_column(
        "sessions",
        sa.Column(
            "shape",
            sa.Integer(),
            nullable=False,
            server_default="0",
            comment="Counts what changed the past of its branches: all but new floors at a head.",
        ),
    )
    op.create_table(
        "memory_items",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("session_id", ident(64), comment="The chat that it belongs to; null: none, or none that was known."),
        sa.Column("scope", sa.String(8), nullable=False, comment="global, chat, branch or floor."),
        sa.Column("scope_id", ident(800), nullable=False),
        sa.Column("type", sa.String(16), nullable=False, comment="fact, summary or open_loop."),
        sa.Column("summary_tier", sa.String(8), comment="micro or macro."),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("content_form", sa.String(8), nullable=False, comment="How the content was sent: text, or object."),
        sa.Column("folded", sa.Text(), nullable=False, comment="The content without the difference of cases, for searches."),
        sa.Column("importance", sa.Float(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("fact_key", sa.Text()),
        sa.Column("source_floor_id", ident(64), comment="The floor that its writer names; nobody looks whether there is one."),
        sa.Column("source_message_id", ident(64)),
        sa.Column("source_job_id", sa.Text()),
        sa.Column("status", sa.String(16), nullable=False, comment="active or deprecated."),
        sa.Column("lifecycle_status", sa.String(16), nullable=False, comment="active, compacted or deprecated."),
        sa.Column("author", sa.String(8), nullable=False, comment="user, model or rule."),
        sa.Column("is_pinned", sa.Boolean(), nullable=False, server_default=sa.text("false")),
        sa.Column(
            "is_waiting",
            sa.Boolean(),
            nullable=False,
            server_default=sa.text("false"),
            comment="Nobody sees it yet.",
        ),
        sa.Column("keys_json", sa.Text(), nullable=False, comment="Words that bring it up."),
        sa.Column("entities_json", sa.Text(), nullable=False, comment="Who and what it is about."),
        sa.Column("token_count_estimate", sa.Integer()),
        sa.Column("last_used_at", sa.BigInteger(), comment="When it was in the prompt of a committed turn."),
        sa.Column("coverage_start_floor_no", sa.Integer()),
        sa.Column("coverage_end_floor_no", sa.Integer()),
        sa.Column("derived_from_count", sa.Integer()),
        sa.Column("revision", sa.BigInteger(), nullable=False, comment="That of its chat's memories when it was written."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_memory_items"),
        comment="What chats remember.",
    )
    op.create_index("ix_memory_items_account_id_created_at_id", "memory_items", ["account_id", "created_at", "id"])
    op.create_index("ix_memory_items_account_id_updated_at_id", "memory_items", ["account_id", "updated_at", "id"])
    op.create_index("ix_memory_items_revision", "memory_items", ["account_id", "session_id", "revision", "id"])
    op.create_index("ix_memory_items_scope", "memory_items", ["account_id", "scope", "scope_id", "fact_key"])
    op.create_index(
        "ix_memory_items_source_floor_id",
        "memory_items",
        ["source_floor_id"],
        sqlite_where=sa.text("source_floor_id IS NOT NULL"),
        postgresql_where=sa.text("source_floor_id IS NOT NULL"),
    )
    op.create_table(
        "memory_sources",
        sa.Column("item_id", ident(64), nullable=False),
        sa.Column("page_id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("floor_id", ident(64), nullable=False),
        sa.Column("quote", sa.Text(), comment="The words of the page that it was made of."),
        sa.PrimaryKeyConstraint("item_id", "page_id", name="pk_memory_sources"),
        sa.ForeignKeyConstraint(["item_id"], ["memory_items.id"], ondelete="CASCADE", name="fk_memory_sources_item_id"),
        comment="The pages that an item was made of.",
    )
    op.create_index("ix_memory_sources_page_id", "memory_sources", ["page_id"])
    op.create_table(
        "memory_edges",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("session_id", ident(64), comment="The chat that one of its ends belongs to; null: both are of none."),
        sa.Column("from_id", ident(64), nullable=False),
        sa.Column("to_id", ident(64), nullable=False),
        sa.Column("relation", sa.String(16), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_memory_edges"),
        sa.ForeignKeyConstraint(["from_id"], ["memory_items.id"], ondelete="CASCADE", name="fk_memory_edges_from_id"),
        sa.ForeignKeyConstraint(["to_id"], ["memory_items.id"], ondelete="CASCADE", name="fk_memory_edges_to_id"),
        sa.UniqueConstraint("from_id", "to_id", "relation", name="uq_memory_edges_ends"),
        comment="What items are to each other.",
    )
    op.create_index("ix_memory_edges_account_id_created_at_id", "memory_edges", ["account_id", "created_at", "id"])
    op.create_index("ix_memory_edges_revision", "memory_edges", ["account_id", "session_id", "revision", "id"])
    op.create_index("ix_memory_edges_to_id", "memory_edges", ["to_id"])
    op.create_table(
        "memory_edge_sources",
        sa.Column("edge_id", ident(64), nullable=False),
        sa.Column("page_id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("floor_id", ident(64), nullable=False),
        sa.Column("quote", sa.Text()),
        sa.PrimaryKeyConstraint("edge_id", "page_id", name="pk_memory_edge_sources"),
        sa.ForeignKeyConstraint(["edge_id"], ["memory_edges.id"], ondelete="CASCADE", name="fk_memory_edge_sources_edge_id"),
        comment="The pages that say what an edge says.",
    )
    op.create_table(
        "memory_revisions",
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("session_id", ident(64), nullable=False, comment="Empty for what belongs to no chat."),
        sa.Column("revision", sa.BigInteger(), nullable=False, comment="Counts the writes."),
        sa.Column("rewritten", sa.BigInteger(), nullable=False, comment="The last that changed or removed what was there."),
        sa.PrimaryKeyConstraint("account_id", "session_id", name="pk_memory_revisions"),
        comment="How far the memories of a chat have come, so that who has read them reads what is new alone.",
    )
    op.create_table(
        "memory_history",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("session_id", ident(64)),
        sa.Column("item_id", ident(64), nullable=False),
        sa.Column("action", sa.String(16), nullable=False, comment="update or delete."),
        sa.Column("before_json", sa.Text(), nullable=False, comment="The item as it was before."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_memory_history"),
        comment="What people changed of items, so that it can be undone.",
    )
    op.create_index("ix_memory_history_account_id_item_id_id", "memory_history", ["account_id", "item_id", "id"])
    op.create_index("ix_memory_history_account_id_session_id", "memory_history", ["account_id", "session_id"])
    op.create_table(
        "memory_scopes",
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("scope", sa.String(8), nullable=False),
        sa.Column("scope_id", ident(800), nullable=False),
        sa.Column("session_id", ident(64)),
        sa.Column(
            "revision", sa.Integer(), nullable=False, server_default="0", comment="Counts the jobs that changed something."
        ),
        sa.Column("lease_owner", sa.String(64)),
        sa.Column("lease_until", sa.BigInteger()),
        sa.Column("last_processed_floor_no", sa.Integer()),
        sa.Column("last_compaction_at", sa.BigInteger()),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "scope", "scope_id", name="pk_memory_scopes"),
        comment="How far the jobs of a scope have come.",
    )
    op.create_index("ix_memory_scopes_account_id_session_id", "memory_scopes", ["account_id", "session_id"])
    op.create_table(
        "memory_rejections",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("session_id", ident(64), nullable=False),
        sa.Column("branch_id", ident(100), nullable=False),
        sa.Column("floor_id", ident(64), nullable=False),
        sa.Column("page_id", ident(64)),
        sa.Column("job_id", sa.Text()),
        sa.Column("type", sa.String(16), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("quote", sa.Text()),
        sa.Column("reason", sa.String(40), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_memory_rejections"),
        sa.ForeignKeyConstraint(["floor_id"], ["floors.id"], ondelete="CASCADE", name="fk_memory_rejections_floor_id"),
        comment="What a model proposed and was not taken, and why.",
    )
    op.create_index(
        "ix_memory_rejections_account_id_session_id_created_at", "memory_rejections", ["account_id", "session_id", "created_at"]
    )
    op.create_index("ix_memory_rejections_floor_id", "memory_rejections", ["floor_id"])
    op.create_table(
        "memory_batches",
        sa.Column("id", ident(64), nullable=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("page_id", ident(64), nullable=False),
        sa.Column("runtime_mode", sa.String(24), nullable=False),
        sa.Column("strategy", sa.String(24), nullable=False),
        sa.Column("source_kind", sa.String(24), nullable=False),
        sa.Column("actor_client_id", sa.String(140)),
        sa.Column("source_json", sa.Text(), nullable=False),
        sa.Column("evidence_json", sa.Text(), nullable=False),
        sa.Column("proposal_status", sa.String(16), nullable=False, comment="proposed, promoted, rejected or superseded."),
        sa.Column("promotion_status", sa.String(16)),
        sa.Column("decision_reason", sa.Text()),
        sa.Column("decision_code", sa.String(64)),
        sa.Column("summary_text_hash", sa.String(80)),
        sa.Column("token_stats_json", sa.Text()),
        sa.Column("scope_resolution_json", sa.Text()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("decided_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name="pk_memory_batches"),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], ondelete="CASCADE", name="fk_memory_batches_page_id"),
        comment="What a job proposed for an answer's page, at once.",
    )
    op.create_index("ix_memory_batches_page_id", "memory_batches", ["page_id"])
    op.create_table(
        "memory_proposals",
        sa.Column("batch_id", ident(64), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("account_id", sa.String(120), nullable=False),
        sa.Column("memory_kind", sa.String(24), nullable=False),
        sa.Column("operation_kind", sa.String(24), nullable=False),
        sa.Column("target_scope", sa.String(8), nullable=False),
        sa.Column("payload_json", sa.Text(), nullable=False),
        sa.Column("importance", sa.Float()),
        sa.Column("reason", sa.Text()),
        sa.Column("evidence_json", sa.Text(), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("batch_id", "number", name="pk_memory_proposals"),
        sa.ForeignKeyConstraint(["batch_id"], ["memory_batches.id"], ondelete="CASCADE", name="fk_memory_proposals_batch_id"),
        comment="The parts of such a batch.",
    )
