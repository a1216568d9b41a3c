"""The tables of what calls to models took and cost, and of what they may cost."""

from sqlalchemy import BigInteger, Column, Index, Integer, String, Table, Text, text

from agentui.store.tables.columns import ID, NAME, metadata

_OF_A_TURN = text("floor_id IS NOT NULL")

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
    # What a turn cost is asked for beside its answer, however long ago that was.
    Index("ix_usage_floor_id", "floor_id", sqlite_where=_OF_A_TURN, postgresql_where=_OF_A_TURN),
    comment="Every request that went out to a model.",
)

budgets = Table(
    "budgets",
    metadata,
    Column("id", ID, primary_key=True),
    Column("account_id", String(120), nullable=False, comment="Whose it is; empty for that of the whole server."),
    Column("level", String(8), nullable=False, comment="key, account or server."),
    Column("subject", NAME, nullable=False, comment="The id of the key or the account; empty for the server."),
    Column("unit", String(8), nullable=False, comment="money (nano-dollars), tokens, requests, or calls at once."),
    Column("period", String(8), nullable=False, comment="minute, day, month or ever."),
    Column("amount", BigInteger, nullable=False),
    Column("window_start", BigInteger, nullable=False, comment="When the period began that was spent in."),
    Column("spent", BigInteger, nullable=False),
    Column("reserved", BigInteger, nullable=False, comment="For calls under way."),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index("uq_budgets_level_subject_unit_period", "level", "subject", "unit", "period", unique=True),
    comment="How much may be spent, and what was.",
)

usage_rules = Table(
    "usage_rules",
    metadata,
    Column("account_id", String(120), primary_key=True, comment="Empty: it is the server's."),
    Column("name", String(32), primary_key=True),
    Column("value", String(32), nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    comment="What an admin chose of how calls are counted.",
)

reservations = Table(
    "reservations",
    metadata,
    Column("id", ID, primary_key=True, comment="That of its row in the ledger, too."),
    Column("account_id", String(120), nullable=False),
    Column("owner", String(120), nullable=False, comment="The process that makes the call."),
    Column("expires_at", BigInteger, nullable=False, comment="From then on its process counts as dead."),
    Column("held_json", Text, nullable=False, comment="What is held, by the ids of the budgets."),
    Column("row_json", Text, nullable=False, comment="Its row in the ledger, should its process die."),
    Index(None, "account_id", "expires_at"),
    Index(None, "expires_at"),
    Index(None, "owner"),
    comment="What calls under way may cost at most.",
)
