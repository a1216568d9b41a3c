"""Requests of other dialects in Gemini's words."""

import pytest
from google.genai import types

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
from agentui.errors import UnsupportedFeature
from agentui.vendors.gemini import Gemini

GEMINI = Gemini()
USER = text_message("user", "Hello")
CALL = ToolCall("c1", "f", '{"a": 1}')


def asked(*messages: Message, model="gemini-2.5-flash", params=None, **fields) -> ChatRequest:
    wire = WireRequest("openai", "chat", model, False, "/v1/chat/completions", {"messages": []})
    return ChatRequest("openai", model, messages or (USER,), params or Params(), wire, **fields)


def body_of(*messages, **fields):
    body = GEMINI.render_request(asked(*messages, **fields)).body
    for content in body["contents"]:
        assert types.Content.model_validate(content).parts
    if "generationConfig" in body:
        types.GenerationConfig.model_validate(body["generationConfig"])
    return body


def contents_of(*messages, **fields):
    return body_of(*messages, **fields)["contents"]


def dropped_of(*messages, **fields):
    return GEMINI.render_request(asked(*messages, **fields)).dropped


def test_a_plain_request():
    wire = GEMINI.render_request(asked(stream=True))
    assert (wire.vendor, wire.path, wire.query) == (
        "gemini",
        "/v1beta/models/gemini-2.5-flash:streamGenerateContent",
        {"alt": "sse"},
    )
    assert wire.body == {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}
    assert wire.dropped == ()


def test_system_texts_behind_the_first_turn_keep_their_place():
    chat = (text_message("system", "A"), USER, text_message("system", "B"), text_message("user", "again"))
    assert body_of(*chat) == {
        "systemInstruction": {"parts": [{"text": "A"}]},
        "contents": [{"role": "user", "parts": [{"text": "Hello"}, {"text": "<system>\nB\n</system>"}, {"text": "again"}]}],
    }
    assert dropped_of(*chat) == ("messages.system_role",)


def test_a_system_text_alone_becomes_the_question():
    only = text_message("system", "Say hi")
    assert body_of(only) == {"contents": [{"role": "user", "parts": [{"text": "Say hi"}]}]}
    assert dropped_of(only) == ("messages.system_role",)


def test_empty_texts_are_left_out():
    chat = (USER, text_message("assistant", ""), Message("user", (Text(""), Text("more"))))
    assert contents_of(*chat) == [{"role": "user", "parts": [{"text": "Hello"}, {"text": "more"}]}]


def test_parallel_results_are_one_turn_in_the_order_of_their_calls():
    contents = contents_of(
        USER,
        Message("assistant", (Text("ok"), CALL, ToolCall("c2", "g", ""))),
        Message("tool", (ToolResult("c2", (Text('{"x": 1}'),)),)),
        Message("tool", (ToolResult("c1", (Text("[1]"),)),)),
        text_message("user", "and?"),
    )
    assert contents[1:] == [
        {
            "role": "model",
            "parts": [
                {"text": "ok"},
                {"functionCall": {"name": "f", "args": {"a": 1}, "id": "c1"}},
                {"functionCall": {"name": "g", "args": {}, "id": "c2"}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "f", "response": {"result": "[1]"}, "id": "c1"}},
                {"functionResponse": {"name": "g", "response": {"x": 1}, "id": "c2"}},
                {"text": "and?"},
            ],
        },
    ]


def test_a_missing_result_is_said_to_be_missing():
    chat = (USER, Message("assistant", (CALL,)), text_message("user", "never mind"))
    assert contents_of(*chat)[2]["parts"] == [
        {"functionResponse": {"name": "f", "response": {"error": "No result was given."}, "id": "c1"}},
        {"text": "never mind"},
    ]
    assert dropped_of(*chat) == ("messages.missing_tool_result",)


def test_a_result_without_a_call_becomes_text():
    chat = (Message("tool", (ToolResult("gone", (Text("42"),)),)), USER)
    assert contents_of(*chat) == [{"role": "user", "parts": [{"text": "42"}, {"text": "Hello"}]}]
    assert dropped_of(*chat) == ("messages.orphan_tool_result",)


