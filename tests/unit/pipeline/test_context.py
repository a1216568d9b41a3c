"""Seed 003 part 1: every name that templates may read, whatever dialect the caller speaks."""

from collections.abc import Mapping
from typing import Any

import pytest

from agentui.pipeline.context import CONTEXT_NAMES, MacroContext
from agentui.pipeline.incoming import Incoming
from tests.unit.pipeline.parts import OPENAI, VENDORS, make_incoming

KEY = "sk-0123456789abcdef"
PICTURE = "iVBORw0KGgo="

FULL: dict[str, Incoming] = {
    "openai": make_incoming(
        {
            "model": "gpt-4o-mini",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "First"},
                {"role": "assistant", "content": "Yes?"},
                {"role": "user", "content": "Last words"},
            ],
            "temperature": 0.2,
            "max_tokens": 99,
            "top_p": 0.5,
            "stop": ["END"],
        }
    ),
    "openai_responses": make_incoming(
        {
            "model": "gpt-4o-mini",
            "instructions": "Be brief.",
            "input": [
                {"role": "user", "content": "First"},
                {"role": "assistant", "content": "Yes?"},
                {"role": "user", "content": "Last words"},
            ],
            "temperature": 0.2,
            "max_output_tokens": 99,
            "top_p": 0.5,
        },
        "/v1/responses",
    ),
    "claude": make_incoming(
        {
            "model": "gpt-4o-mini",
            "system": "Be brief.",
            "messages": [
                {"role": "user", "content": "First"},
                {"role": "assistant", "content": "Yes?"},
                {"role": "user", "content": [{"type": "text", "text": "Last words"}]},
            ],
            "temperature": 0.2,
            "max_tokens": 99,
            "top_p": 0.5,
            "stop_sequences": ["END"],
        },
        "/v1/messages",
    ),
    "gemini": make_incoming(
        {
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "First"}]},
                {"role": "model", "parts": [{"text": "Yes?"}]},
                {"role": "user", "parts": [{"text": "Last words"}]},
            ],
            "generationConfig": {"temperature": 0.2, "maxOutputTokens": 99, "topP": 0.5, "stopSequences": ["END"]},
        },
        "/v1beta/models/gpt-4o-mini:generateContent",
    ),
}
EMPTY: dict[str, Incoming] = {
    "openai": make_incoming(OPENAI),
    "openai_responses": make_incoming({"model": "m", "input": "Hi"}, "/v1/responses"),
    "claude": make_incoming({"model": "m", "messages": [{"role": "user", "content": "Hi"}]}, "/v1/messages"),
    "gemini": make_incoming({"contents": [{"parts": [{"text": "Hi"}]}]}, "/v1/models/m:streamGenerateContent"),
}
UNKNOWN = make_incoming({"prompt": "?"}, "/somewhere/else")


def context(incoming: Incoming) -> Mapping[str, Any]:
    return MacroContext(incoming)


def read(incoming: Incoming) -> Mapping[str, Any]:
    """The part ``incoming`` of the context."""
    part: Mapping[str, Any] = context(incoming)["incoming"]
    return part


def test_the_names_are_those_of_the_seed() -> None:
    assert tuple(context(UNKNOWN)) == CONTEXT_NAMES == ("model", "vendor_format", "system", "params", "chat", "incoming")


@pytest.mark.parametrize("vendor", FULL)
def test_every_dialect_fills_every_name(vendor: str) -> None:
    seen = context(FULL[vendor])
    assert seen["model"] == "gpt-4o-mini"
    assert seen["vendor_format"] == vendor
    assert seen["system"] == "Be brief."
    assert seen["params"] == {
        "temperature": 0.2,
        "max_tokens": 99,
        "top_p": 0.5,
        "stop": None if vendor == "openai_responses" else ["END"],
    }
    assert seen["chat"]["last_user"] == "Last words"
    said = [(message["role"], message["content"]) for message in seen["chat"]["messages"] if message["role"] != "system"]
    assert said == [("user", "First"), ("assistant", "Yes?"), ("user", "Last words")]


@pytest.mark.parametrize("vendor", EMPTY)
def test_what_the_caller_did_not_say_has_the_seeds_defaults(vendor: str) -> None:
    seen = context(EMPTY[vendor])
    assert seen["system"] == ""
    assert seen["params"] == {"temperature": 0.7, "max_tokens": None, "top_p": 1.0, "stop": None}
    assert isinstance(seen["params"]["temperature"], float)
    assert isinstance(seen["params"]["top_p"], float)


