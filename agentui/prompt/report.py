"""What the API shows of a prepared turn: ``prompt_snapshot``, ``runtime_trace``, ``assembly`` and the answer of a dry run."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Final

from agentui.assets.script import NUMBER_BY_PLACEMENT, ScriptPlacement
from agentui.chat.messages import Media, Message, Opaque, Part, Refusal, Text, Thinking, ToolCall, ToolResult
from agentui.jsonio import Json, members
from agentui.prompt.explain import LONGEST_TEXT, MOST_TRACES
from agentui.prompt.history import HistoryViolation, MergedGroup
from agentui.prompt.macro_report import macro_report
from agentui.prompt.memory import memory_document
from agentui.prompt.ordered.lore_report import identity, insertion, lore_trace
from agentui.prompt.policy import VisibilityPolicy, document_of
from agentui.prompt.prepared import PreparedTurn, PresetFacts, ScriptsReport
from agentui.prompt.section_runs import SectionRun, runs_of
from agentui.regexes.scripts import Channel, ScriptTrace

_ASSETS: Final = ("preset", "worldbook", "regex_profile")
_ASSET_MEMBERS: Final = ("id", "updated_at", "version", "version_id", "content_hash")
_CHARACTER_MEMBERS: Final = ("id", "version_id", "imported_format", "content_hash")
_KINDS: Final[Mapping[type[Part], str]] = {
    Text: "text",
    Thinking: "thinking",
    Refusal: "refusal",
    ToolCall: "tool_call",
    ToolResult: "tool_result",
    Opaque: "opaque",
}


def prompt_snapshot(
    prepared: PreparedTurn, assets: Mapping[str, Json] | None = None, most: int | None = None
) -> dict[str, Json]:
    """What names a prompt and what it was made of. ``assets`` are the ids and versions that the session is bound to, by the
    names that they have here (``preset_id``, ``character_version_id``); others are null. With ``most`` lists have no more than
    so many."""
    activated = prepared.lore.activated[:most] if prepared.lore is not None else ()
    names = [f"{asset}_{member}" for asset in _ASSETS for member in _ASSET_MEMBERS]
    names += [f"character_{member}" for member in _CHARACTER_MEMBERS]
    return {
        **{name: (assets or {}).get(name) for name in names},
        "worldbook_activated_entry_uids": [each.entry.uid for each in activated],
        "worldbook_activated_entries": [
            {
                **identity(each.bound, each.entry),
                "worldbook_id": each.bound.id,
                "comment": each.entry.comment,
                "insertion": insertion(each.entry),
            }
            for each in activated
        ],
        "regex_pre_rule_names": prepared.scripts.rules("user_input", most),
        "regex_post_rule_names": prepared.scripts.rules("ai_output", most),
        "prompt_mode": prepared.prompt_mode,
        "asset_manifest_digest": (assets or {}).get("asset_manifest_digest"),
        "prompt_digest": prepared.prompt_digest,
        "token_estimate": prepared.token_estimate,
    }


def runtime_trace(prepared: PreparedTurn, *, is_kept: bool, with_matches: bool = False) -> dict[str, Json]:
    """How a prompt came about. ``is_kept`` says that what its macros wrote is stored, as in a turn that commits;
    ``with_matches`` lists what of the lorebook is in it."""
    macros = macro_report(prepared.macro, is_kept=is_kept)
    lore, memory = lore_trace(prepared.lore, with_matches=with_matches), memory_document(prepared.memory)
    return {**_trace(prepared, runs_of(prepared.sections)), "worldbook": lore, "memory": memory, "macro": macros}


def kept_report(prepared: PreparedTurn, runs: Sequence[SectionRun]) -> dict[str, Json]:
    """What is kept of a prompt beside what explains it: the ``assembly`` and the ``runtime_trace`` of a dry run, the latter
    without what the explanation tells already; ``runs`` are those of its sections. Bounded, whatever the prompt's size: of
    texts the beginning, of lists the first."""
    lore = lore_trace(prepared.lore, with_matches=True, most=MOST_TRACES)
    told = {
        "assembly": {**assembly(prepared), "worldbook_matches": lore["matches"]},
        "runtime_trace": {**_trace(prepared, runs, MOST_TRACES), "worldbook": lore},
    }
    bounded: dict[str, Json] = _bounded(told)
    return bounded


def _bounded(value: Json) -> Json:
    """The same with texts and lists no longer than what is kept."""
    match value:
        case str():
            return value[:LONGEST_TEXT]
        case dict():
            return {name: _bounded(each) for name, each in value.items()}
        case list():
            return [_bounded(each) for each in value[:MOST_TRACES]]
    return value


def _trace(prepared: PreparedTurn, runs: Sequence[SectionRun], most: int | None = None) -> dict[str, Json]:
    """The trace without its macros, its lore and its memory; with ``most`` it tells of no more than so many scripts."""
    trace: dict[str, Json] = {
        "preset": _preset(prepared),
        "regex": {
            "user_input_rules": prepared.scripts.rules("user_input", most),
            "ai_output_rules": prepared.scripts.rules("ai_output", most),
            "preprocessed_user_message": prepared.preprocessed_user_message,
            "phases": _phases(prepared.scripts.traces[:most]),
            "reserved_placements": _reserved(prepared.scripts),
            "substitution_mode": _substitution(prepared.scripts),
        },
        "budgets": _budgets(prepared, runs),
        "delivery": _delivery(prepared),
        "history_normalization": history_normalization(prepared),
    }
    structure = prepared.policy.structure
    if prepared.structure.mode != "default" or structure.merge_adjacent_same_role:
        trace["structure"] = _structure(prepared)
    if prepared.excluded_sources:
        trace["source_selection"] = {"excluded_sources": [members(each) for each in prepared.excluded_sources]}
    visibility = prepared.policy.visibility
    if visibility != VisibilityPolicy() or prepared.filtered_floor_nos:
        trace["visibility"] = {**document_of(visibility), "filtered_floor_nos": list(prepared.filtered_floor_nos)}
    return trace


def assembly(prepared: PreparedTurn, *, with_matches: bool = False) -> dict[str, Json]:
    """The summary that a dry run gives beside the trace, for clients that read it instead."""
    delivery = prepared.delivery
    preset, lore = _preset(prepared), lore_trace(prepared.lore, with_matches=with_matches)
    return {
        "mode": "fallback" if prepared.preset is None else "preset",
        "prompt_intent": prepared.intent,
        "assistant_prefill_applied": delivery.prefill_applied,
        "assistant_prefill_strategy": delivery.prefill_strategy,
        "preset_used": prepared.preset is not None,
        "selected_prompt_order_character_id": preset["selected_prompt_order_character_id"],
        "ignored_prompt_order_character_ids": preset["ignored_prompt_order_character_ids"],
        "continue_nudge_applied": preset["continue_nudge_applied"],
        "continue_nudge_text": preset["continue_nudge_text"],
        "names_behavior_applied": preset["names_behavior_applied"],
        "trigger_filtered_entry_ids": preset["trigger_filtered_entry_ids"],
        "in_chat_inserted_entry_ids": preset["in_chat_inserted_entry_ids"],
        "worldbook_hits": lore["hit_count"],
        **({"worldbook_matches": lore["matches"]} if with_matches else {}),
        "regex_pre_rules": prepared.scripts.rules("user_input"),
        "regex_post_rules": prepared.scripts.rules("ai_output"),
        "memory_summary_injected": bool(prepared.memory.text),
        "reserved_variable_collisions": [
            warning.macro for warning in prepared.macro.warnings if warning.code == "macro_readonly_name_conflict"
        ],
        "unsupported_preset_fields": preset["unsupported_fields"],
        "ignored_preset_fields": preset["ignored_fields"],
        "unresolved_preset_markers": preset["unresolved_markers"],
        "preset_warnings": preset["warnings"],
        "preprocessed_user_message": prepared.preprocessed_user_message,
    }


def dry_run_document(
    prepared: PreparedTurn, assets: Mapping[str, Json] | None = None, *, with_matches: bool = False
) -> dict[str, Json]:
    """The ``data`` of a dry run."""
    return {
        "messages": shown_messages(prepared.messages),
        "token_estimate": prepared.token_estimate,
        "available_for_reply": prepared.available_for_reply,
        "memory": memory_document(prepared.memory),
        "memory_summary": prepared.memory.text or None,
        "prompt_snapshot": prompt_snapshot(prepared, assets),
        "assembly": assembly(prepared, with_matches=with_matches),
        "runtime_trace": runtime_trace(prepared, is_kept=False, with_matches=with_matches),
    }


def shown_messages(messages: Sequence[Message]) -> list[dict[str, Json]]:
    """Messages as they are shown: role, text, the name of who speaks where they have one, and what ``parts`` where the
    text is not all."""
    shown = []
    for message in messages:
        entry: dict[str, Json] = {"role": message.role, "content": message.text}
        if message.name is not None:
            entry["name"] = message.name
        if not all(isinstance(part, Text) for part in message.parts):
            entry["parts"] = [_shown_part(part) for part in message.parts]
        shown.append(entry)
    return shown


def _shown_part(part: Part) -> dict[str, Json]:
    """What a part is, without its data."""
    match part:
        case Media(kind=kind, media_type=media_type):
            return {"type": kind, "media_type": media_type}
        case ToolCall(name=name) | ToolResult(name=name):
            return {"type": _KINDS[type(part)], "name": name}
    return {"type": _KINDS[type(part)]}


def history_normalization(prepared: PreparedTurn) -> dict[str, Json]:
    """How the history became turns."""
    told = prepared.history_normalization
    return {
        "raw_entry_count": told.raw_entry_count,
        "effective_turn_count": told.effective_turn_count,
        "selected_turn_count": told.selected_turn_count,
        "trailing_user_source_floor_ids": list(told.trailing_user_source_floor_ids),
        "merged_user_groups": [{"effective_role": "user", **_listed(group)} for group in told.merged_user_groups],
        "violations": [_listed(violation) for violation in told.violations],
    }


def _listed(told: MergedGroup | HistoryViolation) -> dict[str, Json]:
    """What is told of messages, their ids as lists."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in members(told).items()}