def test_a_failed_result_is_an_error():
    contents = contents_of(
        USER, Message("assistant", (CALL,)), Message("tool", (ToolResult("c1", (Text("{}"),), is_error=True),))
    )
    assert contents[2]["parts"][0]["functionResponse"]["response"] == {"error": "{}"}


def _with_picture(model):
    result = ToolResult("c1", (Text("see"), Media("image", "image/png", data="AA==")))
    return contents_of(USER, Message("assistant", (CALL,)), Message("tool", (result,)), model=model)[2]["parts"]


def test_a_results_picture_stands_after_the_results():
    assert _with_picture("gemini-2.5-flash") == [
        {"functionResponse": {"name": "f", "response": {"result": "see"}, "id": "c1"}},
        {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
    ]


def test_gemini_3_takes_a_results_picture_inside():
    picture = {"inlineData": {"mimeType": "image/png", "data": "AA=="}}
    assert _with_picture("models/gemini-3-pro") == [
        {"functionResponse": {"name": "f", "response": {"result": "see"}, "id": "c1", "parts": [picture]}}
    ]


def test_a_models_broken_arguments_do_not_end_the_conversation():
    contents = contents_of(USER, Message("assistant", (ToolCall("c1", "f", '{"a": '),)))
    assert contents[1]["parts"] == [{"functionCall": {"name": "f", "args": {"arguments": '{"a": '}, "id": "c1"}}]


@pytest.mark.parametrize(
    ("media", "part"),
    [
        (Media("image", "image/png", data="+/8="), {"inlineData": {"mimeType": "image/png", "data": "+/8="}}),
        (Media("document", data="AA==", filename="a.pdf"), {"inlineData": {"mimeType": "application/pdf", "data": "AA=="}}),
        (Media("audio", "audio/mp3", data="AA=="), {"inlineData": {"mimeType": "audio/mp3", "data": "AA=="}}),
        (
            Media("image", url="https://example.org/a.PNG?size=1"),
            {"fileData": {"fileUri": "https://example.org/a.PNG?size=1", "mimeType": "image/png"}},
        ),
        (
            Media("image", url="https://example.org/picture"),
            {"fileData": {"fileUri": "https://example.org/picture", "mimeType": "image/jpeg"}},
        ),
        (Media("video", url="https://youtu.be/x"), {"fileData": {"fileUri": "https://youtu.be/x"}}),
    ],
)
def test_media(media, part):
    assert contents_of(Message("user", (media,))) == [{"role": "user", "parts": [part]}]


def test_another_vendors_file_id_is_refused():
    with pytest.raises(UnsupportedFeature):
        contents_of(Message("user", (Media("document", file_id="file-123"),)))


def test_only_geminis_own_thoughts_and_signatures_go_back():
    chat = (
        USER,
        Message(
            "assistant",
            (
                Thinking("theirs", "sig", None, "claude"),
                Thinking("ours", "c2ln", None, "gemini"),
                Thinking("", "czI=", None, "gemini"),
                Refusal("no"),
                Opaque("claude", "citation", {}),
                ToolCall("c1", "f", "{}", "x", "claude"),
                ToolCall("c2", "f", "{}", "czM=", "gemini"),
            ),
        ),
    )
    assert contents_of(*chat)[1]["parts"] == [
        {"text": "ours", "thought": True, "thoughtSignature": "c2ln"},
        {"text": "", "thoughtSignature": "czI="},
        {"text": "no"},
        {"functionCall": {"name": "f", "args": {}, "id": "c1"}},
        {"functionCall": {"name": "f", "args": {}, "id": "c2"}, "thoughtSignature": "czM="},
    ]
    assert dropped_of(*chat) == ("messages.thinking", "messages.citation")


def test_gemini_3_gets_the_sentinel_on_the_first_call_of_each_step_of_this_turn():
    def step(number, **extra):
        return (
            Message("assistant", (ToolCall(f"a{number}", "f", **extra), ToolCall(f"b{number}", "f"))),
            Message("tool", (ToolResult(f"a{number}"), ToolResult(f"b{number}"))),
        )

    chat = (USER, *step(1), text_message("user", "next"), *step(2), *step(3, signature="c2ln", signed_by="gemini"))
    calls = [
        part for content in contents_of(*chat, model="gemini-3-flash") for part in content["parts"] if "functionCall" in part
    ]
    assert [call.get("thoughtSignature") for call in calls] == [
        None,
        None,
        "skip_thought_signature_validator",
        None,
        "c2ln",
        None,
    ]
    assert "thoughtSignature" not in str(contents_of(*chat[:6], model="gemini-2.5-flash"))


def test_tools_are_one_tool_with_json_schema():
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "string"}}}
    tools = (
        Tool("f", "does", schema, strict=True),
        Tool("none"),
        Tool("empty", schema={"type": "object", "properties": {}, "additionalProperties": False}),
        ServerTool("web_search", {}),
    )
    body = body_of(tools=tools, tool_choice=ToolChoice("named", ("f",), parallel=False))
    assert body["tools"] == [
        {
            "functionDeclarations": [
                {"name": "f", "description": "does", "parametersJsonSchema": schema},
                {"name": "none"},
                {"name": "empty"},
            ]
        }
    ]
    assert body["toolConfig"] == {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}}
    types.Tool.model_validate(body["tools"][0])
    assert dropped_of(tools=tools, tool_choice=ToolChoice("named", ("f",), parallel=False)) == (
        "tools.strict",
        "tools.web_search",
        "parallel_tool_calls",
    )


