"""Responses API requests: taken in, understood, and put back without a loss."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.chat.messages import (
    CACHE_MARK,
    Media,
    Message,
    Opaque,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    text_message,
)
from agentui.chat.request import (
    ChatRequest,
    Params,
    ResponseFormat,
    ServerTool,
    ThinkingConfig,
    Tool,
    ToolChoice,
    WireRequest,
)
from agentui.errors import BadRequest, UnsupportedFeature, UpstreamInvalid
from agentui.vendors.openai import OpenAI
from agentui.vendors.openai_responses import OpenAIResponses, requires_state

VENDOR = OpenAIResponses(now=lambda: 1_700_000_000)

PNG = "iVBORw0KGgo="


def read(body, path="/v1/responses", headers=None):
    return VENDOR.read_request(path, {}, headers or {}, body)


def parse(**body):
    return VENDOR.parse_request(read({"model": "m", "input": "hi", **body}))


def foreign(*messages, vendor="claude", **fields):
    """A request that came in another dialect."""
    wire = WireRequest(vendor, "chat", "m", False, "/v1/messages", {"secret": "not ours"})
    params = fields.pop("params", Params())
    return ChatRequest(vendor, "m", messages or (text_message("user", "hi"),), params, wire, **fields)


FULL = {
    "model": "gpt-x",
    "instructions": "Be brief.",
    "input": [
        {"role": "developer", "content": "Rules."},
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "What is this?", "prompt_cache_breakpoint": {"mode": "explicit"}},
                {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "low"},
                {"type": "input_image", "file_id": "file_1"},
                {"type": "input_file", "file_data": f"data:application/pdf;base64,{PNG}", "filename": "a.pdf"},
                {"type": "input_file", "file_url": "https://example.com/b.pdf"},
                {"type": "input_hologram", "beam": 3},
            ],
        },
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "tok"},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "phase": "commentary",
            "content": [{"type": "output_text", "text": "Let me see.", "annotations": [], "logprobs": []}],
        },
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "arguments": '{"a": 1}', "namespace": "n"},
        {"type": "function_call_output", "call_id": "call_1", "output": "a cat"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}},
        {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        {"role": "user", "content": "And now?"},
    ],
    "stream": True,
    "tools": [
        {"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": True, "defer_loading": True},
        {"type": "web_search", "search_context_size": "low"},
    ],
    "tool_choice": "auto",
    "parallel_tool_calls": False,
    "text": {"format": {"type": "json_schema", "name": "a", "schema": {"type": "object"}}, "verbosity": "low"},
    "reasoning": {"effort": "high", "summary": "auto"},
    "max_output_tokens": 100,
    "temperature": 0.5,
    "top_p": 0.9,
    "top_logprobs": 2,
    "include": ["message.output_text.logprobs", "reasoning.encrypted_content"],
    "metadata": {"k": "v"},
    "store": False,
    "safety_identifier": "u1",
    "prompt_cache_key": "pk",
    "brand_new_field": {"deep": [1, 2, {"x": None}]},
}


def test_reading_looks_only_at_what_the_proxy_needs():
    wire = read(FULL, headers={"openai-beta": "x=1", "openai-project": "p", "authorization": "Bearer k"})
    assert (wire.vendor, wire.operation, wire.model, wire.stream) == ("openai_responses", "chat", "gpt-x", True)
    assert wire.headers == {"openai-beta": "x=1", "openai-project": "p"}
    assert wire.body == FULL


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"input": "hi"}, "model"),
        ({"model": "", "input": "hi"}, "model"),
        ({"model": 3, "input": "hi"}, "model"),
        ({"model": "m", "input": "hi", "stream": "yes"}, "stream"),
        ({"model": "m", "input": "hi", "stream": 1}, "stream"),
        ({"model": "m", "input": {"role": "user"}}, "input"),
        ({"model": "m"}, "input"),
    ],
)
def test_a_request_that_cannot_be_served_names_the_field(body, param):
    with pytest.raises(BadRequest) as caught:
        read(body)
    assert caught.value.param == param


@pytest.mark.parametrize("key", ["prompt", "previous_response_id", "conversation"])
def test_input_may_be_missing_where_something_kept_stands_in_for_it(key):
    wire = read({"model": "m", key: "pmpt_1", "stream": None})
    assert requires_state(wire) == key
    chat = VENDOR.parse_request(wire)
    assert chat.messages == () and key in chat.unmodelled
    assert VENDOR.render_request(chat).body == wire.body


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"background": True}, "background"),
        ({"background": False}, None),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input"),
        ({"input": [{"id": "msg_1"}]}, "input"),
        ({"input": [{"role": "user", "content": "hi"}]}, None),
        ({"store": True}, None),
    ],
)
def test_what_leans_on_state_elsewhere_is_named(fields, field):
    assert requires_state(read({"model": "m", "input": "hi", **fields})) == field


def test_the_whole_conversation_is_understood():
    messages = VENDOR.parse_request(read(FULL)).messages
    assert [message.role for message in messages] == [
        *("system", "system", "user", "assistant", "assistant", "assistant", "tool", "assistant", "assistant", "user")
    ]
    assert messages[0] == Message("system", (Text("Be brief."),), raw="Be brief.", raw_vendor="openai_responses")
    assert messages[2].parts == (
        Text("What is this?"),
        Opaque(CACHE_MARK, CACHE_MARK, {CACHE_MARK: {"type": "ephemeral"}}),
        Media("image", "image/png", data=PNG, detail="low"),
        Media("image", file_id="file_1"),
        Media("document", "application/pdf", data=PNG, filename="a.pdf"),
        Media("document", "application/pdf", url="https://example.com/b.pdf"),
        Opaque("openai_responses", "input_hologram", {"type": "input_hologram", "beam": 3}),
    )
    assert messages[3].parts == (Thinking("Hm.", signature="rs_1:tok", signed_by="openai_responses"),)
    assert messages[5].parts == (ToolCall("call_1", "n__look", '{"a": 1}'),)
    assert messages[6].parts == (ToolResult("call_1", (Text("a cat"),)),)
    assert messages[7].parts[0] == Opaque("openai_responses", "web_search_call", FULL["input"][6])
    assert messages[8].parts == (Refusal("No."),)
    assert [message.raw for message in messages[1:]] == FULL["input"]


def test_the_settings_are_understood():
    chat = VENDOR.parse_request(read(FULL))
    assert chat.params == Params(temperature=0.5, top_p=0.9, max_tokens=100, logprobs=True, top_logprobs=2, user="u1")
    assert chat.tools == (
        Tool("look", None, {"type": "object"}, True, FULL["tools"][0]),
        ServerTool("web_search", FULL["tools"][1]),
    )
    assert chat.tool_choice == ToolChoice("auto", (), False)
    assert chat.response_format == ResponseFormat("schema", {"type": "object"}, "a", None)
    assert chat.thinking == ThinkingConfig(effort="high", include=True)
    assert set(chat.unmodelled) == {"metadata", "store", "prompt_cache_key", "brand_new_field", "text.verbosity"}


@pytest.mark.parametrize(
    ("choice", "meaning"),
    [
        ("none", ToolChoice("none")),
        ("required", ToolChoice("required")),
        ({"type": "function", "name": "a"}, ToolChoice("named", ("a",))),
        ({"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "a"}]}, ToolChoice("required")),
        ({"type": "web_search"}, ToolChoice("auto")),
    ],
)
def test_every_tool_choice_has_a_meaning(choice, meaning):
    tools = [{"type": "function", "name": "a"}, {"type": "function", "name": "b"}, {"type": "web_search"}]
    chat = parse(tools=tools, tool_choice=choice)
    assert chat.tool_choice == meaning
    assert ("tool_choice" in chat.unmodelled) == (choice == {"type": "web_search"})
    if isinstance(choice, dict) and choice["type"] == "allowed_tools":
        assert [tool.name for tool in chat.tools] == ["a"]


def test_defaults_said_aloud_are_not_losses():
    chat = parse(
        truncation="disabled", service_tier="auto", background=False, metadata={}, include=["message.output_text.logprobs"]
    )
    assert chat.unmodelled == ()
    assert parse(include=["file_search_call.results"]).unmodelled == ("include",)
    assert parse(reasoning={"effort": "ludicrous"}).unmodelled == ("reasoning.effort",)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"input": ["text"]}, "input[0]"),
        ({"input": [{}]}, "input[0]"),
        ({"input": [{"role": "robot", "content": "x"}]}, "input[0].role"),
        ({"input": [{"role": ["user"], "content": "x"}]}, "input[0].role"),
        ({"input": [{"role": "user", "content": 5}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": ["x"]}]}, "input[0].content[0]"),
        ({"input": [{"role": "user", "content": [{"type": "input_text"}]}]}, "input[0].content[0].text"),
        ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, "input[0].content[0]"),
        ({"input": [{"role": "user", "content": [{"type": "input_file"}]}]}, "input[0].content[0]"),
        ({"input": [{"type": "function_call", "name": "a"}]}, "input[0].call_id"),
        ({"input": [{"type": "function_call", "call_id": "a", "name": "a", "arguments": {}}]}, "input[0].arguments"),
        ({"input": [{"type": "function_call_output", "output": "x"}]}, "input[0].call_id"),
        ({"instructions": ["x"]}, "instructions"),
        ({"tools": {}}, "tools"),
        ({"tools": [{"type": "function", "function": {"name": "a"}}]}, "tools[0].name"),
        ({"tools": [{"type": "function", "name": "a", "parameters": "x"}]}, "tools[0].parameters"),
        ({"tool_choice": "sometimes"}, "tool_choice"),
        ({"parallel_tool_calls": "no"}, "parallel_tool_calls"),
        ({"text": {"format": {"type": "xml"}}}, "text.format"),
        ({"text": "plain"}, "text"),
        ({"reasoning": "hard"}, "reasoning"),
        ({"temperature": "warm"}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"max_output_tokens": 1.5}, "max_output_tokens"),
        ({"include": "all"}, "include"),
    ],
)
def test_what_cannot_be_understood_names_the_field(body, param):
    with pytest.raises(BadRequest) as caught:
        parse(**body)
    assert caught.value.param == param


def test_the_same_dialect_gets_its_own_request_back():
    assert VENDOR.render_request(VENDOR.parse_request(read(FULL))).body == FULL


def test_a_string_input_stays_a_string_until_somebody_adds_a_message():
    chat = parse(instructions="Be kind.")
    assert VENDOR.render_request(chat).body == {"model": "m", "input": "hi", "instructions": "Be kind."}
    longer = replace(chat, messages=(*chat.messages, text_message("assistant", "hello")))
    assert VENDOR.render_request(longer).body["input"] == [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello"},
    ]


def test_a_system_text_put_in_front_joins_the_instructions():
    chat = parse(instructions="Be kind.", input=[{"role": "system", "content": "An item."}])
    chat = replace(chat, messages=(text_message("system", "First."), *chat.messages))
    body = VENDOR.render_request(chat).body
    assert body["instructions"] == "First.\n\nBe kind."
    assert body["input"] == [{"role": "system", "content": "An item."}]


def test_instructions_that_were_taken_out_are_gone():
    chat = parse(instructions="Be kind.")
    assert "instructions" not in VENDOR.render_request(replace(chat, messages=chat.messages[1:])).body


def test_another_model_and_stream_switch_change_nothing_else():
    wire = VENDOR.patch_request(read(FULL), model="other", stream=False)
    assert wire.body == {**FULL, "model": "other", "stream": False} and (wire.model, wire.stream) == ("other", False)
    assert "stream" not in VENDOR.patch_request(read({"model": "m", "input": "x"}), model="m", stream=False).body


def test_a_foreign_request_says_everything_that_the_api_can():
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    wire = VENDOR.render_request(
        foreign(
            text_message("system", "Be brief."),
            Message("user", (Text("Look:"), Media("image", "image/png", data=PNG))),
            Message(
                "assistant",
                (Thinking("Hm.", signature="s", signed_by="claude"), Text("Well."), ToolCall("toolu_1", "find", '{"q":"x"}')),
            ),
            Message("user", (ToolResult("toolu_1", (Text("found"),), "find"), Text("Go on."))),
            text_message("system", "Later rule."),
            params=Params(temperature=0.3, top_p=0.8, max_tokens=5, user="u", stop=("END",), seed=0, top_k=4),
            tools=(Tool("find", "Finds.", schema), Tool("now"), ServerTool("code_execution", {})),
            tool_choice=ToolChoice("named", ("find",), parallel=False),
            response_format=ResponseFormat("schema", schema),
            thinking=ThinkingConfig(budget=5000),
            stream=True,
            unmodelled=("cache_control",),
        )
    )
    assert wire.body == {
        "model": "m",
        "instructions": "Be brief.",
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "Look:"},
                    {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{PNG}"},
                ],
            },
            {"role": "assistant", "content": "Well."},
            {"type": "function_call", "call_id": "toolu_1", "name": "find", "arguments": '{"q":"x"}'},
            {"type": "function_call_output", "call_id": "toolu_1", "output": "found"},
            {"role": "user", "content": "Go on."},
            {"role": "system", "content": "Later rule."},
        ],
        "max_output_tokens": 16,
        "temperature": 0.3,
        "top_p": 0.8,
        "safety_identifier": "u",
        "tools": [
            {"type": "function", "name": "find", "description": "Finds.", "parameters": schema, "strict": False},
            {"type": "function", "name": "now", "parameters": {"type": "object", "properties": {}}, "strict": False},
        ],
        "tool_choice": {"type": "function", "name": "find"},
        "parallel_tool_calls": False,
        "text": {"format": {"type": "json_schema", "name": "answer", "schema": schema, "strict": False}},
        "reasoning": {"effort": "medium", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "store": False,
        "stream": True,
    }
    assert wire.dropped == ("cache_control", "thinking", "top_k", "seed", "code_execution")
    assert (wire.vendor, wire.path, wire.operation) == ("openai_responses", "/v1/responses", "chat")


@pytest.mark.parametrize(
    ("config", "reasoning"),
    [
        (ThinkingConfig(budget=2048), {"effort": "low", "summary": "auto"}),
        (ThinkingConfig(budget=8192), {"effort": "medium", "summary": "auto"}),
        (ThinkingConfig(budget=8193), {"effort": "high", "summary": "auto"}),
        (ThinkingConfig(budget=-1), {"summary": "auto"}),
        (ThinkingConfig(effort="xhigh", include=False), {"effort": "xhigh"}),
        (ThinkingConfig(effort="none", mode="disabled"), {"effort": "none"}),
        (ThinkingConfig(mode="disabled"), None),
        (ThinkingConfig(mode="adaptive"), {"summary": "auto"}),
    ],
)
def test_thinking_becomes_effort(config, reasoning):
    wire = VENDOR.render_request(foreign(thinking=config))
    assert wire.body.get("reasoning") == reasoning
    assert ("include" in wire.body) == (config.mode != "disabled")


@pytest.mark.parametrize(("signature", "more"), [("rs_1:tok", {"id": "rs_1"}), ("tok", {})])
def test_only_its_own_thoughts_go_back(signature, more):
    own = Message("assistant", (Thinking("Hm.", signature=signature, signed_by="openai_responses"),))
    wire = VENDOR.render_request(foreign(own, text_message("user", "so?"), vendor="openai"))
    summary = [{"type": "summary_text", "text": "Hm."}]
    assert wire.body["input"][0] == {"type": "reasoning", "summary": summary, "encrypted_content": "tok", **more}
    assert wire.dropped == ()


def test_an_own_token_that_was_marked_goes_back_under_the_id_that_it_came_in():
    marked = "agentui:openai_responses:signature:rs_theirs:gAAA"
    summary = [{"type": "summary_text", "text": "Hm."}]
    item = {"type": "reasoning", "id": "rs_ours", "summary": summary, "encrypted_content": marked}
    request = read({"model": "m", "input": [item, {"role": "user", "content": "hi"}]})
    sent = VENDOR.patch_request(request, model="m", stream=False)
    assert sent.body["input"][0] == {
        "type": "reasoning",
        "id": "rs_theirs",
        "summary": summary,
        "encrypted_content": "gAAA",
    }
    assert sent.dropped == ()


def test_anothers_thought_never_reaches_openai_though_the_caller_holds_it():
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "agentui:claude:signature:a:b"}
    chat = parse(input=[item, {"role": "user", "content": "go on"}])
    assert chat.messages[0].parts == (Thinking("", signature="a:b", signed_by="claude"),)
    wire = VENDOR.render_request(chat)
    assert wire.body["input"] == [{"role": "user", "content": "go on"}] and wire.dropped == ("thinking",)


@pytest.mark.parametrize(
    "fields",
    [
        {"params": Params(n=2)},
        {"messages": Message("user", (Media("audio", "audio/wav", data="AA=="),))},
        {"messages": Message("user", (Media("video", "video/mp4", url="https://example.com/v"),))},
        {"messages": Message("user", (Media("image", "image/png", file_id="files/1"),))},
        {"messages": Message("user", (Media("image", "image/png", url="gs://bucket/a.png"),))},
    ],
)
def test_what_would_change_the_meaning_is_refused(fields):
    messages = [fields.pop("messages")] if "messages" in fields else []
    with pytest.raises(UnsupportedFeature):
        VENDOR.render_request(foreign(*messages, vendor="gemini", **fields))


def test_openais_own_file_ids_are_good_here():
    picture = Message("user", (Media("image", file_id="file_1"), Media("document", file_id="file_2")))
    content = VENDOR.render_request(foreign(picture, vendor="openai")).body["input"][0]["content"]
    assert content == [
        {"type": "input_image", "detail": "auto", "file_id": "file_1"},
        {"type": "input_file", "file_id": "file_2"},
    ]


def test_json_without_a_schema_is_asked_for_in_words_too():
    wire = VENDOR.render_request(foreign(response_format=ResponseFormat("json")))
    assert wire.body["text"] == {"format": {"type": "json_object"}} and "JSON" in wire.body["input"][0]["content"]
    asked = VENDOR.render_request(foreign(text_message("user", "as json"), response_format=ResponseFormat("json")))
    assert "instructions" not in asked.body


def test_system_texts_alone_are_still_some_input():
    wire = VENDOR.render_request(foreign(text_message("system", "Say hello.")))
    assert wire.body["input"] == [{"role": "system", "content": "Say hello."}] and "instructions" not in wire.body


def test_calls_without_ids_are_paired_with_their_results():
    wire = VENDOR.render_request(
        foreign(
            Message("assistant", (ToolCall(None, "a"), ToolCall(None, "b"))),
            Message("user", (ToolResult(None, name="b", value={"result": "B"}), ToolResult(None, name="a", value={"x": 1}))),
            vendor="gemini",
        )
    )
    assert [(item["type"], item["call_id"]) for item in wire.body["input"]] == [
        ("function_call", "call_1"),
        ("function_call", "call_2"),
        ("function_call_output", "call_2"),
        ("function_call_output", "call_1"),
    ]
    assert [item["output"] for item in wire.body["input"][2:]] == ["B", '{"x":1}']


def test_a_long_call_id_is_shortened_alike_on_both_sides():
    wire = VENDOR.render_request(
        foreign(Message("assistant", (ToolCall("x" * 100, "a"),)), Message("tool", (ToolResult("x" * 100, is_error=True),)))
    )
    call, result = wire.body["input"]
    assert call["call_id"] == result["call_id"] and len(call["call_id"]) <= 64
    assert wire.dropped == ("is_error",)


def test_a_result_with_a_picture_is_a_list():
    result = ToolResult("c", (Text("see"), Media("image", "image/png", data=PNG)))
    call = Message("assistant", (ToolCall("c", "look"),))
    output = VENDOR.render_request(foreign(call, Message("tool", (result,)))).body["input"][1]["output"]
    assert [part["type"] for part in output] == ["input_text", "input_image"]


def test_several_named_tools_are_the_allowed_ones():
    chat = foreign(tools=(Tool("a"), Tool("b"), Tool("c")), tool_choice=ToolChoice("named", ("a", "b")))
    assert VENDOR.render_request(chat).body["tool_choice"] == {
        "type": "allowed_tools",
        "mode": "required",
        "tools": [{"type": "function", "name": "a"}, {"type": "function", "name": "b"}],
    }


def test_a_choice_without_tools_is_not_sent():
    assert "tool_choice" not in VENDOR.render_request(foreign(tool_choice=ToolChoice("auto", (), False))).body


def test_counting_asks_the_apis_own_counter():
    wire = read({"model": "m", "input": "hi"}, path="/v1/responses/input_tokens")
    assert wire.operation == "count_tokens"
    assert VENDOR.count_tokens.render_request(VENDOR.parse_request(wire)).body == wire.body
    counted = VENDOR.count_tokens.render_request(VENDOR.parse_request(read(FULL)))
    assert (counted.path, counted.operation, counted.stream) == ("/v1/responses/input_tokens", "count_tokens", False)
    assert set(counted.body) == {
        *("model", "instructions", "input", "tools", "tool_choice", "parallel_tool_calls", "text", "reasoning")
    }
    assert set(VENDOR.count_tokens.render_request(foreign(params=Params(max_tokens=5))).body) == {"model", "input"}
    answer = VENDOR.count_tokens.render_reply(7)
    assert answer == {"object": "response.input_tokens", "input_tokens": 7} and VENDOR.count_tokens.parse_reply(answer) == 7
    with pytest.raises(UpstreamInvalid):
        VENDOR.count_tokens.parse_reply({"total": 7})


def test_endpoints_and_keys():
    assert VENDOR.chat_endpoint("m", stream=True) == "/v1/responses"
    assert VENDOR.count_tokens.endpoint("m") == "/v1/responses/input_tokens"
    assert VENDOR.embeddings.endpoint("m") == "/v1/embeddings"
    assert VENDOR.auth_headers("k") == {"authorization": "Bearer k"}
    assert VENDOR.models.endpoint() == "/v1/models"


def test_prompt_blocks():
    prompt = VENDOR.render_prompt([text_message("system", "A"), text_message("user", "hi"), text_message("system", "B")])
    assert prompt.pm == {
        "input": [{"role": "user", "content": "hi"}],
        "instructions": "A\n\nB",
        "system_text": "A\n\nB",
        "messages": [
            {"role": "system", "content": "A"},
            {"role": "user", "content": "hi"},
            {"role": "system", "content": "B"},
        ],
    }
    assert prompt.members == {"instructions": "A\n\nB", "input": prompt.pm["input"]}
    assert VENDOR.render_prompt([text_message("user", "hi")]).members == {"input": [{"role": "user", "content": "hi"}]}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)
extras = st.dictionaries(st.text(min_size=1, max_size=8).map(lambda key: "x_" + key), json_values, max_size=3)
contents = st.text(max_size=12) | st.lists(
    st.builds(lambda text, extra: {**extra, "type": "input_text", "text": text}, st.text(max_size=12), extras)
    | st.builds(lambda extra: {**extra, "type": "input_future"}, extras)
    | st.builds(lambda extra: {**extra, "type": "input_image", "image_url": "https://example.com/a.png"}, extras),
    max_size=3,
)
items = (
    st.builds(
        lambda role, content, extra: {**extra, "role": role, "content": content},
        st.sampled_from(["user", "assistant", "system", "developer"]),
        contents,
        extras,
    )
    | st.builds(
        lambda args, extra: {**extra, "type": "function_call", "call_id": "c", "name": "f", "arguments": args},
        st.text(),
        extras,
    )
    | st.builds(
        lambda output, extra: {**extra, "type": "function_call_output", "call_id": "c", "output": output}, contents, extras
    )
    | st.builds(lambda token, extra: {**extra, "type": "reasoning", "encrypted_content": token}, st.text(max_size=5), extras)
    | st.builds(lambda extra: {**extra, "type": "future_call"}, extras)
)


@given(
    st.text(max_size=20) | st.lists(items, max_size=5),
    extras,
    st.none() | st.text(max_size=10),
    st.sampled_from([{}, {"stream": True}, {"stream": False}, {"stream": None}]),
)
def test_no_field_of_ones_own_dialect_is_ever_lost(given_input, extra, instructions, stream):
    body = {"model": "m", "input": given_input, "instructions": instructions, **stream, **extra}
    rendered = VENDOR.render_request(VENDOR.parse_request(read(body)))
    assert rendered.body == body and rendered.dropped == ()


def test_a_long_user_is_shortened_as_in_chat():
    long = "user-" + "x" * 100
    chat = ChatRequest("claude", "gpt-4o", (text_message("user", "Hi"),), Params(user=long))
    shortened = VENDOR.render_request(chat).body["safety_identifier"]
    assert len(shortened) == 64
    assert shortened == OpenAI().render_request(chat).body["user"]