def _preset(prepared: PreparedTurn) -> dict[str, Json]:
    """What the preset did; without one there is nothing to tell but the instruction to go on."""
    nudge, facts = prepared.delivery.nudge, prepared.preset or PresetFacts()
    reading = facts.reading
    return {
        "continue_nudge_applied": nudge is not None,
        "continue_nudge_text": nudge,
        "ignored_fields": list(reading.ignored),
        "ignored_prompt_order_character_ids": list(reading.ignored_tracks),
        "in_chat_inserted_entry_ids": list(facts.in_chat),
        "names_behavior_applied": "always" if facts.shows_names else "off",
        "selected_prompt_order_character_id": reading.selected_track,
        "trigger_filtered_entry_ids": list(facts.trigger_filtered),
        "unresolved_markers": list(reading.markers),
        "unsupported_fields": list(reading.unsupported),
        "warnings": list(reading.warnings),
    }


def _reserved(scripts: ScriptsReport) -> list[Json]:
    """SillyTavern's numbers of the placements of scripts that are switched on at which no text of a chat here stands."""
    reserved: tuple[ScriptPlacement, ...] = ("slash_command", "reasoning")
    return [NUMBER_BY_PLACEMENT[placement] for placement in reserved if scripts.rules(placement, most=1)]


def _substitution(scripts: ScriptsReport) -> str | None:
    """How macros in what scripts look for are replaced: ``none``, ``raw``, ``escaped``, ``mixed``; None without scripts."""
    modes = {bound.script.substitution for bound in scripts.scripts}
    return modes.pop() if len(modes) == 1 else "mixed" if modes else None


