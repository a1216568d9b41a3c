"""How large a value is, and how deep: what is shared counts wherever it stands."""

import pytest

from agentui.jsonio import Json
from agentui.templating.core.problems import CannotInsert
from agentui.templating.core.weight import Scale


def nested(levels: int, inside: Json = 0) -> Json:
    """A value in so many lists."""
    for _ in range(levels):
        inside = [inside]
    return inside


@pytest.mark.parametrize("value", [0, "x", "x" * 2000, None])
def test_a_value_may_nest_as_deep_as_it_says_and_no_deeper(value: Json) -> None:
    Scale(10).weigh(nested(11, value))
    with pytest.raises(CannotInsert, match="deeper than 10 levels"):
        Scale(10).weigh(nested(12, value))


@pytest.mark.parametrize("first_at", [0, 4])
def test_what_was_met_higher_up_is_too_deep_all_the_same_where_it_stands_deeper(first_at: int) -> None:
    shared = {"a": nested(5), "b": "x" * 2000}
    Scale(12).weigh([nested(first_at, shared), nested(6, shared)])
    with pytest.raises(CannotInsert, match="deeper than 12 levels"):
        Scale(12).weigh([nested(first_at, shared), nested(7, shared)])
    scale = Scale(12)
    scale.weigh(shared)
    with pytest.raises(CannotInsert, match="deeper than 12 levels"):
        scale.weigh(nested(8, shared))


def test_what_is_shared_counts_as_often_as_it_is_written_and_once_in_memory() -> None:
    shared = ["x" * 5000]
    one, two = Scale(), Scale()
    one.weigh([shared])
    assert two.weigh([shared, shared]) > 2 * 5000
    assert two.distinct < one.distinct + 1000
