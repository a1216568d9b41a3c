"""Tools of Responses callers that are no plain functions: with free text, in namespaces, declared within the input, found by
a search. Other dialects get functions, and the caller gets the calls that it declared."""

import json
from typing import get_args

import pytest
from openai.types.responses import Response, ResponseStreamEvent

from agentui.chat.deltas import End, Finish, Start, ToolCallDelta
from agentui.chat.messages import ToolCall, ToolResult, text_message
from agentui.chat.request import Tool, ToolChoice
from agentui.errors import BadRequest
from agentui.vendors.openai_responses import OpenAIResponses
from agentui.vendors.openai_responses.callables import flat_name
from agentui.vendors.registry import make_vendors
from agentui.vendors.sse import SseDecoder

VENDOR = OpenAIResponses(now=lambda: 1_700_000_000)
EVENTS = {get_args(event.model_fields["type"].annotation)[0]: event for event in get_args(get_args(ResponseStreamEvent)[0])}
PATCH = {
    "type": "custom",
    "name": "apply_patch",
    "description": "Edits files.",
    "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"},
}
STATUS = {"type": "function", "name": "status", "parameters": {"type": "object", "properties": {}}, "strict": False}
GIT = {"type": "namespace", "name": "mcp__git", "description": "Git.", "tools": [STATUS, PATCH]}
SEARCH = {"type": "tool_search", "execution": "client", "description": "Finds tools.", "parameters": {"type": "object"}}


def wire(**body):
    return VENDOR.read_request("/v1/responses", {}, {}, {"model": "m", "input": "hi", "stream": True, **body})


def parse(**body):
    return VENDOR.parse_request(wire(**body))


def calling(request, name, arguments):
    """The items and events of an answer that calls one tool, as the official SDK reads them."""
    renderer = VENDOR.stream_renderer(request)
    pieces = [arguments[at : at + 5] for at in range(0, len(arguments), 5)]
    deltas = [Start("x", "m"), ToolCallDelta(0, "c1", name), *(ToolCallDelta(0, arguments=piece) for piece in pieces)]
    data = b"".join(renderer.feed(delta) for delta in [*deltas, Finish("tool_calls"), End()])
    events = [json.loads(event.data) for event in SseDecoder().feed(data)]
    for event in events:
        EVENTS[event["type"]].model_validate(event, strict=True)
    response = Response.model_validate(events[-1]["response"])
    assert [event["item"] for event in events if event["type"] == "response.output_item.done"] == events[-1]["response"][
        "output"
    ]
    (item,) = response.output
    return item, [event["type"] for event in events]


def test_a_tool_of_free_text_is_a_function_of_one_string_that_tells_its_grammar():
    (tool,) = parse(tools=[PATCH]).tools
    assert (tool.name, tool.schema["required"], tool.raw) == ("apply_patch", ["input"], PATCH)
    assert tool.description.startswith("Edits files.") and "start: /.+/" in tool.description


def test_tools_of_a_namespace_are_functions_with_its_name_before_theirs():
    assert [tool.name for tool in parse(tools=[GIT]).tools] == ["mcp__git__status", "mcp__git__apply_patch"]


def test_the_default_namespace_tells_nothing_apart():
    assert [tool.name for tool in parse(tools=[{**GIT, "name": "functions"}]).tools] == ["status", "apply_patch"]


def test_a_long_name_keeps_to_what_vendors_take_and_stays_apart():
    names = {flat_name(name, "mcp__" + "n" * 60) for name in ("one", "two")}
    assert len(names) == 2 and all(len(name) <= 64 for name in names)


def test_tools_declared_within_the_input_are_tools_and_no_message():
    item = {"type": "additional_tools", "role": "developer", "tools": [GIT]}
    chat = parse(input=[item, {"role": "user", "content": "Hi"}])
    assert [tool.name for tool in chat.tools] == ["mcp__git__status", "mcp__git__apply_patch"]
    assert [message.role for message in chat.messages] == ["user"]
    # With Prompt Blocks before the same vendor they are still declared.
    own = VENDOR.render_request(chat.asking((text_message("system", "Be brief."), *chat.messages), "m2", stream=True))
    assert own.body["input"] == [item, {"role": "user", "content": "Hi"}]


def test_a_tool_that_is_declared_again_counts_once_as_it_was_declared_last():
    later = {"type": "additional_tools", "role": "developer", "tools": [{**STATUS, "description": "new"}]}
    assert [tool.description for tool in parse(tools=[STATUS], input=[later]).tools] == ["new"]


@pytest.mark.parametrize("vendor", ["openai", "claude", "gemini"])
def test_none_of_them_is_lost_on_the_way_to_another_vendor(vendor):
    rendered = make_vendors()[vendor].render_request(parse(tools=[PATCH, GIT, SEARCH]))
    assert not [name for name in rendered.dropped if "tool" in name]
    sent = json.dumps(rendered.body["tools"])
    assert all(name in sent for name in ("apply_patch", "mcp__git__status", "mcp__git__apply_patch", "tool_search"))


