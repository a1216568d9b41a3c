"""The schema: accounts' sessions, branches, floors, pages, messages and variables, and their library of prompt assets.

    session 1-n branch · session 1-n floor 1-n page 1-n message n-n blob · message 1-0..1 extra
    variable(account, scope, scope_id, key) unique · floor 1-1 branch snapshot (once committed)
    page 1-n variable change · page 1-0..1 page result
    claim(account, key) unique · floor 1-0..1 claim
    session 1-n state namespace · session 1-n state mutation · branch 1-n state head n-1 mutation · floor 1-0..1 state snapshot
    asset 1-n asset version n-0..1 blob · asset 1-n asset tag

Times are milliseconds since 1970. JSON values are kept as JSON text (``value_json`` ...), written by orjson. Every table
but ``jobs`` carries its account, and every query filters by it. Ids, branch names and keys sort by their bytes on both engines.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

DEFAULT_ACCOUNT = "default-admin"

_ID = String(64).with_variant(String(64, collation="C"), "postgresql")
_BRANCH = String(100).with_variant(String(100, collation="C"), "postgresql")
_NAME = String(256).with_variant(String(256, collation="C"), "postgresql")
_KEY = Text().with_variant(Text(collation="C"), "postgresql")

sessions = Table(
    "sessions",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("name", String(200), comment="The caller's own name for it (x-agentui-session), unique within the account."),
    Column("title", String(200)),
    Column("status", String(16), nullable=False, server_default="active"),
    Column("bindings_json", Text, nullable=False, server_default="{}", comment="Every other optional field of a session."),
    Column("metadata_json", Text, nullable=False, server_default="{}"),
    Column("policy_json", Text, comment="How its prompts are assembled: {version, updated_at, updated_by, value}."),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("tools_json", Text, comment="What models may do with tools here; null where nobody said."),
    UniqueConstraint("account_id", "name"),
    Index(None, "account_id", "created_at"),
    Index(None, "account_id", "updated_at"),
)

branches = Table(
    "branches",
    metadata,
    Column("session_id", _ID, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("branch_id", _BRANCH, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("source_floor_id", _ID),
    Column("source_branch_id", _BRANCH),
    Column("policy_json", Text, comment="What its prompts have otherwise than the session's, in the same form."),
    Column(
        "frozen_json",
        Text,
        comment="The assets and versions that it keeps for itself, by the session's fields; null: it has the session's.",
    ),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index(None, "account_id", "branch_id"),
)

floors = Table(
    "floors",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("session_id", _ID, nullable=False),
    Column("branch_id", _BRANCH, nullable=False),
    Column("floor_no", Integer, nullable=False),
    Column("parent_floor_id", _ID),
    Column("state", String(16), nullable=False),
    Column("token_in", Integer, nullable=False, server_default="0"),
    Column("token_out", Integer, nullable=False, server_default="0"),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("superseded_at", BigInteger),
    Column("superseded_by_floor_id", _ID),
    ForeignKeyConstraint(["session_id", "branch_id"], ["branches.session_id", "branches.branch_id"], ondelete="CASCADE"),
    Index(
        "uq_floors_live_number",
        "session_id",
        "branch_id",
        "floor_no",
        unique=True,
        sqlite_where=text("superseded_at IS NULL"),
        postgresql_where=text("superseded_at IS NULL"),
    ),
    Index(None, "session_id", "branch_id", "floor_no"),
    Index(None, "account_id", "created_at"),
    Index(None, "account_id", "updated_at"),
)

runs = Table(
    "runs",
    metadata,
    Column("floor_id", _ID, ForeignKey("floors.id", ondelete="CASCADE"), primary_key=True),
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
    Column("session_id", _ID, primary_key=True),
    Column("branch_id", _BRANCH, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("floor_id", _ID, ForeignKey("floors.id", ondelete="CASCADE"), nullable=False, unique=True),
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

pages = Table(
    "pages",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("floor_id", _ID, ForeignKey("floors.id", ondelete="CASCADE"), nullable=False),
    Column("page_no", Integer, nullable=False),
    Column("page_kind", String(16), nullable=False),
    Column("is_active", Boolean, nullable=False),
    Column("version", Integer, nullable=False, server_default="1"),
    Column("checksum", String(200)),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column(
        "is_partial", Boolean, nullable=False, server_default=text("false"), comment="The words of a run that did not end well."
    ),
    UniqueConstraint("floor_id", "page_no", "version"),
    Index(None, "account_id", "created_at"),
    Index(
        "uq_pages_active",
        "floor_id",
        "page_no",
        unique=True,
        sqlite_where=text("is_active"),
        postgresql_where=text("is_active"),
    ),
)

messages = Table(
    "messages",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("page_id", _ID, ForeignKey("pages.id", ondelete="CASCADE"), nullable=False),
    Column("seq", Integer, nullable=False),
    Column("role", String(16), nullable=False),
    Column("content", Text, nullable=False),
    Column("content_format", String(16), nullable=False, server_default="text"),
    Column("token_count", Integer, nullable=False, server_default="0"),
    Column("is_hidden", Boolean, nullable=False, server_default=text("false")),
    Column("source", String(200)),
    Column("created_at", BigInteger, nullable=False),
    Column("parts_json", Text, comment="All parts, where the content is not all there is; media stand in blobs."),
    UniqueConstraint("page_id", "seq"),
    Index(None, "account_id", "created_at"),
)

blobs = Table(
    "blobs",
    metadata,
    Column("account_id", String(120), primary_key=True),
    Column("hash", String(64), primary_key=True, comment="SHA-256 of the data, in hexadecimal digits."),
    # Before the data: SQLite would read all of it to come to what stands behind.
    Column("used_at", BigInteger, nullable=False, comment="When a message was last given it."),
    Column("data", LargeBinary, nullable=False),
    comment="Images, sounds, films and files of messages, each content once.",
)

message_blobs = Table(
    "message_blobs",
    metadata,
    Column("message_id", _ID, ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
    Column("hash", String(64), primary_key=True),
    Column("account_id", String(120), nullable=False),
    ForeignKeyConstraint(["account_id", "hash"], ["blobs.account_id", "blobs.hash"]),
    Index(None, "account_id", "hash"),
    comment="Which message needs which blob; a blob that none needs is removed after a while.",
)

message_extras = Table(
    "message_extras",
    metadata,
    Column("message_id", _ID, ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("beside_json", Text, nullable=False),
    comment="What the file of an imported chat told of a message and nothing here reads; it goes out again.",
)

variables = Table(
    "variables",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("scope", String(8), nullable=False),
    Column("scope_id", String(240), nullable=False),
    Column("key", _KEY, nullable=False),
    Column("value_json", Text, nullable=False),
    Column("version", Integer, nullable=False, server_default="1", comment="Counts the writes since the row was made."),
    Column("updated_at", BigInteger, nullable=False),
    UniqueConstraint("account_id", "scope", "scope_id", "key"),
    Index(None, "account_id", "updated_at"),
)

staged_writes = Table(
    "staged_writes",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("page_id", _ID, ForeignKey("pages.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("key", _KEY, nullable=False),
    Column("op", String(8), nullable=False),
    Column("value_json", Text, nullable=False),
    Column("intent", String(40), nullable=False),
    Column("conflict_policy", String(16), nullable=False),
    Column("reason", Text),
    Column("source_json", Text, nullable=False),
    Column("evidence_json", Text, nullable=False),
    Column("status", String(24), nullable=False),
    Column("decision_reason", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("resolved_at", BigInteger),
)

promotions = Table(
    "promotions",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("page_id", _ID, ForeignKey("pages.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("staged_write_id", String(64), nullable=False),
    Column("key", _KEY, nullable=False),
    Column("from_scope", String(8), nullable=False),
    Column("from_scope_id", String(240), nullable=False),
    Column("to_scope", String(8), nullable=False),
    Column("to_scope_id", String(240), nullable=False),
    Column("conflict_policy", String(16), nullable=False),
    Column("source_variable_id", String(64), nullable=False),
    Column("target_variable_id", String(64), nullable=False),
    Column("value_json", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

variable_changes = Table(
    "variable_changes",
    metadata,
    Column("page_id", _ID, ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True),
    Column("scope", String(8), primary_key=True),
    Column("scope_id", String(240), primary_key=True),
    Column("key", _KEY, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("before_json", Text, comment="The value before the turn; null where there was none."),
    Column("after_json", Text, comment="The value that the turn left; null where it deleted the variable."),
    comment="What the turn of an output page changed in the global, chat and branch tiers, so that it can be taken back.",
)

page_results = Table(
    "page_results",
    metadata,
    Column("page_id", _ID, ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("token_in", Integer, nullable=False),
    Column("token_out", Integer, nullable=False),
    Column("summaries_json", Text, nullable=False, server_default="[]"),
    Column("verifier_json", Text, comment="The verifier's judgement; null where none was asked."),
    Column("explain_json", Text, comment="What the prompt was made of, as it was at the commit."),
    comment="What the turn of an output page came to, beside the answer.",
)

branch_snapshots = Table(
    "branch_snapshots",
    metadata,
    Column("floor_id", _ID, ForeignKey("floors.id", ondelete="CASCADE"), primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("values_json", Text, nullable=False, comment="The branch's variables as this floor saw them: {key: value}."),
    Column("created_at", BigInteger, nullable=False),
    Column(
        "is_journaled",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="Whether variable_changes knows what the floor's turn changed; it does not for turns of older versions.",
    ),
)

state_namespaces = Table(
    "state_namespaces",
    metadata,
    Column("session_id", _ID, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("namespace", _NAME, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("owner_type", String(128), nullable=False),
    Column("owner_id", String(256), nullable=False),
    Column("replay_safety", String(24), nullable=False, comment="Of the turns that write here."),
    Column("created_at", BigInteger, nullable=False),
    comment="The namespaces of Session State that clients registered.",
)

state_mutations = Table(
    "state_mutations",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("session_id", _ID, ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False),
    Column("branch_id", _BRANCH, nullable=False),
    Column("namespace", _NAME, nullable=False),
    Column("slot", _NAME, nullable=False),
    Column("page_id", _ID, comment="The answer whose turn wrote it; null for a write by itself."),
    Column("floor_id", _ID),
    Column("run_id", String(64)),
    Column("write_mode", String(16), nullable=False),
    Column("status", String(16), nullable=False),
    Column("replay_safety", String(24), nullable=False),
    Column("before_id", _ID, comment="The mutation whose place it took; null where nothing was there."),
    Column("is_present", Boolean, nullable=False),
    Column("size", Integer, nullable=False, comment="Bytes of the value."),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("value_json", Text, nullable=False),
    Index(None, "page_id"),
    Index(None, "session_id", "created_at"),
    comment="Every write to Session State. They stay when their floor goes, for other branches may hold them.",
)

state_heads = Table(
    "state_heads",
    metadata,
    Column("session_id", _ID, primary_key=True),
    Column("branch_id", _BRANCH, primary_key=True),
    Column("namespace", _NAME, primary_key=True),
    Column("slot", _NAME, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("mutation_id", _ID, nullable=False),
    Column("size", Integer, nullable=False),
    ForeignKeyConstraint(["session_id", "branch_id"], ["branches.session_id", "branches.branch_id"], ondelete="CASCADE"),
    Index(None, "account_id", "size"),
    comment="The mutation that holds, for every slot of a branch.",
)

state_snapshots = Table(
    "state_snapshots",
    metadata,
    Column("floor_id", _ID, ForeignKey("floors.id", ondelete="CASCADE"), primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("mutations_json", Text, nullable=False, comment="The ids of the mutations that held when the floor was committed."),
    Column("created_at", BigInteger, nullable=False),
)

claims = Table(
    "claims",
    metadata,
    Column("account_id", String(120), primary_key=True),
    Column("key", _KEY, primary_key=True, comment="The caller's Idempotency-Key."),
    Column("fingerprint", String(64), nullable=False, comment="SHA-256 of what the request asked for."),
    Column(
        "floor_id", _ID, ForeignKey("floors.id", ondelete="CASCADE"), index=True, comment="The turn's; null for other writes."
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
    Column("id", _ID, primary_key=True, comment="A periodic job has its kind's name."),
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

text_index = Table(
    "text_index",
    metadata,
    Column("floor_id", _ID, ForeignKey("floors.id", ondelete="CASCADE"), primary_key=True),
    Column("page_id", _ID, primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False, comment="The text's fingerprint."),
    Column("account_id", String(120), nullable=False),
    Column("session_id", _ID, nullable=False),
    Column("side", String(16), nullable=False, comment="Who said it: user or assistant."),
    Column("past", Integer, comment="How much the client sent before this question; null where that is not known."),
    Index(None, "account_id", "number", "session_id"),
    sqlite_with_rowid=False,
    comment="Where each text was said, so that a client's history is found again.",
)

assets = Table(
    "assets",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("kind", String(16), nullable=False, comment="character, user, preset, worldbook or regex."),
    Column("name", String(200), nullable=False),
    Column("folded_name", _KEY, nullable=False, comment="The name in folded case: what lists sort by and look through."),
    Column("status", String(16), nullable=False, comment="active, disabled or deleted."),
    Column("source", String(40), nullable=False, comment="The format of the file that it came from; api where there was none."),
    Column("revision", Integer, nullable=False, comment="Counts the changes of any kind, from 0."),
    Column("current_version_id", _ID, nullable=False, comment="Its newest version."),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("deleted_at", BigInteger),
    Column(
        "scripts_allowed",
        String(64),
        comment="The hash of the scripts inside that somebody allowed; empty: none. Null: it came from no file, and all run.",
    ),
    Index(None, "account_id", "kind", "updated_at"),
    Index(None, "account_id", "kind", "created_at"),
    Index(None, "account_id", "kind", "folded_name"),
    Index(
        "uq_assets_user_name",
        "account_id",
        "name",
        unique=True,
        sqlite_where=text("kind = 'user' AND status <> 'deleted'"),
        postgresql_where=text("kind = 'user' AND status <> 'deleted'"),
    ),
    comment="What prompts are made of: characters, users, prompt presets, worldbooks and regex profiles.",
)

asset_versions = Table(
    "asset_versions",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("asset_id", _ID, ForeignKey("assets.id", ondelete="CASCADE"), nullable=False),
    Column("version_no", Integer, nullable=False),
    Column("content_hash", String(64), nullable=False, comment="SHA-256 of content_json, in hexadecimal digits."),
    Column("image", String(64), comment="The blob of its picture."),
    Column("files", String(64), comment="The blob of a ZIP archive with the other files that it came with."),
    Column("created_at", BigInteger, nullable=False),
    Column("origin_json", Text, comment="What its file held beside the content; null where there was none."),
    Column("content_json", Text, nullable=False, comment="SillyTavern's own JSON of this kind, whole."),
    ForeignKeyConstraint(["account_id", "image"], ["blobs.account_id", "blobs.hash"]),
    UniqueConstraint("asset_id", "version_no"),
    Index(None, "account_id", "image"),
    Index(None, "account_id", "files"),
    comment="What an asset was at some time; versions are never changed.",
)

asset_tags = Table(
    "asset_tags",
    metadata,
    Column("asset_id", _ID, ForeignKey("assets.id", ondelete="CASCADE"), primary_key=True),
    Column("tag", _KEY, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Index(None, "account_id", "tag"),
    comment="The words by which people sort their assets.",
)

tool_executions = Table(
    "tool_executions",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("run_id", String(64), nullable=False),
    Column("session_id", _ID, ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False),
    Column("branch_id", _BRANCH, nullable=False),
    Column("floor_id", _ID, ForeignKey("floors.id", ondelete="CASCADE"), nullable=False),
    Column("page_id", _ID, nullable=False, comment="The input page of the turn."),
    Column("node_id", String(200), nullable=False),
    Column("seq", Integer, nullable=False, comment="Counts the calls of a run, from 0."),
    Column("call_id", Text, nullable=False, comment="The model's id of the call."),
    Column("step", Integer, nullable=False),
    Column("attempt_no", Integer, nullable=False),
    Column("caller_slot", String(16), nullable=False),
    Column("provider_type", String(16), nullable=False),
    Column("provider_id", String(200), nullable=False),
    Column("tool_name", _KEY, nullable=False),
    Column("delivery_mode", String(16), nullable=False),
    Column("status", String(16), nullable=False),
    Column("lifecycle_state", String(16), nullable=False),
    Column("commit_outcome", String(16), nullable=False),
    Column("side_effect", String(16), nullable=False),
    Column("replay_safety", String(24), nullable=False),
    Column("replay_reason", Text, nullable=False),
    Column("error_code", String(64)),
    Column("error_message", Text),
    Column("is_truncated", Boolean, nullable=False),
    Column("duration_ms", Float),
    Column("started_at", BigInteger, nullable=False),
    Column("finished_at", BigInteger),
    Column("created_at", BigInteger, nullable=False),
    Column("policy_json", Text, nullable=False, comment="What was allowed when it was called."),
    Column("arguments_json", Text, nullable=False),
    Column("result_json", Text, nullable=False),
    Index(None, "floor_id", "run_id", "seq"),
    Index(None, "session_id", "created_at"),
    Index(None, "account_id", "run_id"),
    Index(None, "account_id", "created_at"),
    comment="Calls of tools that turns made.",
)

tool_definitions = Table(
    "tool_definitions",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("name", String(64), nullable=False),
    Column("source", String(16), nullable=False, comment="preset, character or custom."),
    Column("source_id", String(200)),
    Column("enabled", Boolean, nullable=False),
    Column("handler_type", String(16), nullable=False, comment="http or pipeline."),
    Column("handler", Text, nullable=False, comment="What serves its calls: JSON."),
    Column("told", Text, nullable=False, comment="What models and permissions are told of it: JSON."),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index("uq_tool_definitions_account_id_name", "account_id", "name", unique=True),
    comment="The tools that users defined.",
)

mcp_servers = Table(
    "mcp_servers",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("name", String(200), nullable=False),
    Column("source", String(8), nullable=False, comment="api, or file for one of mcp.json."),
    Column("transport", String(8), nullable=False, comment="stdio or http."),
    Column("reached", Text, nullable=False, comment="How it is reached: JSON; values of env and headers may be secrets."),
    Column("settings", Text, nullable=False, comment="How it is used: JSON."),
    Column("enabled", Boolean, nullable=False),
    Column("approved", Text, comment="Its tools as somebody approved them: JSON."),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index("uq_mcp_servers_account_id_name", "account_id", "name", unique=True),
    comment="The MCP servers whose tools models may call.",
)

working_variables = Table(
    "working_variables",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("session_id", _ID, ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False),
    Column("branch_id", _BRANCH, comment="Where a person wrote; null where a turn did."),
    Column("floor_id", _ID, ForeignKey("floors.id", ondelete="CASCADE"), index=True, comment="Null before the first floor."),
    Column("page_id", _ID, ForeignKey("pages.id", ondelete="CASCADE"), index=True, comment="The turn's; null for a person."),
    Column("name", _KEY, nullable=False),
    Column("facts_json", Text, comment="All but name and value; null where the variable was removed."),
    Column("written_at", BigInteger, nullable=False),
    Column("length", BigInteger, comment="Characters of the value; null where it stayed as it was."),
    Column("value", Text),
    ForeignKeyConstraint(["session_id", "branch_id"], ["branches.session_id", "branches.branch_id"], ondelete="CASCADE"),
    Index(None, "session_id", "branch_id"),
    comment="What was written to the working variables of a chat, and where in it.",
)

working_checkpoints = Table(
    "working_checkpoints",
    metadata,
    Column("page_id", _ID, ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True),
    Column("account_id", String(120), nullable=False),
    Column("session_id", _ID, nullable=False),
    Column("floor_no", Integer, nullable=False),
    Column("held_json", Text, nullable=False, comment="By name: its facts, the row of its value, and its length."),
    Column("created_at", BigInteger, nullable=False),
    Index(None, "session_id", "floor_no"),
    comment="What the working variables came to with the turn of an output page.",
)
