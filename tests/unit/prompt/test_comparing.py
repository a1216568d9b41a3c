"""Where two documents differ."""

from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentui.jsonio import Json
from agentui.prompt.comparing import differences

NAME = st.text("abc", min_size=1, max_size=2)
DOCUMENT = st.recursive(
    st.none() | st.integers(0, 3) | st.text(max_size=2),
    lambda inner: st.dictionaries(NAME, inner, max_size=3) | st.lists(inner, max_size=2),
    max_leaves=12,
)


def applied(document: Json, changes: list[dict[str, Json]]) -> Json:
    """A document after the changes, as somebody would make them by hand."""
    whole: dict[str, Any] = {"root": deepcopy(document)}
    for change in changes:
        *above, last = change["path"].split(".")
        place: Any = whole
        for name in above:
            place = place[name]
        if change["change_type"] == "removed":
            assert place.pop(last) == change["left"]
        else:
            assert (last in place) == (change["change_type"] == "changed")
            place[last] = change["right"]
    return whole["root"]


@given(DOCUMENT, DOCUMENT)
def test_the_differences_lead_from_one_to_the_other(left: Json, right: Json) -> None:
    assert applied(left, differences(left, right, "root")) == right


@given(DOCUMENT)
def test_what_is_alike_has_none(document: Json) -> None:
    assert differences(document, deepcopy(document), "root") == []


def test_paths_are_told_in_their_order_and_lists_whole() -> None:
    old, new = {"b": {"x": 1, "y": 2}, "c": [1], "d": 0}, {"b": {"x": 1, "y": 3}, "c": [1, 2], "a": None}
    assert differences(old, new, "p") == [
        {"path": "p.a", "change_type": "added", "right": None},
        {"path": "p.b.y", "change_type": "changed", "left": 2, "right": 3},
        {"path": "p.c", "change_type": "changed", "left": [1], "right": [1, 2]},
        {"path": "p.d", "change_type": "removed", "left": 0},
    ]


def test_a_very_deep_document_is_compared_without_recursion() -> None:
    deep: Json = 0
    for _ in range(5_000):
        deep = {"a": deep}
    assert differences(deep, {"a": 1}, "p")[0]["path"] == "p.a"
