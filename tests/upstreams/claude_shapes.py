"""The fields of Claude's requests by API version (after the official SDK's parameter types)."""

from tests.upstreams.shapes import (
    ANY,
    BOOLEAN,
    INTEGER,
    NUMBER,
    OBJECT,
    STRING,
    Base64,
    Json,
    Kind,
    ListOf,
    Nullable,
    Obj,
    Path,
    StringOr,
    Tagged,
    enum,
)

SAMPLING_VERSION = "2023-06-01"
STRICT_VERSION = "2026-10-21"
VERSIONS = (SAMPLING_VERSION, STRICT_VERSION)

_CACHE = Nullable(Obj({"type": enum("ephemeral"), "ttl": enum("5m", "1h")}, ("type",)))
_TEXT = Obj(
    {"type": STRING, "text": STRING, "cache_control": _CACHE, "citations": Nullable(ListOf(OBJECT))},
    ("text",),
)
_IMAGE = Obj(
    {
        "type": STRING,
        "source": Tagged(
            "type",
            {
                "base64": Obj(
                    {
                        "type": STRING,
                        "media_type": enum("image/jpeg", "image/png", "image/gif", "image/webp"),
                        "data": Base64(),
                    },
                    ("media_type", "data"),
                ),
                "url": Obj({"type": STRING, "url": STRING}, ("url",)),
                "file": Obj({"type": STRING, "file_id": STRING}, ("file_id",)),
            },
        ),
        "cache_control": _CACHE,
        "transformations": OBJECT,
    },
    ("source",),
)
_DOCUMENT = Obj(
    {
        "type": STRING,
        "source": Tagged(
            "type",
            {
                "base64": Obj(
                    {"type": STRING, "media_type": enum("application/pdf"), "data": Base64()}, ("media_type", "data")
                ),
                "url": Obj({"type": STRING, "url": STRING}, ("url",)),
                "file": Obj({"type": STRING, "file_id": STRING}, ("file_id",)),
                "text": Obj({"type": STRING, "media_type": enum("text/plain"), "data": STRING}, ("media_type", "data")),
                "content": Obj({"type": STRING, "content": ANY}, ("content",)),
            },
        ),
        "title": Nullable(STRING),
        "context": Nullable(STRING),
        "citations": Nullable(Obj({"enabled": BOOLEAN})),
        "cache_control": _CACHE,
    },
    ("source",),
)
_SEARCH_RESULT = Obj(
    {"type": STRING, "source": STRING, "title": STRING, "content": ListOf(_TEXT), "citations": OBJECT, "cache_control": _CACHE},
    ("source", "title", "content"),
)
_TOOL_RESULT = Obj(
    {
        "type": STRING,
        "tool_use_id": STRING,
        "content": StringOr(
            ListOf(Tagged("type", {"text": _TEXT, "image": _IMAGE, "document": _DOCUMENT, "search_result": _SEARCH_RESULT}))
        ),
        "is_error": BOOLEAN,
        "cache_control": _CACHE,
        "toolset_name": STRING,
    },
    ("tool_use_id",),
)
_TOOL_USE = Obj(
    {
        "type": STRING,
        "id": STRING,
        "name": STRING,
        "input": OBJECT,
        "cache_control": _CACHE,
        "caller": OBJECT,
        "toolset_name": STRING,
    },
    ("id", "name", "input"),
)
_BLOCKS: dict[str, Kind] = {
    "text": _TEXT,
    "image": _IMAGE,
    "document": _DOCUMENT,
    "search_result": _SEARCH_RESULT,
    "tool_result": _TOOL_RESULT,
    "tool_use": _TOOL_USE,
    "thinking": Obj({"type": STRING, "thinking": STRING, "signature": STRING}, ("thinking", "signature")),
    "redacted_thinking": Obj({"type": STRING, "data": STRING}, ("data",)),
    "server_tool_use": OBJECT,
    "web_search_tool_result": OBJECT,
    "web_fetch_tool_result": OBJECT,
    "container_upload": OBJECT,
}
_MESSAGE = Obj(
    {"role": enum("user", "assistant", "system"), "content": StringOr(ListOf(Tagged("type", _BLOCKS)))}, ("role", "content")
)

