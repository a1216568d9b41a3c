"""Where two prompts differ, by what was kept of them (``explain.py``), and where two JSON documents do.

A change has a ``path``, a ``change_type``, and ``left`` and ``right`` where there is something on that side. Texts, lore and
tools are compared by their names and not by their places: what was put in before them changes nothing of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from agentui.jsonio import Json

_NOTHING: Final = object()
_SAID: Final = "message"
"""The source of what the user says in the turn."""
_SECTION: Final = ("title", "source", "role", "text", "is_cut", "tokens", "kept", "why")
_TELLING: Final = ("source", "role", "text", "kept", "why")
"""What makes a section another one; estimated tokens follow from its text."""
_KEPT_LATER: Final = ("generation",)
"""Members that earlier versions of agentui did not keep."""


def differences(left: Json, right: Json, path: str) -> list[dict[str, Json]]:
    """The paths below ``path`` at which two documents differ. Objects are compared member by member, all else whole."""
    found: list[dict[str, Json]] = []
    waiting: list[tuple[str, Json, Json]] = [(path, left, right)]
    while waiting:
        place, old, new = waiting.pop()
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            names = sorted({*old, *new}, reverse=True)
            waiting += [(f"{place}.{name}", old.get(name, _NOTHING), new.get(name, _NOTHING)) for name in names]
        elif old is _NOTHING:
            found.append({"path": place, "change_type": "added", "right": new})
        elif new is _NOTHING:
            found.append({"path": place, "change_type": "removed", "left": old})
        elif old != new:
            found.append({"path": place, "change_type": "changed", "left": old, "right": new})
    return found


def compare_prompts(old: Mapping[str, Json] | None, new: Mapping[str, Json] | None) -> dict[str, list[Json]]:
    """Where two prompts differ, by what kind of thing; nowhere where one of the documents is not known."""

    def members(path: str, *names: str) -> list[Json]:
        """Where these members of both documents differ."""
        if old is None or new is None:
            return []
        return [
            change for name in names for change in differences(old.get(name), new.get(name), f"{path}.{name}" if path else name)
        ]

    changes: dict[str, list[Json]] = {
        "scope_changes": members("", "scope"),
        "policy_changes": members("policy", "resolved_policy", "source_map"),
        "asset_changes": members("", "assets"),
        "diagnostics_changes": members("", "diagnostics"),
        "trim_changes": members("", "trim_reasons"),
        "exclusion_changes": members("", "excluded_sources"),
        "governance_changes": members("", "governance"),
    }
    named = ("section_changes", "message_changes", "macro_changes", "lore_changes", "tool_changes", "parameter_changes")
    changes |= {name: [] for name in named}
    if old is None or new is None:
        return changes
    changes["section_changes"] = _named("sections", _sections(old), _sections(new), _TELLING)
    changes["message_changes"] = [
        *_named("messages", _sections(old, said=True), _sections(new, said=True), _TELLING),
        *_history(old, new),
    ]
    changes["macro_changes"] = differences(_macros(old), _macros(new), "macro")
    changes["lore_changes"] = _named("lore", _lore(old), _lore(new), ("state", "reason", "content_preview", "insertion"))
    if all(name in document for name in _KEPT_LATER for document in (old, new)):
        changes["tool_changes"] = _named("tools", _tools(old), _tools(new), ())
        changes["parameter_changes"] = differences(_parameters(old), _parameters(new), "parameters")
    return changes


def lacks_generation(document: Mapping[str, Json]) -> bool:
    """Whether it is not known how the model was asked: an earlier version of agentui kept the prompt, or its client sent it."""
    return any(name not in document for name in _KEPT_LATER)


def _named(
    path: str, old: Mapping[str, Mapping[str, Json]], new: Mapping[str, Mapping[str, Json]], telling: Sequence[str]
) -> list[Json]:
    """The named things that are on one side only, or of which anything that is ``telling`` differs: in the right side's order,
    then what is gone."""
    found: list[Json] = []
    for name in dict.fromkeys((*new, *old)):
        change: dict[str, Json] = {"path": f"{path}.{name}", "name": name}
        left, right = old.get(name), new.get(name)
        if left is None:
            found.append({**change, "change_type": "added", "right": right})
        elif right is None:
            found.append({**change, "change_type": "removed", "left": left})
        elif any(left.get(each) != right.get(each) for each in telling):
            found.append({**change, "change_type": "changed", "left": left, "right": right})
    return found


def _sections(document: Mapping[str, Json], *, said: bool = False) -> dict[str, dict[str, Json]]:
    """The texts of a prompt by their names, without the history: what was ``said`` in the turn, or all others."""
    return {
        each["name"]: {member: each.get(member) for member in _SECTION}
        for each in document.get("sections") or ()
        if each["group"] != "history" and (each["source"] == _SAID) == said
    }


def _history(old: Mapping[str, Json], new: Mapping[str, Json]) -> list[Json]:
    """The floors whose messages one of the prompts has and the other one has not, neighbours together."""
    left, right = _floors(old), _floors(new)
    gone = [("removed", "left", run) for run in _without(left, right)]
    came = [("added", "right", run) for run in _without(right, left)]
    return [
        {
            "path": f"messages.history.{first}-{last}",
            "name": "history",
            "change_type": kind,
            side: {"first_floor_no": first, "last_floor_no": last},
        }
        for kind, side, (first, last) in (*gone, *came)
    ]


_Run: TypeAlias = tuple[int, int]
"""The first and the last of numbers that follow each other. They are not counted out: a floor made by hand may have any."""


def _floors(document: Mapping[str, Json]) -> list[_Run]:
    """The floors whose messages were sent, in order."""
    found = sorted(
        (each["first_floor_no"], each["last_floor_no"])
        for each in document.get("sections") or ()
        if each["group"] == "history" and each["kept"] and each["first_floor_no"] is not None
    )
    runs: list[_Run] = []
    for first, last in found:
        if runs and first <= runs[-1][1] + 1:
            runs[-1] = runs[-1][0], max(last, runs[-1][1])
        else:
            runs.append((first, last))
    return runs


def _without(runs: Iterable[_Run], others: Sequence[_Run]) -> list[_Run]:
    """What is left of runs without those of others; both in order."""
    left: list[_Run] = []
    for first, last in runs:
        for start, end in others:
            if end < first or start > last:
                continue
            if start > first:
                left.append((first, start - 1))
            first = end + 1
        if first <= last:
            left.append((first, last))
    return left


def _macros(document: Mapping[str, Json]) -> dict[str, Json]:
    """What became of macros: by how they were written, where they were; and what they wrote."""
    told = document.get("macro") or {}
    values: dict[str, list[Json]] = {}
    for trace in told.get("traces") or ():
        seen = values.setdefault(trace["raw_text"], [])
        if trace["resolved_text"] not in seen:
            seen.append(trace["resolved_text"])
    writes = {
        f"{each['scope']}.{each['key']}": {"kind": each["kind"], "value": each.get("value")}
        for each in (*(told.get("mutation_preview") or ()), *(told.get("staged_mutations") or ()))
    }
    return {
        "values": {raw: seen[0] if len(seen) == 1 else seen for raw, seen in values.items()},
        "writes": writes,
        "warnings": {
            f"{each['code']} {each.get('raw_text', '')}".strip(): each["message"] for each in told.get("warnings") or ()
        },
    }


def _lore(document: Mapping[str, Json]) -> dict[str, dict[str, Json]]:
    """The entries of lorebooks that are in a prompt (``state`` is ``active``), and those that are not, with the reason."""
    told = (document.get("runtime_trace") or {}).get("worldbook") or {}
    entries = [(each, "unused") for each in told.get("unused") or ()] + [(each, "active") for each in told.get("matches") or ()]
    return {
        f"{each['source']['worldbook_id'] or each['source']['worldbook_name']}:{each['uid']}": {**each, "state": state}
        for each, state in entries
    }


def _tools(document: Mapping[str, Json]) -> dict[str, dict[str, Json]]:
    return {name: {"name": name} for name in document["generation"]["tools"]}


def _parameters(document: Mapping[str, Json]) -> dict[str, Json]:
    """How the model was asked: the pipeline, the model's name, and the parameters."""
    told = document["generation"]
    return {"pipeline_id": told["pipeline_id"], "model": told["model"], **told["params"]}
