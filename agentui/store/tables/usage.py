"""The table of what calls to models took and cost."""

from sqlalchemy import BigInteger, Column, Index, Integer, String, Table

from agentui.store.tables.columns import ID, NAME, metadata

usage = Table(
    "usage",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("key_id", ID, comment="The client key that the caller came with, where it did."),
    Column("session_id", ID, comment="The chat that the call was made for."),
    Column("floor_id", ID, comment="The turn that it was made for."),
    Column("run_id", ID, nullable=False),
    Column("pipeline_id", NAME, nullable=False),
    Column("node_id", NAME, nullable=False),
    Column("vendor", String(32), nullable=False, comment="The dialect that was spoken."),
    Column("host", NAME, nullable=False, comment="Whom the call went to."),
    Column("model", NAME, nullable=False),
    Column("operation", String(16), nullable=False, comment="chat, count_tokens, embeddings or forward."),
    Column("purpose", String(16), nullable=False, comment="answer, try, director, verifier or tool."),
    Column("outcome", String(16), nullable=False, comment="answered, refused, failed or left; lost where its process died."),
    Column("status", Integer, comment="The upstream's; none where there was no answer."),
    Column("input_tokens", BigInteger, comment="Cached ones included."),
    Column("output_tokens", BigInteger, comment="Those of thoughts included."),
    Column("cache_read_tokens", BigInteger),
    Column("cache_write_tokens", BigInteger),
    Column("reasoning_tokens", BigInteger),
    Column("price_nano", BigInteger, comment="In billionths of a dollar; none where the model's price is not known."),
    Column("basis", String(16), nullable=False, comment="Whence the tokens are: told, estimated, or unknown."),
    Column("latency_ms", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Index(None, "account_id", "created_at", "id"),
    Index(None, "created_at", "id"),
    comment="Every request that went out to a model.",
)