@pytest.mark.parametrize(("mode", "name"), [("auto", "AUTO"), ("none", "NONE"), ("required", "ANY")])
def test_tool_choice(mode, name):
    body = body_of(tools=(Tool("f"),), tool_choice=ToolChoice(mode))
    assert body["toolConfig"] == {"functionCallingConfig": {"mode": name}}


def test_a_choice_without_functions_is_left_out():
    assert body_of(tool_choice=ToolChoice("auto")) == body_of()


@pytest.mark.parametrize("name", ["1st", "a b", "é", "", "x" * 65, "-a"])
def test_a_function_name_that_gemini_refuses_is_refused(name):
    with pytest.raises(UnsupportedFeature) as caught:
        body_of(tools=(Tool(name),))
    assert caught.value.param == "tools"


def test_params():
    params = Params(0.5, 0.9, 40, 100, ("a", "b"), 2, 7, 0.1, 0.2, True, 3, "someone")
    assert body_of(params=params)["generationConfig"] == {
        "temperature": 0.5,
        "topP": 0.9,
        "topK": 40,
        "maxOutputTokens": 100,
        "stopSequences": ["a", "b"],
        "candidateCount": 2,
        "seed": 7,
        "presencePenalty": 0.1,
        "frequencyPenalty": 0.2,
        "responseLogprobs": True,
        "logprobs": 3,
    }
    assert dropped_of(params=params, unmodelled=("logit_bias",)) == ("logit_bias", "user")


def test_stop_sequences_beyond_five_are_looked_for_here():
    wire = GEMINI.render_request(asked(params=Params(stop=tuple("abcdefg"), n=2)))
    assert wire.body["generationConfig"]["stopSequences"] == list("abcde")
    assert wire.cut == Cut(("f", "g"), 2)


@pytest.mark.parametrize(
    ("model", "wanted", "budget", "dropped"),
    [
        ("gemini-2.5-flash", ThinkingConfig("max"), 24_576, ()),
        ("gemini-2.5-flash", ThinkingConfig(mode="disabled"), 0, ()),
        ("gemini-2.5-flash-lite", ThinkingConfig(budget=100), 512, ()),
        ("models/gemini-2.5-pro", ThinkingConfig("max"), 32_768, ()),
        ("gemini-2.5-pro", ThinkingConfig("none"), 128, ("thinking",)),
        ("gemini-3-pro-preview", ThinkingConfig(mode="disabled"), 128, ("thinking",)),
        ("gemini-2.5-pro", ThinkingConfig(mode="adaptive"), -1, ()),
        ("gemini-2.0-flash", ThinkingConfig("high"), None, ("thinking",)),
        ("gemini-1.5-pro", ThinkingConfig("none"), None, ()),
        ("some-model", ThinkingConfig("max"), 32_768, ()),
    ],
)
def test_a_budget_is_one_that_the_model_takes(model, wanted, budget, dropped):
    wire = GEMINI.render_request(asked(model=model, thinking=wanted))
    config = wire.body.get("generationConfig", {}).get("thinkingConfig", {})
    assert config.get("thinkingBudget") == budget
    assert wire.dropped == dropped