def test_a_call_with_free_text_reaches_the_caller_as_one():
    text = '*** Begin Patch\n+"naïve" \u2028\n*** End Patch'
    item, events = calling(wire(tools=[PATCH]), "apply_patch", json.dumps({"input": text}))
    assert (item.type, item.name, item.input, item.call_id) == ("custom_tool_call", "apply_patch", text, "c1")
    assert events[3:5] == ["response.custom_tool_call_input.delta", "response.custom_tool_call_input.done"]


@pytest.mark.parametrize("arguments", ["*** Begin Patch", '{"patch": "x"}', '["x"]', '"x"'])
def test_free_text_that_a_model_did_not_wrap_is_the_input_as_it_is(arguments):
    assert calling(wire(tools=[PATCH]), "apply_patch", arguments)[0].input == arguments


@pytest.mark.parametrize("where", [{"tools": [GIT]}, {"input": [{"type": "additional_tools", "tools": [GIT]}]}])
def test_a_call_names_the_namespace_apart(where):
    item, _ = calling(wire(**where), "mcp__git__status", "{}")
    assert (item.type, item.namespace, item.name, item.arguments) == ("function_call", "mcp__git", "status", "{}")
    item, _ = calling(wire(**where), "mcp__git__apply_patch", '{"input": "x"}')
    assert (item.type, item.namespace, item.name, item.input) == ("custom_tool_call", "mcp__git", "apply_patch", "x")


def test_a_search_for_tools_is_a_call_and_what_it_found_can_be_called():
    request = wire(tools=[SEARCH])
    item, _ = calling(request, "tool_search", '{"query": "git"}')
    assert (item.type, item.execution, item.arguments) == ("tool_search_call", "client", {"query": "git"})
    found = {"type": "tool_search_output", "call_id": "c1", "execution": "client", "status": "completed", "tools": [GIT]}
    chat = parse(tools=[SEARCH], input=[item.model_dump(exclude_none=True), found])
    assert [tool.name for tool in chat.tools] == ["tool_search", "mcp__git__status", "mcp__git__apply_patch"]
    assert chat.messages[0].parts == (ToolCall("c1", "tool_search", '{"query":"git"}'),)
    (result,) = chat.messages[1].parts
    assert isinstance(result, ToolResult) and "mcp__git__status" in result.text


def test_calls_of_earlier_turns_bear_the_names_that_the_tools_have():
    items = [
        {"type": "function_call", "call_id": "a", "namespace": "mcp__git", "name": "status", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "b", "name": "apply_patch", "input": 'say "hi"'},
        {"type": "function_call_output", "call_id": "a", "output": "clean"},
        {"type": "custom_tool_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "done"}]},
    ]
    chat = parse(tools=[PATCH, GIT], input=items)
    assert [message.parts[0] for message in chat.messages[:2]] == [
        ToolCall("a", "mcp__git__status", "{}"),
        ToolCall("b", "apply_patch", '{"input":"say \\"hi\\""}'),
    ]
    assert [message.text or message.parts[0].text for message in chat.messages[2:]] == ["clean", "done"]


def test_a_choice_of_a_tool_with_free_text_is_a_choice_of_the_function():
    chat = parse(tools=[PATCH], tool_choice={"type": "custom", "name": "apply_patch"})
    assert chat.tool_choice == ToolChoice("named", ("apply_patch",)) and chat.unmodelled == ()


def test_only_allowed_tools_are_left_whatever_they_are():
    choice = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "custom", "name": "apply_patch"}]}
    assert [tool.name for tool in parse(tools=[PATCH, STATUS], tool_choice=choice).tools if isinstance(tool, Tool)] == [
        "apply_patch"
    ]


@pytest.mark.parametrize("name", [[], {}, ["status"], 3, None])
def test_an_allowed_tool_without_a_name_allows_nothing(name):
    choice = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": name}, 3]}
    assert parse(tools=[PATCH, STATUS], tool_choice=choice).tools == ()


ALLOWED = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "status"}]}


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"tools": [STATUS, {"type": "function", "name": []}], "tool_choice": ALLOWED}, "tools[1].name"),
        ({"tools": [{"type": ["function"]}], "tool_choice": ALLOWED}, "tools[0]"),
        ({"tools": [{"type": "custom"}]}, "tools[0].name"),
        ({"tools": [{"type": "namespace", "name": "n", "tools": [{"type": "function"}]}]}, "tools[0].tools[0].name"),
        ({"input": [{"type": "additional_tools", "tools": [3]}]}, "input[0].tools[0]"),
        ({"input": [{"type": "additional_tools"}]}, "input[0].tools"),
        ({"input": [{"type": "custom_tool_call", "call_id": "a", "name": "x"}]}, "input[0].input"),
    ],
)
def test_a_declaration_that_cannot_be_understood_is_named(body, param):
    with pytest.raises(BadRequest) as caught:
        parse(**body)
    assert caught.value.param == param
