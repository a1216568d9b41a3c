"""Structured output."""

from tests.matrix.conftest import Pair, pairs, streamed
from tests.matrix.neutral import Ask, user
from tests.upstreams.server import Step

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "object", "properties": {"tag": {"type": "string"}}, "required": ["tag"],
                                            "additionalProperties": False}},
        "mood": {"anyOf": [{"type": "string", "enum": ["calm", "wild"]}, {"type": "null"}]},
    },
    "required": ["name", "tags", "mood"],
    "additionalProperties": False,
}  # fmt: skip


@pairs()
@streamed
async def test_a_schema_arrives_and_the_json_comes(pair: Pair, stream):
    text = '{"name": "Ann", "tags": [{"tag": "☃"}], "mood": null}'
    answer = await pair.ask(Ask(schema=SCHEMA), Step(text=text), stream=stream)
    assert pair.seen.schema == SCHEMA
    assert answer.text == text


@pairs(("openai", "openai_responses", "gemini"))
async def test_plain_json_is_asked_for(pair: Pair):
    await pair.ask(Ask(json=True, turns=(user("Give me JSON."),)))
    if pair.upstream == "claude":
        assert "JSON" in pair.seen.system
    else:
        assert pair.seen.json


@pairs(("gemini",))
async def test_plain_json_needs_no_magic_word(pair: Pair):
    # OpenAI refuses JSON mode where the conversation does not hold the word; the mock does too.
    answer = await pair.ask(Ask(json=True, turns=(user("Give me a thing."),)), Step(text="{}"))
    assert answer.text == "{}"
    assert pair.seen.conversation() == [("user", "Give me a thing.")]
