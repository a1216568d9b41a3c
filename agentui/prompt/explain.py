"""What is kept of a prompt with the floor that it was for: enough to say, later, why it was what it was.

    {"scope", "assets", "prompt_snapshot", "resolved_policy", "source_map", "trim_reasons", "excluded_sources", "section_stats",
     "governance", "diagnostics", "sections", "first_included_no", "macro", "memory"}

A turn that a client of the memory's API asked for has ``generation``, too: ``pipeline_id``, ``model``, ``params``, ``tools``.

Beside it stand the ``assembly`` and the ``runtime_trace`` of a dry run (``report.py``). It is read back as it was written;
nothing of it is ever worked out again. Every turn keeps one, so it is small: the texts of the history are the chat's own, and
of very many sections or macros only some are told. Of what was sent of the newest floors the checksums are kept
(``history_texts``), for the chat's texts may change later.
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from agentui.jsonio import Json, members
from agentui.prompt.macro_report import macro_report
from agentui.prompt.memory import NO_PROMPT_MEMORY, memory_document
from agentui.prompt.policy import FORCED_NO_ASSISTANT, Resolution, policy_document
from agentui.prompt.prepared import PreparedTurn, PromptSection
from agentui.prompt.section_runs import SectionRun

MOST_SECTIONS: Final = 200
MOST_TRACES: Final = 100
MOST_DIAGNOSTICS: Final = 100
LONGEST_TEXT: Final = 2_000
"""Characters that are kept of a section's text, and of a value that a macro wrote."""
MOST_TEXTS: Final = 64
"""Floors of the history whose texts can be told from others later; 18 bytes each."""

NO_MEMORY: Final[Mapping[str, Json]] = memory_document(NO_PROMPT_MEMORY)
"""What is told of memories where the chat has them off."""

NO_DEBUG: Final[Mapping[str, Json]] = {
    "include_prompt_snapshot": False,
    "include_runtime_trace": False,
    "include_worldbook_matches": False,
}
"""What a request may ask to see of its prompt, unless it does."""

_PRUNABLE: Final = frozenset({"history", "greeting", "examples"})
"""The sources that a budget may take from."""
_FIXED: Final = frozenset(
    {"default", "session", "character", "user", "message", "quiet", "words", "intent", "director", "preset", "authors_note"}
    | {"inject", "worldbook", "tools", "memory"}
)
"""The sources that are sent whatever they take."""

_UNCOUNTED: Final = frozenset({"hidden_message", "visibility_filtered", "empty"})
"""Why messages have no number."""


