"""A Claude caller's own request on its way to Claude, after another vendor has answered in between."""

import pytest

from agentui.vendors.claude import Claude

VENDOR = Claude()
USER = {"role": "user", "content": "hi"}
UNSIGNED = {"type": "thinking", "thinking": "Hm.", "signature": ""}
FOREIGN = {"type": "thinking", "thinking": "Hm.", "signature": "agentui:openai:signature:@0/reasoning_content:"}
NOBODYS = {"type": "thinking", "thinking": "Hm.", "signature": "agentui"}
SIGNED = {"type": "thinking", "thinking": "Hm.", "signature": "sig"}
TEXT = {"type": "text", "text": "Well."}
CALL = {"type": "tool_use", "id": "a", "name": "find", "input": {}}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]}
THINKING = {"type": "enabled", "budget_tokens": 1024}


def said(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def forwarded(*messages, **more):
    body = {"model": "m", "max_tokens": 2000, "messages": list(messages), "thinking": THINKING, **more}
    return VENDOR.patch_request(VENDOR.read_request("/v1/messages", {}, {}, body), model="m", stream=False)


@pytest.mark.parametrize(
    "messages",
    [
        (USER,),
        (USER, said(SIGNED, CALL), RESULT),
        (USER, {"role": "assistant", "content": "x"}, USER),
        # A server that is compatible with Claude signs nothing, and wants its thought back.
        (USER, said(UNSIGNED, CALL), RESULT),
    ],
)
def test_what_claude_takes_is_not_touched(messages):
    wire = forwarded(*messages, brand_new=1)
    assert wire.body == {"model": "m", "max_tokens": 2000, "messages": list(messages), "thinking": THINKING, "brand_new": 1}
    assert wire.dropped == ()


def test_another_vendors_thoughts_stay_behind():
    wire = forwarded(USER, said(FOREIGN, TEXT), USER, said(NOBODYS), USER)
    assert wire.body["messages"] == [USER, said(TEXT), USER, USER]
    assert wire.body["thinking"] == THINKING
    assert wire.dropped == ("thinking",)


def test_a_tool_loop_that_another_vendor_began_goes_on_without_thinking():
    wire = forwarded(USER, said(FOREIGN, CALL), RESULT)
    assert wire.body["messages"] == [USER, said(CALL), RESULT]
    assert "thinking" not in wire.body


def test_a_tool_loop_that_claude_began_goes_on_thinking():
    wire = forwarded(USER, said(FOREIGN, TEXT), USER, said(SIGNED, CALL), RESULT)
    assert wire.body["messages"][3] == said(SIGNED, CALL)
    assert wire.body["thinking"] == THINKING
