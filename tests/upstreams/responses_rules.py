"""What the Responses API refuses beyond the shape of the body."""

from collections.abc import Mapping

from tests.upstreams.exchange import Exchange, Vault
from tests.upstreams.openai_rules import (
    check_file,
    check_image_url,
    check_metadata,
    check_name,
    check_range,
    check_root,
    check_strict_schema,
    check_temperature_is_one,
    check_unsupported,
    is_reasoning,
    read,
    refuse,
    spell,
)
from tests.upstreams.responses_shapes import COUNT, CREATE
from tests.upstreams.shapes import Json

_PREFIXES = {"message": "msg", "function_call": "fc", "reasoning": "rs"}
_INCLUDABLE = (
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
    "message.input_image.image_url",
    "web_search_call.action.sources",
    "web_search_call.results",
    "file_search_call.results",
    "code_interpreter_call.outputs",
    "computer_call_output.output.image_url",
)


def check(exchange: Exchange) -> None:
    """Raise Refused as the Responses API would."""
    body = read(COUNT if exchange.operation == "count_tokens" else CREATE, exchange.body, top_level="unknown")
    _check_params(body)
    _check_tools(body)
    items = items_of(body)
    _check_format(body, items)
    if not items and not body.get("prompt") and not body.get("previous_response_id") and not body.get("instructions"):
        raise refuse("One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided.", "input")
    for number, item in enumerate(items):
        _check_item(item, number, exchange.vault)
    _check_outputs(items)


def items_of(body: Mapping[str, Json]) -> list[Json]:
    """The input as items; a string is one user message."""
    given = body.get("input")
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    return [{"type": "message", **item} for item in given or ()]


def _check_params(body: Mapping[str, Json]) -> None:
    """Ranges, and what this mock does not hold."""
    check_range(body, "temperature", 0, 2)
    check_range(body, "top_p", 0, 1)
    check_range(body, "top_logprobs", 0, 20)
    check_range(body, "max_output_tokens", 16, 1_000_000)
    check_metadata(body)
    if is_reasoning(body.get("model") or ""):
        check_temperature_is_one(body)
        check_unsupported(body, ("top_logprobs",))
    if body.get("previous_response_id"):
        wanted = body["previous_response_id"]
        raise refuse(f"Previous response with id '{wanted}' not found.", "previous_response_id", "previous_response_not_found")
    for number, value in enumerate(body.get("include") or ()):
        if value not in _INCLUDABLE:
            raise refuse(f"Invalid value: '{value}'.", f"include[{number}]", "invalid_value")
    if body.get("stream_options") and not body.get("stream"):
        raise refuse("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options")


def _check_tools(body: Mapping[str, Json]) -> None:
    """Names, strict schemas, and a choice that is declared."""
    tools = body.get("tools") or []
    names = [tool["name"] for tool in tools if "name" in tool]
    for number, tool in enumerate(tools):
        if tool["type"] != "function":
            continue
        check_name(tool["name"], f"tools[{number}].name")
        check_root(tool.get("parameters"), tool["name"], f"tools[{number}].parameters", body["model"])
        if tool.get("strict"):
            check_strict_schema(tool.get("parameters"), tool["name"], f"tools[{number}].parameters")
    choice = body.get("tool_choice")
    if choice == "required" and not tools:
        raise refuse("Tool choice 'required' must be specified with 'tools' parameter.", "tool_choice")
    if isinstance(choice, dict) and choice["type"] in ("function", "custom") and choice["name"] not in names:
        raise refuse(f"Tool choice '{choice['name']}' not found in 'tools' parameter.", "tool_choice")


def _check_format(body: Mapping[str, Json], items: list[Json]) -> None:
    """Structured output: the word json in the input, or a schema that keeps the strict rules."""
    form = (body.get("text") or {}).get("format") or {"type": "text"}
    if form["type"] == "json_object" and "json" not in str(items).lower():
        raise refuse(
            "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
            "input",
        )
    if form["type"] == "json_schema":
        check_name(form["name"], "text.format.name")
        check_root(form["schema"], form["name"], "text.format.schema", body["model"])
        if form.get("strict"):
            check_strict_schema(form["schema"], form["name"], "text.format.schema")


def _check_item(item: Mapping[str, Json], number: int, vault: Vault) -> None:
    """Ids begin as they were issued, pictures are pictures, reasoning is our own."""
    prefix = _PREFIXES.get(item["type"])
    if prefix and item.get("id") is not None and not item["id"].startswith(f"{prefix}_"):
        raise refuse(
            f"Invalid 'input[{number}].id': '{item['id']}'. Expected an ID that begins with '{prefix}'.",
            f"input[{number}].id",
            "invalid_value",
        )
    if item["type"] in ("function_call", "function_call_output") and not 1 <= len(item["call_id"]) <= 64:
        raise refuse(f"Invalid 'input[{number}].call_id': string too long.", f"input[{number}].call_id")
    if item["type"] == "reasoning":
        sealed = item.get("encrypted_content")
        if sealed is not None and not vault.holds("responses", sealed):
            raise refuse(
                f"The encrypted content for item {item['id']} could not be verified.", None, "invalid_encrypted_content"
            )
    content = item.get("output") if item["type"] == "function_call_output" else item.get("content")
    if item["type"] in ("message", "function_call_output") and isinstance(content, list):
        for position, part in enumerate(content):
            _check_part(part, spell(("input", number, "content", position)))


def _check_part(part: Mapping[str, Json], where: str) -> None:
    """A picture's URL, a file's bytes."""
    if part["type"] == "input_image" and not part.get("file_id"):
        check_image_url(part.get("image_url") or "", f"{where}.image_url")
    elif part["type"] == "input_file":
        check_file(part, where)


def _check_outputs(items: list[Json]) -> None:
    """Every output answers an earlier call, every call has its output."""
    waiting: list[str] = []
    for item in items:
        if item["type"] in ("function_call", "custom_tool_call"):
            waiting.append(item["call_id"])
        elif item["type"] in ("function_call_output", "custom_tool_call_output"):
            if item["call_id"] not in waiting:
                raise refuse(f"No tool call found for function call output with call_id {item['call_id']}.", "input")
            waiting.remove(item["call_id"])
    if waiting:
        raise refuse(f"No tool output found for function call {waiting[0]}.", "input")
