"""Schemas whose root is no plain object reach the vendors that refuse them, and answers come in the form that was asked for."""

import pytest

from tests.matrix.conftest import Pair, foreign_pairs, pairs, streamed
from tests.matrix.neutral import Ask, ToolDef
from tests.upstreams.server import Call, Step

CITY = {"type": "object", "properties": {"city": {"type": "string"}, "unit": {"type": "string"}}, "required": ["city"]}
PLACE = {"type": "object", "properties": {"lat": {"type": "number"}, "unit": {"type": "string"}}, "required": ["lat"]}
NAMES = {"type": "array", "items": {"$ref": "#/$defs/name"}, "$defs": {"name": {"type": "string"}}}
MODELS = {"openai": "gpt-4o", "openai_responses": "gpt-4o", "claude": "claude-sonnet-4-5", "gemini": "gemini-2.5-flash"}


@foreign_pairs(upstreams=("openai", "openai_responses", "claude"))
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
async def test_alternatives_at_a_tools_root_become_one_object(pair: Pair, keyword: str):
    schema = {"type": "object", keyword: [CITY, {"$ref": "#/$defs/place"}], "$defs": {"place": PLACE}}
    ask = Ask(MODELS[pair.upstream], tools=(ToolDef("weather", "The weather.", schema),))
    answer = await pair.ask(ask, Step(text="", calls=(Call("weather", '{"lat": 60}'),)))
    ((_, _, told),) = pair.seen.tools
    assert told["type"] == "object" and keyword not in told
    assert told["properties"].keys() == {"city", "unit", "lat"} and "required" not in told
    assert "city, unit; lat, unit" in told["description"] and told["$defs"] == {"place": PLACE}
    assert answer.calls[0].arguments == {"lat": 60}


@pairs(("openai", "gemini"), ("openai", "openai_responses", "claude"))
@streamed
async def test_a_list_is_asked_for_as_a_member_and_unwrapped(pair: Pair, stream: bool):
    if pair.caller_name == pair.upstream:
        return  # what a caller of the dialect itself writes is its vendor's to judge
    step = Step(text='{ "value": ["Ann", "{}"] }\n', chunks=('{ "val', 'ue": ', '["Ann", "{', '}"]', " }", "\n"))
    answer = await pair.ask(Ask(MODELS[pair.upstream], schema=NAMES), step, stream=stream)
    assert answer.text == '["Ann", "{}"]'
    inner = {"type": "array", "items": {"$ref": "#/$defs/name"}}
    told = pair.seen.schema
    assert (told["type"], told["properties"], told["required"]) == ("object", {"value": inner}, ["value"])
    assert told["$defs"] == NAMES["$defs"]


@foreign_pairs(("openai",), ("gemini",))
async def test_a_vendor_that_takes_a_list_gets_it(pair: Pair):
    answer = await pair.ask(Ask(MODELS["gemini"], schema=NAMES), Step(text='["Ann"]'))
    assert answer.text == '["Ann"]' and pair.seen.schema == NAMES
