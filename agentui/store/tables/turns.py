"""The tables of turns: who generates, what a run came to, the answers that are kept for requests with a key, and jobs."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    text,
)

from agentui.store.tables.columns import BRANCH, ID, KEY, metadata

runs = Table(
    "runs",
    metadata,
    Column("floor_id", ID, ForeignKey("floors.id", ondelete="CASCADE"), primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("run_id", String(64), nullable=False),
    Column("run_type", String(32), nullable=False),
    Column("status", String(16), nullable=False),
    Column("error_json", Text),
    Column("started_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("completed_at", BigInteger),
    comment="What the model call of a floor is doing, or how it ended; written at its start and at its end.",
)

generations = Table(
    "generations",
    metadata,
    Column("session_id", ID, primary_key=True),
    Column("branch_id", BRANCH, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("floor_id", ID, ForeignKey("floors.id", ondelete="CASCADE"), nullable=False, unique=True),
    Column("run_id", String(64), nullable=False),
    Column("owner", String(64), nullable=False, comment="The process that generates; a new one after every start."),
    Column("expires_at", BigInteger, nullable=False, comment="Past this the generation is dead and may be reclaimed."),
    Column("lock_key", BigInteger, comment="PostgreSQL's advisory lock that the owner holds as long as it lives."),
    Column(
        "is_new_branch",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="Whether the branch was made for this turn, and goes with it where it fails.",
    ),
    ForeignKeyConstraint(["session_id", "branch_id"], ["branches.session_id", "branches.branch_id"], ondelete="CASCADE"),
    comment="One row a branch that generates right now: the lock that keeps turns of one branch apart.",
)

page_results = Table(
    "page_results",
    metadata,
    Column("page_id", ID, ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("token_in", Integer, nullable=False),
    Column("token_out", Integer, nullable=False),
    Column("summaries_json", Text, nullable=False, server_default="[]"),
    Column("verifier_json", Text, comment="The verifier's judgement; null where none was asked."),
    Column("explain_json", Text, comment="What the prompt was made of, as it was at the commit."),
    comment="What the turn of an output page came to, beside the answer.",
)

claims = Table(
    "claims",
    metadata,
    Column("account_id", String(120), primary_key=True),
    Column("key", KEY, primary_key=True, comment="The caller's Idempotency-Key."),
    Column("fingerprint", String(64), nullable=False, comment="SHA-256 of what the request asked for."),
    Column(
        "floor_id", ID, ForeignKey("floors.id", ondelete="CASCADE"), index=True, comment="The turn's; null for other writes."
    ),
    Column("status", Integer, comment="Of the answer that is kept; null while the floor generates."),
    Column("headers_json", Text),
    Column("body", LargeBinary, comment="Compressed; null where it is too large, or was given up for newer ones."),
    Column("size", Integer, nullable=False, server_default="0", comment="Bytes of the body."),
    Column("updated_at", BigInteger, nullable=False),
    Index(None, "updated_at", "size"),
    comment="One row a request that carried a key: its answer, kept so that the same request again is answered and not "
    "repeated.",
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", ID, primary_key=True, comment="A periodic job has its kind's name."),
    Column("kind", String(64), nullable=False),
    Column("payload_json", Text, nullable=False, server_default="null"),
    Column("every_ms", BigInteger, comment="Between two runs of a periodic job; null for one that runs once."),
    Column("due_at", BigInteger, comment="Null for a job that was given up."),
    Column("tries", Integer, nullable=False, server_default="0", comment="Since it last succeeded."),
    Column("error", Text, comment="Why the last try failed."),
    Column("owner", String(64), comment="The process that works on it; null where nobody does."),
    Column("expires_at", BigInteger, comment="Past this the owner has it no longer."),
    Column("created_at", BigInteger, nullable=False),
    Index(None, "due_at"),
    comment="Background work that is to be done, once by whichever process takes it.",
)

chat_jobs = Table(
    "chat_jobs",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("job_kind", String(16), nullable=False, comment="import_chat or export_chat"),
    Column("status", String(16), nullable=False),
    Column("format", String(16), comment="Of an import: once its file was read."),
    Column("requested_session_id", ID, comment="The session that is to be exported."),
    Column("result_session_id", ID, comment="The session that an import made."),
    Column("options_json", Text, nullable=False, server_default="{}"),
    Column("ticket", ID, nullable=False, comment="The background job that may do it now; others do not."),
    Column("attempts", Integer, nullable=False, server_default="0", comment="Begun since it was asked for, or retried."),
    Column("result_json", Text, comment="What an import came to."),
    Column("error_json", Text, comment="Why the last attempt failed."),
    Column("file_name", Text, comment="Of an export, once it is written; without its ending."),
    Column("size", Integer, nullable=False, server_default="0", comment="Bytes of the file that is kept."),
    Column("available_at", BigInteger, nullable=False, comment="When it may be tried (again)."),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("started_at", BigInteger),
    Column("finished_at", BigInteger),
    # Last: SQLite would read all of it to come to what stands behind.
    Column("data", LargeBinary, comment="The file of an import until it is done, or that of an export until it expires."),
    Index(None, "account_id", "created_at"),
    Index(None, "account_id", "status", "size"),
    Index(None, "finished_at"),
    comment="Chats that come in or go out in the background.",
)