def test_a_zero_temperature_is_said_and_kept() -> None:
    assert context(make_incoming({**OPENAI, "temperature": 0}))["params"]["temperature"] == 0


def test_one_stop_word_is_a_list_of_one() -> None:
    assert context(make_incoming({**OPENAI, "stop": "END"}))["params"]["stop"] == ["END"]


def test_an_unknown_dialect_still_has_every_name() -> None:
    seen = context(UNKNOWN)
    assert seen["vendor_format"] == "unknown"
    assert seen["system"] == ""
    assert seen["params"] == {"temperature": 0.7, "max_tokens": None, "top_p": 1.0, "stop": None}
    assert seen["chat"] == {"last_user": "", "messages": []}
    assert seen["incoming"]["json"] == {"prompt": "?"}


def test_embeddings_hold_no_conversation() -> None:
    seen = context(make_incoming({"model": "e", "input": "text"}, "/v1/embeddings"))
    assert (seen["model"], seen["vendor_format"], seen["chat"]) == ("e", "openai", {"last_user": "", "messages": []})


def test_a_conversation_that_nobody_understands_reads_as_none() -> None:
    seen = context(make_incoming({"model": "m", "messages": [{"role": "wizard", "content": 7}]}))
    assert seen["chat"] == {"last_user": "", "messages": []}
    assert seen["incoming"]["json"]["messages"][0]["role"] == "wizard"


def test_messages_are_in_the_unified_form() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"a":1}'}}
    body = {
        "model": "m",
        "messages": [
            {"role": "user", "content": "Look", "name": "ann"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": "Seen"},
        ],
    }
    assert context(make_incoming(body))["chat"]["messages"] == [
        {"role": "user", "content": "Look", "name": "ann"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "Seen", "tool_call_id": "call_1"},
    ]


def test_a_tool_result_of_claude_carries_its_id_too() -> None:
    body = {
        "model": "m",
        "max_tokens": 5,
        "messages": [
            {"role": "user", "content": "Look"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "look", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "Seen"}]},
        ],
    }
    last = context(make_incoming(body, "/v1/messages"))["chat"]["messages"][-1]
    assert (last["content"], last["tool_call_id"]) == ("Seen", "t1")


def test_a_picture_makes_content_a_list_of_parts() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}
    body = {"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "What?"}, picture]}]}
    assert context(make_incoming(body, "/v1/messages"))["chat"]["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What?"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}},
            ],
        }
    ]


# --- the HTTP request ------------------------------------------------------------------------------------------------


def test_the_http_request_is_all_there() -> None:
    incoming = make_incoming(
        {**OPENAI, "custom": {"deep": [1, 2]}},
        query="session=s1&empty=&key=" + KEY,
        headers={"authorization": f"Bearer {KEY}", "x-custom": "yes"},
    )
    seen = read(incoming)
    assert seen["method"] == "POST"
    assert seen["path"] == "/v1/chat/completions"
    assert seen["query"] == f"session=s1&empty=&key={KEY}"
    assert seen["query_params"] == {"session": "s1", "empty": "", "key": KEY}
    assert seen["query_lists"] == {"session": ["s1"], "empty": [""], "key": [KEY]}
    assert seen["headers"] == {"authorization": f"Bearer {KEY}", "x-custom": "yes"}
    assert seen["json"]["custom"] == {"deep": [1, 2]}
    assert seen["api_keys"] == {"authorization": f"Bearer {KEY}", "key": KEY}


@pytest.mark.parametrize("name", ["key", "api_key", "access_token", "token", "signature"])
def test_keys_in_the_url_are_masked(name: str) -> None:
    url = read(make_incoming(query=f"a=1&{name}={KEY}&b=2"))["url"]
    assert url == f"http://127.0.0.1:7860/v1/chat/completions?a=1&{name}=***&b=2"


def test_a_url_without_keys_is_whole() -> None:
    assert read(make_incoming(query="alt=sse"))["url"] == "http://127.0.0.1:7860/v1/chat/completions?alt=sse"


@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("", {"x-api-key": KEY}),
        ("", {"x-goog-api-key": KEY}),
        (f"key={KEY}", {}),
        ("", {"authorization": f"Bearer {KEY}"}),
        ("", {"authorization": f"bearer  {KEY}"}),
    ],
)
def test_the_callers_key_is_found_in_each_of_the_four_places(query: str, headers: dict[str, str]) -> None:
    assert read(make_incoming(query=query, headers=headers))["api_key"] == KEY


