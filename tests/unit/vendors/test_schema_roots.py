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


@given(
    st.dictionaries(
        st.sampled_from(["$ref", "$defs", "anyOf", "allOf", "properties", "required", "type", "description"]),
        VALUES
        | st.sampled_from(["#/$defs/a", {"a": {"properties": {"b": {}}}}])
        | st.lists(st.fixed_dictionaries({"properties": st.just({"b": {}})}, optional={"required": VALUES}), max_size=3)
        | st.just([{"$ref": "#/$defs/a"}]),
    )
)
def test_what_is_no_schema_is_left_for_the_models_server_to_refuse(schema):
    merged = arguments_schema(schema)
    assert "anyOf" not in merged and "allOf" not in merged


class Counted(dict):
    """A schema that counts how often it is compared."""

    compared = 0
    __hash__ = None

    def __eq__(self, other):
        Counted.compared += 1
        return super().__eq__(other)


def test_members_of_many_alternatives_are_not_compared_with_each_other():
    schema = {"anyOf": [{"properties": {"a": Counted(const=number % 1000)}} for number in range(2000)]}
    Counted.compared = 0
    merged = arguments_schema(schema)
    assert len(merged["properties"]["a"]["anyOf"]) == 1000
    assert Counted.compared <= 2000


def test_one_and_true_are_two_alternatives():
    merged = arguments_schema({"anyOf": [{"properties": {"a": {"const": 1}}}, {"properties": {"a": {"const": True}}}]})
    assert [one["const"] for one in merged["properties"]["a"]["anyOf"]] == [1, True]
