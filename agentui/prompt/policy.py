"""By which rules a prompt is assembled, and where each of them comes from.

    system default < session policy < branch policy < request override

A policy is stored as it was given: sections of leaves, of which any may be missing. ``resolve_policy`` puts the layers over
each other, leaf by leaf, and says of each leaf who won.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from itertools import accumulate
from typing import Any, Literal, TypeAlias

from agentui.jsonio import Json, members

StructureMode: TypeAlias = Literal["default", "strict_alternating", "no_assistant", "flattened"]
RewriteStrategy: TypeAlias = Literal["to_system", "to_user_transcript"]
HistoryMode: TypeAlias = Literal["full", "windowed"]
VisibilityMode: TypeAlias = Literal["allow_all_except_hidden", "deny_all_except_visible"]
PolicySource: TypeAlias = Literal["system_default", "session_policy", "branch_policy", "request_override"]

SECTIONS = ("structure", "delivery", "budget", "source_selection", "visibility")
"""What a policy consists of."""


@dataclass(frozen=True, slots=True)
class StructurePolicy:
    """The shape of the conversation.

    ``assistant_rewrite_strategy`` says what the model's messages become where none may be sent. Without
    ``preserve_system_messages`` those behind the first other message become the user's.
    """

    mode: StructureMode = "default"
    merge_adjacent_same_role: bool = False
    assistant_rewrite_strategy: RewriteStrategy = "to_system"
    preserve_system_messages: bool = True


@dataclass(frozen=True, slots=True)
class DeliveryPolicy:
    """What must hold of the messages that are sent."""

    allow_assistant_prefill: bool = True
    require_last_user: bool = False
    no_assistant: bool = False


@dataclass(frozen=True, slots=True)
class BudgetPolicy:
    """Tokens: ``max_input_tokens`` is the window that prompt and answer share (None: the model's, else 8,192);
    ``reserved_completion_tokens`` of it are kept for the answer (None: as many as were asked for)."""

    max_input_tokens: int | None = None
    reserved_completion_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class HistorySelection:
    """How much of the history may come in; ``max_messages`` counts where the mode is ``windowed``."""

    mode: HistoryMode = "full"
    max_messages: int | None = None


@dataclass(frozen=True, slots=True)
class SourceSwitch:
    """Whether a source may come in."""

    enabled: bool = True


@dataclass(frozen=True, slots=True)
class SourceSelection:
    """Which sources may come into the prompt."""

    history: HistorySelection = HistorySelection()
    memory: SourceSwitch = SourceSwitch()
    worldbook: SourceSwitch = SourceSwitch()
    examples: SourceSwitch = SourceSwitch()


@dataclass(frozen=True, slots=True)
class FloorRange:
    """Floors by their numbers, both ends among them, in either order."""

    start_floor_no: int
    end_floor_no: int


def sees_all(floor_id: str, floor_no: int) -> bool:
    """That every floor is seen."""
    return True


@dataclass(frozen=True, slots=True)
class VisibilityPolicy:
    """Which floors of the history are seen. What is hidden by its id is hidden in either mode."""

    mode: VisibilityMode = "allow_all_except_hidden"
    hidden_floor_ranges: tuple[FloorRange, ...] = ()
    visible_floor_ranges: tuple[FloorRange, ...] = ()
    hidden_floor_ids: tuple[str, ...] = ()

    def sight(self) -> Callable[[str, int], bool]:
        """What says of a floor, by its id and its number, whether it is seen. Many floors are looked up in many ranges, so the
        ranges are put in order once."""
        if self == _SEES_ALL:
            return sees_all
        only_visible = self.mode == "deny_all_except_visible"
        named = self.visible_floor_ranges if only_visible else self.hidden_floor_ranges
        hidden_ids = frozenset(self.hidden_floor_ids)
        ordered = sorted(sorted((each.start_floor_no, each.end_floor_no)) for each in named)
        starts = [start for start, _ in ordered]
        reach = list(accumulate((end for _, end in ordered), max))

        def is_seen(floor_id: str, floor_no: int) -> bool:
            before = bisect_right(starts, floor_no)
            is_named = before > 0 and floor_no <= reach[before - 1]
            return floor_id not in hidden_ids and is_named == only_visible

        return is_seen


_SEES_ALL = VisibilityPolicy()


@dataclass(frozen=True, slots=True)
class ResolvedPolicy:
    """The rules that hold for one prompt."""

    structure: StructurePolicy = StructurePolicy()
    delivery: DeliveryPolicy = DeliveryPolicy()
    budget: BudgetPolicy = BudgetPolicy()
    source_selection: SourceSelection = SourceSelection()
    visibility: VisibilityPolicy = VisibilityPolicy()


@dataclass(frozen=True, slots=True)
class Resolution:
    """The rules that hold, who gave each (by section, group and leaf), and what followed from what."""

    policy: ResolvedPolicy = ResolvedPolicy()
    source_map: Mapping[str, Json] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


FORCED_NO_ASSISTANT = "delivery.no_assistant forced the resolved structure.mode to no_assistant."
"""The warning of a structure that follows from the delivery."""


def resolve_policy(
    session: Mapping[str, Json] | None = None,
    branch: Mapping[str, Json] | None = None,
    request: Mapping[str, Json] | None = None,
) -> Resolution:
    """Put the stored policies and the request's over the defaults. Each is as ``policy_document`` writes it, with leaves left
    out or null where it says nothing.

    A delivery without assistants makes a structure without them, unless that is flattened already; messages that must alternate
    are merged unless somebody said otherwise.
    """
    if not session and not branch and not request:
        return _NOTHING_SAID
    document = policy_document(ResolvedPolicy())
    sources: dict[tuple[str, ...], PolicySource] = dict.fromkeys(_LEAVES, "system_default")
    layers: Sequence[tuple[PolicySource, Mapping[str, Json] | None]] = (
        ("session_policy", session), ("branch_policy", branch), ("request_override", request),
    )  # fmt: skip
    for source, layer in layers:
        for path in _LEAVES:
            value = _leaf(layer, path)
            if value is not None:
                _put(document, path, value)
                sources[path] = source
    policy = policy_of(document)
    warnings: tuple[str, ...] = ()
    if policy.delivery.no_assistant and policy.structure.mode in ("default", "strict_alternating"):
        policy = replace(policy, structure=replace(policy.structure, mode="no_assistant"))
        sources["structure", "mode"] = sources["delivery", "no_assistant"]
        warnings = (FORCED_NO_ASSISTANT,)
    merging = "structure", "merge_adjacent_same_role"
    if policy.structure.mode == "strict_alternating" and sources[merging] == "system_default":
        policy = replace(policy, structure=replace(policy.structure, merge_adjacent_same_role=True))
        sources[merging] = sources["structure", "mode"]
    return Resolution(policy, _as_map(sources), warnings)


def _as_map(sources: Mapping[tuple[str, ...], PolicySource]) -> dict[str, Json]:
    """Who gave each leaf, by section, group and leaf."""
    source_map: dict[str, Json] = {}
    for path, source in sources.items():
        _put(source_map, path, source)
    return source_map


def policy_document(policy: ResolvedPolicy) -> dict[str, Json]:
    """A policy as JSON; leaves that say nothing are left out."""
    return document_of(policy)


def document_of(rules: Any) -> dict[str, Json]:
    """The rules of a policy, or of a part of it, as JSON; leaves that say nothing are left out."""
    return {name: _told(value) for name, value in members(rules).items() if value is not None}


def _told(value: Any) -> Json:
    if isinstance(value, tuple):
        return tuple([_told(each) for each in value])
    return document_of(value) if is_dataclass(value) else value


def policy_of(document: Mapping[str, Json]) -> ResolvedPolicy:
    """The policy that a document of known leaves says; what it leaves out is the default's."""
    selection = document.get("source_selection") or {}
    seen = document.get("visibility") or {}
    ranges = {
        name: tuple(FloorRange(each["start_floor_no"], each["end_floor_no"]) for each in seen.get(name) or ())
        for name in ("hidden_floor_ranges", "visible_floor_ranges")
    }
    return ResolvedPolicy(
        StructurePolicy(**(document.get("structure") or {})),
        DeliveryPolicy(**(document.get("delivery") or {})),
        BudgetPolicy(**(document.get("budget") or {})),
        SourceSelection(
            HistorySelection(**(selection.get("history") or {})),
            *(SourceSwitch(**(selection.get(name) or {})) for name in ("memory", "worldbook", "examples")),
        ),
        VisibilityPolicy(**{**seen, **ranges, "hidden_floor_ids": tuple(seen.get("hidden_floor_ids") or ())}),
    )


def _leaves(document: Mapping[str, Json], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, (*path, name))
        else:
            yield (*path, name)


_LEAVES = tuple(_leaves(asdict(ResolvedPolicy())))
"""The paths of everything that a policy may say."""


def _leaf(document: Mapping[str, Json] | None, path: tuple[str, ...]) -> Json:
    value: Json = document
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _put(document: dict[str, Json], path: tuple[str, ...], value: Json) -> None:
    for name in path[:-1]:
        document = document.setdefault(name, {})
    document[path[-1]] = value


_NOTHING_SAID = Resolution(source_map=_as_map(dict.fromkeys(_LEAVES, "system_default")))
"""The defaults alone."""
