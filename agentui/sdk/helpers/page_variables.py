"""What a turn's run wrote to the variables of its page, and what became of it."""

from collections import defaultdict
from collections.abc import Mapping
from typing import TypedDict

from agentui.sdk.helpers.fields import number, records, text
from agentui.sdk.helpers.variables import format_variable_preview


class StagedWriteRow(TypedDict):
    """A write of a run to its page. Times are milliseconds since 1970; ``resolved_at`` is None while it is staged."""

    id: str
    key: str
    op: str
    value: object
    preview: str
    intent: str
    conflict_policy: str
    reason: str | None
    source: object
    evidence: object
    status: str
    decision_reason: str | None
    created_at: int
    resolved_at: int | None


class PromotionRow(TypedDict):
    """A variable that went from one tier to another; ``created_at`` in milliseconds since 1970."""

    id: str
    staged_write_id: str
    key: str
    from_scope: str
    from_scope_id: str
    to_scope: str
    to_scope_id: str
    conflict_policy: str
    source_variable_id: str
    target_variable_id: str
    value: object
    preview: str
    created_at: int


class PromotionGroup(TypedDict):
    """The promotions of one key, the newest first."""

    key: str
    latest_created_at: int
    items: list[PromotionRow]


def flatten_page_staged_variable_writes(snapshot: Mapping[str, object] | None) -> list[StagedWriteRow]:
    """The writes of ``GET /pages/{id}/variables/staged``, the newest first; those of one moment in the order of the answer."""
    items = [] if snapshot is None else records(snapshot.get("items"))
    return sorted((_staged(item) for item in items), key=lambda row: row["created_at"], reverse=True)


def group_variable_promotion_trace(snapshot: Mapping[str, object] | None) -> list[PromotionGroup]:
    """The promotions of ``GET /pages/{id}/variables/promotions`` by key: the key that was promoted last first."""
    by_key: dict[str, list[PromotionRow]] = defaultdict(list)
    for item in [] if snapshot is None else records(snapshot.get("items")):
        row = _promotion(item)
        by_key[row["key"]].append(row)
    groups: list[PromotionGroup] = []
    for key, rows in by_key.items():
        rows.sort(key=lambda row: row["created_at"], reverse=True)
        groups.append({"key": key, "latest_created_at": rows[0]["created_at"], "items": rows})
    return sorted(groups, key=lambda group: group["latest_created_at"], reverse=True)


def _staged(item: Mapping[str, object]) -> StagedWriteRow:
    return {
        "id": text(item.get("id")) or "",
        "key": text(item.get("key")) or "",
        "op": text(item.get("op")) or "set",
        "value": item.get("value"),
        "preview": format_variable_preview(item.get("value")),
        "intent": text(item.get("intent")) or "",
        "conflict_policy": text(item.get("conflict_policy")) or "",
        "reason": text(item.get("reason")),
        "source": item.get("source"),
        "evidence": item.get("evidence"),
        "status": text(item.get("status")) or "",
        "decision_reason": text(item.get("decision_reason")),
        "created_at": number(item.get("created_at")) or 0,
        "resolved_at": number(item.get("resolved_at")),
    }


def _promotion(item: Mapping[str, object]) -> PromotionRow:
    return {
        "id": text(item.get("id")) or "",
        "staged_write_id": text(item.get("staged_write_id")) or "",
        "key": text(item.get("key")) or "",
        "from_scope": text(item.get("from_scope")) or "",
        "from_scope_id": text(item.get("from_scope_id")) or "",
        "to_scope": text(item.get("to_scope")) or "",
        "to_scope_id": text(item.get("to_scope_id")) or "",
        "conflict_policy": text(item.get("conflict_policy")) or "",
        "source_variable_id": text(item.get("source_variable_id")) or "",
        "target_variable_id": text(item.get("target_variable_id")) or "",
        "value": item.get("value"),
        "preview": format_variable_preview(item.get("value")),
        "created_at": number(item.get("created_at")) or 0,
    }
