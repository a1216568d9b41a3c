"""What goes wrong reaches the SDK as the class, the words and the waiting time that it knows."""

from typing import Any

import anthropic
import openai
import pytest
from google.genai import errors as genai_errors

from tests.matrix.callers import Callers
from tests.matrix.conftest import Pair, pairs, streamed
from tests.matrix.neutral import Ask
from tests.upstreams.server import Step

STATUSES = (400, 401, 403, 404, 413, 429, 500, 503, 529)
WORDS = "This went wrong: “naïve” \u2028 words."


def shown(pair: Pair, status: int) -> int:
    """529 is Claude's own; to others it is 503."""
    return 503 if status == 529 and pair.caller_name != "claude" else status


def status_of(error: Any) -> int:
    return int(error.code if isinstance(error, genai_errors.APIError) else error.status_code)


@pairs()
@pytest.mark.parametrize("status", STATUSES)
async def test_an_error_is_the_sdks_own(fresh: Pair, status):
    caller = fresh.callers[fresh.caller_name]
    expected = shown(fresh, status)
    with pytest.raises(caller.error(expected)) as caught:
        # A long waiting time keeps the server from asking again itself.
        await fresh.ask(step=Step(status=status, message=WORDS, retry_after=7 if status >= 429 else None))
    assert type(caught.value) is caller.error(expected) or status_of(caught.value) == expected
    assert status_of(caught.value) == expected
    assert caller.message(caught.value) == WORDS
    if status >= 429 and fresh.upstream != "gemini":
        assert caller.retry_after(caught.value) == 7


@pairs()
@pytest.mark.parametrize("status", [400, 429, 503])
async def test_an_error_before_a_stream_is_a_status(fresh: Pair, status):
    caller = fresh.callers[fresh.caller_name]
    with pytest.raises(caller.error(status)) as caught:
        await fresh.ask(step=Step(status=status, message=WORDS, retry_after=7), stream=True)
    assert status_of(caught.value) == status
    assert caller.message(caught.value) == WORDS


@pairs(upstreams=("gemini",))
async def test_geminis_waiting_time_reaches_everybody(fresh: Pair):
    caller = fresh.callers[fresh.caller_name]
    with pytest.raises(caller.error(429)) as caught:
        await fresh.ask(step=Step(status=429, message=WORDS, retry_after=7))
    assert caller.retry_after(caught.value) == 7


@pairs()
async def test_a_spent_quota_is_told(fresh: Pair):
    caller = fresh.callers[fresh.caller_name]
    with pytest.raises(caller.error(429)) as caught:
        await fresh.ask(step=Step(status=429, quota=True, message="You exceeded your current quota.", retry_after=7))
    assert "quota" in caller.message(caught.value)


@pairs()
async def test_a_wrong_key_is_told(pair: Pair):
    wrong = Callers.make("sk-wrong-0123456789abcdef")
    caller = wrong[pair.caller_name]
    # Google says 400 where the others say 401, and a Gemini caller hears its own vendor's word as it came.
    expected = 400 if pair.caller_name == pair.upstream == "gemini" else 401
    try:
        with pytest.raises(caller.error(expected)) as caught:
            await caller.ask(f"{pair.origin}/p/{pair.upstream}", Ask())
    finally:
        await wrong.close()
    assert status_of(caught.value) == expected
    assert "sk-wrong" not in str(caught.value)


def failures(pair: Pair) -> tuple[type[Exception], ...]:
    """What each SDK raises for a stream that fails or breaks off."""
    known: dict[str, tuple[type[Exception], ...]] = {
        "openai": (openai.APIError,),
        "openai_responses": (openai.APIError,),
        "claude": (anthropic.APIError,),
        "gemini": (genai_errors.APIError,),
    }
    return known[pair.caller_name]


@pairs()
async def test_an_error_within_a_stream_is_raised(fresh: Pair):
    step = Step(text="one two three four five six", fail_after=6, message="Overloaded in the middle.")
    with pytest.raises(failures(fresh), match="Overloaded in the middle"):
        await fresh.ask(step=step, stream=True)


@pairs()
async def test_an_error_at_once_in_a_stream_is_a_status(fresh: Pair):
    with pytest.raises(failures(fresh), match="Overloaded at once") as caught:
        await fresh.ask(step=Step(fail_after=0, message="Overloaded at once."), stream=True)
    assert status_of(caught.value) >= 500


@pairs()
@pytest.mark.parametrize(("cut", "after"), [("clean", None), ("clean", 5), ("half_line", 5), ("reset", 5)])
async def test_a_stream_that_breaks_off_never_ends_well(fresh: Pair, cut, after):
    # OpenAI's compatible servers may leave out [DONE]; without a finish reason (and usage) before it nothing is whole.
    last = -3 if fresh.upstream == "openai" else -1
    step = Step(text="one two three four five six", cut=cut, cut_after=last if after is None else after)
    with pytest.raises(failures(fresh)):
        await fresh.ask(step=step, stream=True)


@pairs()
async def test_an_answer_that_breaks_off_is_an_error(fresh: Pair):
    with pytest.raises(failures(fresh)) as caught:
        await fresh.ask(step=Step(cut="reset"))
    assert status_of(caught.value) == 502


@pairs()
async def test_an_event_that_is_no_json_is_an_error(fresh: Pair):
    with pytest.raises(failures(fresh)):
        await fresh.ask(step=Step(text="one two three four five six", bad_event=True), stream=True)


@pairs()
@streamed
@pytest.mark.parametrize("model", ["html", "invalid-json", "not-an-answer", "empty-body", "redirect"])
async def test_what_is_no_answer_is_an_error(fresh: Pair, model, stream):
    with pytest.raises(failures(fresh)) as caught:
        await fresh.ask(Ask(model), stream=stream)
    assert status_of(caught.value) in (502, 504)
