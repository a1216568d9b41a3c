"""Claude's requests: the check at the door, the dialect taken off, and nothing lost on the way back."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.chat.messages import Media, Message, Opaque, Text, Thinking, ToolCall, ToolResult, text_message
from agentui.chat.request import ChatRequest, Params, ResponseFormat, ServerTool, ThinkingConfig, ToolChoice, WireRequest
from agentui.errors import BadRequest
from agentui.jsonio import Json
from agentui.vendors.claude import Claude

CLAUDE = Claude()
HELLO: Json = {"model": "claude-x", "max_tokens": 10, "messages": [{"role": "user", "content": "hello"}]}


def read(body: Json, path: str = "/v1/messages", **headers: str) -> WireRequest:
    return CLAUDE.read_request(path, {}, {name.replace("_", "-"): value for name, value in headers.items()}, body)


def parse(body: Json) -> ChatRequest:
    return CLAUDE.parse_request(read(body))


def parse_parts(*blocks: Json, role: str = "user") -> tuple[object, ...]:
    return parse({**HELLO, "messages": [{"role": role, "content": list(blocks)}]}).messages[0].parts


FULL: Json = {
    "model": "claude-x",
    "max_tokens": 2048,
    "temperature": 0.5,
    "top_k": 4,
    "stop_sequences": ["END"],
    "stream": True,
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    "metadata": {"user_id": "u1"},
    "service_tier": "auto",
    "context_management": {"edits": []},
    "some_future_field": {"a": [1, 2.5, None]},
    "thinking": {"type": "enabled", "budget_tokens": 1024},
    "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": {"type": "object"}}},
    "tools": [
        {"name": "look", "description": "Looks", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}},
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 2},
    ],
    "tool_choice": {"type": "tool", "name": "look", "disable_parallel_tool_use": True},
    "messages": [
        {"role": "user", "content": "hello", "future": 1},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "sig=="},
                {"type": "redacted_thinking", "data": "xxx"},
                {"type": "text", "text": "I look.", "citations": [{"type": "char_location", "cited_text": "c"}]},
                {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "é"}, "caller": {"type": "direct"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "is_error": True,
                    "content": [{"type": "text", "text": "dark"}],
                    "cache_control": {"type": "ephemeral"},
                },
                {"type": "text", "text": ""},
            ],
        },
        {"role": "system", "content": "Mind the gap."},
        {"role": "user", "content": []},
    ],
}


def test_a_request_of_the_same_dialect_comes_back_whole() -> None:
    before = copy.deepcopy(FULL)
    wire = read(FULL, anthropic_version="2026-10-21", anthropic_beta="b1", x_api_key="secret")
    rendered = CLAUDE.render_request(CLAUDE.parse_request(wire))
    assert rendered.body == before == FULL
    assert rendered.dropped == ()
    assert rendered.headers == {"anthropic-version": "2026-10-21", "anthropic-beta": "b1"}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
extras = st.dictionaries(st.text(min_size=1, max_size=6).map(lambda key: f"x_{key}"), json_values, max_size=2)
texts = st.text(max_size=8)


def block(kind: str, **fields: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.builds(lambda extra, known: {"type": kind, **extra, **known}, extras, st.fixed_dictionaries(dict(fields)))


blocks = st.one_of(
    block("text", text=texts),
    block("thinking", thinking=texts, signature=st.text(min_size=1, max_size=5)),
    block("redacted_thinking", data=texts),
    block("tool_use", id=texts, name=texts, input=st.dictionaries(texts, json_values, max_size=2)),
    block("tool_result", tool_use_id=texts, content=texts | st.lists(block("text", text=texts), max_size=2)),
    block("image", source=st.fixed_dictionaries({"type": st.just("url"), "url": texts})),
    block("server_tool_use", id=texts, input=json_values),
    block("kind_of_tomorrow", payload=json_values),
)
messages = st.builds(
    lambda role, content, extra: {**extra, "role": role, "content": content},
    st.sampled_from(["user", "assistant", "system"]),
    texts | st.lists(blocks, max_size=4),
    extras,
)
bodies = st.builds(
    lambda extra, body, optional: {**extra, **body, **optional},
    extras,
    st.fixed_dictionaries({"model": st.just("m"), "messages": st.lists(messages, max_size=5)}),
    st.fixed_dictionaries(
        {},
        optional={
            "system": st.none() | texts | st.lists(block("text", text=texts), max_size=2),
            "stream": st.booleans(),
            "max_tokens": st.integers(0, 9),
            "metadata": st.none() | st.fixed_dictionaries({"user_id": texts}),
        },
    ),
)


@given(bodies)
def test_any_request_of_the_same_dialect_comes_back_whole(body: Json) -> None:
    before = copy.deepcopy(body)
    rendered = CLAUDE.render_request(parse(body))
    assert rendered.body == before == body
    assert rendered.dropped == ()


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"model": ""}, "model"),
        ({"model": 7}, "model"),
        ({"messages": {}}, "messages"),
        ({"messages": None}, "messages"),
        ({"stream": "yes"}, "stream"),
        ({"stream": None}, "stream"),
        ({"stream": 1}, "stream"),
    ],
)
def test_the_door_names_the_field_at_fault(change: Json, param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        read({**HELLO, **change})
    assert caught.value.param == param


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"temperature": "hot"}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"max_tokens": 1.5}, "max_tokens"),
        ({"stop_sequences": "END"}, "stop_sequences"),
        ({"stop_sequences": [1]}, "stop_sequences"),
        ({"system": 7}, "system"),
        ({"metadata": []}, "metadata"),
        ({"metadata": {"user_id": 1}}, "metadata.user_id"),
        ({"tools": {}}, "tools"),
        ({"tools": [{"name": "x"}]}, "tools.0"),
        ({"tool_choice": "auto"}, "tool_choice"),
        ({"tool_choice": {"type": "tool"}}, "tool_choice"),
        ({"thinking": {"type": "maybe"}}, "thinking.type"),
        ({"thinking": {"type": "enabled", "budget_tokens": "much"}}, "thinking.budget_tokens"),
        ({"output_config": {"effort": "heroic"}}, "output_config.effort"),
        ({"output_config": {"effort": ["high"]}}, "output_config.effort"),
        ({"output_config": {"format": {"type": "xml"}}}, "output_config.format"),
        ({"output_format": {"type": "json_schema"}}, "output_format"),
        ({"messages": ["hi"]}, "messages.0"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages.0.role"),
        ({"messages": [{"role": ["user"], "content": "x"}]}, "messages.0.role"),
        ({"messages": [{"role": "user"}]}, "messages.0.content"),
        ({"messages": [{"role": "user", "content": ["x"]}]}, "messages.0.content.0"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages.0.content.0"),
        ({"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "messages.0.content.0"),
    ],
)
def test_what_cannot_be_understood_is_named(change: Json, param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        parse({**HELLO, **change})
    assert caught.value.param == param


def test_counting_has_an_operation_of_its_own() -> None:
    wire = read(HELLO, path="/v1/messages/count_tokens")
    assert (wire.operation, wire.stream) == ("count_tokens", False)
    assert read(HELLO).operation == "chat"


def test_another_model_or_stream_changes_nothing_else() -> None:
    wire = read(HELLO)
    assert CLAUDE.patch_request(wire, model="claude-y", stream=False).body == {**HELLO, "model": "claude-y"}
    assert CLAUDE.patch_request(wire, model="claude-x", stream=True).body == {**HELLO, "stream": True}
    assert wire.body == HELLO


def test_every_block_becomes_its_part() -> None:
    png = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    pdf = {"type": "document", "title": "t", "source": {"type": "base64", "media_type": "application/pdf", "data": "BBBB"}}
    search = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    assert parse_parts(
        {"type": "text", "text": "hi"},
        png,
        {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}},
        {"type": "image", "source": {"type": "file", "file_id": "f1"}},
        pdf,
        {"type": "document", "source": {"type": "url", "url": "https://x/y.pdf"}},
        {"type": "document", "title": "T", "source": {"type": "text", "media_type": "text/plain", "data": "words"}},
        search,
        {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "r"}, png], "is_error": True},
        {"type": "tool_result", "tool_use_id": "b", "content": "plain"},
        {"type": "tool_result", "tool_use_id": "c"},
        {"type": "search_result", "title": "A", "source": "https://a", "content": [{"type": "text", "text": "found"}]},
    ) == (
        Text("hi"),
        Media("image", "image/png", data="AAAA"),
        Media("image", url="https://x/y.png"),
        Media("image", file_id="f1"),
        Media("document", "application/pdf", data="BBBB", filename="t"),
        Media("document", "application/pdf", url="https://x/y.pdf"),
        Text("T\n"),
        Text("words"),
        Opaque("claude", "server_tool_use", search),
        ToolResult("a", (Text("r"), Media("image", "image/png", data="AAAA")), is_error=True),
        ToolResult("b", (Text("plain"),)),
        ToolResult("c"),
        Text("A\nhttps://a\nfound"),
    )
    assert parse_parts(
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "thinking", "thinking": "foreign", "signature": ""},
        {"type": "redacted_thinking", "data": "d"},
        {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
        {"type": "tool_use", "id": "b", "name": "g", "input": {}},
        role="assistant",
    ) == (
        Thinking("hm", "s", None, "claude"),
        Thinking("foreign"),
        Thinking("", None, "d", "claude"),
        ToolCall("a", "f", '{"x":1}'),
        ToolCall("b", "g", "{}"),
    )


def test_everything_beside_the_messages_is_modelled_or_named() -> None:
    chat = parse(FULL)
    assert chat.params == Params(temperature=0.5, top_k=4, max_tokens=2048, stop=("END",), user="u1")
    assert [getattr(tool, "name", None) or getattr(tool, "label", None) for tool in chat.tools] == [
        "look",
        "web_search_20250305",
    ]
    assert isinstance(chat.tools[1], ServerTool)
    assert chat.tool_choice == ToolChoice("named", ("look",), parallel=False)
    assert chat.thinking == ThinkingConfig("high", 1024, True, "enabled")
    assert chat.response_format == ResponseFormat("schema", {"type": "object"})
    assert chat.system == "Be brief.\n\nMind the gap."
    assert set(chat.unmodelled) == {
        "service_tier",
        "context_management",
        "some_future_field",
        "cache_control",
        "citations",
        "tool_use.caller",
        "messages.future",
    }


@pytest.mark.parametrize(
    ("body", "config"),
    [
        ({}, None),
        ({"thinking": {"type": "disabled"}}, ThinkingConfig("none", mode="disabled")),
        ({"thinking": {"type": "adaptive", "display": "omitted"}}, ThinkingConfig(None, None, False, "adaptive")),
        ({"thinking": {"type": "between_tools"}}, ThinkingConfig(None, None, True, "adaptive")),
        ({"output_config": {"effort": "max"}}, ThinkingConfig("max", mode="adaptive")),
    ],
)
def test_thinking_is_understood(body: Json, config: ThinkingConfig | None) -> None:
    assert parse({**HELLO, **body}).thinking == config


def with_messages(body: Json, *changed: Message) -> Json:
    chat = parse(body)
    return CLAUDE.render_request(
        ChatRequest("claude", chat.model, changed or chat.messages, chat.params, chat.wire, chat.stream)
    ).body


def test_system_texts_of_the_pipeline_stand_around_the_callers_own() -> None:
    own = {"type": "text", "text": "Own.", "cache_control": {"type": "ephemeral"}}
    chat = parse({**HELLO, "system": [own]})
    system, user = chat.messages
    body = with_messages(
        {**HELLO, "system": [own]}, text_message("system", "Before."), system, text_message("system", "After."), user
    )
    assert body["system"] == [{"type": "text", "text": "Before."}, own, {"type": "text", "text": "After."}]
    assert body["messages"] == HELLO["messages"]


def test_a_system_text_where_the_caller_had_none_is_a_string() -> None:
    user = parse(HELLO).messages[0]
    assert with_messages(HELLO, text_message("system", "A."), text_message("system", "B."), user)["system"] == "A.\n\nB."


def test_a_system_text_that_the_pipeline_took_away_is_gone() -> None:
    user = parse(HELLO).messages[0]
    assert "system" not in with_messages({**HELLO, "system": "Own."}, user)


def test_messages_of_the_pipeline_are_written_anew_beside_the_callers_own() -> None:
    user = parse(HELLO).messages[0]
    call = Message("assistant", (Thinking("hm", "sig", None, "claude"), Text(" "), ToolCall("t1", "look", "")))
    result = Message("tool", (ToolResult("t1", (Text("dark"),)),))
    assert with_messages(HELLO, user, call, result)["messages"] == [
        HELLO["messages"][0],
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "sig"},
                {"type": "tool_use", "id": "t1", "name": "look", "input": {}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "dark"}]},
    ]


def test_thoughts_that_another_vendor_had_do_not_go_to_claude() -> None:
    foreign = {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "f", "signature": "agentui:gemini:signature:t"},
            {"type": "text", "text": "a"},
        ],
    }
    wire = CLAUDE.render_request(parse({**HELLO, "messages": [*HELLO["messages"], foreign]}))
    assert wire.body["messages"][1]["content"] == [{"type": "text", "text": "a"}]
    assert wire.dropped == ("thinking",)


words = st.sampled_from(
    ["type", "text", "role", "user", "content", "tool_use", "tool_result", "thinking", "source", "image", "input", "id", "name"]
)
near_json = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)
FIELDS = ["system", "tools", "tool_choice", "thinking", "metadata", "output_config", "output_format", "stop_sequences", "top_k"]


@given(st.lists(near_json, max_size=3), st.dictionaries(st.sampled_from(FIELDS), near_json, max_size=3))
def test_any_json_is_understood_or_a_bad_request(messages: list[Json], fields: dict[str, Json]) -> None:
    try:
        chat = parse({"model": "m", "messages": messages, **fields})
    except BadRequest as error:
        assert error.param
    else:
        assert len(chat.messages) >= len(messages)