def _named_text(text: str) -> str:
    """A text's name, as ``prompt_digest`` names a prompt."""
    return f"sha256:{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _phases(traces: Sequence[tuple[ScriptTrace, int]]) -> list[Json]:
    """What scripts did when texts were kept (``persist``) and when they were sent (``prompt``), one entry a kind of text;
    ``rules`` tell the fate of each script. All texts of a kind are counted together; depth and hashes are those of the
    newest."""
    by_phase: dict[tuple[Channel, ScriptPlacement], list[tuple[ScriptTrace, int]]] = {}
    for trace, texts in traces:
        by_phase.setdefault((trace.channel, trace.placement), []).append((trace, texts))
    phases: list[Json] = []
    for (channel, placement), its in by_phase.items():
        matched = [trace.name for trace, _ in its if trace.skipped is None]
        newest = its[-1][0].newest
        phases.append(
            {
                "phase_id": f"{channel}.{placement}",
                "placement": NUMBER_BY_PLACEMENT[placement],
                "channel": channel,
                "status": "executed",
                "changed": bool(matched),
                "depth": None if newest is None else newest.depth,
                "input_text_hash": None if newest is None else _named_text(newest.before),
                "output_text_hash": None if newest is None else _named_text(newest.after),
                "candidate_rule_names": list(dict.fromkeys(trace.name for trace, _ in its)),
                "matched_rule_names": list(dict.fromkeys(matched)),
                "skipped_rules": [
                    {"rule_name": trace.name, "reason": trace.skipped} for trace, _ in its if trace.skipped is not None
                ],
                "rules": [
                    {
                        "rule_name": trace.name,
                        "origin": trace.origin,
                        "status": "matched" if trace.skipped is None else "skipped",
                        "reason": trace.skipped,
                        "match_count": trace.matches,
                        "text_count": texts,
                        "error": trace.error or None,
                    }
                    for trace, texts in its
                ],
            }
        )
    return phases


