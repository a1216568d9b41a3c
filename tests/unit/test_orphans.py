"""Results whose calls are gone, or were answered already: no vendor takes them as results, and none of their words is lost."""

import pytest

from agentui.chat.messages import Message, Text, ToolCall, ToolResult, orphans_as_text, text_message
from agentui.chat.request import ChatRequest
from agentui.vendors.registry import make_vendors


def result(id: str, words: str) -> ToolResult:
    return ToolResult(id, (Text(words),), "look")


CALL = Message("assistant", (ToolCall("a", "look"),))
TWICE = [
    text_message("user", "Look."),
    CALL,
    Message("user", (result("a", "first"), result("a", "again"), result("b", "nobody asked"), Text("Well?"))),
]


def test_a_result_counts_once_and_the_others_are_words_behind_it() -> None:
    *same, last = orphans_as_text(TWICE)
    assert same == TWICE[:2]
    assert [type(part) for part in last.parts] == [ToolResult, Text, Text, Text]
    assert last.text == "Well?The tool look gave: againThe tool look gave: nobody asked"


def test_a_conversation_that_is_whole_stays_itself() -> None:
    whole = [text_message("user", "Look."), CALL, Message("tool", (result("a", "it"),), raw={"x": 1}, raw_vendor="openai")]
    assert all(one is other for one, other in zip(orphans_as_text(whole), whole, strict=True))


@pytest.mark.parametrize("vendor", ["openai", "openai_responses"])
def test_openai_gets_each_result_once_and_is_told_the_rest(vendor: str) -> None:
    wire = make_vendors()[vendor].render_request(ChatRequest("gemini", "m", TWICE))
    sent = str(wire.body)
    assert wire.dropped == ("messages.orphan_tool_result",)
    assert sent.count("'first'") == 1 and sent.count("gave: again") == 1 and sent.count("gave: nobody asked") == 1
