"""What steers the answer arrives, or is named as dropped."""

import pytest

from tests.matrix.conftest import Pair, foreign_pairs, pairs, streamed
from tests.matrix.neutral import Ask
from tests.upstreams.server import Step


@pairs()
async def test_temperature_arrives(pair: Pair):
    answer = await pair.ask(Ask(temperature=0.25))
    assert pair.seen.temperature == 0.25
    assert answer.dropped == ()


@pairs()
async def test_temperature_zero_arrives(pair: Pair):
    await pair.ask(Ask(temperature=0.0))
    assert pair.seen.temperature == 0


@pairs(("openai", "openai_responses", "gemini"))
async def test_a_high_temperature_arrives_as_high_as_it_goes(pair: Pair):
    answer = await pair.ask(Ask(temperature=1.5))
    assert pair.seen.temperature == (1 if pair.upstream == "claude" else 1.5)
    assert bool(answer.dropped) == (pair.upstream == "claude")


@pairs()
async def test_top_p_arrives(pair: Pair):
    answer = await pair.ask(Ask(top_p=0.5))
    assert pair.seen.top_p == 0.5
    assert answer.dropped == ()


@pairs(("openai", "openai_responses", "gemini"))
async def test_temperature_and_top_p_together_are_no_error(pair: Pair):
    answer = await pair.ask(Ask("claude-sonnet-4-5", temperature=0.5, top_p=0.5))
    assert pair.seen.temperature == 0.5
    assert pair.seen.top_p == 0.5 or "top_p" in answer.dropped


@pairs()
async def test_the_limit_arrives(pair: Pair):
    await pair.ask(Ask(max_tokens=77))
    assert pair.seen.max_tokens == 77


@pairs(("openai", "openai_responses", "gemini"), ("claude",))
async def test_claude_gets_a_limit_though_none_was_said(pair: Pair):
    await pair.ask()
    assert pair.seen.max_tokens > 0


@pairs(("openai", "claude", "gemini"))
@streamed
async def test_stop_strings_arrive_or_are_named(pair: Pair, stream):
    answer = await pair.ask(Ask(stop=("END", "\n\nUser:")), stream=stream)
    assert answer.dropped == ()
    assert pair.seen.stop == (None if pair.upstream == "openai_responses" else ["END", "\n\nUser:"])


NOT_TAKEN = {
    "openai": ("gpt-5", ("END",), "one "),
    "openai_responses": ("text", ("END",), "one "),
    "claude": ("text", (" ",), "one"),
    "gemini": ("text", ("a", "b", "c", "d", "f", "END"), "one "),
}
"""For each vendor a model, stop strings that it does not take, and what is left of the answer."""


@foreign_pairs(("openai", "claude", "gemini"))
@streamed
@pytest.mark.parametrize("chunks", [("one E", "N", "D two"), tuple("one END two"), ("one END two",)], ids=len)
async def test_stop_strings_that_a_vendor_has_not_cut_its_answer_here(pair: Pair, stream, chunks):
    model, stop, text = NOT_TAKEN[pair.upstream]
    answer = await pair.ask(Ask(model, stop=stop), Step(text="one END two", chunks=chunks), stream=stream)
    assert answer.text == text
    assert answer.finish == {"openai": "stop", "claude": "stop_sequence", "gemini": "STOP"}[pair.caller_name]
    assert answer.dropped == ()


@foreign_pairs(("openai", "claude", "gemini"), ("openai", "openai_responses"))
async def test_an_answer_that_was_stopped_ends_the_upstreams_work(pair: Pair):
    before = pair.mock.aborted
    step = Step(text="again END ", forever=True, pause=0.002)
    answer = await pair.ask(Ask("gpt-5", stop=("END",)), step, stream=True)
    assert answer.text == "again "
    await pair.mock.was_aborted(before + 1)


