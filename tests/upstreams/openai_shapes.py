"""The fields of OpenAI's requests: chat completions and embeddings (after the official SDK's parameter types)."""

from tests.upstreams.shapes import (
    ANY,
    BOOLEAN,
    INTEGER,
    NUMBER,
    OBJECT,
    STRING,
    Kind,
    ListOf,
    Nullable,
    Obj,
    StringOr,
    Tagged,
    enum,
)

EFFORT = enum("none", "minimal", "low", "medium", "high", "xhigh", "max")
BREAKPOINT = Obj({"mode": STRING, "ttl": STRING})

_TEXT_PART = Obj({"type": STRING, "text": STRING, "prompt_cache_breakpoint": BREAKPOINT}, ("text",))
_IMAGE_PART = Obj(
    {
        "type": STRING,
        "image_url": Obj({"url": STRING, "detail": enum("auto", "low", "high", "original")}, ("url",)),
        "prompt_cache_breakpoint": BREAKPOINT,
    },
    ("image_url",),
)
_AUDIO_PART = Obj(
    {
        "type": STRING,
        "input_audio": Obj({"data": STRING, "format": enum("wav", "mp3")}, ("data", "format")),
        "prompt_cache_breakpoint": BREAKPOINT,
    },
    ("input_audio",),
)
_FILE_PART = Obj(
    {
        "type": STRING,
        "file": Obj({"file_data": STRING, "file_id": STRING, "filename": STRING}),
        "prompt_cache_breakpoint": BREAKPOINT,
    },
    ("file",),
)
_REFUSAL_PART = Obj({"type": STRING, "refusal": STRING}, ("refusal",))

_TEXTS = StringOr(ListOf(Tagged("type", {"text": _TEXT_PART}), 1))
_USER_CONTENT = StringOr(
    ListOf(Tagged("type", {"text": _TEXT_PART, "image_url": _IMAGE_PART, "input_audio": _AUDIO_PART, "file": _FILE_PART}), 1)
)
_ASSISTANT_CONTENT = Nullable(StringOr(ListOf(Tagged("type", {"text": _TEXT_PART, "refusal": _REFUSAL_PART}), 1)))

_TOOL_CALL = Tagged(
    "type",
    {
        "function": Obj(
            {"id": STRING, "type": STRING, "function": Obj({"name": STRING, "arguments": STRING}, ("name", "arguments"))},
            ("id", "function"),
        ),
        "custom": Obj(
            {"id": STRING, "type": STRING, "custom": Obj({"name": STRING, "input": STRING}, ("name", "input"))},
            ("id", "custom"),
        ),
    },
)
_SYSTEM = Obj({"role": STRING, "content": _TEXTS, "name": STRING}, ("content",))
_MESSAGE = Tagged(
    "role",
    {
        "system": _SYSTEM,
        "developer": _SYSTEM,
        "user": Obj({"role": STRING, "content": _USER_CONTENT, "name": STRING}, ("content",)),
        "assistant": Obj(
            {
                "role": STRING,
                "content": _ASSISTANT_CONTENT,
                "name": STRING,
                "refusal": Nullable(STRING),
                "audio": Nullable(Obj({"id": STRING}, ("id",))),
                "tool_calls": ListOf(_TOOL_CALL, 1, 128),
                "function_call": Nullable(Obj({"name": STRING, "arguments": STRING}, ("name", "arguments"))),
            }
        ),
        "tool": Obj({"role": STRING, "content": _TEXTS, "tool_call_id": STRING}, ("content", "tool_call_id")),
        "function": Obj({"role": STRING, "content": Nullable(STRING), "name": STRING}, ("content", "name")),
    },
)

FUNCTION = Obj({"name": STRING, "description": STRING, "parameters": OBJECT, "strict": Nullable(BOOLEAN)}, ("name",))
_TOOL = Tagged(
    "type",
    {
        "function": Obj({"type": STRING, "function": FUNCTION}, ("function",)),
        "custom": Obj(
            {"type": STRING, "custom": Obj({"name": STRING, "description": STRING, "format": OBJECT}, ("name",))}, ("custom",)
        ),
    },
)
_NAME = Obj({"name": STRING}, ("name",))
_TOOL_CHOICE = StringOr(
    Tagged(
        "type",
        {
            "function": Obj({"type": STRING, "function": _NAME}, ("function",)),
            "custom": Obj({"type": STRING, "custom": _NAME}, ("custom",)),
            "allowed_tools": Obj(
                {
                    "type": STRING,
                    "allowed_tools": Obj({"mode": enum("auto", "required"), "tools": ListOf(OBJECT)}, ("mode", "tools")),
                },
                ("allowed_tools",),
            ),
        },
    ),
    enum("none", "auto", "required"),
)
_FORMAT = Tagged(
    "type",
    {
        "text": Obj({"type": STRING}),
        "json_object": Obj({"type": STRING}),
        "json_schema": Obj(
            {
                "type": STRING,
                "json_schema": Obj(
                    {"name": STRING, "description": STRING, "schema": OBJECT, "strict": Nullable(BOOLEAN)}, ("name",)
                ),
            },
            ("json_schema",),
        ),
    },
)

_CHAT: dict[str, Kind] = {
    "messages": ListOf(_MESSAGE, 1),
    "model": STRING,
    "audio": Nullable(Obj({"format": STRING, "voice": ANY}, ("format", "voice"))),
    "frequency_penalty": Nullable(NUMBER),
    "function_call": StringOr(_NAME),
    "functions": ListOf(OBJECT, 1),
    "logit_bias": Nullable(OBJECT),
    "logprobs": Nullable(BOOLEAN),
    "max_completion_tokens": Nullable(INTEGER),
    "max_tokens": Nullable(INTEGER),
    "metadata": Nullable(OBJECT),
    "modalities": Nullable(ListOf(enum("text", "audio"))),
    "moderation": OBJECT,
    "n": Nullable(INTEGER),
    "parallel_tool_calls": BOOLEAN,
    "prediction": Nullable(Obj({"type": STRING, "content": ANY}, ("type", "content"))),
    "presence_penalty": Nullable(NUMBER),
    "prompt_cache_key": STRING,
    "prompt_cache_options": OBJECT,
    "prompt_cache_retention": Nullable(STRING),
    "reasoning_effort": Nullable(EFFORT),
    "response_format": _FORMAT,
    "safety_identifier": STRING,
    "seed": Nullable(INTEGER),
    "service_tier": Nullable(STRING),
    "stop": Nullable(StringOr(ListOf(STRING, 1))),
    "store": Nullable(BOOLEAN),
    "stream": Nullable(BOOLEAN),
    "stream_options": Nullable(Obj({"include_usage": BOOLEAN, "include_obfuscation": BOOLEAN})),
    "temperature": Nullable(NUMBER),
    "tool_choice": _TOOL_CHOICE,
    "tools": ListOf(_TOOL, 1, 128),
    "top_logprobs": Nullable(INTEGER),
    "top_p": Nullable(NUMBER),
    "user": STRING,
    "verbosity": Nullable(enum("low", "medium", "high")),
    "web_search_options": OBJECT,
}

CHAT = Obj(_CHAT, ("model", "messages"))
EMBEDDINGS = Obj(
    {
        "input": StringOr(ListOf(ANY, 1, 2048)),
        "model": STRING,
        "dimensions": INTEGER,
        "encoding_format": enum("float", "base64"),
        "user": STRING,
    },
    ("input", "model"),
)
