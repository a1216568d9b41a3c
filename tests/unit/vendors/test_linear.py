"""A conversation or a stream of twice the length is twice the work, whatever it holds."""

from collections.abc import Callable

import pytest

from agentui.chat.deltas import LogprobsDelta, TokenLogprob
from agentui.chat.messages import Message, Part, Text, ToolCall, ToolResult, merge_turns, pair_tool_calls, text_message
from agentui.chat.reply import ReplyBuilder
from agentui.chat.request import ChatRequest, Params, WireRequest
from agentui.vendors.openai.stream import OpenAIStreamParser
from agentui.vendors.registry import make_vendors
from agentui.vendors.sse import MAX_EVENT_BYTES, SseDecoder, SseEvent
from tests.unit.work import lines_run

SHORT, LONG = 100, 800
VENDORS = make_vendors()
WIRE = WireRequest("openai", "chat", "m", False, "/v1/chat/completions", {"model": "m", "messages": []})


def same_ids(size: int) -> list[Message]:
    """Every call under one id, each with its result."""
    talk = [text_message("user", "hi")]
    for _ in range(size):
        talk.append(Message("assistant", (ToolCall("same", "look"),)))
        talk.append(Message("tool", (ToolResult("same", (Text("seen"),)),)))
    return talk


def without_ids(size: int) -> list[Message]:
    """One turn of calls of several names without ids, and their results in another order."""
    calls: tuple[Part, ...] = tuple(ToolCall(None, f"f{number % 7}") for number in range(size))
    results: tuple[Part, ...] = tuple(ToolResult(None, (Text("x"),), f"f{number % 7}") for number in reversed(range(size)))
    return [text_message("user", "hi"), Message("assistant", calls), Message("tool", results)]


def neighbours(size: int) -> list[Message]:
    """One message after the other of the same role, results and calls among them."""
    results = [Message("tool", (ToolResult(f"c{number}", (Text("x"),)),)) for number in range(size)]
    calls = [Message("assistant", (ToolCall(f"c{number}", "look"),)) for number in range(size)]
    return [text_message("user", "hi"), *calls, *results]


def assert_linear(work: Callable[[int], object]) -> None:
    """Fails where eight times the size is more than ten times the work."""
    short = lines_run(lambda: work(SHORT))
    long = lines_run(lambda: work(LONG))
    assert long < 1.25 * LONG / SHORT * short


@pytest.mark.parametrize("talk", [same_ids, without_ids, neighbours])
@pytest.mark.parametrize("vendor", VENDORS)
def test_a_longer_conversation_is_rendered_in_proportion(vendor: str, talk: Callable[[int], list[Message]]) -> None:
    def work(size: int) -> object:
        chat = ChatRequest("agentui", "gemini-3-pro", talk(size), Params(), WIRE)
        return VENDORS[vendor].render_request(chat)  # type: ignore[index]  # the name is one of the registry's

    assert_linear(work)


@pytest.mark.parametrize("talk", [same_ids, without_ids, neighbours])
def test_calls_are_paired_and_turns_merged_in_proportion(talk: Callable[[int], list[Message]]) -> None:
    assert_linear(lambda size: merge_turns(pair_tool_calls(talk(size))))


def test_pairing_keeps_the_order_of_calls() -> None:
    _, asked, told = pair_tool_calls(without_ids(14))
    names = {call.id: call.name for call in asked.tool_calls}
    results = [part for part in told.parts if isinstance(part, ToolResult)]
    assert [names[result.call_id] for result in results] == [result.name for result in results]
    assert len({result.call_id for result in results}) == 14


@pytest.mark.timeout(60)  # looking at all that waits again for each chunk would take minutes
def test_an_event_in_many_chunks_is_looked_at_once() -> None:
    decoder, chunk = SseDecoder(), b"x" * 64
    assert decoder.feed(b"data: ") == []
    for _ in range(MAX_EVENT_BYTES // len(chunk) - 1):
        decoder.feed(chunk)
    (event,) = decoder.feed(b"\n\n")
    assert len(event.data) == MAX_EVENT_BYTES - len(chunk)


@pytest.mark.timeout(60)  # and so would looking for the one line feed before every carriage return
def test_lines_of_two_kinds_are_looked_at_once() -> None:
    events = SseDecoder().feed(b"data: x\r\r" * 200_000 + b"data: y\n\n")
    assert len(events) == 200_001


def test_calls_that_are_told_by_id_are_found_in_proportion() -> None:
    def work(size: int) -> object:
        parser = OpenAIStreamParser()
        call = b'{"choices":[{"index":0,"delta":{"tool_calls":[{"id":"c%d","function":{"name":"f","arguments":"{}"}}]}}]}'
        return [parser.feed(SseEvent(call % number)) for number in range(size)]

    assert_linear(work)


def test_log_probabilities_of_a_stream_are_kept_in_order() -> None:
    builder = ReplyBuilder()
    builder.feed(LogprobsDelta((TokenLogprob("a", -0.5),)) for _ in range(3))
    (choice,) = builder.reply().choices
    assert choice.logprobs == (TokenLogprob("a", -0.5),) * 3
