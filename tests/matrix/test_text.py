"""Words: out, in, and nothing lost on either way."""

from typing import Any

import pytest

from tests.matrix.conftest import Pair, pairs, streamed
from tests.matrix.neutral import Ask, Heard, Said, user
from tests.upstreams.server import Step
from tests.upstreams.step import HOSTILE_TEXT

ODD = 'Grüße \u2028 zwei\u2029drei \u0085 日本語 \U0001f469\u200d\U0001f680 "quoted" \\ data: [DONE]\n\nevent: x'
ENDS = {"openai": "stop", "openai_responses": "completed", "claude": "end_turn", "gemini": "STOP"}


@pairs()
@streamed
async def test_text_comes_and_goes(pair: Pair, stream):
    answer = await pair.ask(Ask("some-model"), Step(text="One two three."), stream=stream)
    assert answer.text == "One two three."
    assert answer.finish == ENDS[pair.caller_name]
    assert answer.thoughts == answer.refusal == ""
    assert answer.calls == []
    assert pair.seen.model == "some-model"
    assert pair.seen.stream is stream
    assert pair.seen.conversation() == [("user", "Hello there")]


@pairs()
async def test_a_stream_stays_one(pair: Pair):
    answer = await pair.ask(step=Step(chunks=("One ", "two ", "three.")), stream=True)
    assert answer.text == "One two three."
    assert answer.pieces == 3


@pairs()
async def test_the_model_is_told(pair: Pair):
    answer = await pair.ask(Ask("some-model"))
    assert answer.model == "some-model"


@pairs()
@streamed
async def test_the_system_text_arrives(pair: Pair, stream):
    await pair.ask(Ask(system="Be a pirate."), stream=stream)
    assert pair.seen.system == "Be a pirate."
    assert pair.seen.conversation() == [("user", "Hello there")]


@pairs()
async def test_a_conversation_arrives_in_order(pair: Pair):
    turns = (user("one"), Said("two"), user("three"), Said("four"), user("five"))
    await pair.ask(Ask(turns=turns))
    said = [("user", "one"), ("assistant", "two"), ("user", "three"), ("assistant", "four"), ("user", "five")]
    assert pair.seen.conversation() == said


@pairs()
@streamed
async def test_an_answer_goes_back_as_it_came(pair: Pair, stream):
    first = await pair.ask(step=Step(text="Two words"), stream=stream)
    await pair.ask(Ask(turns=(user("one"), Heard(first), user("three"))), stream=stream)
    assert pair.seen.conversation() == [("user", "one"), ("assistant", "Two words"), ("user", "three")]


@pairs()
@streamed
async def test_hostile_text_survives(pair: Pair, stream):
    assert (await pair.ask(Ask("unicode"), stream=stream)).text == HOSTILE_TEXT


@pairs()
async def test_text_cut_within_characters_survives(pair: Pair):
    assert (await pair.ask(Ask("unicode-bytes"), stream=True)).text == HOSTILE_TEXT


@pairs()
async def test_odd_characters_of_the_caller_arrive(pair: Pair):
    await pair.ask(Ask(turns=(user(ODD),), system=ODD))
    assert pair.seen.conversation() == [("user", ODD)]
    assert pair.seen.system == ODD


@pairs()
@streamed
async def test_an_empty_answer_is_an_answer(pair: Pair, stream):
    answer = await pair.ask(Ask("empty-text"), stream=stream)
    assert answer.text == ""
    assert answer.finish == ENDS[pair.caller_name]


@pairs()
@streamed
async def test_nothing_is_named_as_dropped_where_nothing_is(pair: Pair, stream):
    answer = await pair.ask(Ask(system="Be brief.", turns=(user("a"), Said("b"), user("c")), max_tokens=100), stream=stream)
    assert answer.dropped == ()


@pytest.mark.parametrize("upstream", ["openai", "openai_responses"])
@pytest.mark.parametrize("caller", ["openai", "openai_responses"])
@streamed
async def test_a_page_that_the_text_cites_is_told(mock, callers, origin, caller, upstream, stream):
    mock.script([Step(text="It is so.", cited="https://example.org/a")])
    client = callers.openai.with_options(base_url=f"{origin}/p/{upstream}/v1")
    cited: list[Any] = []
    if caller == "openai":
        asked: Any = {"model": "text", "messages": [{"role": "user", "content": "Is it?"}]}
        if stream:
            async for chunk in await client.chat.completions.create(**asked, stream=True):
                for choice in chunk.choices:
                    cited += [one["url_citation"] for one in getattr(choice.delta, "annotations", None) or ()]
        else:
            message = (await client.chat.completions.create(**asked)).choices[0].message
            cited = [one.url_citation.model_dump() for one in message.annotations or ()]
    else:
        async with client.responses.stream(model="text", input="Is it?") as events:
            final = await events.get_final_response()
        if not stream:
            mock.script([Step(text="It is so.", cited="https://example.org/a")])
            final = await client.responses.create(model="text", input="Is it?")
        (part,) = final.output[0].content
        cited = [one.model_dump() for one in part.annotations]
    (page,) = cited
    told = (page["url"], page["title"], page["start_index"], page["end_index"])
    assert told == ("https://example.org/a", "A page", 0, 9)
