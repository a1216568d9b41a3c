"""Schemas whose root is no plain object, and the answers to them: what holds for all of them."""

import json

from hypothesis import given
from hypothesis import strategies as st

from agentui.chat.deltas import End, Finish, TextDelta
from agentui.chat.wrapping import Unwrapper
from agentui.vendors.schema_roots import arguments_schema

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


def heard(text: str, size: int) -> str:
    """What a caller reads of a text that comes in pieces of this size."""
    pieces = [TextDelta(text[at : at + size]) for at in range(0, len(text), size)]
    told = Unwrapper().feed([*pieces, Finish("stop"), End()])
    return "".join(delta.text for delta in told if isinstance(delta, TextDelta))


@given(VALUES, st.integers(1, 9), st.sampled_from([None, 2]))
def test_any_value_is_unwrapped_however_it_is_cut(value, size, indent):
    assert json.loads(heard(json.dumps({"value": value}, indent=indent) + "\n", size)) == value


@given(st.text(), st.integers(1, 9))
def test_what_is_no_such_object_passes(text, size):
    if not "".join(text.split()).startswith('{"value":'):
        assert heard(text, size) == text


@given(st.dictionaries(st.text(max_size=4), st.just({"type": "string"})), st.lists(st.text(max_size=4)))
def test_a_plain_object_stays_as_it_is(properties, required):
    schema = {"type": "object", "properties": properties, "required": required}
    assert arguments_schema(schema) == schema
