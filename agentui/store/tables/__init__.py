"""The schema: accounts, their sessions, branches, floors, pages, messages and variables, and their library of prompt assets.

    session 1-n branch · session 1-n floor 1-n page 1-n message n-n blob · message 1-0..1 extra
    variable(account, scope, scope_id, key) unique · floor 1-1 branch snapshot (once committed)
    page 1-n variable change · page 1-0..1 page result
    claim(account, key) unique · floor 1-0..1 claim
    session 1-n state namespace · session 1-n state mutation · branch 1-n state head n-1 mutation · floor 1-0..1 state snapshot
    asset 1-n asset version n-0..1 blob · asset 1-n asset tag
    account 1-n client 1-n client key · account 1-0..1 password · account 1-n sign-in
    account 1-n usage · account 1-n budget n-n reservation
    LLM profile 1-n binding(account, scope, slot) · instance config(account, scope, slot) unique
    account 1-n operation log · account 1-n project 1-n session
    account 1-n vendor object · account 1-n document 1-n version · account 1-n secret
    purge of an account, which outlives it
    memory item 1-n source · memory item n-n memory item by edges 1-n source · page 1-n memory batch 1-n proposal
    account 1-n search space n-0..1 session · search space 1-n search text 0..1-1 message or memory item

Times are milliseconds since 1970. JSON values are kept as JSON text (``value_json`` ...), written by orjson. Every table
but ``jobs`` and ``purges`` carries its account, and every query filters by it, or goes by the id of a session or a floor
that its transaction has found in the account. Ids, branch names and keys sort by their bytes on both engines.
"""

from agentui.store.tables.accounts import (
    accounts,
    client_keys,
    clients,
    identities,
    passkeys,
    passwords,
    sign_ins,
    spent_challenges,
)
from agentui.store.tables.chats import (
    blobs,
    branches,
    floors,
    message_blobs,
    message_extras,
    messages,
    pages,
    sessions,
    text_index,
)
from agentui.store.tables.columns import metadata
from agentui.store.tables.library import asset_tags, asset_versions, assets
from agentui.store.tables.memories import (
    memory_batches,
    memory_edge_sources,
    memory_edges,
    memory_history,
    memory_items,
    memory_jobs,
    memory_proposals,
    memory_rejections,
    memory_revisions,
    memory_scopes,
    memory_sources,
)
from agentui.store.tables.objects import vendor_objects
from agentui.store.tables.operations import operation_logs
from agentui.store.tables.owned import account_document_versions, account_documents, account_secrets
from agentui.store.tables.profiles import llm_bindings, llm_instances, llm_profiles
from agentui.store.tables.projects import projects
from agentui.store.tables.purges import purges
from agentui.store.tables.search import search_spaces, search_texts
from agentui.store.tables.state import state_heads, state_mutations, state_namespaces, state_snapshots
from agentui.store.tables.tags import tags
from agentui.store.tables.tools import mcp_servers, tool_definitions, tool_executions
from agentui.store.tables.turns import chat_jobs, claims, generations, jobs, page_results, runs
from agentui.store.tables.usage import budgets, reservations, usage, usage_rules
from agentui.store.tables.variables import (
    branch_snapshots,
    promotions,
    staged_writes,
    variable_changes,
    variables,
    working_checkpoints,
    working_variables,
)

__all__ = [
    "account_document_versions",
    "account_documents",
    "account_secrets",
    "accounts",
    "asset_tags",
    "asset_versions",
    "assets",
    "blobs",
    "branch_snapshots",
    "branches",
    "budgets",
    "chat_jobs",
    "claims",
    "client_keys",
    "clients",
    "floors",
    "generations",
    "identities",
    "jobs",
    "llm_bindings",
    "llm_instances",
    "llm_profiles",
    "mcp_servers",
    "memory_batches",
    "memory_edge_sources",
    "memory_edges",
    "memory_history",
    "memory_items",
    "memory_jobs",
    "memory_proposals",
    "memory_rejections",
    "memory_revisions",
    "memory_scopes",
    "memory_sources",
    "message_blobs",
    "message_extras",
    "messages",
    "metadata",
    "operation_logs",
    "page_results",
    "pages",
    "passkeys",
    "passwords",
    "projects",
    "promotions",
    "purges",
    "reservations",
    "runs",
    "search_spaces",
    "search_texts",
    "sessions",
    "sign_ins",
    "spent_challenges",
    "staged_writes",
    "state_heads",
    "state_mutations",
    "state_namespaces",
    "state_snapshots",
    "tags",
    "text_index",
    "tool_definitions",
    "tool_executions",
    "usage",
    "usage_rules",
    "variable_changes",
    "variables",
    "vendor_objects",
    "working_checkpoints",
    "working_variables",
]
