"""Gemini requests: read, patched, understood, and put back as they were."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.chat.messages import Media, Message, Opaque, Text, Thinking, ToolCall, ToolResult, text_message
from agentui.chat.request import Params, ResponseFormat, ServerTool, ThinkingConfig, ToolChoice, WireRequest
from agentui.errors import AgentUIError, BadRequest, NotFound
from agentui.vendors.base import endpoint_of
from agentui.vendors.gemini import Gemini
from agentui.vendors.gemini.call_marks import call_mark
from agentui.vendors.gemini.parts import SENTINEL

GEMINI = Gemini()
HELLO = {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}


def read(body, path="/v1beta/models/gemini-2.5-flash:generateContent", query=None) -> WireRequest:
    return GEMINI.read_request(path, query or {}, {}, body)


def parse(body, **kwargs):
    return GEMINI.parse_request(read(body, **kwargs))


@pytest.mark.parametrize(
    ("path", "model", "stream", "operation"),
    [
        ("/v1beta/models/gemini-2.5-pro:generateContent", "gemini-2.5-pro", False, "chat"),
        ("/v1/models/gemini-2.5-pro:streamGenerateContent", "gemini-2.5-pro", True, "chat"),
        ("/v1alpha/models/vendor/model:free:countTokens", "vendor/model:free", False, "count_tokens"),
        ("/v1beta/tunedModels/mine:generateContent", "tunedModels/mine", False, "chat"),
    ],
)
def test_the_path_names_model_and_method(path, model, stream, operation):
    wire = read(HELLO, path)
    assert (wire.model, wire.stream, wire.operation, wire.path) == (model, stream, operation, path)


def test_a_key_never_stays_in_the_query():
    wire = read(HELLO, query={"key": "AIza-secret", "KEY": "x", "access_token": "y", "alt": "sse"})
    assert wire.query == {"alt": "sse"}


@pytest.mark.parametrize(
    "path",
    ["/v1beta/models/x", "/v1beta/models/x:embedSomething", "/v2/models/x:generateContent", "/v1beta/models:generateContent"],
)
def test_other_paths_are_not_found(path):
    with pytest.raises(NotFound):
        read(HELLO, path)


@pytest.mark.parametrize("model", ["../secret", "a/b/c", "a?b", "a#b", "a\nb", "a b", "%2e"])
def test_a_model_that_could_leave_the_path_is_refused(model):
    with pytest.raises(BadRequest) as caught:
        read(HELLO, f"/v1beta/models/{model}:generateContent")
    assert caught.value.param == "model"


@pytest.mark.parametrize("contents", [None, "Hello", {"role": "user", "parts": []}, 3])
def test_contents_must_be_a_list(contents):
    with pytest.raises(BadRequest) as caught:
        read({"contents": contents})
    assert caught.value.param == "contents"


def test_a_body_that_is_no_object_is_refused():
    with pytest.raises(BadRequest):
        read([])


@pytest.mark.parametrize(
    ("model", "operation", "stream", "endpoint"),
    [
        ("gemini-2.5-pro", "chat", False, "/v1beta/models/gemini-2.5-pro:generateContent"),
        ("models/gemini-2.5-pro", "chat", True, "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"),
        ("tunedModels/mine", "count_tokens", True, "/v1beta/tunedModels/mine:countTokens"),
        ("vendor/model", "embeddings", False, "/v1beta/models/vendor/model:batchEmbedContents"),
    ],
)
def test_endpoints(model, operation, stream, endpoint):
    assert endpoint_of(GEMINI, WireRequest("gemini", operation, model, stream, "", {})) == endpoint


def test_an_endpoint_refuses_a_model_with_a_query():
    with pytest.raises(BadRequest):
        GEMINI.chat_endpoint("x?key=1", stream=False)


def test_a_patch_changes_model_and_method_and_nothing_else():
    wire = read({**HELLO, "model": "models/old", "new": 1}, "/v1/models/old:generateContent", {"prettyPrint": "false"})
    patched = GEMINI.patch_request(wire, model="new", stream=True)
    assert patched.path == "/v1/models/new:streamGenerateContent"
    assert patched.query == {"alt": "sse", "prettyPrint": "false"}
    assert patched.body == {**HELLO, "model": "models/new", "new": 1}
    assert wire.body["model"] == "models/old"


def test_a_patch_back_to_whole_answers_asks_for_no_sse():
    wire = read(HELLO, "/v1/models/m:streamGenerateContent", {"alt": "sse"})
    patched = GEMINI.patch_request(wire, model="m", stream=False)
    assert (patched.path, dict(patched.query)) == ("/v1/models/m:generateContent", {})


EVERYTHING = {
    "systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}], "future": True},
    "contents": [
        {
            "role": "user",
            "parts": [
                {"text": "Look"},
                {"inlineData": {"mimeType": "image/png", "data": "-_8"}},
                {"fileData": {"fileUri": "https://example.org/a.pdf"}},
                {"fileData": {"fileUri": "https://youtu.be/abc"}},
                {"fileData": {"fileUri": "gs://bucket/x.mp4", "mimeType": "video/mp4"}},
            ],
        },
        {
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True},
                {"text": "Calling", "thoughtSignature": "c2ln"},
                {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "czI="},
                {"executableCode": {"language": "PYTHON", "code": "1"}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "name": "f",
                        "response": {"result": "ok"},
                        "parts": [{"inlineData": {"mimeType": "image/png", "data": "AA=="}}],
                    }
                },
                {"functionResponse": {"name": "g", "id": "7", "response": {"error": "broken"}}},
                {"functionResponse": {"name": "h", "response": {"a": 1, "b": 2}}},
            ],
        },
    ],
    "tools": [
        {
            "functionDeclarations": [
                {"name": "f", "description": "d", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}}},
                {"name": "g", "parametersJsonSchema": {"type": "object"}},
                {"name": "h"},
            ]
        },
        {"googleSearch": {}},
    ],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}, "retrievalConfig": {"x": 1}},
    "generationConfig": {
        "temperature": 0.5,
        "topP": 0.9,
        "topK": 40.0,
        "maxOutputTokens": "100",
        "stopSequences": ["END"],
        "candidateCount": 2,
        "seed": 7,
        "presencePenalty": 0.1,
        "frequencyPenalty": 0.2,
        "responseMimeType": "application/json",
        "responseSchema": {"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": True}}},
        "thinkingConfig": {"thinkingBudget": 512, "includeThoughts": True},
        "responseLogprobs": True,
        "logprobs": 3,
        "speechConfig": {"voiceConfig": {}},
    },
    "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}],
    "cachedContent": "cachedContents/1",
    "brandNew\r\nInjected: yes": 1,
}


def test_everything_is_understood():
    chat = parse(EVERYTHING)
    system, user, model, results = chat.messages
    assert (system.role, system.text, chat.system) == ("system", "Be brief.", "Be brief.")
    assert user.parts == (
        Text("Look"),
        Media("image", "image/png", data="+/8="),
        Media("document", None, url="https://example.org/a.pdf"),
        Media("video", None, url="https://youtu.be/abc"),
        Media("video", "video/mp4", file_id="gs://bucket/x.mp4"),
    )
    assert model.parts == (
        Thinking("hm"),
        Text("Calling"),
        Thinking("", "c2ln", None, "gemini"),
        ToolCall(None, "f", '{"a":1}', "czI=", "gemini"),
        Opaque("gemini", "executableCode", {"executableCode": {"language": "PYTHON", "code": "1"}}),
    )
    assert results.parts == (
        ToolResult(None, (Text("ok"), Media("image", "image/png", data="AA==")), "f", False, {"result": "ok"}),
        ToolResult("7", (Text("broken"),), "g", True, {"error": "broken"}),
        ToolResult(None, (Text('{"a":1,"b":2}'),), "h", False, {"a": 1, "b": 2}),
    )
    f, g, h, search = chat.tools
    assert (f.name, f.description, f.schema) == ("f", "d", {"type": "object", "properties": {"a": {"type": "integer"}}})
    assert (g.schema, h.schema) == ({"type": "object"}, None)
    assert search == ServerTool("googleSearch", {"googleSearch": {}})
    assert chat.tool_choice == ToolChoice("named", ("f",))
    assert chat.params == Params(0.5, 0.9, 40, 100, ("END",), 2, 7, 0.1, 0.2, True, 3)
    assert chat.response_format == ResponseFormat(
        "schema", {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}
    )
    assert chat.thinking == ThinkingConfig(budget=512, include=True)
    assert chat.unmodelled == (
        "safetySettings",
        "cachedContent",
        "unknown",
        "toolConfig.retrievalConfig",
        "generationConfig.speechConfig",
    )


def _snake(value):
    """The same document in the other legal spelling; names inside args, schemas and responses are data and stay."""
    from agentui.vendors.gemini.protojson import snake

    if isinstance(value, dict):
        return {snake(key): _snake(inner) for key, inner in value.items()}
    return [_snake(inner) for inner in value] if isinstance(value, list) else value


def test_snake_case_means_the_same():
    camel, snake = parse(EVERYTHING), parse(_snake(EVERYTHING))
    assert [m.parts for m in snake.messages[:2]] == [m.parts for m in camel.messages[:2]]
    assert [m.parts for m in snake.messages[3:]] == [m.parts for m in camel.messages[3:]]
    assert (snake.params, snake.response_format, snake.thinking) == (camel.params, camel.response_format, camel.thinking)
    assert [tool.schema for tool in snake.tools if not isinstance(tool, ServerTool)] == [
        tool.schema for tool in camel.tools if not isinstance(tool, ServerTool)
    ]
    assert snake.unmodelled == camel.unmodelled


@pytest.mark.parametrize("body", [EVERYTHING, _snake(EVERYTHING)])
def test_the_same_dialect_gets_its_body_back(body):
    before = json.dumps(body)
    wire = read(body, "/v1/models/m:streamGenerateContent", {"alt": "sse"})
    again = GEMINI.render_request(GEMINI.parse_request(wire))
    assert again == wire
    assert json.dumps(body) == before


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
PARTS = st.one_of(
    st.builds(lambda text: {"text": text}, st.text()),
    st.builds(lambda text, sig: {"text": text, "thought": True, "thought_signature": sig}, st.text(), st.text()),
    st.builds(lambda args: {"functionCall": {"name": "f", "args": args}}, st.dictionaries(st.text(), JSON, max_size=2)),
    st.builds(lambda value: {"functionResponse": {"response": value}}, st.dictionaries(st.text(), JSON, max_size=2)),
    st.builds(lambda data: {"inline_data": {"mime_type": "image/png", "data": data}}, st.text("AB-_", max_size=8)),
    st.builds(lambda key, value: {"x" + key: value}, st.text(max_size=5), JSON),
)
CONTENTS = st.lists(
    st.fixed_dictionaries(
        {"parts": st.lists(PARTS, max_size=3)},
        optional={"role": st.sampled_from(["user", "model", "function"]), "future": JSON},
    ),
    max_size=4,
)


@given(CONTENTS, st.dictionaries(st.text().map(lambda key: "x" + key), JSON, max_size=3), st.booleans())
def test_nothing_is_lost_on_the_way_through(contents, unknown, with_system):
    body = {**unknown, "contents": contents}
    if with_system:
        body["system_instruction"] = {"parts": {"text": "one object, as in the documentation"}}
    wire = read(body)
    assert GEMINI.render_request(GEMINI.parse_request(wire)) == wire


@given(JSON)
def test_any_json_is_understood_or_refused(junk):
    for body in (
        {"contents": junk},
        {"contents": [junk]},
        {"contents": [{"parts": [junk]}]},
        {**HELLO, "generationConfig": junk},
    ):
        try:
            parse(body)
        except AgentUIError as error:
            assert error.status == 400


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"contents": [{"role": "wizard", "parts": []}]}, "contents.0.role"),
        ({"contents": [{"parts": [{"text": "a"}, "b"]}]}, "contents.0.parts.1"),
        ({"contents": [{"parts": [{"functionCall": {"args": {}}}]}]}, "contents.0.parts.0.functionCall.name"),
        ({**HELLO, "generationConfig": {"temperature": "hot"}}, "generationConfig.temperature"),
        ({**HELLO, "generationConfig": {"topK": 1.5}}, "generationConfig.topK"),
        ({**HELLO, "systemInstruction": "Be brief."}, "systemInstruction"),
        ({**HELLO, "toolConfig": {"functionCallingConfig": {"mode": "SOME"}}}, "toolConfig.functionCallingConfig.mode"),
        ({**HELLO, "tools": {}}, "tools"),
    ],
)
def test_what_cannot_be_understood_is_named(body, param):
    with pytest.raises(BadRequest) as caught:
        parse(body)
    assert caught.value.param == param


def test_a_pipelines_system_text_becomes_part_of_the_callers_instruction():
    chat = parse({**HELLO, "system_instruction": {"role": "x", "parts": [{"text": "A"}]}})
    messages = (text_message("system", "before"), *chat.messages, text_message("system", "after"))
    body = GEMINI.render_request(replace(chat, messages=messages)).body
    assert body["system_instruction"] == {"role": "x", "parts": [{"text": "before"}, {"text": "A"}]}
    assert body["contents"][-1] == {"role": "user", "parts": [{"text": "<system>\nafter\n</system>"}]}


def test_a_removed_instruction_leaves_the_body():
    chat = parse({**HELLO, "systemInstruction": {"parts": [{"text": "A"}]}})
    assert GEMINI.render_request(replace(chat, messages=chat.messages[1:])).body == HELLO


def test_a_pipelines_tool_turns_stand_between_the_callers_own():
    chat = parse(HELLO)
    call = Message("assistant", (ToolCall("c1", "f", "{}"), ToolCall("c2", "g", "{}")))
    results = (Message("tool", (ToolResult("c2", (Text("two"),)),)), Message("tool", (ToolResult("c1", (Text("one"),)),)))
    contents = GEMINI.render_request(replace(chat, messages=(*chat.messages, call, *results))).body["contents"]
    assert contents[0] is HELLO["contents"][0]
    assert contents[2]["parts"] == [
        {"functionResponse": {"id": "c1", "name": "f", "response": {"result": "one"}}},
        {"functionResponse": {"id": "c2", "name": "g", "response": {"result": "two"}}},
    ]


@pytest.mark.parametrize(
    ("config", "thinking"),
    [
        ({}, None),
        ({"includeThoughts": False}, None),
        ({"includeThoughts": True}, ThinkingConfig(include=True, mode="adaptive")),
        ({"thinkingBudget": 0}, ThinkingConfig(mode="disabled")),
        ({"thinkingBudget": -1}, ThinkingConfig(mode="adaptive")),
        ({"thinkingLevel": "HIGH"}, ThinkingConfig("high")),
        ({"thinking_level": "minimal", "include_thoughts": True}, ThinkingConfig("minimal", include=True)),
    ],
)
def test_thinking(config, thinking):
    assert parse({**HELLO, "generationConfig": {"thinkingConfig": config}}).thinking == thinking


@pytest.mark.parametrize(
    ("config", "choice"),
    [
        ({"mode": "AUTO"}, ToolChoice("auto")),
        ({"mode": "VALIDATED"}, ToolChoice("auto")),
        ({"mode": "NONE"}, ToolChoice("none")),
        ({"mode": "ANY"}, ToolChoice("required")),
        ({"mode": "any", "allowed_function_names": ["a", "b"]}, ToolChoice("named", ("a", "b"))),
        ({}, None),
    ],
)
def test_tool_choice(config, choice):
    assert parse({**HELLO, "tool_config": {"function_calling_config": config}}).tool_choice == choice


def test_openapi_schemas_become_json_schema():
    schema = {
        "type": "OBJECT",
        "property_ordering": ["type"],
        "properties": {
            "type": {"type": "STRING", "enum": ["A", "B"], "nullable": True},
            "list": {"type": "ARRAY", "items": {"type": "NUMBER", "format": "double"}, "maxItems": "3"},
            "either": {"anyOf": [{"type": "STRING"}, {"type": "BOOLEAN"}]},
        },
        "required": ["type"],
    }
    tools = parse({**HELLO, "tools": [{"functionDeclarations": [{"name": "f", "parameters": schema}]}]}).tools
    assert tools[0].schema == {
        "type": "object",
        "properties": {
            "type": {"anyOf": [{"type": "string", "enum": ["A", "B"]}, {"type": "null"}]},
            "list": {"type": "array", "items": {"type": "number", "format": "double"}, "maxItems": 3},
            "either": {"anyOf": [{"type": "string"}, {"type": "boolean"}]},
        },
        "required": ["type"],
    }


def test_a_count_keeps_the_callers_body():
    body = {"generateContentRequest": {**HELLO, "model": "models/old", "x": 1}}
    wire = read(body, "/v1/models/old:countTokens")
    counted = GEMINI.count_tokens.render_request(replace(GEMINI.parse_request(wire), model="new"))
    assert counted.path == "/v1/models/new:countTokens"
    assert counted.body == {"generateContentRequest": {**HELLO, "model": "models/new", "x": 1}}


def test_a_count_holds_what_the_pipeline_made_of_the_conversation():
    wire = read(HELLO, "/v1/models/old:countTokens")
    chat = GEMINI.parse_request(wire)
    assert GEMINI.count_tokens.render_request(chat).body == HELLO
    counted = GEMINI.count_tokens.render_request(replace(chat, messages=(text_message("system", "Be brief."), *chat.messages)))
    assert counted.body == {
        "generateContentRequest": {
            **HELLO,
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "model": "models/old",
        }
    }


def test_the_count_of_a_chat_wraps_it():
    counted = GEMINI.count_tokens.render_request(parse({**HELLO, "tools": [{"googleSearch": {}}]}))
    assert counted.operation == "count_tokens"
    assert counted.body == {
        "generateContentRequest": {**HELLO, "tools": [{"googleSearch": {}}], "model": "models/gemini-2.5-flash"}
    }


SIGNED = ToolCall("c1", "f", '{"a":1}', "@0123456789abcdef/google:c2ln", "openai")


@given(st.text(st.characters(exclude_characters="\n")).filter(bool), st.none() | st.text(min_size=1))
def test_a_mark_gives_a_call_its_id_and_token_back(id, token):
    call = ToolCall(id, "f", "{}", token, "openai" if token else None)
    for written in (mark := call_mark(call), mark.translate(str.maketrans("+/", "-_")).rstrip("=")):
        part = {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": written}
        body = {"contents": [{"role": "model", "parts": [part]}]}
        assert parse(body).messages[0].parts == (call,)


@pytest.mark.parametrize("broken", [call_mark(SIGNED)[:20], call_mark(SIGNED)[:-5] + "*", call_mark(SIGNED)[:-4]])
def test_a_broken_mark_is_no_signature(broken):
    part = {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": broken}
    (message,) = parse({"contents": [{"role": "model", "parts": [part]}]}).messages
    assert message.tool_calls[0].signed_by != "gemini"


@pytest.mark.parametrize(("model", "first"), [("gemini-3-pro", {"thoughtSignature": SENTINEL}), ("gemini-2.5-pro", {})])
def test_a_mark_never_reaches_gemini(model, first):
    f, g = {"functionCall": {"name": "f", "args": {}}}, {"function_call": {"name": "g", "args": {}}}
    marked = [{"text": "x"}, {**f, "thoughtSignature": call_mark(SIGNED)}, {**g, "thought_signature": call_mark(SIGNED)}]
    own = {"role": "model", "parts": [{**f, "thoughtSignature": "b3du"}]}
    body = {"contents": [own, {"role": "model", "parts": marked}, *HELLO["contents"]]}
    wire = read(body, f"/v1beta/models/{model}:generateContent")
    for sent in (
        GEMINI.patch_request(wire, model=model, stream=False),
        GEMINI.render_request(GEMINI.parse_request(wire)),
    ):
        assert sent.body["contents"] == [
            own,
            {"role": "model", "parts": [{"text": "x"}, {**f, **first}, g]},
            *HELLO["contents"],
        ]
    assert GEMINI.patch_request(read(HELLO), model=model, stream=False).body["contents"] is HELLO["contents"]
