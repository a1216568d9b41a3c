"""What the prompt runtime can do, as a document that clients read before they ask for it."""

from typing import Final

from agentui.jsonio import Json
from agentui.prompt.modes import DEFAULT_MODE, MODES
from agentui.prompt.policy import ResolvedPolicy, policy_document

TRIM_REASONS: Final = ("budget_exceeded",)
EXCLUSION_REASONS: Final = (
    "disabled_by_policy",
    "budget_trimmed",
    "visibility_filtered",
    "hidden_message",
    "window_limited",
    "not_loaded",
)
PREVIEW_TRACE: Final = ("macro", "source_selection", "visibility", "history_normalization")
"""The parts of a trace that a preview has."""

LIMITATIONS: Final = ("This server keeps no memory records: source_selection.memory changes nothing.",)
"""What a reader of a prompt's reports should know."""

_GOVERNED: Json = {
    "envelope_metadata": True,
    "null_clears_field": True,
    "object_patch": "deep_merge",
    "supported_fields": ["structure", "delivery", "budget", "sourceSelection", "visibility"],
}
_READ_ONLY: Json = {
    "llm_call": False,
    "creates_floor": False,
    "writes_prompt_snapshot": False,
    "commits_side_effects": False,
}


def capabilities() -> dict[str, Json]:
    """The document. Names of fields in it are in camel case where the field's clients have them so."""
    defaults = policy_document(ResolvedPolicy())
    return {
        "default_prompt_mode": DEFAULT_MODE,
        "prompt_modes": [
            {"name": name, "description": description, "agentic_scope": scope} for name, (description, scope) in MODES.items()
        ],
        "structure": {
            "modes": ["default", "strict_alternating", "no_assistant", "flattened"],
            "defaults": defaults["structure"],
        },
        "delivery": {"defaults": defaults["delivery"]},
        "budget": {
            "defaults": defaults["budget"],
            "request_override_supported": True,
            "persistent_patch_supported": True,
            "supported_fields": ["maxInputTokens", "reservedCompletionTokens"],
            "trim_reason_codes": list(TRIM_REASONS),
        },
        "source_selection": {
            "defaults": defaults["source_selection"],
            "request_override_supported": True,
            "persistent_patch_supported": True,
            "supported_sources": ["history", "memory", "worldbook", "examples"],
            "history_modes": ["full", "windowed"],
            "exclusion_reason_codes": list(EXCLUSION_REASONS),
        },
        "governance": {"session": _GOVERNED, "branch": {**_GOVERNED, "materialized_branches_only": True}},
        "compare": {
            "enabled": True,
            "committed_floors_only": True,
            "mixed_preview_supported": False,
            "limitations_instead_of_recompute": True,
        },
        "observability": _observability(),
        "macro": {
            "built_in_read_only_values_persistable": False,
            "st_compatibility_snapshots_persistable": False,
            "run_kind_persistable": False,
            "diagnostics_surface": "unified_observability",
            "dedicated_macros_route": False,
            "recent_message_respects_visibility": True,
        },
        "unsupported": [
            "/sessions/:id/prompt-runtime/run",
            "/sessions/:id/prompt-runtime/macros",
            "/floors/:id/prompt-runtime",
            "/messages/:id/prompt-runtime",
        ],
    }


def _observability() -> dict[str, Json]:
    """What can be seen of a prompt, and where."""
    return {
        "live": {
            "enabled": True,
            "default_off": True,
            "request_scoped_only": True,
            "include_prompt_snapshot": True,
            "include_runtime_trace": True,
            "include_worldbook_matches": True,
            "worldbook_matches_requires_runtime_trace": True,
            "worldbook_matches_requires_opt_in": True,
            "visibility_request_supported": False,
        },
        "dry_run": {
            "enabled": True,
            "returns_assembly": True,
            "returns_runtime_trace": True,
            "supports_visibility": True,
            "include_worldbook_matches": True,
        },
        "inspect": {
            **_READ_ONLY,
            "enabled": True,
            "mode": "prepared_turn",
            "returns_prepared_turn": True,
            "returns_governance": True,
            "returns_contributors": True,
            "returns_prepare_phase_trace": True,
            "supports_branch": True,
            "supports_source_floor": True,
            "supports_visibility": True,
            "writes_explain_snapshot": False,
        },
        "preview": {
            **_READ_ONLY,
            "enabled": True,
            "mode": "macro_text_preview",
            "returns_assembly_truth": False,
            "returns_runtime_trace": True,
            "supports_visibility": True,
            "single_text_only": True,
            "trace_subset": list(PREVIEW_TRACE),
        },
        "explain": {
            "enabled": True,
            "read_only": True,
            "requires_committed_floor": True,
            "persisted_truth_only": True,
            "recompute": False,
            "returns_governance": True,
            "snapshot_supported": True,
            "legacy_floor_fallback": True,
            "snapshot_availability_field": "snapshot_available",
        },
        "stream": {"enabled": True, "prompt_debug_payload": "done_only", "new_sse_event_family": False},
    }
