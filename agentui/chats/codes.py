"""Every error code of the memory's API, with its status and what it means; docs/errors.md is tested against this table."""

from dataclasses import dataclass

from agentui.errors import ApiError
from agentui.jsonio import Json


@dataclass(frozen=True, slots=True)
class Code:
    """One thing that can go wrong."""

    status: int
    meaning: str


CODES: dict[str, Code] = {
    "active_run_in_progress": Code(409, "A model call is running inside what should be changed or removed."),
    "ambiguous_branch": Code(409, "Several sessions have a branch of this name; session_id says which one is meant."),
    "asset_version_not_found": Code(404, "The asset has no such version."),
    "branch_exists": Code(409, "The session has a branch of this name already."),
    "branch_head_conflict": Code(409, "The branch's head is no longer the floor that the caller expected."),
    "branch_local_snapshot_missing": Code(409, "It is not known which branch variables the source floor saw."),
    "branch_not_found": Code(404, "The session has no such branch."),
    "character_binding_missing": Code(409, "The session has no character of the library."),
    "character_deleted": Code(409, "A character that was deleted is changed only after it was restored."),
    "character_not_found": Code(404, "There is no such character, or no such version of it."),
    "character_revision_conflict": Code(409, "The character is no longer what the caller expected."),
    "character_sync_blocked": Code(409, "The session keeps its character as it was; force brings it up to date."),
    "commit_busy": Code(503, "The memory was locked for too long to keep the turn."),
    "commit_conflict": Code(409, "The turn's floor is no longer generating; its answer was not kept."),
    "constraint_error": Code(409, "Another live floor of this branch has this number."),
    "content_target_locked": Code(409, "A committed floor's pages and messages cannot be changed."),
    "duplicate_variable_target": Code(400, "Two items of a batch write the same variable."),
    "mcp_programs_disabled": Code(403, "Over the API no programs are configured on this server."),
    "floor_not_found": Code(404, "There is no such floor."),
    "floor_parent_session_mismatch": Code(409, "A floor's parent must belong to the same session."),
    "floor_patch_mixed_fields": Code(400, "A floor's place and its other fields cannot be changed in one call."),
    "floor_patch_restricted_field": Code(400, "Only floor_no, branch_id and parent_floor_id of a floor can be changed."),
    "floor_patch_topology_invalid": Code(400, "A floor's parent must be another floor with a smaller number."),
    "generation_cancelled": Code(499, "Somebody stopped the generation."),
    "generation_conflict": Code(409, "Another turn of this branch is being generated."),
    "generation_queue_timeout": Code(503, "The branch was still generating when the longest wait for it was over."),
    "generation_target_stale": Code(409, "What should be made anew changed while the request waited."),
    "generation_timeout": Code(504, "The model took too long."),
    "idempotency_answer_gone": Code(
        410, "The request with this key was done; its answer broke off, or is not kept (any more)."
    ),
    "idempotency_in_progress": Code(409, "The request with this key is still being answered."),
    "idempotency_key_reused": Code(422, "Another request had this key."),
    "invalid_message_role": Code(400, "Only what a user said can be edited."),
    "invalid_state": Code(409, "The floor's state does not allow this."),
    "invalid_variable_context": Code(400, "Session, branch, floor and page contradict each other."),
    "artifact_expired": Code(410, "The file of the job is no longer kept."),
    "artifact_unavailable": Code(409, "The job makes no file."),
    "mcp_server_conflict": Code(409, "There is an MCP server of this name already, or there are too many."),
    "mcp_server_disabled": Code(409, "The MCP server is switched off."),
    "mcp_server_failed": Code(500, "The MCP server answered with an error, or with what is no answer."),
    "mcp_server_not_found": Code(404, "There is no such MCP server."),
    "mcp_server_unavailable": Code(503, "The MCP server cannot be reached, or was lost."),
    "branch_merge_conflict": Code(409, "The branches cannot be merged; details carry the conflicts."),
    "message_conflict": Code(409, "The page has a message with this seq already."),
    "message_not_found": Code(404, "There is no such message."),
    "no_floor_to_regenerate": Code(404, "The branch has no committed floor whose answer could be made anew."),
    "no_user_message": Code(404, "The floor answers nothing: no turn has made it, as a greeting."),
    "not_found": Code(404, "There is nothing with this id, or nothing at this address."),
    "page_activation_not_allowed": Code(409, "Input pages cannot be activated."),
    "page_conflict": Code(409, "The floor has this version of this page already, or another active version of it."),
    "payload_too_large": Code(413, "The body or one of its values is larger than allowed."),
    "preset_conflict": Code(409, "The prompt preset is no longer what the caller expected."),
    "preset_entry_exists": Code(409, "The prompt preset has an entry with this identifier already."),
    "preset_not_found": Code(404, "There is no such prompt preset."),
    "profile_not_found": Code(409, "The session's model_provider names no provider preset that serves the turn."),
    "project_not_found": Code(404, "There is no such project."),
    "prompt_runtime_explain_not_found": Code(404, "The floor had no prompt: no model was asked for it."),
    "protected_branch": Code(409, "The branch main cannot be removed."),
    "regex_profile_conflict": Code(409, "The regex profile is no longer what the caller expected."),
    "regex_profile_not_found": Code(404, "There is no such regex profile."),
    "replay_confirmation_required": Code(409, "The turn called tools and wrote to Session State: the caller has to confirm."),
    "session_archived": Code(409, "An archived session takes no new turns."),
    "session_name_taken": Code(409, "Another session has this name, or it is another session's id."),
    "session_not_found": Code(404, "There is no such session."),
    "session_state_account_byte_limit_exceeded": Code(409, "The account's Session State may take no more bytes."),
    "session_state_account_item_limit_exceeded": Code(409, "The account's Session State may have no more slots."),
    "session_state_namespace_already_registered": Code(409, "The session has a namespace of this name already."),
    "session_state_namespace_byte_limit_exceeded": Code(409, "The values of a namespace may take no more bytes."),
    "session_state_namespace_count_limit_exceeded": Code(409, "The session may have no more namespaces."),
    "session_state_namespace_item_limit_exceeded": Code(409, "The namespace may have no more slots."),
    "session_state_namespace_not_registered": Code(404, "The session has no namespace of this name."),
    "session_state_namespace_reserved": Code(409, "The namespace belongs to the server."),
    "session_state_payload_too_large": Code(409, "A value of Session State is larger than its slot takes."),
    "session_state_public_write_forbidden": Code(409, "Only the server itself writes to this namespace."),
    "session_state_replay_blocked": Code(409, "The turn wrote to Session State that is never written again."),
    "session_state_replay_confirmation_required": Code(409, "The turn wrote to Session State: the caller has to confirm."),
    "skill_rule_locked": Code(409, "A skill rule is neither written nor removed as a working variable."),
    "source_floor_not_found": Code(404, "There is no such floor in the session to fork from."),
    "tool_replay_blocked": Code(409, "The turn called a tool that is never called again."),
    "tool_replay_confirmation_required": Code(409, "The turn called tools that cannot be undone: the caller has to confirm."),
    "tool_definition_conflict": Code(409, "Another tool has this name, or as many are defined as may be."),
    "tool_definition_not_found": Code(404, "There is no such defined tool."),
    "too_many_jobs": Code(429, "As many chats wait to come in or go out as may."),
    "tool_script_handler_disabled": Code(403, "Tools that are scripts are not run here."),
    "upstream_error": Code(502, "The model's side failed; details say how."),
    "user_conflict": Code(409, "Another user has this name."),
    "user_not_active": Code(409, "The user is disabled."),
    "user_not_found": Code(404, "There is no such user."),
    "user_revision_conflict": Code(409, "The user is no longer what the caller expected."),
    "validation_error": Code(400, "The body, the query or the path is not of the right form; details say where."),
    "variable_conflict": Code(409, "A run used a variable that somebody else changed before it could commit."),
    "variable_host_not_found": Code(404, "What should hold the variable does not exist."),
    "variable_not_found": Code(404, "There is no such variable, or what held it is gone."),
    "variable_reference_failed": Code(422, "A $VAR_REF in the arguments of a tool's call cannot be resolved."),
    "variable_target_locked": Code(409, "Variables of a generating or committed floor, and of its pages, cannot be changed."),
    "verifier_failed": Code(422, "The verifier refused the answer, and config says that it blocks."),
    "worldbook_conflict": Code(409, "The worldbook is no longer what the caller expected."),
    "worldbook_not_found": Code(404, "There is no such worldbook."),
}
"""By code."""


def failure(code: str, message: str, **details: Json) -> ApiError:
    """The error of a code, to be raised with facts as details."""
    return ApiError(message, status=CODES[code].status, code=code, **details)
