"""Which routes stand in the operation log, and as what (TavernHeadless' contract, 9). This table is the one place that says so:
what writes does it by ``write`` (chats/protocol.py), which looks here (recording.py)."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from agentui.accounts import clients, stored
from agentui.chats.policies import read_policies
from agentui.chats.projects import project_of
from agentui.chats.rows import find_session
from agentui.errors import ApiError
from agentui.jsonio import Json
from agentui.library.assets import find_asset
from agentui.library.records import AssetKind
from agentui.library.tags import note_operation
from agentui.memories.edges import find_edge
from agentui.memories.items import find_item
from agentui.memories.writing.jobs import find_job
from agentui.profiles.stored import find_profile

Reader: TypeAlias = Callable[[Any, str, Mapping[str, str]], Any]
"""Reads what an action is about, by the account and the ids in the path."""


@dataclass(frozen=True, slots=True)
class Action:
    """How a route's work is told. ``id`` is the path's name of what it changes; a path without that makes it, or changes
    several. What ``read`` gives is compared before and after. ``permission`` is the right that the caller needs.
    ``noted`` keeps with what was made the id of the entry that tells of it, and gives that anew."""

    name: str
    target: str
    id: str = "id"
    read: Reader | None = None
    permission: str | None = None
    noted: Callable[[Any, str, Any, str], Any] | None = None


def state_of(db: Any, account: str, action: Action, ids: Mapping[str, str]) -> dict[str, Json] | None:
    """What an action is about, as it is now; None where it is not there, or nobody compares it."""
    if action.read is None or not ids:
        return None
    try:
        found = action.read(db, account, ids)
    except ApiError as error:
        if error.status != 404:
            raise
        return None
    return asdict(found) if is_dataclass(found) and not isinstance(found, type) else found


def _session(db: Any, account: str, ids: Mapping[str, str]) -> Any:
    found = find_session(db, account, ids["id"])
    return {**asdict(found), "project_id": project_of(db, found.id)}


def _asset(kind: AssetKind, db: Any, account: str, ids: Mapping[str, str]) -> Any:
    return find_asset(db, account, kind, ids["id"])


def _policy(db: Any, account: str, ids: Mapping[str, str]) -> dict[str, Json]:
    policies = read_policies(db, account, ids["id"], ids.get("branch"))
    kept = policies.branch if "branch" in ids else policies.session
    return dict(kept.value) if kept is not None else {}


def _profile(db: Any, account: str, ids: Mapping[str, str]) -> Any:
    return find_profile(db, account, ids["id"])


def _memory_job(db: Any, account: str, ids: Mapping[str, str]) -> Any:
    return find_job(db, account, ids["id"])


def _memory(db: Any, account: str, ids: Mapping[str, str]) -> Any:
    return find_item(db, account, ids["id"])


def _edge(db: Any, account: str, ids: Mapping[str, str]) -> Any:
    return find_edge(db, account, ids["id"])


def _account(db: Any, _: str, ids: Mapping[str, str]) -> Any:
    return stored.find_account(db, ids["id"])


def _client(db: Any, account: str, ids: Mapping[str, str]) -> Any:
    return clients.find_client(db, account, ids["id"])


def _key(db: Any, account: str, ids: Mapping[str, str]) -> Any:
    return clients.find_key(db, account, ids["id"], ids["key"])


def _assets(path: str, kind: AssetKind, noun: str, *more: tuple[str, str]) -> dict[tuple[str, str], Action]:
    """What can be done to the assets of one kind; ``more`` are its other routes that change one, by method and end."""
    each, read = f"{path}/{{id}}", partial(_asset, kind)
    version = f"{each}/versions/{{version_id}}/rollback"
    return {
        ("POST", path): Action(f"create_{noun}", noun),
        ("PATCH", each): Action(f"update_{noun}", noun, read=read),
        ("DELETE", each): Action(f"delete_{noun}", noun, read=read),
        ("POST", f"{each}/restore"): Action(f"restore_{noun}", noun, read=read),
        ("POST", version): Action(f"rollback_{noun}", noun, read=read),
        **{(method, each + end): Action(f"update_{noun}", noun, read=read) for method, end in more},
    }


def _entries(path: str, kind: AssetKind, noun: str, id: str) -> dict[tuple[str, str], Action]:
    """What can be done to the parts of assets. Where several change at once the asset is what changes."""
    each, read = f"{path}/{{id}}/entries", partial(_asset, kind)
    reorder = f"{each}/reorder" if kind == "preset" else f"{each}/batch/reorder"
    return {
        ("POST", each): Action(f"create_{noun}_entry", f"{noun}_entry", "", read),
        ("PATCH", f"{each}/{{{id}}}"): Action(f"update_{noun}_entry", f"{noun}_entry", id, read),
        ("DELETE", f"{each}/{{{id}}}"): Action(f"delete_{noun}_entry", f"{noun}_entry", id, read),
        ("PATCH", f"{each}/batch/update"): Action(f"batch_update_{noun}_entries", noun, read=read),
        ("POST", f"{each}/batch/delete"): Action(f"batch_delete_{noun}_entries", noun, read=read),
        ("PUT", reorder): Action(f"reorder_{noun}_entries", noun, read=read),
    }


_PROFILE, _MEMORY = "/llm-profiles/{id}", "/memories/{id}"
_PICTURE = ("PUT", "/image"), ("DELETE", "/image")
_SESSION, _BRANCH = "/sessions/{id}", "/sessions/{id}/branches/{branch}"
_POLICY, _STATE = "/sessions/{id}/prompt-runtime", "/sessions/{id}/state"
_CLIENT, _KEYS, _ACCOUNT = "/clients/{id}", "/clients/{id}/api-keys", "/accounts/{id}"
_MANAGES_CLIENTS, _MANAGES_ACCOUNTS, _MANAGES_BUDGETS = "clients.manage", "accounts.manage", "budgets.manage"

ACTIONS: Final[Mapping[tuple[str, str], Action]] = {
    ("POST", "/sessions"): Action("create_session", "session"),
    ("PATCH", _SESSION): Action("update_session", "session", read=_session),
    ("DELETE", _SESSION): Action("delete_session", "session", read=_session),
    ("PATCH", "/sessions/batch/status"): Action("batch_update_session_status", "session"),
    ("POST", "/sessions/batch/delete"): Action("batch_delete_session", "session"),
    ("POST", f"{_SESSION}/character/sync"): Action("sync_session_character", "session", read=_session),
    ("PUT", f"{_SESSION}/tool-permissions"): Action("update_tool_permissions", "session"),
    ("PATCH", f"{_SESSION}/tool-permissions"): Action("update_tool_permissions", "session"),
    ("POST", "/floors/{id}/branch"): Action("checkout_branch", "floor"),
    ("POST", f"{_BRANCH}/reset"): Action("reset_branch", "branch", "branch"),
    ("POST", f"{_BRANCH}/merge"): Action("merge_branch", "branch", "branch"),
    ("DELETE", "/branches/{id}"): Action("delete_branch", "branch"),
    ("DELETE", "/floors/{id}"): Action("delete_floor", "floor"),
    ("PATCH", f"{_POLICY}/policy"): Action("update_prompt_runtime_policy", "session", read=_policy),
    ("PATCH", f"{_POLICY}/branches/{{branch}}/policy"): Action(
        "update_prompt_runtime_branch_policy", "branch", "branch", _policy
    ),
    ("PATCH", f"{_POLICY}/mode"): Action("update_prompt_runtime_mode", "session", read=_session),
    ("POST", f"{_STATE}/namespaces"): Action("register_session_state_namespace", "session_state_namespace", ""),
    ("POST", f"{_STATE}/values/write"): Action("write_session_state_value", "session_state_value", ""),
    ("DELETE", f"{_STATE}/values"): Action("delete_session_state_value", "session_state_value", ""),
    **_assets("/characters", "character", "character", *_PICTURE, ("PUT", "/scripts")),
    ("POST", "/characters/{id}/versions"): Action("create_character_version", "character", read=partial(_asset, "character")),
    **_assets("/users", "user", "user", *_PICTURE),
    **_assets("/presets", "preset", "preset", ("PUT", ""), ("PUT", "/scripts")),
    **_assets("/worldbooks", "worldbook", "worldbook", ("PUT", "")),
    **_assets("/regex-profiles", "regex", "regex_profile", ("PUT", "")),
    ("POST", "/users/batch/delete"): Action("batch_delete_user", "user"),
    ("PATCH", "/users/batch/status"): Action("batch_update_user_status", "user"),
    **_entries("/presets", "preset", "preset", "identifier"),
    **_entries("/worldbooks", "worldbook", "worldbook", "entry_id"),
    ("POST", "/import/character"): Action("import_character", "character"),
    ("POST", "/import/preset"): Action("import_preset", "preset"),
    ("POST", "/import/worldbook"): Action("import_worldbook", "worldbook"),
    ("POST", "/import/regex"): Action("import_regex_profile", "regex_profile"),
    ("POST", "/import/chat"): Action("import_chat", "session"),
    ("POST", "/import/auto"): Action("import_file", "file"),
    ("POST", "/tools/definitions"): Action("create_tool_definition", "tool_definition"),
    ("PATCH", "/tools/definitions/{id}"): Action("update_tool_definition", "tool_definition"),
    ("PATCH", "/tools/definitions/{id}/toggle"): Action("update_tool_definition", "tool_definition"),
    ("DELETE", "/tools/definitions/{id}"): Action("delete_tool_definition", "tool_definition"),
    ("POST", "/mcp/servers"): Action("create_mcp_server", "mcp_server"),
    ("PATCH", "/mcp/servers/{id}"): Action("update_mcp_server", "mcp_server"),
    ("PATCH", "/mcp/servers/{id}/toggle"): Action("update_mcp_server", "mcp_server"),
    ("POST", "/vc-tags"): Action("create_tag", "tag", noted=note_operation),
    ("DELETE", "/vc-tags/{id}"): Action("delete_tag", "tag"),
    ("DELETE", "/mcp/servers/{id}"): Action("delete_mcp_server", "mcp_server"),
    ("POST", "/llm-profiles"): Action("create_llm_profile", "llm_profile"),
    ("PATCH", _PROFILE): Action("update_llm_profile", "llm_profile", read=_profile),
    ("DELETE", _PROFILE): Action("delete_llm_profile", "llm_profile", read=_profile),
    ("POST", f"{_PROFILE}/activate"): Action("bind_llm_profile", "llm_profile"),
    ("DELETE", "/llm-profiles/bindings/{slot}"): Action("unbind_llm_profile", "llm_slot", "slot"),
    ("PUT", "/llm-instances/{slot}"): Action("update_llm_instance", "llm_slot", "slot"),
    ("DELETE", "/llm-instances/{slot}"): Action("delete_llm_instance", "llm_slot", "slot"),
    ("POST", "/memories"): Action("create_memory", "memory"),
    ("PATCH", _MEMORY): Action("update_memory", "memory", read=_memory),
    ("DELETE", _MEMORY): Action("delete_memory", "memory", read=_memory),
    ("POST", f"{_MEMORY}/undo"): Action("undo_memory", "memory", read=_memory),
    ("PATCH", "/memories/batch/status"): Action("batch_update_memory_status", "memory"),
    ("POST", "/memories/batch/delete"): Action("batch_delete_memory", "memory"),
    ("POST", "/memory/jobs/{id}/cancel"): Action("cancel_memory_job", "memory_job", read=_memory_job),
    ("POST", "/memory/jobs/{id}/retry"): Action("retry_memory_job", "memory_job", read=_memory_job),
    ("POST", "/memory/scopes/{scope}/{scope_id}/compact"): Action("compact_memory_scope", "memory_scope", id="scope_id"),
    ("POST", "/memory/scopes/{scope}/{scope_id}/rebuild"): Action("rebuild_memory_scope", "memory_scope", id="scope_id"),
    ("POST", "/memory-edges"): Action("create_memory_edge", "memory_edge"),
    ("PATCH", "/memory-edges/{id}"): Action("update_memory_edge", "memory_edge", read=_edge),
    ("DELETE", "/memory-edges/{id}"): Action("delete_memory_edge", "memory_edge", read=_edge),
    ("POST", "/accounts"): Action("account.create", "account", permission=_MANAGES_ACCOUNTS),
    ("PATCH", _ACCOUNT): Action("account.update", "account", read=_account, permission=_MANAGES_ACCOUNTS),
    ("DELETE", _ACCOUNT): Action("account.delete", "account", read=_account, permission=_MANAGES_ACCOUNTS),
    ("POST", f"{_ACCOUNT}/purge"): Action("account.purge", "account", permission=_MANAGES_ACCOUNTS),
    ("DELETE", f"{_ACCOUNT}/purge"): Action("account.cancel_purge", "account", permission=_MANAGES_ACCOUNTS),
    ("GET", f"{_ACCOUNT}/export"): Action("account.export", "account"),
    ("PUT", f"{_ACCOUNT}/password"): Action("account.set_password", "account", permission=_MANAGES_ACCOUNTS),
    ("PUT", "/auth/password"): Action("account.change_password", "account"),
    ("DELETE", "/auth/sign-ins/{id}"): Action("account.end_sign_in", "sign_in"),
    ("POST", "/auth/passkeys"): Action("account.add_passkey", "passkey", ""),
    ("PATCH", "/auth/passkeys/{id}"): Action("account.rename_passkey", "passkey"),
    ("DELETE", "/auth/passkeys/{id}"): Action("account.remove_passkey", "passkey"),
    ("POST", "/auth/identities"): Action("account.link_identity", "identity", ""),
    ("DELETE", "/auth/identities/{id}"): Action("account.unlink_identity", "identity"),
    ("POST", f"{_ACCOUNT}/identities"): Action("account.link_identity", "identity", "", permission=_MANAGES_ACCOUNTS),
    ("DELETE", f"{_ACCOUNT}/identities/{{identity}}"): Action(
        "account.unlink_identity", "identity", "identity", permission=_MANAGES_ACCOUNTS
    ),
    ("PUT", "/budgets"): Action("budget.set", "budget", permission=_MANAGES_BUDGETS),
    ("PUT", "/budgets/settings"): Action("budget.configure", "budget_settings", "", permission=_MANAGES_BUDGETS),
    ("DELETE", "/budgets/{id}"): Action("budget.remove", "budget", permission=_MANAGES_BUDGETS),
    ("POST", "/clients"): Action("client.create", "client", permission=_MANAGES_CLIENTS),
    ("PATCH", _CLIENT): Action("client.update", "client", read=_client, permission=_MANAGES_CLIENTS),
    ("POST", f"{_CLIENT}/disable"): Action("client.disable", "client", read=_client, permission=_MANAGES_CLIENTS),
    ("POST", f"{_CLIENT}/enable"): Action("client.enable", "client", read=_client, permission=_MANAGES_CLIENTS),
    ("POST", _KEYS): Action("client.api_key.create", "client_api_key", "", permission=_MANAGES_CLIENTS),
    ("PATCH", f"{_KEYS}/{{key}}"): Action("client.api_key.update", "client_api_key", "key", _key, permission=_MANAGES_CLIENTS),
    ("POST", f"{_KEYS}/{{key}}/rotate"): Action("client.api_key.rotate", "client_api_key", "key", permission=_MANAGES_CLIENTS),
    ("POST", f"{_KEYS}/{{key}}/revoke"): Action("client.api_key.revoke", "client_api_key", "key", permission=_MANAGES_CLIENTS),
}
"""By method and path."""
