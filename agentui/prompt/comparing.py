"""Where two prompts differ, by what was kept of them (``explain.py``), and where two JSON documents do.

Of the history the floors are compared by their numbers, and those that both have by the checksums of what was sent of them
(``explain.py``), as far as those were kept; the texts are what the chat holds now.

A change has a ``path``, a ``change_type``, and ``left`` and ``right`` where there is something on that side. Texts, lore and
tools are compared by their names and not by their places: what was put in before them changes nothing of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from agentui.jsonio import Json
from agentui.prompt.explain import LONGEST_TEXT

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


FloorTexts: TypeAlias = Mapping[int, tuple[Mapping[str, Json], Mapping[str, Json]]]
"""By its number what a floor is for each side, where those are two: ``floor_id`` and, by role, the ``texts``."""
_NO_TEXTS: Final[FloorTexts] = {}


def compare_prompts(
    old: Mapping[str, Json] | None, new: Mapping[str, Json] | None, texts: FloorTexts = _NO_TEXTS
) -> dict[str, list[Json]]:
    """Where two prompts differ, by what kind of thing; nowhere where one of the documents is not known. ``texts`` are those of
    the floors in which the two chats of the prompts differ."""

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
        *_history_texts(old, new, texts),
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


def _history_texts(old: Mapping[str, Json], new: Mapping[str, Json], texts: FloorTexts) -> Iterator[Json]:
    """The floors of which both prompts have something, and not the same. Where the chat holds no two texts it is known that
    they differed, and not how: one was changed in its place since, by a person, a swipe, or a script for prompts."""
    sums, others = old.get("history_texts") or {}, new.get("history_texts") or {}
    both = _floors(old), _floors(new)
    for number in sorted({*map(int, sums.keys() & others.keys()), *texts}):
        if not all(any(first <= number <= last for first, last in runs) for runs in both):
            continue
        left_sum, right_sum = sums.get(str(number)), others.get(str(number))
        is_known = left_sum is not None and right_sum is not None
        if is_known and left_sum == right_sum:
            continue
        changes = [_said_otherwise(number, role, *texts[number]) for role in _roles(*texts[number])] if number in texts else []
        if changes or is_known:
            yield from changes or [_changed(number, None, *({"text": None} for _ in both))]


def _roles(left: Mapping[str, Json], right: Mapping[str, Json]) -> list[str]:
    """Who said something else on two floors."""
    return [role for role in {**left["texts"], **right["texts"]} if left["texts"].get(role) != right["texts"].get(role)]


def _said_otherwise(number: int, role: str, *sides: Mapping[str, Json]) -> Json:
    """What somebody said on a floor of each side."""
    texts = [side["texts"].get(role) for side in sides]
    told = [
        {"floor_id": side["floor_id"], "role": role, "text": None if text is None else text[:LONGEST_TEXT], "is_cut": is_long}
        for side, text in zip(sides, texts, strict=True)
        for is_long in [text is not None and len(text) > LONGEST_TEXT]
    ]
    return _changed(number, role, *told)


def _changed(number: int, role: str | None, left: Mapping[str, Json], right: Mapping[str, Json]) -> Json:
    path = f"messages.history.{number}" if role is None else f"messages.history.{number}.{role}"
    where = {"first_floor_no": number, "last_floor_no": number}
    return {"path": path, "name": "history", "change_type": "changed", "left": {**where, **left}, "right": {**where, **right}}


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
