"""Any JSON that a variable may hold, as hypothesis makes it."""

from hypothesis import strategies as st

from agentui.jsonio import Json, dumps_text

texts = st.one_of(st.text(max_size=8), st.sampled_from(["", "\u2028\u2029", "\0", "😀", "{{user}}", "金币", '"\\']))

json_values: st.SearchStrategy[Json] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(min_value=-(2**70), max_value=2**70),
        st.sampled_from([2**63, 2**64, -(2**63) - 1, 2**256]),
        st.floats(allow_nan=False, allow_infinity=False),
        texts,
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=8,
)


def same(left: Json, right: Json) -> bool:
    """True when both are the same JSON: 1, 1.0 and true differ."""
    return dumps_text(left) == dumps_text(right)
