"""Policies: which layer wins each leaf, and what follows from what."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.jsonio import Json
from agentui.prompt.policy import (
    FORCED_NO_ASSISTANT,
    SECTIONS,
    FloorRange,
    ResolvedPolicy,
    VisibilityMode,
    VisibilityPolicy,
    policy_document,
    policy_of,
    resolve_policy,
)
from tests.unit.work import lines_run

FLAG = st.booleans() | st.none()
COUNT = st.integers(0, 10**6) | st.none()
RANGES = st.lists(st.fixed_dictionaries({"start_floor_no": st.integers(0, 50), "end_floor_no": st.integers(0, 50)}), max_size=3)


def some(**leaves: Any) -> st.SearchStrategy[Any]:
    """A section of which any leaf may be missing, or null, or which may be missing itself."""
    return st.none() | st.fixed_dictionaries({}, optional=leaves)


LAYER = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "structure": some(
            mode=st.sampled_from(["default", "strict_alternating", "no_assistant", "flattened"]),
            merge_adjacent_same_role=FLAG,
            assistant_rewrite_strategy=st.sampled_from(["to_system", "to_user_transcript", None]),
            preserve_system_messages=FLAG,
        ),
        "delivery": some(allow_assistant_prefill=FLAG, require_last_user=FLAG, no_assistant=FLAG),
        "budget": some(max_input_tokens=COUNT, reserved_completion_tokens=COUNT),
        "source_selection": some(
            history=some(mode=st.sampled_from(["full", "windowed"]), max_messages=COUNT),
            memory=some(enabled=FLAG),
            worldbook=some(enabled=FLAG),
            examples=some(enabled=FLAG),
        ),
        "visibility": some(
            mode=st.sampled_from(["allow_all_except_hidden", "deny_all_except_visible"]),
            hidden_floor_ranges=RANGES,
            visible_floor_ranges=RANGES,
            hidden_floor_ids=st.lists(st.text(), max_size=2),
        ),
    },
)
SOURCES = ("session_policy", "branch_policy", "request_override")


def leaves(document: Json, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Json]:
    """Every leaf that says something, by its path."""
    found: dict[tuple[str, ...], Json] = {}
    for name, value in (document or {}).items():
        if isinstance(value, dict):
            found |= leaves(value, (*path, name))
        elif value is not None:
            found[*path, name] = value
    return found


@given(LAYER, LAYER, LAYER)
def test_of_each_leaf_the_nearest_layer_wins_and_is_named(session: Json, branch: Json, request: Json) -> None:
    resolved = resolve_policy(session, branch, request)
    document = leaves(policy_document(resolved.policy))
    defaults = leaves(policy_document(ResolvedPolicy()))
    sources = leaves(dict(resolved.source_map))
    said = [leaves(layer) for layer in (session, branch, request)]
    assert set(document) <= set(sources)
    for path, source in sources.items():
        named = [name for name, layer in zip(SOURCES, said, strict=True) if path in layer]
        if path[0] == "structure" and path[1] in ("mode", "merge_adjacent_same_role"):
            continue  # may follow from others: below
        assert source == (named[-1] if named else "system_default"), path
        value = next((layer[path] for layer in reversed(said) if path in layer), defaults.get(path))
        shown = document.get(path)
        assert (list(shown) if isinstance(shown, tuple) else shown) == (list(value) if isinstance(value, tuple) else value)


@given(LAYER, LAYER, LAYER)
def test_a_resolved_policy_resolves_to_itself(session: Json, branch: Json, request: Json) -> None:
    policy = resolve_policy(session, branch, request).policy
    document = policy_document(policy)
    assert policy_of(document) == policy
    assert resolve_policy(document).policy == policy
    assert set(document) == set(SECTIONS)


@given(LAYER, LAYER, LAYER)
def test_a_delivery_without_assistants_never_keeps_them(session: Json, branch: Json, request: Json) -> None:
    resolved = resolve_policy(session, branch, request)
    policy = resolved.policy
    if policy.delivery.no_assistant:
        assert policy.structure.mode in ("no_assistant", "flattened")
    if policy.structure.mode == "strict_alternating":
        stated = resolved.source_map["structure"]["merge_adjacent_same_role"] != "system_default"
        assert policy.structure.merge_adjacent_same_role or stated


def test_a_branch_without_assistants_forces_the_structure_of_the_session() -> None:
    resolved = resolve_policy({"structure": {"mode": "strict_alternating"}}, {"delivery": {"no_assistant": True}})
    assert resolved.policy.structure.mode == "no_assistant"
    assert resolved.source_map["structure"]["mode"] == "branch_policy"
    assert resolved.warnings == (FORCED_NO_ASSISTANT,)
    flattened = resolve_policy({"structure": {"mode": "flattened"}}, {"delivery": {"no_assistant": True}})
    assert (flattened.policy.structure.mode, flattened.warnings) == ("flattened", ())


def test_messages_that_alternate_are_merged_unless_somebody_says_otherwise() -> None:
    merged = resolve_policy({"structure": {"mode": "strict_alternating"}})
    assert merged.policy.structure.merge_adjacent_same_role
    assert merged.source_map["structure"]["merge_adjacent_same_role"] == "session_policy"
    kept = resolve_policy({"structure": {"mode": "strict_alternating", "merge_adjacent_same_role": False}})
    assert not kept.policy.structure.merge_adjacent_same_role


@pytest.mark.parametrize(
    ("policy", "seen"),
    [
        (VisibilityPolicy(), [0, 1, 2, 3]),
        (VisibilityPolicy(hidden_floor_ranges=(FloorRange(2, 1),)), [0, 3]),
        (VisibilityPolicy(hidden_floor_ids=("f0",)), [1, 2, 3]),
        (VisibilityPolicy("deny_all_except_visible"), []),
        (VisibilityPolicy("deny_all_except_visible", visible_floor_ranges=(FloorRange(1, 2),)), [1, 2]),
        (
            VisibilityPolicy("deny_all_except_visible", visible_floor_ranges=(FloorRange(1, 2),), hidden_floor_ids=("f2",)),
            [1],
        ),
        (VisibilityPolicy(hidden_floor_ranges=(FloorRange(0, 2), FloorRange(1, 1))), [3]),
        (VisibilityPolicy(hidden_floor_ranges=(FloorRange(3, 3), FloorRange(0, 0))), [1, 2]),
    ],
)
def test_floors_are_seen_by_number_and_id(policy: VisibilityPolicy, seen: list[int]) -> None:
    assert [number for number in range(4) if policy.sight()(f"f{number}", number)] == seen


@given(
    st.sampled_from(["allow_all_except_hidden", "deny_all_except_visible"]),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=4),
)
def test_a_floor_is_seen_as_its_ranges_say_one_by_one(mode: VisibilityMode, bounds: list[tuple[int, int]]) -> None:
    ranges = tuple(FloorRange(*each) for each in bounds)
    policy = VisibilityPolicy(mode, hidden_floor_ranges=ranges, visible_floor_ranges=ranges)
    named = {number for number in range(10) for one, other in bounds if min(one, other) <= number <= max(one, other)}
    is_seen = policy.sight()
    assert {number for number in range(10) if is_seen("any", number)} == (
        named if mode == "deny_all_except_visible" else set(range(10)) - named
    )


def test_many_ranges_are_looked_through_once_and_not_for_every_floor() -> None:
    def lines(floors: int) -> int:
        ranges = tuple(FloorRange(10_000 + at, 10_000 + at) for at in range(500))
        is_seen = VisibilityPolicy(hidden_floor_ranges=ranges, hidden_floor_ids=tuple(map(str, range(500)))).sight()
        return lines_run(lambda: [is_seen("any", number) for number in range(floors)])

    assert lines(200) < 200 * 10