def _budgets(prepared: PreparedTurn, runs: Sequence[SectionRun]) -> dict[str, Json]:
    """Tokens by group: those that were wanted, and those that are sent."""
    wanted_by_group: dict[str, int] = {}
    kept_by_group: dict[str, int] = {}
    for run in runs:
        group, is_kept = run.first.group, run.first.kept
        if is_kept or run.first.why == "budget_exceeded":
            wanted_by_group[group] = wanted_by_group.get(group, 0) + run.tokens
        if is_kept:
            kept_by_group[group] = kept_by_group.get(group, 0) + run.tokens
    by_group: Json = [
        {
            "group": group,
            "token_count": (kept := kept_by_group.get(group, 0)),
            "estimated_token_count": wanted,
            "allocated_token_count": kept,
            "pruned_token_count": wanted - kept,
        }
        for group, wanted in wanted_by_group.items()
    ]
    told: dict[str, Json] = {
        "by_group": by_group,
        "window": prepared.window,
        "input_limit": prepared.input_limit,
        "token_estimate": prepared.token_estimate,
        "available_for_reply": prepared.available_for_reply,
    }
    return {**told, "trim_reasons": [members(each) for each in prepared.trim_reasons]} if prepared.trim_reasons else told


def _delivery(prepared: PreparedTurn) -> dict[str, Json]:
    delivery, policy = prepared.delivery, prepared.policy.delivery
    return {
        **members(policy),
        "assistant_prefill_requested": delivery.prefill_requested,
        "assistant_prefill_applied": delivery.prefill_applied,
        "assistant_prefill_strategy": delivery.prefill_strategy,
        "degrade_reasons": list(delivery.degrade_reasons),
        "degraded": bool(delivery.degrade_reasons),
        "last_message_role": delivery.last_message_role,
        "ends_with_user": delivery.last_message_role == "user",
    }


def _structure(prepared: PreparedTurn) -> dict[str, Json]:
    """What the structure did; what only a flattened one does is told of that alone."""
    told, policy = prepared.structure, prepared.policy.structure
    trace: dict[str, Json] = {
        "mode": told.mode,
        "merge_adjacent_same_role": policy.merge_adjacent_same_role or told.mode == "strict_alternating",
        "assistant_rewrite_strategy": policy.assistant_rewrite_strategy if told.mode == "no_assistant" else None,
        "assistant_rewrite_count": told.assistant_rewrite_count,
        "preserve_system_messages": policy.preserve_system_messages,
        "tail_assistant_detected": told.tail_assistant_detected,
    }
    if told.transcriptized:
        trace["transcriptized"] = True
        trace["transcript_message_count"] = told.transcript_message_count
        trace["assistant_prefill_transcriptized"] = told.assistant_prefill_transcriptized
    return trace
