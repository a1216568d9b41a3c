"""Calls that a history leaves without a result, at vendors that refuse those."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.chat.messages import Message, Part, Role, Text, ToolCall, ToolResult, text_message
from agentui.chat.request import ChatRequest, Params, VendorName, WireRequest
from agentui.vendors.registry import make_vendors

Json = Any
OPENAI: tuple[VendorName, ...] = ("openai", "openai_responses")


def rendered(vendor: VendorName, *messages: Message) -> tuple[list[Json], tuple[str, ...]]:
    """The messages, or items, of a request, and what was dropped."""
    from_claude = WireRequest("claude", "chat", "m", False, "/v1/messages", {"messages": []})
    wire = make_vendors()[vendor].render_request(ChatRequest("claude", "m", messages, Params(), from_claude))
    return wire.body.get("messages") or wire.body["input"], wire.dropped


def calls_and_results(items: list[Json]) -> list[tuple[str, str]]:
    """Calls and results by their ids, in the order in which they stand."""
    found = []
    for item in items:
        found += [("call", call["id"]) for call in item.get("tool_calls") or ()]
        if item.get("role") == "tool":
            found.append(("result", item["tool_call_id"]))
        elif item.get("type") in ("function_call", "function_call_output"):
            found.append(("call" if item["type"] == "function_call" else "result", item["call_id"]))
    return found


def call(id: str) -> ToolCall:
    return ToolCall(id, "look")


def result(id: str) -> ToolResult:
    return ToolResult(id, (Text("seen"),))


@pytest.mark.parametrize("vendor", OPENAI)
def test_a_call_without_a_result_gets_one_that_says_so(vendor: VendorName) -> None:
    items, dropped = rendered(
        vendor,
        text_message("user", "Look."),
        Message("assistant", (call("a"), call("b"))),
        Message("tool", (result("a"),)),
        text_message("user", "And?"),
    )
    found = calls_and_results(items)
    assert found[:2] == [("call", "a"), ("call", "b")]
    assert sorted(found[2:]) == [("result", "a"), ("result", "b")]
    assert dropped == ("messages.missing_tool_result",)


STEPS = st.lists(st.tuples(st.sampled_from(["call", "result", "words"]), st.sampled_from("abc")), max_size=8)


@given(st.sampled_from(OPENAI), STEPS)
def test_every_call_has_one_result_whatever_the_history_is(vendor: VendorName, steps: list[tuple[str, str]]) -> None:
    messages = [text_message("user", "Look.")]
    for number, (kind, id) in enumerate(steps):
        parts: dict[str, tuple[Role, Part]] = {
            "call": ("assistant", call(f"{id}{number}")),
            "result": ("tool", result(f"{id}{number - 1}")),
            "words": ("user", Text("Go on.")),
        }
        role, part = parts[kind]
        messages.append(Message(role, (part,)))
    found = calls_and_results(rendered(vendor, *messages)[0])
    assert sorted(id for kind, id in found if kind == "call") == sorted(id for kind, id in found if kind == "result")
