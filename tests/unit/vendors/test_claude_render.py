"""Requests of other dialects as Claude's bodies: everything sayable is said, everything else is named or refused."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.chat.messages import (
    CACHE_MARK,
    Media,
    Message,
    Opaque,
    Part,
    Refusal,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    text_message,
)
from agentui.chat.request import (
    ChatRequest,
    Cut,
    Effort,
    Params,
    ResponseFormat,
    ServerTool,
    ThinkingConfig,
    Tool,
    ToolChoice,
    WireRequest,
)
from agentui.errors import BadRequest, UnsupportedFeature
from agentui.jsonio import Json
from agentui.vendors.claude import Claude

CLAUDE = Claude()
WIRE = WireRequest("openai", "chat", "gpt", False, "/v1/chat/completions", {})
LOOK = Tool("look", "Looks", {"type": "object", "properties": {"at": {"type": "string"}}})


def chat(*messages: Message, params: Params | None = None, model: str = "claude-x", **fields: Json) -> ChatRequest:
    """A request of an OpenAI caller, with one user message unless others are given."""
    return ChatRequest("openai", model, messages or (text_message("user", "hi"),), params or Params(), WIRE, **fields)


def render(*messages: Message, params: Params | None = None, **fields: Json) -> WireRequest:
    return CLAUDE.render_request(chat(*messages, params=params, **fields))


def turns(*messages: Message) -> list[Json]:
    rendered: list[Json] = render(*messages).body["messages"]
    return rendered


def user(*parts: Part) -> Message:
    return Message("user", parts)


def assistant(*parts: Part) -> Message:
    return Message("assistant", parts)


def tool(*parts: Part) -> Message:
    return Message("tool", parts)


def words(text: str) -> Json:
    return {"type": "text", "text": text}


def test_a_plain_request_gets_what_claude_requires() -> None:
    wire = render(params=Params(temperature=0.3, top_k=5, stop=("END",), user="u1"), stream=True)
    assert wire == WireRequest(
        "claude",
        "chat",
        "claude-x",
        True,
        "/v1/messages",
        {
            "model": "claude-x",
            "max_tokens": 8192,
            "messages": [{"role": "user", "content": [words("hi")]}],
            "temperature": 0.3,
            "top_k": 5,
            "stop_sequences": ["END"],
            "metadata": {"user_id": "u1"},
            "stream": True,
        },
    )
    assert CLAUDE.version_headers(wire) == {"anthropic-version": "2023-06-01"}


def test_system_messages_stand_above_the_conversation() -> None:
    wire = render(text_message("system", "A."), text_message("system", "B."), text_message("user", "hi"))
    assert (wire.body["system"], wire.dropped) == ("A.\n\nB.", ())


LATE = (text_message("system", "A."), text_message("user", "hi"), text_message("system", "B."), text_message("user", "yo"))


def test_a_later_system_message_keeps_its_place_and_is_named() -> None:
    wire = render(*LATE)
    assert wire.body["system"] == "A."
    assert wire.body["messages"] == [{"role": "user", "content": [words("hi"), words("<system>\nB.\n</system>"), words("yo")]}]
    assert wire.dropped == ("messages.system_role",)


def test_a_later_system_message_moves_up_where_the_node_says_so() -> None:
    wire = render(*LATE, differences={"system": "top"})
    assert wire.body["system"] == "A.\n\nB."
    assert wire.body["messages"] == [{"role": "user", "content": [words("hi"), words("yo")]}]
    assert wire.dropped == ("messages.system_position",)


def test_neighbours_of_one_role_become_one_turn() -> None:
    assert turns(user(Text("a")), user(Text("b")), assistant(Text("c")), assistant(Text("d")), user(Text("e"))) == [
        {"role": "user", "content": [words("a"), words("b")]},
        {"role": "assistant", "content": [words("c"), words("d")]},
        {"role": "user", "content": [words("e")]},
    ]


def test_blank_texts_and_empty_messages_are_left_out() -> None:
    assert turns(user(Text("a")), assistant(Text(" \n")), user(Text("")), user(Text("b"), Text(""))) == [
        {"role": "user", "content": [words("a"), words("b")]}
    ]


def test_a_conversation_opens_with_the_user() -> None:
    assert turns(assistant(Text("hello ")))[0] == {"role": "user", "content": [words(".")]}
    assert turns(text_message("system", "only")) == [{"role": "user", "content": [words(".")]}]


def test_a_prefill_loses_its_trailing_whitespace() -> None:
    assert turns(user(Text("q")), assistant(Text("The answer is ")))[-1]["content"] == [words("The answer is")]


def test_a_prefill_that_is_to_be_cached_loses_it_as_well() -> None:
    mark = Opaque("cache_control", "cache_control", {"cache_control": {"type": "ephemeral"}})
    assert turns(user(Text("Hi")), assistant(Text("Well, \n"), mark))[-1]["content"] == [
        {"type": "text", "text": "Well,", "cache_control": {"type": "ephemeral"}}
    ]


def test_results_of_one_turn_share_one_user_turn_and_come_first() -> None:
    rendered = turns(
        user(Text("go")),
        assistant(Text("ok"), ToolCall("a", "look", '{"at":1}'), ToolCall("b", "look", "")),
        tool(ToolResult("b", (Text("B"),))),
        user(Text("and?")),
        tool(ToolResult("a", (Text("A"), Media("image", "image/png", data="AAAA")), is_error=True)),
    )
    assert rendered[1:] == [
        {
            "role": "assistant",
            "content": [
                words("ok"),
                {"type": "tool_use", "id": "a", "name": "look", "input": {"at": 1}},
                {"type": "tool_use", "id": "b", "name": "look", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "b", "content": "B"},
                {
                    "type": "tool_result",
                    "tool_use_id": "a",
                    "content": [
                        words("A"),
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                    ],
                    "is_error": True,
                },
                words("and?"),
            ],
        },
    ]


@pytest.mark.parametrize("arguments", ["nonsense", "[1]", '"x"'])
def test_arguments_that_are_no_object_still_reach_the_model(arguments: str) -> None:
    rendered = turns(user(Text("go")), assistant(ToolCall("a", "look", arguments)), tool(ToolResult("a")))
    assert rendered[1]["content"][0]["input"] == {"_raw": arguments}


def test_a_call_without_result_is_answered_and_named() -> None:
    wire = render(user(Text("go")), assistant(ToolCall("a", "look")), user(Text("well?")), assistant(ToolCall("b", "look")))
    missing = {"type": "tool_result", "content": "No result was given.", "is_error": True}
    assert wire.body["messages"][2]["content"] == [{**missing, "tool_use_id": "a"}, words("well?")]
    assert wire.body["messages"][4] == {"role": "user", "content": [{**missing, "tool_use_id": "b"}]}
    assert "messages.orphan_tool_call" in wire.dropped


def test_a_result_without_call_becomes_words_and_is_named() -> None:
    wire = render(user(Text("go")), tool(ToolResult("x", (Text("42"),), name="look")))
    assert wire.body["messages"] == [{"role": "user", "content": [words("The tool look gave: 42"), words("go")]}]
    assert wire.dropped == ("messages.orphan_tool_result",)
    assert "tools" not in wire.body


def test_ids_are_cleaned_alike_and_never_repeated() -> None:
    rendered = turns(
        user(Text("go")),
        assistant(ToolCall("call:1", "look")),
        tool(ToolResult("call:1", (Text("first"),))),
        assistant(ToolCall("call:1", "look")),
        tool(ToolResult("call:1", (Text("second"),))),
    )
    assert rendered[1]["content"][0]["id"] == rendered[2]["content"][0]["tool_use_id"] == "call_1"
    assert rendered[3]["content"][0]["id"] == rendered[4]["content"][0]["tool_use_id"] == "call_1_2"


def test_calls_without_ids_are_paired_with_their_results() -> None:
    rendered = turns(
        user(Text("go")),
        assistant(ToolCall(None, "look"), ToolCall(None, "hear")),
        user(ToolResult(None, name="hear", value={"result": "bang"}), ToolResult(None, name="look", value={"x": 1})),
    )
    assert [block["id"] for block in rendered[1]["content"]] == ["call_1", "call_2"]
    assert rendered[2]["content"] == [
        {"type": "tool_result", "tool_use_id": "call_2", "content": "bang"},
        {"type": "tool_result", "tool_use_id": "call_1", "content": '{"x":1}'},
    ]


roles = st.sampled_from(["user", "assistant", "tool", "system"])
ids = st.sampled_from(["a", "b", "c:1", "c_1", ""]) | st.none()
parts = st.one_of(
    st.builds(Text, st.sampled_from(["", " ", "hi", "there "])),
    st.builds(ToolCall, ids, st.sampled_from(["look", "he.ar"]), st.sampled_from(["", "{}", "x"])),
    st.builds(ToolResult, ids, st.just((Text("r"),)), st.none() | st.just("look")),
    st.builds(Thinking, st.just("t"), st.none() | st.just("s"), st.none(), st.sampled_from(["claude", "gemini"])),
    st.builds(Opaque, st.just("openai"), st.just("thing"), st.just({})),
)


def fits_role(role: Role, part: Part) -> bool:
    """Calls come from the assistant only, results from tools and users only."""
    return (
        isinstance(part, Text)
        or (isinstance(part, ToolResult) and role in ("user", "tool"))
        or (not isinstance(part, ToolResult) and role == "assistant")
    )


conversations = st.lists(
    st.builds(
        lambda role, given: Message(role, tuple(part for part in given if fits_role(role, part))),
        roles,
        st.lists(parts, max_size=4),
    ),
    max_size=8,
)


@given(conversations, st.booleans())
def test_any_conversation_becomes_one_that_claude_accepts(messages: list[Message], thinks: bool) -> None:
    wire = render(*messages, thinking=ThinkingConfig("low") if thinks else None)
    rendered = wire.body["messages"]
    assert [turn["role"] for turn in rendered] == [("user", "assistant")[number % 2] for number in range(len(rendered))]
    open_calls: set[str] = set()
    seen: set[str] = set()
    for turn in rendered:
        content = turn["content"]
        assert content
        results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        assert sorted(results) == sorted(open_calls)
        assert all(block["type"] == "tool_result" for block in content[: len(results)])
        calls = [block["id"] for block in content if block["type"] == "tool_use"]
        open_calls = set(calls)
        assert len(open_calls) == len(calls)
        assert not open_calls & seen
        seen |= open_calls
        assert all(block["text"].strip() for block in content if block["type"] == "text")
    assert not open_calls
    assert bool(seen) <= ("tools" in wire.body)


def test_only_claudes_own_thoughts_go_back() -> None:
    wire = render(
        user(Text("q")),
        assistant(
            Thinking("mine", "sig", None, "claude"),
            Thinking("", None, "data", "claude"),
            Thinking("gemini's", "g", None, "gemini"),
            Thinking("unsigned"),
            Text("a"),
            ToolCall("c", "look", "{}", "gemini-token", "gemini"),
        ),
        tool(ToolResult("c")),
    )
    assert [block["type"] for block in wire.body["messages"][1]["content"]] == [
        "thinking",
        "redacted_thinking",
        "text",
        "tool_use",
    ]
    assert wire.dropped == ("thinking", "signature")


def test_foreign_parts_and_names_are_named() -> None:
    wire = render(
        Message("user", (Text("q"), Opaque("openai", "input_audio_id", {})), name="Bob"),
        assistant(Refusal("No."), Media("image", "image/png", data="AAAA")),
        user(Text("?"), Media("image", "image/png", data="AAAA", detail="high")),
    )
    assert [message["content"][0] for message in wire.body["messages"][:2]] == [words("Bob: q"), words("No.")]
    assert wire.dropped == ("detail", "input_audio_id", "messages.assistant_media")


def test_speakers_are_named_before_their_words_once() -> None:
    named = [Message("user", (Text(text),), name="Ann") for text in ("Hi.", "Ann: Oh.", " ")]
    wire = render(*named[:1], assistant(Text("So?")), *named[1:])
    assert [message["content"] for message in wire.body["messages"]] == [
        [words("Ann: Hi.")],
        [words("So?")],
        [words("Ann: Oh.")],
    ]


def test_media_become_blocks() -> None:
    text = base64.b64encode("é".encode()).decode()
    content = turns(
        user(
            Media("image", "image/jpg", data="_-A"),
            Media("image", url="https://x/y.png"),
            Media("document", "application/pdf", data="AAAA", filename="a.pdf"),
            Media("document", "text/markdown", data=text),
            Media("document", url="https://x/y.pdf"),
        )
    )[0]["content"]
    assert [block["source"] for block in content] == [
        {"type": "base64", "media_type": "image/jpeg", "data": "/+A="},
        {"type": "url", "url": "https://x/y.png"},
        {"type": "base64", "media_type": "application/pdf", "data": "AAAA"},
        {"type": "text", "media_type": "text/plain", "data": "é"},
        {"type": "url", "url": "https://x/y.pdf"},
    ]
    assert content[2]["title"] == "a.pdf"


@pytest.mark.parametrize(
    "media",
    [
        Media("audio", "audio/wav", data="AAAA"),
        Media("video", "video/mp4", url="https://x/y"),
        Media("image", "image/bmp", data="AAAA"),
        Media("image", data="AAAA"),
        Media("image", file_id="file-1"),
        Media("image", url="gs://bucket/x"),
        Media("document", "application/msword", data="AAAA"),
    ],
)
def test_media_that_claude_cannot_read_are_refused(media: Media) -> None:
    with pytest.raises(UnsupportedFeature) as caught:
        render(user(media))
    assert caught.value.param == "messages"


def test_a_text_document_of_broken_base64_is_a_bad_request() -> None:
    with pytest.raises(BadRequest):
        render(user(Media("document", "text/plain", data="a!b")))


@pytest.mark.parametrize(
    ("params", "sampling", "dropped"),
    [
        (Params(temperature=1.7), {"temperature": 1}, ("temperature>1",)),
        (Params(temperature=0, top_p=0.5), {"temperature": 0}, ("top_p",)),
        (Params(top_p=0.5), {"top_p": 0.5}, ()),
        (Params(stop=("\n", "END")), {"stop_sequences": ["END"]}, ()),
        (Params(stop=("\n",)), {}, ()),
        (
            Params(seed=1, presence_penalty=0.1, frequency_penalty=0.1, logprobs=True, n=1),
            {},
            ("seed", "presence_penalty", "frequency_penalty", "logprobs"),
        ),
        (Params(presence_penalty=0, frequency_penalty=0.0, logprobs=False), {}, ()),
    ],
)
def test_sampling_is_fitted(params: Params, sampling: Json, dropped: tuple[str, ...]) -> None:
    wire = render(params=params)
    assert {key: value for key, value in wire.body.items() if key not in ("model", "messages", "max_tokens")} == sampling
    assert wire.dropped == dropped


def test_stop_strings_of_white_space_are_looked_for_here() -> None:
    assert render(params=Params(stop=("\n", "END", " "))).cut == Cut(("\n", " "))
    assert render(params=Params(stop=("END",))).cut is None
    with pytest.raises(UnsupportedFeature):
        render(params=Params(stop=tuple(" " * number for number in range(1, 70))))


@pytest.mark.parametrize(
    ("model", "said", "limit", "budget"),
    [
        # A limit that counts the thoughts stays what it is, and they fit below it.
        ("claude-sonnet-4-5", Params(max_tokens=4000), 4000, 3000),
        ("claude-sonnet-4-5", Params(max_tokens=20_000), 20_000, 16_384),
        ("claude-sonnet-4-5", Params(max_tokens=1200), 1200, 1024),
        ("claude-sonnet-4-5", Params(max_tokens=1024), 1024, None),
        # One that counts the answer alone gets room for them, as far as the model goes.
        ("claude-sonnet-4-5", Params(max_tokens=300, is_answer_limit=True), 16_684, 16_384),
        ("claude-sonnet-4-5", Params(max_tokens=60_000, is_answer_limit=True), 64_000, 16_384),
        # Where nobody said a limit, it is the model's own.
        ("claude-sonnet-4-5", Params(), 64_000, 16_384),
        ("claude-unheard-of", Params(), 24_576, 16_384),
    ],
)
def test_thoughts_fit_below_the_limit(model: str, said: Params, limit: int, budget: int | None) -> None:
    wire = render(model=model, params=said, thinking=ThinkingConfig("high"))
    assert wire.body["max_tokens"] == limit
    assert wire.body.get("thinking", {}).get("budget_tokens") == budget
    assert wire.dropped == (() if budget else ("thinking",))


@pytest.mark.parametrize(
    ("model", "limit"),
    [
        ("claude-3-haiku-20240307", 4096),
        ("claude-3-5-sonnet-latest", 8192),
        ("claude-3-7-sonnet-20250219", 64_000),
        ("claude-opus-4-20250514", 32_000),
        ("claude-opus-4-1", 32_000),
        ("anthropic/claude-opus-4-1-20250805", 32_000),
        ("claude-opus-4-5", 64_000),
        ("claude-opus-4-10", 64_000),
        ("claude-sonnet-4-20250514", 64_000),
        ("claude-haiku-4-5-20251001", 64_000),
        ("claude-fable-5", 64_000),
        ("qwen3-coder", 8192),
    ],
)
def test_the_default_limit_is_what_the_model_writes_at_most(model: str, limit: int) -> None:
    assert render(model=model).body["max_tokens"] == limit


def test_several_answers_are_refused() -> None:
    with pytest.raises(UnsupportedFeature) as caught:
        render(params=Params(n=2))
    assert caught.value.param == "n"


def test_fields_of_the_other_dialect_are_named() -> None:
    assert render(unmodelled=("logit_bias", "logit_bias", "store")).dropped == ("logit_bias", "store")


@pytest.mark.parametrize(
    ("effort", "budget"),
    [("minimal", 1024), ("low", 1024), ("medium", 4096), ("high", 16384), ("xhigh", 32768), ("max", 32768)],
)
def test_effort_becomes_a_budget_with_room_for_the_answer(effort: Effort, budget: int) -> None:
    said = Params(max_tokens=500, temperature=0.2, top_p=0.3, top_k=4, is_answer_limit=True)
    wire = render(params=said, thinking=ThinkingConfig(effort))
    assert wire.body["thinking"] == {"type": "enabled", "budget_tokens": budget}
    assert wire.body["max_tokens"] == budget + 500
    assert wire.dropped == ("temperature", "top_p", "top_k")


@pytest.mark.parametrize("config", [ThinkingConfig("none"), ThinkingConfig(mode="disabled"), ThinkingConfig(budget=0)])
def test_no_thinking_says_nothing(config: ThinkingConfig) -> None:
    wire = render(thinking=config)
    assert "thinking" not in wire.body
    assert wire.dropped == ()


def test_a_budget_is_at_least_what_claude_takes() -> None:
    assert render(thinking=ThinkingConfig(budget=10)).body["thinking"]["budget_tokens"] == 1024


def test_adaptive_thinking_stays_adaptive() -> None:
    body = render(thinking=ThinkingConfig("minimal", mode="adaptive")).body
    assert (body["thinking"], body["output_config"]) == ({"type": "adaptive"}, {"effort": "low"})


@pytest.mark.parametrize(
    "messages",
    [
        (user(Text("q")), assistant(ToolCall("a", "look")), tool(ToolResult("a"))),
        (user(Text("q")), assistant(Text("so "))),
    ],
)
def test_thinking_is_left_out_where_claude_would_miss_a_signed_thought(messages: tuple[Message, ...]) -> None:
    wire = render(*messages, thinking=ThinkingConfig("high"))
    assert "thinking" not in wire.body
    assert wire.body["max_tokens"] == 8192
    assert "thinking" in wire.dropped


def test_thinking_goes_on_after_a_signed_thought_and_after_a_new_question() -> None:
    signed = Thinking("t", "sig", None, "claude")
    assert (
        "thinking"
        in render(
            user(Text("q")), assistant(signed, ToolCall("a", "look")), tool(ToolResult("a")), thinking=ThinkingConfig("low")
        ).body
    )
    assert (
        "thinking"
        in render(
            user(Text("q")),
            assistant(ToolCall("a", "look")),
            tool(ToolResult("a")),
            assistant(Text("so")),
            user(Text("more")),
            thinking=ThinkingConfig("low"),
        ).body
    )


def test_tools_are_declared_with_object_schemas() -> None:
    wire = render(tools=(LOOK, Tool("now", strict=True), Tool("odd", schema={"properties": {}}), ServerTool("web_search", {})))
    assert wire.body["tools"] == [
        {"name": "look", "description": "Looks", "input_schema": LOOK.schema},
        {"name": "now", "input_schema": {"type": "object", "properties": {}}},
        {"name": "odd", "input_schema": {"properties": {}, "type": "object"}},
    ]
    assert wire.dropped == ("tools.web_search", "strict")


def test_strict_reaches_claude_where_the_schema_is_sent_as_it_came() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
    wire = render(tools=(Tool("look", schema=schema, strict=True),))
    assert wire.body["tools"] == [{"name": "look", "input_schema": schema, "strict": True}]
    assert wire.dropped == ()


@pytest.mark.parametrize("name", ["server.look", "x" * 129, "", "é"])
def test_a_tool_name_that_claude_does_not_take_is_refused(name: str) -> None:
    with pytest.raises(UnsupportedFeature) as caught:
        render(tools=(Tool(name),))
    assert caught.value.param == "tools"


@pytest.mark.parametrize(
    ("choice", "rendered"),
    [
        (None, None),
        (ToolChoice("auto"), None),
        (ToolChoice("auto", parallel=True), None),
        (ToolChoice("auto", parallel=False), {"type": "auto", "disable_parallel_tool_use": True}),
        (ToolChoice("none", parallel=False), {"type": "none"}),
        (ToolChoice("required"), {"type": "any"}),
        (ToolChoice("required", parallel=False), {"type": "any", "disable_parallel_tool_use": True}),
        (ToolChoice("named", ("look",)), {"type": "tool", "name": "look"}),
        (ToolChoice("named", ("look", "hear")), {"type": "any"}),
    ],
)
def test_the_choice_of_tools_is_said(choice: ToolChoice | None, rendered: Json) -> None:
    body = render(tools=(LOOK, Tool("hear"), Tool("smell")), tool_choice=choice).body
    assert body.get("tool_choice") == rendered
    several = choice is not None and len(choice.names) > 1
    assert [tool["name"] for tool in body["tools"]] == (["look", "hear"] if several else ["look", "hear", "smell"])


def test_no_call_is_forced_while_thinking() -> None:
    wire = render(tools=(LOOK,), tool_choice=ToolChoice("required"), thinking=ThinkingConfig("low"))
    assert wire.body["tool_choice"] == {"type": "auto"}
    assert wire.dropped == ("tool_choice",)


def test_tools_of_the_history_are_declared_when_the_caller_declares_none() -> None:
    body = render(user(Text("q")), assistant(ToolCall("a", "lo.ok")), tool(ToolResult("a")), user(Text("and?"))).body
    assert [tool["name"] for tool in body["tools"]] == [body["messages"][1]["content"][0]["name"]] == ["lo_ok"]
    assert body["tool_choice"] == {"type": "none"}


def test_a_schema_is_fitted_without_touching_the_callers() -> None:
    schema = {
        "type": "object",
        "properties": {
            "minimum": {"type": "integer", "minimum": 1},
            "list": {"type": "array", "items": {"type": "object", "properties": {}}, "minItems": 1, "maxItems": 3},
            "one": {"oneOf": [{"type": "string", "minLength": 1}, {"enum": [{"minimum": 1}]}]},
        },
        "$defs": {"d": {"type": ["object", "null"], "additionalProperties": True}},
    }
    before = repr(schema)
    wire = render(response_format=ResponseFormat("schema", schema, "n", True))
    assert repr(schema) == before
    assert wire.body["output_config"] == {
        "format": {
            "type": "json_schema",
            "schema": {
                "type": "object",
                "properties": {
                    "minimum": {"type": "integer"},
                    "list": {
                        "type": "array",
                        "items": {"type": "object", "properties": {}, "additionalProperties": False},
                        "minItems": 1,
                    },
                    "one": {"anyOf": [{"type": "string"}, {"enum": [{"minimum": 1}]}]},
                },
                "$defs": {"d": {"type": ["object", "null"], "additionalProperties": False}},
                "additionalProperties": False,
            },
        }
    }
    assert wire.dropped == ("response_format.minimum", "response_format.maxItems", "response_format.minLength")


def test_json_without_schema_is_asked_for_in_words() -> None:
    body = render(text_message("system", "A."), text_message("user", "q"), response_format=ResponseFormat("json")).body
    assert body["system"] == "A.\n\nAnswer with one JSON value only."
    assert "output_config" not in body


def test_a_count_of_another_dialects_chat_has_no_limits() -> None:
    wire = CLAUDE.count_tokens.render_request(chat(params=Params(temperature=2, n=3, stop=("x",)), stream=True, tools=(LOOK,)))
    assert (wire.operation, wire.path, wire.stream, wire.dropped) == ("count_tokens", "/v1/messages/count_tokens", False, ())
    assert wire.body.keys() == {"model", "messages", "tools"}


def test_a_count_asked_by_a_claude_caller_is_its_own_body() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "future": 1}
    wire = CLAUDE.read_request("/v1/messages/count_tokens", {}, {}, body)
    assert CLAUDE.count_tokens.render_request(CLAUDE.parse_request(wire)).body == body
    whole = CLAUDE.read_request("/v1/messages", {}, {}, {**body, "max_tokens": 3, "stream": True, "temperature": 1})
    counted = CLAUDE.count_tokens.render_request(CLAUDE.parse_request(whole))
    assert (counted.body, counted.operation, counted.path) == (body, "count_tokens", "/v1/messages/count_tokens")


def test_a_cache_mark_stands_on_no_thought() -> None:
    mark = Opaque(CACHE_MARK, CACHE_MARK, {CACHE_MARK: {"type": "ephemeral"}})
    thought = Thinking("Hm.", "s", None, "claude")
    gone = Opaque("openai", "input_audio_id", {})
    wire = render(
        user(Text("q")), assistant(Text("a"), thought, gone, mark), user(Text("?")), assistant(thought, gone, mark, Text("b"))
    )
    first, second = (message["content"] for message in wire.body["messages"] if message["role"] == "assistant")
    assert [CACHE_MARK in block for block in first] == [True, False]
    assert [CACHE_MARK in block for block in second] == [False, False]
