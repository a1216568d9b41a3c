"""Requests that are odd and legal, as strict and as careless clients send them: every upstream takes what is made of them."""

from itertools import product
from typing import Any

import pytest

from tests.matrix.neutral import CALLERS, UPSTREAMS
from tests.matrix.test_passthrough import post
from tests.upstreams.server import Mock

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LONG_ID = "call_" + "x" * 100
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
DEEP = {
    "type": "object",
    "properties": {
        "place": {"$ref": "#/$defs/place", "description": "Where"},
        "when": {"type": ["string", "null"], "format": "date"},
        "kind": {"oneOf": [{"const": "a"}, {"type": "integer", "minimum": 1}]},
        "tree": {"type": "array", "items": {"type": "object", "additionalProperties": {"type": "number"}}},
    },
    "required": ["place"],
    "additionalProperties": False,
    "$defs": {"place": {"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": False}},
}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def said(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def function(name: str = "weather", **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, **more}}


def called(id: str, arguments: str = '{"city": "Paris"}', name: str = "weather") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def tool(id: str, content: Any = "Sunny") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


TOOLS = [function(parameters=CITY)]
NULLS = dict.fromkeys(
    ("temperature", "top_p", "stop", "n", "seed", "user", "tools", "tool_choice", "response_format", "logprobs", "metadata")
)
CHAT: dict[str, dict[str, Any]] = {
    "nulls": {"messages": [user("Hi")], **NULLS},
    "empty lists": {"messages": [user("Hi")], "tools": [], "stop": []},
    "prefill": {"messages": [user("Hi"), said("Well, ")]},
    "one role twice": {"messages": [user("Hi"), user("there"), said("a"), said("b"), user("c")]},
    "begins with the model": {"messages": [said("Hello!"), user("Hi")]},
    "empty words": {"messages": [user("Hi"), said(""), user(""), user("there")]},
    "parts": {"messages": [user([{"type": "text", "text": "Hi"}, {"type": "text", "text": ""}])]},
    "system amid": {"messages": [user("Hi"), {"role": "system", "content": "Be kind."}, user("there")]},
    "system in parts": {"messages": [{"role": "system", "content": [{"type": "text", "text": "Be kind."}]}, user("Hi")]},
    "names": {"messages": [{"role": "user", "name": "ann_1", "content": "Hi"}]},
    "a long call id": {"messages": [user("Hi"), said(None, tool_calls=[called(LONG_ID)]), tool(LONG_ID)], "tools": TOOLS},
    "an odd call id": {"messages": [user("Hi"), said("", tool_calls=[called("a.b|c:1")]), tool("a.b|c:1")], "tools": TOOLS},
    "calls without tools": {"messages": [user("Hi"), said(None, tool_calls=[called("1")]), tool("1"), user("So?")]},
    "an empty result": {"messages": [user("Hi"), said(None, tool_calls=[called("1")]), tool("1", "")], "tools": TOOLS},
    "a result in parts": {
        "messages": [user("Hi"), said(None, tool_calls=[called("1")]), tool("1", [{"type": "text", "text": "x"}])],
        "tools": TOOLS,
    },
    "results in another order": {
        "messages": [user("Hi"), said(None, tool_calls=[called("1"), called("2")]), tool("2", "b"), tool("1", "a")],
        "tools": TOOLS,
    },
    "words after results": {
        "messages": [
            user("Hi"),
            said("Let me see.", tool_calls=[called("1")]),
            tool("1"),
            user("And?"),
            said("So."),
            user("?"),
        ],
        "tools": TOOLS,
    },
    "no arguments": {"messages": [user("Hi"), said(None, tool_calls=[called("1", "")]), tool("1")], "tools": TOOLS},
    "broken arguments": {"messages": [user("Hi"), said(None, tool_calls=[called("1", "{oops")]), tool("1")], "tools": TOOLS},
    "a tool without parameters": {"messages": [user("Hi")], "tools": [function("now")]},
    "a hard schema": {"messages": [user("Hi")], "tools": [function(parameters=DEEP, strict=False)]},
    "allowed tools": {
        "messages": [user("Hi")],
        "tools": [function(parameters=CITY), function("clock", parameters=CITY)],
        "tool_choice": {
            "type": "allowed_tools",
            "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "clock"}}]},
        },
    },
    "one at a time": {"messages": [user("Hi")], "tools": TOOLS, "parallel_tool_calls": False, "tool_choice": "required"},
    "functions of old": {
        "messages": [
            user("Hi"),
            said(None, function_call={"name": "weather", "arguments": "{}"}),
            {"role": "function", "name": "weather", "content": "x"},
        ],
        "functions": [{"name": "weather", "parameters": CITY}],
    },
    "a picture": {
        "messages": [user([{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}", "detail": "low"}}])]
    },
    "json": {"messages": [user("Hi, JSON please")], "response_format": {"type": "json_object"}},
    "a schema": {
        "messages": [user("Hi")],
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": DEEP, "strict": False}},
    },
    "effort and a limit": {"messages": [user("Hi")], "reasoning_effort": "high", "max_completion_tokens": 2000},
    "effort and sampling": {"messages": [user("Hi")], "reasoning_effort": "low", "temperature": 0.4, "top_p": 0.9},
    "refused before": {"messages": [user("Hi"), said(None, refusal="No."), user("Please")]},
    "a small limit": {"messages": [user("Hi")], "max_tokens": 1},
    "half a character": {"messages": [user("Hi \\ud83d")]},
}


def item(role: str, content: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": content}


def call(id: str, arguments: str = '{"city": "Paris"}') -> dict[str, Any]:
    return {"type": "function_call", "call_id": id, "name": "weather", "arguments": arguments}


def output(id: str, value: Any = "Sunny") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": value}


FLAT = [{"type": "function", "name": "weather", "parameters": CITY, "strict": False}]
RESPONSES: dict[str, dict[str, Any]] = {
    "a string": {"input": "Hi", "instructions": "Be brief."},
    "nulls": {
        "input": "Hi",
        "tools": None,
        "text": None,
        "reasoning": None,
        "temperature": None,
        "metadata": None,
        "user": None,
    },
    "developer": {"input": [item("developer", "Be brief."), item("user", "Hi")]},
    "system amid": {"input": [item("user", "Hi"), item("system", "Be kind."), item("user", "there")]},
    "a message of the answer": {
        "input": [
            item("user", "Hi"),
            {
                **item("assistant", [{"type": "output_text", "text": "Hello", "annotations": []}]),
                "id": "msg_1",
                "status": "completed",
            },
            item("user", "there"),
        ]
    },
    "calls apart": {"input": [item("user", "Hi"), call("1"), call("2"), output("1"), output("2")], "tools": FLAT},
    "a call at a time": {"input": [item("user", "Hi"), call("1"), output("1"), call("2"), output("2")], "tools": FLAT},
    "output in parts": {
        "input": [item("user", "Hi"), call("1"), output("1", [{"type": "input_text", "text": "x"}])],
        "tools": FLAT,
    },
    "a picture as output": {
        "input": [
            item("user", "Hi"),
            call("1"),
            output("1", [{"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", "detail": "auto"}]),
        ],
        "tools": FLAT,
    },
    "a thought without a token": {
        "input": [
            item("user", "Hi"),
            {"type": "reasoning", "id": "rs_1", "summary": []},
            item("assistant", "a"),
            item("user", "b"),
        ]
    },
    "a schema": {"input": "Hi", "text": {"format": {"type": "json_schema", "name": "x", "schema": DEEP, "strict": False}}},
    "effort and sampling": {"input": "Hi", "reasoning": {"effort": "low"}, "temperature": 0.5, "max_output_tokens": 3000},
    "allowed tools": {
        "input": "Hi",
        "tools": FLAT,
        "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "weather"}]},
    },
    "cache and tier": {"input": "Hi", "prompt_cache_key": "k", "service_tier": "auto", "truncation": "auto", "store": False},
}


def use(id: str, **input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "weather", "input": input}


def result(id: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, **more}


CUSTOM = [{"name": "weather", "input_schema": CITY}]
MARK = {"cache_control": {"type": "ephemeral"}}
CLAUDE: dict[str, dict[str, Any]] = {
    "system in blocks": {"messages": [user("Hi")], "system": [{"type": "text", "text": "Be kind.", **MARK}]},
    "one role twice": {"messages": [user("Hi"), user("there")]},
    "prefill": {"messages": [user("Hi"), said("Well,")]},
    "system amid": {"messages": [user("Hi"), said("a"), {"role": "system", "content": "Be kind."}, user("b")]},
    "no result content": {"messages": [user("Hi"), said([use("1")]), user([result("1")])], "tools": CUSTOM},
    "an error": {
        "messages": [user("Hi"), said([use("1", city="x")]), user([result("1", is_error=True, content="No.")])],
        "tools": CUSTOM,
    },
    "results and words": {
        "messages": [
            user("Hi"),
            said([{"type": "text", "text": "See:"}, use("1"), use("2")]),
            user(
                [
                    result("1", content="a"),
                    result("2", content=[{"type": "text", "text": "b"}]),
                    {"type": "text", "text": "So?"},
                ]
            ),
        ],
        "tools": CUSTOM,
    },
    "a picture as a result": {
        "messages": [
            user("Hi"),
            said([use("1")]),
            user(
                [
                    result(
                        "1", content=[{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}]
                    )
                ]
            ),
        ],
        "tools": CUSTOM,
    },
    "text as a document": {
        "messages": [
            user(
                [
                    {
                        "type": "document",
                        "source": {"type": "text", "media_type": "text/plain", "data": "Words."},
                        "title": "T",
                    },
                    {"type": "text", "text": "Sum up."},
                ]
            )
        ]
    },
    "a search result": {
        "messages": [
            user(
                [
                    {
                        "type": "search_result",
                        "source": "https://a.example",
                        "title": "A",
                        "content": [{"type": "text", "text": "Found."}],
                    },
                    {"type": "text", "text": "So?"},
                ]
            )
        ]
    },
    "any one tool": {
        "messages": [user("Hi")],
        "tools": CUSTOM,
        "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
    },
    "no tool": {"messages": [user("Hi")], "tools": CUSTOM, "tool_choice": {"type": "none"}},
    "strict": {"messages": [user("Hi")], "tools": [{"name": "w", "input_schema": DEEP, "strict": True}]},
    "effort": {"messages": [user("Hi")], "output_config": {"effort": "xhigh"}},
    "adaptive": {"messages": [user("Hi")], "thinking": {"type": "adaptive"}},
    "thinking": {"messages": [user("Hi")], "thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2000},
    "a schema": {
        "messages": [user("Hi")],
        "output_config": {"format": {"type": "json_schema", "schema": {**CITY, "additionalProperties": False}}},
    },
    "a long user": {"messages": [user("Hi")], "metadata": {"user_id": "user_" + "0123456789abcdef" * 8}},
    "five stops": {"messages": [user("Hi")], "stop_sequences": ["a1", "b2", "c3", "d4", "e5", "f6"]},
    "marks everywhere": {
        "messages": [user([{"type": "text", "text": "Hi", **MARK}])],
        "tools": [{**CUSTOM[0], **MARK}],
    },
}


def content(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


HI = content("user", {"text": "Hi"})
DECLARED = [{"functionDeclarations": [{"name": "weather", "parametersJsonSchema": CITY}]}]
CALLED = content("model", {"functionCall": {"name": "weather", "args": {"city": "Paris"}}})
GAVE = content("user", {"functionResponse": {"name": "weather", "response": {"result": "Sunny"}}})
GEMINI: dict[str, dict[str, Any]] = {
    "no role": {"contents": [{"parts": [{"text": "Hi"}]}]},
    "one role twice": {"contents": [HI, HI, content("model", {"text": "a"}), content("model", {"text": "b"}), HI]},
    "begins with the model": {"contents": [content("model", {"text": "Hello!"}), HI]},
    "ends with the model": {"contents": [HI, content("model", {"text": "Well,"})]},
    "calls without ids": {"contents": [HI, CALLED, GAVE], "tools": DECLARED},
    "the same call twice": {
        "contents": [
            HI,
            content("model", *CALLED["parts"], *CALLED["parts"]),
            content("user", *GAVE["parts"], *GAVE["parts"]),
        ],
        "tools": DECLARED,
    },
    "a result that failed": {
        "contents": [HI, CALLED, content("user", {"functionResponse": {"name": "weather", "response": {"error": "No."}}})],
        "tools": DECLARED,
    },
    "a result of its own shape": {
        "contents": [HI, CALLED, content("user", {"functionResponse": {"name": "weather", "response": {"a": [1, None]}}})],
        "tools": DECLARED,
    },
    "the old schema": {
        "contents": [HI],
        "tools": [{"functionDeclarations": [{"name": "f", "parameters": {
            "type": "OBJECT",
            "properties": {"a": {"type": "STRING", "nullable": True, "enum": ["x", "y"]},
                           "b": {"type": "ARRAY", "items": {"type": "INTEGER"}, "minItems": "1"}},
            "propertyOrdering": ["b", "a"],
        }}]}],
    },
    "a function that takes nothing": {"contents": [HI], "tools": [{"functionDeclarations": [{"name": "now"}]}]},
    "any of two": {
        "contents": [HI],
        "tools": [{"functionDeclarations": [{"name": "weather"}, {"name": "clock"}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["weather", "clock"]}},
    },
    "a level": {"contents": [HI], "generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW", "includeThoughts": True}}},
    "a budget and a limit": {
        "contents": [HI],
        "generationConfig": {"thinkingConfig": {"thinkingBudget": 8000}, "maxOutputTokens": 4000},
    },
    "no thought": {"contents": [HI], "generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}},
    "json": {"contents": [HI], "generationConfig": {"responseMimeType": "application/json"}},
    "a schema": {
        "contents": [HI],
        "generationConfig": {"responseMimeType": "application/json", "responseSchema": {
            "type": "OBJECT", "properties": {"n": {"type": "NUMBER", "minimum": 0, "maximum": 1}}, "required": ["n"]}},
    },
    "everything": {
        "contents": [HI],
        "generationConfig": {"temperature": 0.5, "topP": 0.9, "topK": 40.0, "candidateCount": 1, "seed": 7,
                             "stopSequences": ["a1", "b2", "c3", "d4", "e5"]},
        "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
    },
    "a picture": {"contents": [content("user", {"inlineData": {"mimeType": "image/png", "data": PIXEL}}, {"text": "What?"})]},
}  # fmt: skip

TABLE: dict[str, dict[str, dict[str, Any]]] = {
    "openai": CHAT,
    "openai_responses": RESPONSES,
    "claude": CLAUDE,
    "gemini": GEMINI,
}
MODELS = {"openai": ("llama-3", "gpt-5"), "openai_responses": ("gpt-4o", "gpt-5"), "claude": ("claude-sonnet-4-5",),
          "gemini": ("gemini-2.5-flash", "gemini-3-pro")}  # fmt: skip
CASES = [
    pytest.param(caller, name, upstream, model, id=f"{caller}>{upstream}:{model}:{name}")
    for caller, upstream in product(CALLERS, UPSTREAMS)
    if caller != upstream
    for model in MODELS[upstream]
    for name in TABLE[caller]
]


@pytest.mark.parametrize(("caller", "name", "upstream", "model"), CASES)
async def test_what_is_made_of_an_odd_request_is_taken(session, mock: Mock, origin, caller, name, upstream, model):
    body = TABLE[caller][name]
    path = {"openai": "/v1/chat/completions", "openai_responses": "/v1/responses", "claude": "/v1/messages"}.get(caller)
    if path is None:
        path = f"/v1beta/models/{model}:generateContent"
    else:
        body = {"model": model, **({"max_tokens": 300} if caller == "claude" else {}), **body}
    status, answer = await post(session, f"{origin}/p/{upstream}", caller, path, body)
    assert status == 200, (answer, mock.requests and mock.last.body)