@pytest.mark.parametrize(
    ("wanted", "config"),
    [
        (ResponseFormat("json"), {"responseMimeType": "application/json"}),
        (
            ResponseFormat("schema", {"type": "object"}, "x", True),
            {"responseMimeType": "application/json", "responseJsonSchema": {"type": "object"}},
        ),
    ],
)
def test_answer_formats(wanted, config):
    assert body_of(response_format=wanted)["generationConfig"] == config


def test_plain_text_needs_no_config():
    assert "generationConfig" not in body_of(response_format=ResponseFormat("text"))


@pytest.mark.parametrize(
    ("wanted", "config"),
    [
        (ThinkingConfig("low"), {"thinkingBudget": 1024, "includeThoughts": True}),
        (ThinkingConfig("medium"), {"thinkingBudget": 4096, "includeThoughts": True}),
        (ThinkingConfig("high", include=False), {"thinkingBudget": 16384, "includeThoughts": False}),
        (ThinkingConfig("max"), {"thinkingBudget": 24576, "includeThoughts": True}),
        (ThinkingConfig("none"), {"thinkingBudget": 0}),
        (ThinkingConfig(mode="disabled"), {"thinkingBudget": 0}),
        (ThinkingConfig(budget=2000), {"thinkingBudget": 2000, "includeThoughts": True}),
        (ThinkingConfig(mode="adaptive"), {"thinkingBudget": -1, "includeThoughts": True}),
        (ThinkingConfig(), {"includeThoughts": True}),
    ],
)
def test_thinking(wanted, config):
    assert body_of(thinking=wanted)["generationConfig"] == {"thinkingConfig": config}


def test_a_name_stands_before_the_words():
    named = Message("user", (Text("x"),), name="ann")
    assert dropped_of(named) == ()
    assert body_of(named)["contents"] == [{"role": "user", "parts": [{"text": "ann: x"}]}]


def test_counting_wraps_the_whole_request():
    counted = GEMINI.count_tokens.render_request(asked(text_message("system", "A"), USER, tools=(Tool("f"),)))
    assert counted.path == "/v1beta/models/gemini-2.5-flash:countTokens"
    assert counted.body == {
        "generateContentRequest": {
            "model": "models/gemini-2.5-flash",
            "contents": [{"role": "user", "parts": [{"text": "Hello"}]}],
            "systemInstruction": {"parts": [{"text": "A"}]},
            "tools": [{"functionDeclarations": [{"name": "f"}]}],
        }
    }


def test_prompt_blocks():
    prompt = GEMINI.render_prompt(
        [text_message("system", "A"), text_message("user", "x"), text_message("system", "B"), text_message("assistant", "y")]
    )
    contents = [{"role": "user", "parts": [{"text": "x"}]}, {"role": "model", "parts": [{"text": "y"}]}]
    system = {"parts": [{"text": "A"}, {"text": "B"}]}
    assert prompt.pm == {"contents": contents, "systemInstruction": system, "system_text": "A\n\nB"}
    assert prompt.members == {"contents": contents, "systemInstruction": system}


def test_prompt_blocks_without_system_text():
    prompt = GEMINI.render_prompt([text_message("user", "x"), text_message("user", "y"), text_message("system", "")])
    contents = [{"role": "user", "parts": [{"text": "x"}]}, {"role": "user", "parts": [{"text": "y"}]}]
    assert prompt.pm == {"contents": contents, "systemInstruction": {}, "system_text": ""}
    assert prompt.members == {"contents": contents}


def test_a_conversation_among_prompt_blocks_keeps_its_results_together():
    prompt = GEMINI.render_prompt(
        [
            USER,
            Message("assistant", (CALL, ToolCall("c2", "g"))),
            Message("tool", (ToolResult("c1", (Text("1"),)),)),
            Message("tool", (ToolResult("c2", (Text("2"),)),)),
        ]
    )
    assert [len(content["parts"]) for content in prompt.pm["contents"]] == [1, 2, 2]