@dataclass(frozen=True, slots=True)
class PromptScope:
    """For which branch a prompt is, and whose history it reads. A branch that does not exist yet reads that of its source
    floor's branch, or main's."""

    session_id: str
    target_branch_id: str
    branch_exists: bool
    source_floor_id: str | None
    history_source_branch_id: str
    history_source_mode: Literal["existing_branch", "main_fallback", "source_floor_branch"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something to know about a prompt or a policy."""

    code: str
    message: str
    severity: Literal["info", "warning", "error"]
    source: str
    field_path: str | None = None
    phase: str | None = None


def explain_document(
    prepared: PreparedTurn,
    runs: Sequence[SectionRun],
    resolution: Resolution,
    scope: PromptScope,
    assets: Json,
    prompt_snapshot: Json,
) -> dict[str, Json]:
    """What is to be kept of a prompt; ``runs`` are those of its sections. Its size is bounded, whatever the prompt's."""
    sections = shown_sections(runs)
    return {
        "scope": members(scope),
        "assets": assets,
        "prompt_snapshot": prompt_snapshot,
        "resolved_policy": shown_policy(resolution),
        "source_map": shown_sources(resolution, scope),
        "trim_reasons": [members(reason) for reason in prepared.trim_reasons],
        "excluded_sources": [members(exclusion) for exclusion in prepared.excluded_sources],
        "section_stats": section_stats(runs),
        "governance": governance(runs),
        "diagnostics": [members(each) for each in diagnostics(resolution, prepared)[:MOST_DIAGNOSTICS]],
        "sections": sections[-MOST_SECTIONS:],
        "omitted_sections": max(0, len(sections) - MOST_SECTIONS),
        "first_included_no": first_included_no(prepared),
        "history_texts": _history_texts(prepared.sections),
        "macro": macro_report(prepared.macro, is_kept=True, most=MOST_TRACES, longest=LONGEST_TEXT),
        "memory": memory_document(prepared.memory),
    }


def _history_texts(sections: Sequence[PromptSection]) -> dict[str, str]:
    """A checksum of what was sent of each of the newest floors of the history, by the floors' numbers."""
    sums: dict[int, int] = {}
    for each in reversed(sections):
        if each.group != "history" or not each.kept or each.floor_no is None:
            continue
        if each.floor_no not in sums and len(sums) == MOST_TEXTS:
            break
        said = f"{each.role}\n{each.text}\n".encode("utf-8", "surrogatepass")
        sums[each.floor_no] = zlib.crc32(said, sums.get(each.floor_no, 0))
    return {str(number): f"{sum:08x}" for number, sum in sums.items()}


def shown_policy(resolution: Resolution, debug: Mapping[str, Json] = NO_DEBUG) -> dict[str, Json]:
    """The rules that hold, as JSON."""
    return {**policy_document(resolution.policy), "debug": {**NO_DEBUG, **debug}}


def shown_sources(resolution: Resolution, scope: PromptScope, debug: Mapping[str, Json] = NO_DEBUG) -> dict[str, Json]:
    """Who set each of the rules, and where the history is from."""
    asked = {name: "request_override" if debug.get(name) else "system_default" for name in NO_DEBUG}
    history = {"source_branch_id": scope.history_source_branch_id, "source_mode": scope.history_source_mode}
    return {**resolution.source_map, "debug": asked, "history": history}


def diagnostics(resolution: Resolution, prepared: PreparedTurn | None = None) -> list[Diagnostic]:
    """What is to be known of how the rules, and the prompt, came about."""
    found = []
    if FORCED_NO_ASSISTANT in resolution.warnings:
        path = "policy.structure.mode"
        found.append(Diagnostic("derived_no_assistant_structure", FORCED_NO_ASSISTANT, "warning", "policy", path))
    if prepared is not None:
        found += [
            Diagnostic(note.code, note.message, "warning", note.source, phase="assemble") for note in prepared.diagnostics
        ]
        found += [
            Diagnostic(violation.code, violation.message, "warning", "history", phase="assemble")
            for violation in prepared.history_normalization.violations
        ]
    return found


def first_included_no(prepared: PreparedTurn) -> int | None:
    """The first message of the chat that the prompt holds, counted as ``{{lastMessageId}}`` counts them: from 0, those that say
    something and are not hidden. None where the prompt holds none, or nobody knows how many were not loaded."""
    last = prepared.macro_scope.values.get("lastMessageId", "")
    if not last.isdecimal():
        return None
    history = [each for each in prepared.sections if each.group == "history" and each.why not in _UNCOUNTED]
    spoken = [each for each in history if each.role in ("user", "assistant") and each.text.strip()]
    spoken.sort(key=lambda each: each.floor_no or 0)
    said = [*(each.kept for each in spoken), *(True for each in prepared.sections if each.source == "message")]
    unread = int(last) + 1 - len(said)
    return next((unread + number for number, is_kept in enumerate(said) if is_kept), None)


def section_stats(runs: Iterable[SectionRun]) -> list[Json]:
    """How many tokens each group of what is sent takes."""
    tokens: dict[str, int] = {}
    for run in runs:
        if run.first.kept:
            tokens[run.first.group] = tokens.get(run.first.group, 0) + run.tokens
    return [{"section_name": group.removeprefix("section:"), "token_count": count} for group, count in tokens.items()]


def governance(runs: Iterable[SectionRun]) -> dict[str, Json]:
    """What was declared of each source, and what became of it."""
    by_source: dict[str, list[SectionRun]] = {}
    for run in runs:
        by_source.setdefault(run.first.source, []).append(run)
    entries = [_governed(source, its) for source, its in by_source.items()]
    return {
        "entries": entries,
        "mismatches": [
            {
                "code": "unregistered_governed_source",
                "source_kind": entry["source_kind"],
                "declared_level": None,
                "effective_retention": entry["effective_retention"],
                "budget_groups": entry["budget_groups"],
                "message": f"Nothing is declared of the source {entry['source_kind']!r}: it is sent whatever it takes.",
            }
            for entry in entries
            if not entry["registered"]
        ],
        "limitations": [],
    }


def _governed(source: str, runs: Sequence[SectionRun]) -> dict[str, Json]:
    is_prunable, is_known = source in _PRUNABLE, source in _PRUNABLE or source in _FIXED
    total, kept = sum([run.tokens for run in runs]), sum([run.tokens for run in runs if run.first.kept])
    return {
        "source_kind": source,
        "declared_level": "budget_prunable" if is_prunable else "hard_required" if is_known else None,
        "registered": is_known,
        "effective_retention": "budget_prunable" if is_prunable else "fixed",
        "pinned": not is_prunable,
        "prunable": is_prunable,
        "budget_groups": list(dict.fromkeys([run.first.group for run in runs])),
        # Each message of a history is a section of its own: their group names them all.
        "section_names": list(dict.fromkeys(["history" if run.first.group == "history" else run.first.name for run in runs])),
        "token_count": total,
        "retained_token_count": kept,
        "pruned_token_count": total - kept,
    }


def shown_sections(runs: Iterable[SectionRun]) -> list[dict[str, Json]]:
    """The sections as they are kept and shown. Messages of the history that met the same fate one after another are one, with
    the numbers of their floors, whatever their sources: the chat has their texts."""
    by_fate = groupby(runs, lambda run: (run.first.kept, run.first.why) if run.first.group == "history" else run)
    return [_shown(list(its)) for _, its in by_fate]


def _shown(runs: list[SectionRun]) -> dict[str, Json]:
    """One section, or several of the history."""
    first, is_history = runs[0].first, runs[0].first.group == "history"
    return {
        "name": "history" if is_history else first.name,
        "title": None if is_history else first.title or None,
        "group": first.group,
        "source": first.source,
        "role": None if is_history else first.role,
        "text": None if is_history else first.text[:LONGEST_TEXT],
        "is_cut": not is_history and len(first.text) > LONGEST_TEXT,
        "tokens": sum([run.tokens for run in runs]),
        "kept": first.kept,
        "why": first.why,
        "first_floor_no": min([run.first_floor_no for run in runs if run.first_floor_no is not None], default=None),
        "last_floor_no": max([run.last_floor_no for run in runs if run.last_floor_no is not None], default=None),
        "message_count": sum([run.size for run in runs]),
    }
