"""What happened with tools in a turn, and which of them a session may call."""

from collections.abc import Iterable, Mapping
from typing import NotRequired, TypedDict

from agentui.sdk.helpers.fields import record, records, text

TERMINAL_PHASES = frozenset(("success", "error", "denied", "timeout", "uncertain", "blocked"))
"""The phases of a call behind which none comes."""


class ToolExecutionGroup(TypedDict):
    """The events of one call of a tool. ``phases`` in their order; all else as the newest event that says it."""

    execution_id: str
    tool_name: str
    provider_id: str
    phases: list[str]
    is_terminal: bool
    replay_safety: str
    events: list[Mapping[str, object]]
    provider_type: NotRequired[str]
    side_effect_level: NotRequired[str]
    message: NotRequired[str]
    duration_ms: NotRequired[float]


class RuntimeToolSummary(TypedDict):
    """How many tools of a session's catalog are how. ``replay_warnings`` are those that may not simply be called once more."""

    total_tools: int
    available_tools: int
    unavailable_tools: int
    conflict_tools: int
    conflict_records: int
    safe_tools: int
    confirm_on_replay_tools: int
    never_auto_replay_tools: int
    uncertain_tools: int
    replay_warnings: int


def group_tool_events_by_execution(events: Iterable[Mapping[str, object]]) -> list[ToolExecutionGroup]:
    """The tool events of a stream by call, in the order in which the calls began."""
    groups: dict[str, ToolExecutionGroup] = {}
    for event in events:
        id = text(event.get("execution_id"))
        if id is None:
            continue
        group = groups.get(id)
        if group is None:
            group = groups[id] = _begun(id)
        _tell(group, event)
    return list(groups.values())


def summarize_runtime_tool_catalog(catalog: Mapping[str, object] | None) -> RuntimeToolSummary:
    """Counts of a session's catalog (of ``GET /sessions/{id}/tools/runtime``), by availability and by what replays ask for."""
    answer = record(catalog)
    tools = list(records(answer.get("tools")))

    def count(name: str, value: str) -> int:
        return sum(tool.get(name) == value for tool in tools)

    confirmed, never = count("replay_safety", "confirm_on_replay"), count("replay_safety", "never_auto_replay")
    uncertain = count("replay_safety", "uncertain")
    return {
        "total_tools": len(tools),
        "available_tools": count("availability", "available"),
        "unavailable_tools": count("availability", "unavailable"),
        "conflict_tools": count("availability", "conflict"),
        "conflict_records": sum(1 for _ in records(answer.get("conflicts"))),
        "safe_tools": count("replay_safety", "safe"),
        "confirm_on_replay_tools": confirmed,
        "never_auto_replay_tools": never,
        "uncertain_tools": uncertain,
        "replay_warnings": confirmed + never + uncertain,
    }


def _begun(id: str) -> ToolExecutionGroup:
    return {
        "execution_id": id,
        "tool_name": "",
        "provider_id": "",
        "phases": [],
        "is_terminal": False,
        "replay_safety": "uncertain",
        "events": [],
    }


def _tell(group: ToolExecutionGroup, event: Mapping[str, object]) -> None:
    """Add what one more event says."""
    group["events"].append(event)
    phase = text(event.get("phase"))
    if phase is not None:
        group["phases"].append(phase)
        group["is_terminal"] = group["is_terminal"] or phase in TERMINAL_PHASES
    group["tool_name"] = text(event.get("tool_name")) or group["tool_name"]
    group["provider_id"] = text(event.get("provider_id")) or group["provider_id"]
    group["replay_safety"] = text(event.get("replay_safety")) or group["replay_safety"]
    if (kind := text(event.get("provider_type"))) is not None:
        group["provider_type"] = kind
    if (effect := text(event.get("side_effect_level"))) is not None:
        group["side_effect_level"] = effect
    if (message := text(event.get("message"))) is not None:
        group["message"] = message
    duration = event.get("duration_ms")
    if isinstance(duration, int | float) and not isinstance(duration, bool):
        group["duration_ms"] = duration
