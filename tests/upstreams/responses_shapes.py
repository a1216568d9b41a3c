"""The fields of OpenAI's Responses API requests (after the official SDK's parameter types)."""

from tests.upstreams.openai_shapes import BREAKPOINT, EFFORT
from tests.upstreams.shapes import (
    ANY,
    BOOLEAN,
    INTEGER,
    NUMBER,
    OBJECT,
    STRING,
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

_INPUT_TEXT = Obj({"type": STRING, "text": STRING, "prompt_cache_breakpoint": BREAKPOINT}, ("text",))
_INPUT_IMAGE = Obj(
    {
        "type": STRING,
        "image_url": Nullable(STRING),
        "file_id": Nullable(STRING),
        "detail": enum("auto", "low", "high", "original"),
        "prompt_cache_breakpoint": BREAKPOINT,
    }
)
_INPUT_FILE = Obj(
    {
        "type": STRING,
        "file_data": STRING,
        "file_id": Nullable(STRING),
        "file_url": STRING,
        "filename": STRING,
        "detail": STRING,
        "prompt_cache_breakpoint": BREAKPOINT,
    }
)
_OUTPUT_TEXT = Obj({"type": STRING, "text": STRING, "annotations": ListOf(OBJECT), "logprobs": ListOf(OBJECT)}, ("text",))
_REFUSAL = Obj({"type": STRING, "refusal": STRING}, ("refusal",))

_INPUT_CONTENT = StringOr(
    ListOf(Tagged("type", {"input_text": _INPUT_TEXT, "input_image": _INPUT_IMAGE, "input_file": _INPUT_FILE}), 1)
)
_OUTPUT_CONTENT = StringOr(ListOf(Tagged("type", {"output_text": _OUTPUT_TEXT, "refusal": _REFUSAL}), 1))
_STATUS = Nullable(enum("in_progress", "completed", "incomplete"))


def _message(content: Kind) -> Obj:
    """A message whose role allows this content."""
    return Obj(
        {"type": STRING, "role": STRING, "content": content, "id": STRING, "status": _STATUS, "phase": Nullable(STRING)},
        ("content",),
    )


_MESSAGE = Tagged(
    "role",
    {
        "user": _message(_INPUT_CONTENT),
        "system": _message(_INPUT_CONTENT),
        "developer": _message(_INPUT_CONTENT),
        "assistant": _message(_OUTPUT_CONTENT),
    },
)
_CALL: dict[str, Kind] = {
    "type": STRING,
    "id": Nullable(STRING),
    "call_id": STRING,
    "name": STRING,
    "namespace": STRING,
    "status": _STATUS,
    "caller": Nullable(OBJECT),
    "async": Nullable(BOOLEAN),
}
_OUTPUT: dict[str, Kind] = {
    "type": STRING,
    "id": Nullable(STRING),
    "call_id": STRING,
    "output": StringOr(_INPUT_CONTENT),
    "status": _STATUS,
    "caller": Nullable(OBJECT),
}
_ITEM = Tagged(
    "type",
    {
        "message": _MESSAGE,
        "function_call": Obj({**_CALL, "arguments": STRING}, ("call_id", "name", "arguments")),
        "function_call_output": Obj(
            {**_OUTPUT, "name": Nullable(STRING), "namespace": Nullable(STRING)}, ("call_id", "output")
        ),
        "custom_tool_call": Obj({**_CALL, "input": STRING}, ("call_id", "name", "input")),
        "custom_tool_call_output": Obj(_OUTPUT, ("call_id", "output")),
        "reasoning": Obj(
            {
                "type": STRING,
                "id": STRING,
                "summary": ListOf(Obj({"type": STRING, "text": STRING}, ("text",))),
                "content": Nullable(ListOf(Obj({"type": STRING, "text": STRING}, ("text",)))),
                "encrypted_content": Nullable(STRING),
                "status": _STATUS,
            },
            ("id", "summary"),
        ),
        "item_reference": Obj({"type": STRING, "id": STRING}, ("id",)),
        "web_search_call": OBJECT,
        "file_search_call": OBJECT,
        "computer_call": OBJECT,
        "code_interpreter_call": OBJECT,
        "image_generation_call": OBJECT,
        "mcp_call": OBJECT,
        "mcp_list_tools": OBJECT,
        "compaction": OBJECT,
        "additional_tools": Obj({"type": STRING, "id": Nullable(STRING), "role": STRING, "tools": ListOf(OBJECT)}, ("tools",)),
        "tool_search_call": OBJECT,
        "tool_search_output": OBJECT,
    },
    default="message",
)

_FUNCTION_TOOL = Obj(
    {
        "type": STRING,
        "name": STRING,
        "description": Nullable(STRING),
        "parameters": Nullable(OBJECT),
        "strict": Nullable(BOOLEAN),
        "defer_loading": BOOLEAN,
        "output_schema": Nullable(OBJECT),
        "allowed_callers": Nullable(ListOf(STRING)),
        "async": Nullable(BOOLEAN),
    },
    ("name",),
)


class _AnyTool:
    """A function, a custom tool, or one of the vendor's own, which is not looked into."""

    def read(self, value: Json, path: Path) -> Json:
        """The tool read."""
        kind = value.get("type") if isinstance(value, dict) else None
        if kind in (None, "function"):
            return Tagged("type", {"function": _FUNCTION_TOOL}).read(value, path)
        return OBJECT.read(value, path)


_FORMAT = Tagged(
    "type",
    {
        "text": Obj({"type": STRING}),
        "json_object": Obj({"type": STRING}),
        "json_schema": Obj(
            {"type": STRING, "name": STRING, "schema": OBJECT, "description": STRING, "strict": Nullable(BOOLEAN)},
            ("name", "schema"),
        ),
    },
)
_CHOICE = StringOr(
    Tagged(
        "type",
        {
            "function": Obj({"type": STRING, "name": STRING}, ("name",)),
            "custom": Obj({"type": STRING, "name": STRING}, ("name",)),
            "allowed_tools": Obj(
                {"type": STRING, "mode": enum("auto", "required"), "tools": ListOf(OBJECT)}, ("mode", "tools")
            ),
            "web_search": OBJECT,
            "file_search": OBJECT,
            "mcp": OBJECT,
        },
    ),
    enum("none", "auto", "required"),
)
_REASONING = Obj(
    {
        "effort": Nullable(EFFORT),
        "summary": Nullable(enum("auto", "concise", "detailed")),
        "generate_summary": Nullable(enum("auto", "concise", "detailed")),
        "context": Nullable(ANY),
        "mode": Nullable(STRING),
    }
)
_COUNT: dict[str, Kind] = {
    "model": Nullable(STRING),
    "input": Nullable(StringOr(ListOf(_ITEM, 1))),
    "instructions": Nullable(STRING),
    "conversation": Nullable(ANY),
    "parallel_tool_calls": Nullable(BOOLEAN),
    "previous_response_id": Nullable(STRING),
    "reasoning": Nullable(_REASONING),
    "text": Nullable(Obj({"format": _FORMAT, "verbosity": Nullable(enum("low", "medium", "high"))})),
    "tool_choice": Nullable(_CHOICE),
    "tools": Nullable(ListOf(_AnyTool())),
    "truncation": Nullable(enum("auto", "disabled")),
}
COUNT = Obj({**_COUNT, "personality": STRING})
CREATE = Obj(
    {
        **_COUNT,
        "access_programs": ANY,
        "background": Nullable(BOOLEAN),
        # Not in the reference; Codex sends it, and the API takes it.
        "client_metadata": Nullable(OBJECT),
        "context_management": Nullable(ANY),
        "image": ANY,
        "include": Nullable(ListOf(STRING)),
        "max_output_tokens": Nullable(INTEGER),
        "max_tool_calls": Nullable(INTEGER),
        "metadata": Nullable(OBJECT),
        "moderation": Nullable(OBJECT),
        "prompt": Nullable(OBJECT),
        "prompt_cache_key": STRING,
        "prompt_cache_options": OBJECT,
        "prompt_cache_retention": Nullable(STRING),
        "safety_identifier": STRING,
        "service_tier": Nullable(STRING),
        "store": Nullable(BOOLEAN),
        "stream": Nullable(BOOLEAN),
        "stream_options": Nullable(Obj({"include_obfuscation": BOOLEAN})),
        "temperature": Nullable(NUMBER),
        "top_logprobs": Nullable(INTEGER),
        "top_p": Nullable(NUMBER),
        "user": STRING,
    },
    ("model",),
)
