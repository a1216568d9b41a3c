"""Variables as an inspector lists them: what is visible from a place, where each value comes from, and what it hides."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NotRequired, TypedDict

from agentui.sdk.helpers.fields import number, record, records, text

_ORDER = ("page", "floor", "branch", "chat", "global")
"""The tiers, the one that wins first."""
_RANKS = {scope: rank for rank, scope in enumerate(_ORDER)}


class VariableInspectorLayer(TypedDict):
    """The value of a variable in one tier."""

    scope: str
    scope_id: str
    scope_ref: NotRequired[Mapping[str, object]]
    value: object
    preview: str
    updated_at: int
    is_winning: bool


class VariableInspectorRow(TypedDict):
    """A variable: its winning value, where that comes from, and its values in all tiers, the winner's first."""

    key: str
    value: object
    preview: str
    source_scope: str
    source_scope_id: str
    source_scope_ref: NotRequired[Mapping[str, object]]
    updated_at: int
    layers: list[VariableInspectorLayer]


def flatten_variable_snapshot(snapshot: Mapping[str, object] | None) -> list[VariableInspectorRow]:
    """A row for every variable of a snapshot (of ``GET /variables/resolve``), in its order.

    Without ``include_layers`` a row has one layer, the winner's.
    """
    answer = record(snapshot)
    layers = _layers(record(answer.get("layers")))
    return [_row(resolved, layers[text(resolved.get("key")) or ""]) for resolved in records(answer.get("resolved"))]


def sort_variable_inspector_rows(rows: Iterable[VariableInspectorRow]) -> list[VariableInspectorRow]:
    """Rows by key, then by tier (page, floor, branch, chat, global), the newer and then the smaller scope id first."""
    return sorted(rows, key=lambda row: (row["key"], _rank(row["source_scope"]), -row["updated_at"], row["source_scope_id"]))


def format_variable_preview(value: object) -> str:
    """A value in one line: texts in quotes, lists by their length, all else as JSON.

    >>> format_variable_preview([1, 2, 3])
    '[Array(3)]'
    """
    if isinstance(value, list | tuple):
        return f"[Array({len(value)})]"
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return "[Object]"


def _layers(tiers: Mapping[str, object]) -> Mapping[str, list[VariableInspectorLayer]]:
    """The values of every key in all tiers, the tier that wins first."""
    by_key: dict[str, list[VariableInspectorLayer]] = defaultdict(list)
    for scope in _ORDER:
        tier = record(tiers.get(scope))
        for variable in records(tier.get("items")):
            placed = {"scope": scope, "scope_id": tier.get("scope_id"), "scope_ref": tier.get("scope_ref")}
            by_key[text(variable.get("key")) or ""].append(_layer({**variable, **placed}, is_winning=False))
    return by_key


def _layer(variable: Mapping[str, object], *, is_winning: bool) -> VariableInspectorLayer:
    value = variable.get("value")
    layer: VariableInspectorLayer = {
        "scope": text(variable.get("scope")) or "",
        "scope_id": text(variable.get("scope_id")) or "",
        "value": value,
        "preview": format_variable_preview(value),
        "updated_at": number(variable.get("updated_at")) or 0,
        "is_winning": is_winning,
    }
    ref = variable.get("scope_ref")
    if isinstance(ref, Mapping):
        layer["scope_ref"] = ref
    return layer


def _row(resolved: Mapping[str, object], layers: list[VariableInspectorLayer]) -> VariableInspectorRow:
    placed = {name: resolved.get(f"source_{name}") for name in ("scope", "scope_id", "scope_ref")}
    winner = _layer({**resolved, **placed}, is_winning=True)
    place = winner["scope"], winner["scope_id"]
    others = [layer for layer in layers if (layer["scope"], layer["scope_id"]) != place]
    row: VariableInspectorRow = {
        "key": text(resolved.get("key")) or "",
        "value": winner["value"],
        "preview": winner["preview"],
        "source_scope": winner["scope"],
        "source_scope_id": winner["scope_id"],
        "updated_at": winner["updated_at"],
        "layers": sorted([winner, *others], key=lambda layer: _rank(layer["scope"])),
    }
    if "scope_ref" in winner:
        row["source_scope_ref"] = winner["scope_ref"]
    return row


def _rank(scope: str) -> int:
    return _RANKS.get(scope, len(_ORDER))