@foreign_pairs(("openai", "claude", "gemini"), ("openai", "openai_responses"))
@streamed
async def test_reasoning_models_are_asked_without_sampling(pair: Pair, stream):
    answer = await pair.ask(Ask("gpt-5", temperature=0.5, top_p=0.5, stop=("END",)), stream=stream)
    assert answer.text == "Hello from the mock."
    assert set(answer.dropped) == {"temperature", "top_p"}


@pairs(("openai", "openai_responses"), ("claude",))
async def test_a_limit_that_counts_thoughts_is_not_raised(pair: Pair):
    await pair.ask(Ask("claude-sonnet-4-5", max_tokens=4000, think=True))
    assert pair.seen.max_tokens == 4000


@pairs(("openai", "openai_responses", "claude"), ("gemini",))
@pytest.mark.parametrize("model", ["gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.0-flash", "gemini-3-pro"])
@pytest.mark.parametrize("think", [True, False])
async def test_geminis_models_think_as_they_can(pair: Pair, model, think):
    answer = await pair.ask(Ask(model, think=think))
    assert answer.text == "Hello from the mock."


@pairs(("openai", "gemini"))
@pytest.mark.parametrize(("field", "value", "name"), [("seed", 7, "seed"), ("presence", 0.5, "presence_penalty"),
                                                      ("frequency", -0.5, "frequency_penalty")])  # fmt: skip
async def test_seed_and_penalties_arrive_or_are_named(pair: Pair, field, value, name):
    answer = await pair.ask(Ask(**{field: value}))
    if pair.upstream in ("openai", "gemini"):
        assert getattr(pair.seen, field) == value
        assert answer.dropped == ()
    else:
        assert answer.dropped == (name,)


@pairs(("openai", "openai_responses", "claude"))
async def test_the_user_arrives_or_is_named(pair: Pair):
    answer = await pair.ask(Ask(user="user-123"))
    if pair.upstream == "gemini":
        assert answer.dropped == ("user",)
    else:
        assert pair.seen.user == "user-123"


@pairs(("openai", "gemini"), ("openai", "gemini"))
@streamed
async def test_several_answers_come(pair: Pair, stream):
    answer = await pair.ask(Ask(n=2), Step(text="One answer."), stream=stream)
    assert pair.seen.n == 2
    assert answer.texts == ["One answer.", "One answer. (2)"]


@pairs(("openai", "gemini"), ("openai_responses", "claude"))
@streamed
async def test_several_answers_are_refused_where_there_is_one(pair: Pair, stream):
    caller = pair.callers[pair.caller_name]
    with pytest.raises(caller.error(400)) as caught:
        await pair.ask(Ask(n=2), stream=stream)
    assert "one answer" in caller.message(caught.value)
    assert pair.mock.requests == []


@pairs(("openai", "gemini"), ("openai", "gemini"))
@streamed
async def test_log_probabilities_come(pair: Pair, stream):
    answer = await pair.ask(Ask(top_logprobs=3), Step(text="One two"), stream=stream)
    assert pair.seen.top_logprobs == 3
    assert answer.logprobs == [("One ", -0.25, 3), ("two", -0.25, 3)]


@pairs(("openai_responses",), ("openai", "openai_responses", "gemini"))
@streamed
async def test_log_probabilities_come_to_responses(pair: Pair, stream):
    answer = await pair.ask(Ask(top_logprobs=3), Step(text="One two"), stream=stream)
    assert pair.seen.top_logprobs == 3
    assert [one[:2] for one in answer.logprobs] == [("One ", -0.25), ("two", -0.25)]


@pairs(("openai", "gemini"), ("openai_responses",))
@streamed
async def test_log_probabilities_come_from_responses(pair: Pair, stream):
    answer = await pair.ask(Ask(top_logprobs=3), Step(text="One two"), stream=stream)
    assert [one[:2] for one in answer.logprobs] == [("One ", -0.25), ("two", -0.25)]


@pairs(("openai", "gemini"), ("claude",))
async def test_log_probabilities_are_named_where_there_are_none(pair: Pair):
    answer = await pair.ask(Ask(top_logprobs=3))
    assert answer.dropped == ("logprobs",)
