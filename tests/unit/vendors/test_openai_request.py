"""Chat Completions requests: what is understood, what comes back untouched, and what other dialects' callers get."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.chat.messages import Media, Message, Opaque, Refusal, Text, Thinking, ToolCall, ToolResult, text_message
from agentui.chat.request import (
    ChatRequest,
    Cut,
    Params,
    ResponseFormat,
    ServerTool,
    ThinkingConfig,
    Tool,
    ToolChoice,
    WireRequest,
)
from agentui.errors import BadRequest, Unsupported, UnsupportedFeature
from agentui.jsonio import Json, loads
from agentui.vendors.base import endpoint_of
from agentui.vendors.openai import OpenAI
from agentui.vendors.openai.message_writer import render_messages
from agentui.vendors.openai_responses import OpenAIResponses

OPENAI = OpenAI()
PNG = "iVBORw0KGgo="
STRICT = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


def read(body: Json, path: str = "/v1/chat/completions") -> WireRequest:
    return OPENAI.read_request(path, {}, {}, body)


def parse(**members: Json) -> ChatRequest:
    return OPENAI.parse_request(read({"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}], **members}))


def parse_one(message: Json) -> Message:
    return parse(messages=[message]).messages[0]


def foreign(*messages: Message, model: str = "gpt-4o", **fields: Json) -> ChatRequest:
    """A request that a Claude caller might have sent."""
    wire = WireRequest("claude", "chat", model, fields.get("stream", False), "/v1/messages", {"model": model})
    fields.setdefault("params", Params())
    return ChatRequest("claude", model, messages or (text_message("user", "hi"),), wire=wire, **fields)


def render(*messages: Message, **fields: Json) -> WireRequest:
    return OPENAI.render_request(foreign(*messages, **fields))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
unknown_fields = st.dictionaries(st.text(min_size=1, max_size=6).map(lambda name: f"x_{name}"), json_values, max_size=3)
content_parts = st.one_of(
    st.builds(lambda text, more: {**more, "type": "text", "text": text}, st.text(max_size=9), unknown_fields),
    st.builds(lambda more: {**more, "type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}, unknown_fields),
    st.builds(lambda value: {"type": "hologram", "hologram": value}, json_values),
)
contents = st.text(max_size=12) | st.lists(content_parts, max_size=3)
wire_messages = st.lists(
    st.one_of(
        st.builds(
            lambda role, content, more: {**more, "role": role, "content": content},
            st.sampled_from(["system", "developer", "user", "assistant"]),
            contents,
            unknown_fields,
        ),
        st.builds(
            lambda id, name: {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}],
            },
            st.text(min_size=1, max_size=6),
            st.text(min_size=1, max_size=6),
        ),
        st.builds(lambda id: {"role": "tool", "tool_call_id": id, "content": "x"}, st.text(min_size=1, max_size=6)),
        st.just({"role": "assistant", "function_call": {"name": "f", "arguments": ""}}),
        st.just({"role": "function", "name": "f", "content": "x"}),
    ),
    max_size=5,
)


@given(wire_messages, unknown_fields, st.sampled_from([True, False, None, "absent"]))
def test_a_request_of_the_same_dialect_comes_back_whole(messages, more, stream):
    body = {"model": "m", "messages": messages, "temperature": 0.5, "logit_bias": {"5": 1}, **more}
    if stream != "absent":
        body["stream"] = stream
    before = repr(body)
    rendered = OPENAI.render_request(OPENAI.parse_request(read(body)))
    expected = {**body, "stream": False} if stream is None else body
    assert rendered.body in (body, expected)
    assert rendered.dropped == ()
    assert repr(body) == before


@given(json_values)
def test_any_body_is_read_or_refused_by_name(value):
    for body in (value, {"model": "m", "messages": value}, {"model": "m", "messages": [value]}):
        try:
            OPENAI.render_request(OPENAI.parse_request(read(body)))
        except BadRequest as error:
            assert error.param or not isinstance(body, dict)


@given(st.sampled_from(["content", "tool_calls", "function_call", "audio", "images", "tool_call_id"]), json_values)
def test_any_member_of_a_message_is_read_or_refused_by_name(field, value):
    for role in ("system", "user", "assistant", "tool", "function"):
        try:
            parse_one({"role": role, field: value})
        except BadRequest as error:
            assert error.param is not None and error.param.startswith("messages[0]")


@given(
    st.sampled_from(
        [
            "tools",
            "functions",
            "tool_choice",
            "parallel_tool_calls",
            "response_format",
            "stop",
            "n",
            "seed",
            "temperature",
            "user",
            "logprobs",
            "stream_options",
            "reasoning_effort",
            "max_tokens",
            "safety_identifier",
        ]
    ),
    json_values,
)
def test_any_member_of_a_body_is_read_or_refused_by_name(field, value):
    try:
        parse(**{field: value})
    except BadRequest as error:
        assert error.param is not None and error.param.startswith(field)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"messages": []}, "model"),
        ({"model": 5, "messages": []}, "model"),
        ({"model": "m"}, "messages"),
        ({"model": "m", "messages": "hi"}, "messages"),
        ({"model": "m", "messages": [], "stream": "yes"}, "stream"),
        ({"model": "m", "messages": [], "stream": 1}, "stream"),
    ],
)
def test_what_the_proxy_needs_is_checked_at_the_door(body, param):
    with pytest.raises(BadRequest) as caught:
        read(body)
    assert caught.value.param == param


def test_an_embeddings_request_needs_no_messages():
    wire = read({"model": "m", "input": "x"}, "/v1/embeddings")
    assert wire.operation == "embeddings"
    assert OPENAI.embeddings.render_request(wire) == wire
    assert OPENAI.patch_request(wire, model="n", stream=False).body == {"model": "n", "input": "x"}
    assert OPENAI.embeddings.parse_reply({"data": []}, wire) == {"data": []}


def test_headers_for_openai_travel_and_keys_do_not():
    headers = {"openai-project": "p", "authorization": "Bearer secret", "cookie": "c"}
    wire = OPENAI.read_request("/v1/chat/completions", {"key": "secret"}, headers, {"model": "m", "messages": []})
    assert wire.headers == {"openai-project": "p"}
    assert wire.query == {}


def test_switching_streaming_off_takes_its_options_along():
    wire = read({"model": "m", "messages": [], "stream": True, "stream_options": {"include_usage": True}, "seed": 1})
    patched = OPENAI.patch_request(wire, model="n", stream=False)
    assert patched.body == {"model": "n", "messages": [], "stream": False, "seed": 1}
    assert (patched.model, patched.stream) == ("n", False)
    assert wire.body["stream"] is True


def test_switching_streaming_on_sets_it():
    patched = OPENAI.patch_request(read({"model": "m", "messages": []}), model="m", stream=True)
    assert patched.body == {"model": "m", "messages": [], "stream": True}


def test_a_message_made_here_stands_among_the_callers_own():
    chat = parse(messages=[{"role": "user", "content": "hi", "x_mark": 1}])
    chat = replace(chat, messages=(text_message("system", "Be brief."), *chat.messages), model="other", stream=True)
    assert OPENAI.render_request(chat).body == {
        "model": "other",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi", "x_mark": 1}],
        "stream": True,
    }


@pytest.mark.parametrize(
    ("part", "meaning"),
    [
        ({"type": "text", "text": "a"}, Text("a")),
        (
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}},
            Media("image", "image/png", PNG, detail="low"),
        ),
        ({"type": "image_url", "image_url": "https://x/y.png"}, Media("image", url="https://x/y.png")),
        ({"type": "image_url", "image_url": {"url": "data:text/plain,a%20b"}}, Media("image", "text/plain", "YSBi")),
        ({"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}}, Media("audio", "audio/mpeg", "AA==")),
        (
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="}},
            Media("document", "application/pdf", "AA==", filename="a.pdf"),
        ),
        ({"type": "file", "file": {"file_id": "file-1"}}, Media("document", file_id="file-1")),
        ({"type": "video_url", "video_url": {"url": "https://x/y.mp4"}}, Media("video", url="https://x/y.mp4")),
        ({"type": "file", "file": {"file_data": "data:image/png;base64,AA=="}}, Media("image", "image/png", "AA==")),
        ({"type": "file", "file": {"file_data": "data:audio/wav;base64,AA=="}}, Media("audio", "audio/wav", "AA==")),
        ({"type": "file", "file": {"file_data": "data:video/mp4;base64,AA=="}}, Media("video", "video/mp4", "AA==")),
        ({"type": "file", "file": {"file_data": "AA=="}}, Media("document", "application/pdf", "AA==")),
        ({"type": "refusal", "refusal": "no"}, Refusal("no")),
        ({"type": "hologram", "x": 1}, Opaque("openai", "hologram", {"type": "hologram", "x": 1})),
    ],
)
def test_content_parts_are_understood(part, meaning):
    assert parse_one({"role": "user", "content": [part]}).parts == (meaning,)


def test_an_assistants_history_is_understood():
    message = {
        "role": "assistant",
        "content": "a",
        "reasoning_content": "t",
        "refusal": "r",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}},
            {"id": "c2", "type": "custom", "custom": {"name": "g", "input": 'x"y'}},
        ],
    }
    assert parse_one(message).parts == (
        Thinking("t"),
        Text("a"),
        Refusal("r"),
        ToolCall("c1", "f", "{}"),
        ToolCall("c2", "g", '{"input":"x\\"y"}'),
    )


def test_tools_and_their_choice_are_understood():
    function = {"name": "f", "description": "d", "parameters": {"type": "object"}, "strict": True}
    chat = parse(
        tools=[{"type": "function", "function": function}, {"type": "web_search", "x": 1}],
        tool_choice={"type": "function", "function": {"name": "f"}},
        parallel_tool_calls=False,
    )
    assert chat.tools == (
        Tool("f", "d", {"type": "object"}, True, {"type": "function", "function": function}),
        ServerTool("web_search", {"type": "web_search", "x": 1}),
    )
    assert chat.tool_choice == ToolChoice("named", ("f",), False)


@pytest.mark.parametrize(
    ("choice", "meaning"),
    [
        ("auto", ToolChoice("auto")),
        ("none", ToolChoice("none")),
        ("required", ToolChoice("required")),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [{"function": {"name": "f"}}, 5]}},
            ToolChoice("named", ("f",)),
        ),
        ({"type": "custom", "custom": {"name": "f"}}, ToolChoice("named", ("f",))),
        ({"type": "web_search"}, None),
    ],
)
def test_tool_choices_are_understood(choice, meaning):
    chat = parse(tool_choice=choice)
    assert chat.tool_choice == meaning
    assert chat.unmodelled == (("tool_choice",) if meaning is None else ())


@pytest.mark.parametrize(
    ("format", "meaning"),
    [
        ({"type": "text"}, ResponseFormat("text")),
        ({"type": "json_object"}, ResponseFormat("json")),
        (
            {"type": "json_schema", "json_schema": {"name": "n", "schema": STRICT, "strict": True}},
            ResponseFormat("schema", STRICT, "n", True),
        ),
        ({"type": "grammar", "grammar": "x"}, None),
    ],
)
def test_response_formats_are_understood(format, meaning):
    chat = parse(response_format=format)
    assert chat.response_format == meaning
    assert chat.unmodelled == (("response_format",) if meaning is None else ())


@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({"temperature": "hot"}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"n": 1.5}, "n"),
        ({"stop": [1]}, "stop"),
        ({"user": 5}, "user"),
        ({"tools": {}}, "tools"),
        ({"tools": [{"type": "function"}]}, "tools[0].function"),
        ({"tools": [{"type": "function", "function": {}}]}, "tools[0].function.name"),
        ({"tools": [{"type": "function", "function": {"name": "f", "parameters": []}}]}, "tools[0].function.parameters"),
        ({"tools": [5]}, "tools[0]"),
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema"),
        ({"parallel_tool_calls": "no"}, "parallel_tool_calls"),
        ({"messages": [{"role": "wizard"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content[0]"),
        ({"messages": [{"role": "user", "content": [{"type": "file", "file": {}}]}]}, "messages[0].content[0].file"),
        ({"messages": [{"role": "tool", "tool_call_id": 5}]}, "messages[0].tool_call_id"),
        ({"messages": [{"role": "assistant", "tool_calls": [{}]}]}, "messages[0].tool_calls[0]"),
    ],
)
def test_what_cannot_be_understood_is_named(members, param):
    with pytest.raises(BadRequest) as caught:
        parse(**members)
    assert caught.value.param == param


def test_a_part_of_a_result_that_is_no_text_is_shown_as_json():
    message = parse_one({"role": "tool", "tool_call_id": "c", "content": [{"type": "hologram"}]})
    assert message.parts == (ToolResult("c", (Text('{"type":"hologram"}'),)),)


def test_allowed_tools_in_mode_auto_leave_only_those():
    tools = [{"type": "function", "function": {"name": name}} for name in "fg"]
    chat = parse(tools=tools, tool_choice={"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": tools[1:]}})
    assert [tool.name for tool in chat.tools] == ["g"]
    assert chat.tool_choice == ToolChoice("auto")


def test_legacy_functions_are_tools():
    chat = parse(functions=[{"name": "f"}], function_call={"name": "f"})
    assert [tool.name for tool in chat.tools] == ["f"]
    assert chat.tool_choice == ToolChoice("named", ("f",))


def test_params_are_understood():
    chat = parse(max_tokens=5, max_completion_tokens=6, stop="x", top_k=3.0, user="u", reasoning_effort="high")
    assert chat.params == Params(max_tokens=6, stop=("x",), top_k=3, user="u")
    assert chat.thinking == ThinkingConfig("high")


def test_fields_that_no_other_dialect_has_are_named():
    chat = parse(
        logit_bias={"1": 2},
        metadata={},
        service_tier=None,
        store=False,
        verbosity="low",
        messages=[{"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]}],
    )
    assert chat.unmodelled == ("logit_bias", "store", "verbosity", "cache_control")


def test_a_streaming_caller_gets_usage_only_when_it_asks():
    assert parse(stream=True).include_usage is False
    assert parse(stream=True, stream_options={"include_usage": True}).include_usage is True


def test_a_foreign_conversation_is_written_in_this_dialect():
    messages = (
        text_message("system", "S"),
        Message("user", (Text("look"), Media("image", "image/png", PNG))),
        Message("assistant", (Thinking("hm", "sig", signed_by="claude"), Text("ok"), ToolCall("c" * 70, "f", '{"a":1}'))),
        Message("user", (ToolResult("c" * 70, (Text("42"), Media("image", "image/png", PNG))), Text("and?"))),
        text_message("system", "later"),
    )
    wire = render(*messages)
    call_id = wire.body["messages"][2]["tool_calls"][0]["id"]
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    assert len(call_id) == 64
    assert wire.dropped == ("thinking",)
    assert wire.body["messages"] == [
        {"role": "system", "content": "S"},
        {"role": "user", "content": [{"type": "text", "text": "look"}, image]},
        {
            "role": "assistant",
            "content": "ok",
            "tool_calls": [{"id": call_id, "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}],
        },
        {"role": "tool", "tool_call_id": call_id, "content": "42"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": f"Result of tool call {call_id}:"},
                image,
                {"type": "text", "text": "and?"},
            ],
        },
        {"role": "system", "content": "later"},
    ]


def test_results_of_one_turn_stay_together_whatever_they_hold():
    image = Media("image", "image/png", PNG)
    wire = render(
        text_message("user", "go"),
        Message("assistant", (ToolCall("a", "f"), ToolCall("b", "f"))),
        Message("tool", (ToolResult("a", (image,)),)),
        Message("tool", (ToolResult("b", (Text("x"),), is_error=True),)),
        text_message("assistant", "done"),
    )
    assert [message["role"] for message in wire.body["messages"]] == ["user", "assistant", "tool", "tool", "user", "assistant"]
    assert wire.body["messages"][1]["content"] is None
    assert wire.dropped == ("is_error",)


def test_calls_and_results_without_ids_are_paired():
    wire = render(
        Message("assistant", (ToolCall(None, "f"), ToolCall(None, "g"))),
        Message("user", (ToolResult(None, name="g", value={"result": "G"}), ToolResult(None, name="f", value={"n": 1}))),
    )
    calls = {call["function"]["name"]: call["id"] for call in wire.body["messages"][0]["tool_calls"]}
    results = {message["tool_call_id"]: message["content"] for message in wire.body["messages"][1:]}
    assert results == {calls["g"]: "G", calls["f"]: '{"n":1}'}


def test_what_an_assistant_made_is_shown_by_the_next_user_message():
    picture = Media("image", "image/png", PNG)
    wire = render(
        Message("assistant", (picture, ToolCall("a", "f"))),
        Message("tool", (ToolResult("a", (Text("x"),)),)),
        text_message("user", "bluer"),
    )
    assert [message["role"] for message in wire.body["messages"]] == ["assistant", "tool", "user"]
    assert [part["type"] for part in wire.body["messages"][2]["content"]] == ["text", "image_url", "text"]


def test_parts_without_a_place_are_named():
    wire = render(
        Message("system", (Text("s"), Media("image", "image/png", PNG))),
        Message("user", (Text("u"), Opaque("claude", "search_result", {}))),
        Message("assistant", (Text("a"), Opaque("claude", "server_tool_use", {}), Refusal("no"))),
    )
    assert wire.dropped == ("messages.image", "search_result", "server_tool_use")
    assert wire.body["messages"][2] == {"role": "assistant", "content": "a", "refusal": "no"}


def test_an_edited_message_keeps_what_only_this_dialect_understands():
    hologram = {"type": "hologram"}
    wire = {"role": "user", "content": [{"type": "text", "text": "a"}, hologram]}
    voice = {"role": "assistant", "audio": {"id": "a1"}}
    chat = parse(messages=[wire, voice])
    edited = tuple(replace(message, raw=None, raw_vendor=None) for message in chat.messages)
    rendered = OPENAI.render_request(replace(chat, messages=edited))
    assert rendered.body["messages"] == [wire, {"role": "assistant", "content": None, "audio": {"id": "a1"}}]


def test_file_ids_of_another_vendor_are_refused():
    part = Media("document", file_id="file_1")
    mine = render(Message("user", (part,), raw={}, raw_vendor="openai_responses"))
    assert mine.body["messages"][0]["content"] == [{"type": "file", "file": {"file_id": "file_1"}}]
    with pytest.raises(UnsupportedFeature):
        render(Message("user", (part,), raw={}, raw_vendor="claude"))


@pytest.mark.parametrize(
    ("choice", "wire"),
    [
        (ToolChoice("required"), "required"),
        (ToolChoice("named", ("f",)), {"type": "function", "function": {"name": "f"}}),
    ],
)
def test_tool_choices_are_written(choice, wire):
    assert render(tools=(Tool("f"),), tool_choice=choice).body["tool_choice"] == wire


def test_an_assistant_message_of_which_nothing_is_left_is_left_out():
    wire = render(text_message("user", "a"), Message("assistant", (Thinking("t"),)), text_message("user", "b"))
    assert [message["content"] for message in wire.body["messages"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("media", "part"),
    [
        (
            Media("document", "application/pdf", "AA=="),
            {"type": "file", "file": {"filename": "document.pdf", "file_data": "data:application/pdf;base64,AA=="}},
        ),
        (Media("document", "text/plain", "aGk="), {"type": "text", "text": "hi"}),
        (Media("audio", "audio/wav", "AA=="), {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}}),
        (
            Media("image", url="https://x/y", detail="high"),
            {"type": "image_url", "image_url": {"url": "https://x/y", "detail": "high"}},
        ),
    ],
)
def test_media_are_written(media, part):
    assert render(Message("user", (Text("a"), media))).body["messages"][0]["content"][1] == part


@pytest.mark.parametrize(
    "media",
    [
        Media("document", "application/pdf", url="https://x/y.pdf"),
        Media("audio", "audio/flac", "AA=="),
        Media("video", "video/mp4", "AA=="),
        Media("image", url="gs://bucket/y.png"),
    ],
)
def test_media_that_cannot_be_said_are_refused(media):
    with pytest.raises(UnsupportedFeature):
        render(Message("user", (media,)))


def test_params_are_written_and_the_rest_is_named():
    wire = render(
        params=Params(temperature=0.5, top_k=4, max_tokens=9, stop=("a",), user="u" * 100),
        tools=(ServerTool("web_search", {}),),
        tool_choice=ToolChoice("required", parallel=False),
        unmodelled=("container",),
        stream=True,
    )
    assert len(wire.body.pop("user")) == 64
    assert wire.body == {
        "model": "gpt-4o",
        "messages": [{"role": "user", "content": "hi"}],
        "temperature": 0.5,
        "max_tokens": 9,
        "stop": ["a"],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert wire.dropped == ("top_k", "tools.web_search", "tool_choice", "container")


@pytest.mark.parametrize("model", ["o3-mini", "openai/o1", "gpt-5.1", "gpt-5-nano", "ft:gpt-5:org"])
def test_reasoning_models_get_max_completion_tokens(model):
    assert render(model=model, params=Params(max_tokens=9)).body["max_completion_tokens"] == 9


@pytest.mark.parametrize("model", ["gpt-4o", "llama-3", "gpt-oss-20b", "demo1"])
def test_other_models_get_max_tokens(model):
    assert render(model=model, params=Params(max_tokens=9)).body["max_tokens"] == 9


def test_the_o_series_gets_no_sampling():
    wire = render(model="o3", params=Params(temperature=0.3, top_p=1, seed=5))
    assert wire.body.keys() == {"model", "messages", "seed"}
    assert wire.dropped == ("temperature",)


def test_stop_strings_that_the_model_does_not_take_are_looked_for_here():
    wire = render(params=Params(stop=tuple("abcdef"), n=2))
    assert wire.body["stop"] == ["a", "b", "c", "d"]
    assert wire.cut == Cut(("e", "f"), 2)
    assert render(params=Params(stop=("a",))).cut is None
    wire = render(model="gpt-5", params=Params(stop=("a",)))
    assert "stop" not in wire.body
    assert (wire.cut, wire.dropped) == (Cut(("a",)), ())


REFUSED = Params(temperature=0.3, top_p=0.5, presence_penalty=0.1, frequency_penalty=0.1, logprobs=True, top_logprobs=2)


@pytest.mark.parametrize("model", ["o3", "o4-mini", "gpt-5", "gpt-5-mini", "openai/gpt-5.1", "ft:gpt-5:org"])
def test_reasoning_models_get_no_sampling_on_either_api(model):
    for vendor in (OpenAI(), OpenAIResponses()):
        wire = vendor.render_request(chat_of(model, REFUSED))
        assert not wire.body.keys() & {"temperature", "top_p", "presence_penalty", "logprobs", "top_logprobs", "include"}
        assert {"temperature", "top_p", "presence_penalty", "frequency_penalty", "top_logprobs"} <= set(wire.dropped)
        defaults = vendor.render_request(chat_of(model, Params(temperature=1, top_p=1.0)))
        assert (defaults.dropped, "temperature" in defaults.body) == ((), False)


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5-chat-latest", "llama-3"])
def test_other_models_get_their_sampling_on_both_apis(model):
    for vendor in (OpenAI(), OpenAIResponses()):
        assert vendor.render_request(chat_of(model, Params(temperature=0.3))).body["temperature"] == 0.3


def chat_of(model, params):
    """A request of another dialect."""
    return ChatRequest("claude", model, (text_message("user", "Hi"),), params)


@pytest.mark.parametrize(
    ("thinking", "effort", "dropped"),
    [
        (ThinkingConfig(budget=1024), "low", ()),
        (ThinkingConfig(budget=8192), "medium", ()),
        (ThinkingConfig(budget=9000), "high", ()),
        (ThinkingConfig("xhigh"), "high", ()),
        (ThinkingConfig("none", mode="disabled"), None, ("thinking",)),
        (ThinkingConfig(mode="disabled"), None, ("thinking",)),
        (ThinkingConfig(budget=-1), None, ()),
        (ThinkingConfig(mode="adaptive"), None, ()),
    ],
)
def test_thinking_becomes_effort(thinking, effort, dropped):
    wire = render(model="gpt-5", thinking=thinking)
    assert (wire.body.get("reasoning_effort"), wire.dropped) == (effort, dropped)


def test_models_that_do_not_reason_are_not_asked_to():
    wire = render(model="gpt-4o", thinking=ThinkingConfig(budget=4000))
    assert "reasoning_effort" not in wire.body
    assert wire.dropped == ("thinking",)


def test_tools_are_written():
    wire = render(
        tools=(Tool("f", "d", STRICT, True), Tool("g", schema={"type": "object"}, strict=True), Tool("h")),
        tool_choice=ToolChoice("named", ("f", "g"), parallel=False),
    )
    assert wire.body["tools"] == [
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": STRICT, "strict": True}},
        {"type": "function", "function": {"name": "g", "parameters": {"type": "object"}}},
        {"type": "function", "function": {"name": "h"}},
    ]
    assert wire.body["tool_choice"]["allowed_tools"]["mode"] == "required"
    assert wire.body["parallel_tool_calls"] is False
    assert wire.dropped == ("strict",)


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (STRICT, True),
        ({**STRICT, "required": []}, False),
        ({**STRICT, "additionalProperties": True}, False),
        ({**STRICT, "properties": {"a": {"type": "object"}}}, False),
        ({**STRICT, "properties": {"a": {"anyOf": [STRICT, {"type": "null"}]}}}, True),
        ({**STRICT, "properties": {"a": {"oneOf": [STRICT]}}}, False),
        ({**STRICT, "properties": {"a": {"type": "array", "items": {"type": "object"}}}}, False),
        ({**STRICT, "properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": STRICT}}, True),
        ({**STRICT, "properties": {"a": {"$ref": "#/$defs/x", "description": "d"}}, "$defs": {"x": STRICT}}, False),
    ],
)
def test_strict_is_promised_only_for_schemas_that_are(schema, strict):
    format = render(response_format=ResponseFormat("schema", schema, "my answer!")).body["response_format"]
    assert format == {"type": "json_schema", "json_schema": {"name": "my_answer_", "schema": schema, "strict": strict}}


def test_a_list_is_strict_only_within_an_object_which_compatible_servers_need_not():
    wanted = ResponseFormat("schema", {"type": "array", "items": STRICT}, "answer")
    told = [render(model=model, response_format=wanted) for model in ("gpt-4o", "qwen3-32b")]
    forms = [wire.body["response_format"]["json_schema"] for wire in told]
    assert [(form["schema"]["type"], form["strict"]) for form in forms] == [("object", True), ("array", False)]
    assert [wire.is_wrapped for wire in told] == [True, False]


def test_json_mode_says_json_where_nobody_did():
    wire = render(response_format=ResponseFormat("json"))
    assert wire.body["response_format"] == {"type": "json_object"}
    assert "JSON" in wire.body["messages"][0]["content"]
    said = render(text_message("user", "Give me json"), response_format=ResponseFormat("json"))
    assert len(said.body["messages"]) == 1


def test_names_that_the_api_refuses_are_dropped():
    wire = render(Message("user", (Text("a"),), name="Ann"), Message("user", (Text("b"),), name="Ann B."))
    assert [message.get("name") for message in wire.body["messages"]] == ["Ann", None]
    assert wire.dropped == ("messages.name",)


def test_prompt_blocks_become_messages():
    raw = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    prompt = OPENAI.render_prompt([text_message("system", "A"), text_message("system", "B"), parse_one(raw)])
    wire = [{"role": "system", "content": "A"}, {"role": "system", "content": "B"}, raw]
    assert prompt.pm == {"messages": wire, "system_text": "A\n\nB"}
    assert prompt.members == {"messages": wire}


def test_tokens_cannot_be_counted():
    assert OPENAI.count_tokens is None
    with pytest.raises(Unsupported):
        endpoint_of(OPENAI, WireRequest("openai", "count_tokens", "m", False, "", {}))


def test_custom_arguments_stay_json():
    message = parse_one({"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": {"a": 1}}}]})
    assert loads(message.tool_calls[0].arguments) == {"a": 1}


def test_calls_that_came_as_items_of_their_own_are_one_message_again():
    scattered = [
        text_message("user", "hi"),
        Message("assistant", (Text("Let me look."),), raw={"type": "message"}, raw_vendor="openai_responses"),
        Message("assistant", (ToolCall("a", "look", "{}"),), raw={"type": "function_call"}, raw_vendor="openai_responses"),
        Message("assistant", (ToolCall("b", "look", "{}"),), raw={"type": "function_call"}, raw_vendor="openai_responses"),
        Message("tool", (ToolResult("a", (Text("one"),)),)),
        Message("tool", (ToolResult("b", (Text("two"),)),)),
        text_message("assistant", "Two things."),
        text_message("assistant", "No more."),
    ]
    wire, dropped = render_messages(scattered)
    assert [message["role"] for message in wire] == ["user", "assistant", "tool", "tool", "assistant", "assistant"]
    assert wire[1]["content"] == "Let me look."
    assert [call["id"] for call in wire[1]["tool_calls"]] == ["a", "b"]
    assert dropped == ()