_CUSTOM_TOOL = Obj(
    {
        "type": Nullable(enum("custom")),
        "name": STRING,
        "description": STRING,
        "input_schema": OBJECT,
        "cache_control": _CACHE,
        "strict": BOOLEAN,
        "defer_loading": BOOLEAN,
        "eager_input_streaming": Nullable(BOOLEAN),
        "allowed_callers": ListOf(STRING),
        "input_examples": ListOf(OBJECT),
    },
    ("name", "input_schema"),
)


class _AnyTool:
    """A custom tool, or one that the vendor runs itself (told by its dated type), which is not looked into."""

    def read(self, value: Json, path: Path) -> Json:
        """The tool read."""
        kind = value.get("type") if isinstance(value, dict) else None
        if isinstance(kind, str) and kind[-8:].isdigit():
            return value
        return _CUSTOM_TOOL.read(value, path)


_PARALLEL: dict[str, Kind] = {"type": STRING, "disable_parallel_tool_use": BOOLEAN}
_CHOICE = Tagged(
    "type",
    {
        "auto": Obj(_PARALLEL),
        "any": Obj(_PARALLEL),
        "tool": Obj({**_PARALLEL, "name": STRING}, ("name",)),
        "none": Obj({"type": STRING}),
    },
)
_DISPLAY = Nullable(enum("summarized", "omitted"))
_THINKING = Tagged(
    "type",
    {
        "enabled": Obj({"type": STRING, "budget_tokens": INTEGER, "display": _DISPLAY}, ("budget_tokens",)),
        "disabled": Obj({"type": STRING}),
        "adaptive": Obj({"type": STRING, "display": _DISPLAY}),
        "between_tools": Obj({"type": STRING}),
    },
)
_OUTPUT = Obj(
    {
        "effort": Nullable(enum("low", "medium", "high", "xhigh", "max")),
        "format": Nullable(Obj({"type": enum("json_schema"), "schema": OBJECT}, ("type", "schema"))),
    }
)
_COUNT: dict[str, Kind] = {
    "model": STRING,
    "messages": ListOf(_MESSAGE),
    "system": StringOr(ListOf(Tagged("type", {"text": _TEXT}))),
    "tools": ListOf(_AnyTool()),
    "tool_choice": _CHOICE,
    "thinking": _THINKING,
    "output_config": _OUTPUT,
    "cache_control": _CACHE,
    "speed": Nullable(STRING),
    "user_profile_id": Nullable(STRING),
    "workspace_id": Nullable(STRING),
}
_MESSAGES: dict[str, Kind] = {
    **_COUNT,
    "max_tokens": INTEGER,
    "stream": BOOLEAN,
    "stop_sequences": ListOf(STRING),
    "metadata": Obj({"user_id": Nullable(STRING)}),
    "service_tier": enum("auto", "standard_only"),
    "container": Nullable(STRING),
    "diagnostics": Nullable(OBJECT),
    "inference_geo": Nullable(STRING),
    "thread": Nullable(
        Tagged(
            "type",
            {
                "create": Obj({"type": STRING}),
                "continue": Obj({"type": STRING, "previous_message_id": STRING}, ("previous_message_id",)),
            },
        )
    ),
}
_SAMPLING: dict[str, Kind] = {"temperature": NUMBER, "top_p": NUMBER, "top_k": INTEGER}


def messages_shape(version: str, operation: str, betas: str = "") -> Obj:
    """The fields of a body of this API version; only the older one has sampling parameters, and fields of a beta are there
    for callers whose ``anthropic-beta`` names it."""
    beta: dict[str, Kind] = {"context_management": Nullable(OBJECT)} if "context-management-" in betas else {}
    if operation == "count_tokens":
        return Obj({**_COUNT, **beta}, ("model", "messages"))
    fields = {**_MESSAGES, **beta, **(_SAMPLING if version == SAMPLING_VERSION else {})}
    return Obj(fields, ("model", "max_tokens", "messages"))