@pytest.mark.parametrize("headers", [{}, {"authorization": "Basic dXNlcjpwYXNz"}, {"authorization": "Bearer"}])
def test_without_a_key_there_is_an_empty_one(headers: dict[str, str]) -> None:
    assert read(make_incoming(headers=headers))["api_key"] == ""


def test_slices_of_keys_that_were_not_sent_are_null() -> None:
    assert read(make_incoming())["api_keys"] == {"authorization": None, "key": None}


def test_nothing_is_computed_that_nobody_asks_for() -> None:
    class Untouchable(Mapping[str, str]):
        """Headers that must not be read."""

        def __getitem__(self, name: str) -> str:
            raise AssertionError(name)

        def __iter__(self) -> Any:
            raise AssertionError("iterated")

        def __len__(self) -> int:
            raise AssertionError("counted")

    seen = context(make_incoming().with_headers(Untouchable(), ""))
    assert seen["model"] == "gpt-4o-mini"
    assert "incoming" in seen
    with pytest.raises(AssertionError):
        seen["incoming"]


def test_a_value_is_made_once() -> None:
    seen = context(FULL["openai"])
    assert seen["chat"] is seen["chat"]


TWO_SYSTEMS = {
    "claude": make_incoming(
        {
            "model": "m",
            "system": [{"type": "text", "text": "S1"}, {"type": "text", "text": "S2"}],
            "messages": [{"role": "user", "content": "Hi"}],
        },
        "/v1/messages",
    ),
    "gemini": make_incoming(
        {"systemInstruction": {"parts": [{"text": "S1"}, {"text": "S2"}]}, "contents": [{"parts": [{"text": "Hi"}]}]},
        "/v1/models/m:generateContent",
    ),
    "openai": make_incoming(
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": [{"type": "text", "text": "S1"}, {"type": "text", "text": "S2"}]},
                {"role": "user", "content": "Hi"},
            ],
        }
    ),
}


@pytest.mark.parametrize("vendor", TWO_SYSTEMS)
def test_an_empty_line_stands_between_system_texts(vendor: str) -> None:
    incoming = TWO_SYSTEMS[vendor]
    assert context(incoming)["system"] == "S1\n\nS2"
    for target in VENDORS.values():
        assert target.render_prompt(incoming.chat.messages).pm["system_text"] == "S1\n\nS2"


RESULTS = {
    "claude": make_incoming(
        {
            "model": "m",
            "messages": [
                {"role": "user", "content": "Weather?"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "tool_use", "id": "a", "name": "weather", "input": {"at": "x"}},
                        {"type": "tool_use", "id": "b", "name": "weather", "input": {"at": "y"}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "a", "content": "sun"},
                        {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "rain"}]},
                        {"type": "text", "text": "And?"},
                    ],
                },
            ],
        },
        "/v1/messages",
    ),
    "gemini": make_incoming(
        {
            "contents": [
                {"role": "user", "parts": [{"text": "Weather?"}]},
                {
                    "role": "model",
                    "parts": [
                        {"functionCall": {"id": "a", "name": "weather", "args": {"at": "x"}}},
                        {"functionCall": {"id": "b", "name": "weather", "args": {"at": "y"}}},
                    ],
                },
                {
                    "role": "user",
                    "parts": [
                        {"functionResponse": {"id": "a", "name": "weather", "response": {"is": "sun"}}},
                        {"functionResponse": {"id": "b", "name": "weather", "response": {"is": "rain"}}},
                        {"text": "And?"},
                    ],
                },
            ]
        },
        "/v1/models/m:generateContent",
    ),
}


@pytest.mark.parametrize("vendor", RESULTS)
def test_each_tool_result_is_a_message_with_the_id_of_its_call(vendor: str) -> None:
    messages = context(RESULTS[vendor])["chat"]["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool", "user"]
    assert [call["id"] for call in messages[1]["tool_calls"]] == ["a", "b"]
    assert [message["tool_call_id"] for message in messages[2:4]] == ["a", "b"]
    assert "sun" in messages[2]["content"] and "rain" in messages[3]["content"]
    assert messages[4] == {"role": "user", "content": "And?"}


def test_a_name_that_stands_several_times_in_a_query_keeps_all_its_values() -> None:
    seen = read(make_incoming(OPENAI, query="tag=a&tag=b&x=1&tag="))
    assert seen["query_lists"] == {"tag": ["a", "b", ""], "x": ["1"]}
    assert seen["query_params"] == {"tag": "", "x": "1"}
