"""What Claude's messages endpoint refuses beyond the shape of the body."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tests.upstreams.claude_shapes import STRICT_VERSION, VERSIONS, messages_shape
from tests.upstreams.exchange import Exchange, Refused, Vault
from tests.upstreams.shapes import Json, Misfit, Obj, Path

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_NEWER = re.compile(r"claude-(opus|sonnet|haiku|fable)-(4-[1-9]|[5-9])")
_NO_PREFILL = re.compile(r"claude-(opus|sonnet|haiku|fable)-(4-[6-9]|[5-9])")
_FORBIDDEN_IN_OUTPUT = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "multipleOf")
_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def refuse(message: str, status: int = 400, headers: Mapping[str, str] | None = None) -> Refused:
    """Claude's error shape."""
    kind = _KINDS.get(status, "invalid_request_error" if status < 500 else "api_error")
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_mock_error"}
    return Refused(status, body, {"request-id": "req_mock_error", **(headers or {})})


def check(exchange: Exchange) -> None:
    """Raise Refused as Claude would."""
    version = exchange.headers.get("anthropic-version")
    if version is None:
        raise refuse("anthropic-version: header is required")
    if version not in VERSIONS:
        raise refuse(f'anthropic-version: "{version}" is not a valid version for this API')
    body = _read(exchange.body, messages_shape(version, exchange.operation, exchange.headers.get("anthropic-beta", "")))
    _check_params(body)
    _check_tools(body)
    _check_thinking(body)
    _check_output(body)
    _check_texts(body, version)
    turns = merged(body["messages"])
    _check_turns(turns, body)
    _check_tool_pairs(turns, bool(body.get("tools")))
    if body["model"].startswith(UNSIGNED):
        _check_unsigned(turns)
        return
    _check_signatures(turns, exchange.vault)
    _check_loop_starts_with_thinking(turns, body)


def with_history(exchange: Exchange) -> Exchange:
    """The exchange with the whole conversation where it continues a thread. Raises Refused for a thread that is not kept, and
    for what the thread has already."""
    thread = exchange.body.get("thread") if isinstance(exchange.body, dict) else None
    if not thread or thread.get("type") != "continue":
        return exchange
    if "message-threads-2026-08-12" not in exchange.headers.get("anthropic-beta", ""):
        raise refuse("thread: Extra inputs are not permitted")
    kept = exchange.vault.threads.get(thread["previous_message_id"])
    if kept is None:
        refused = refuse("thread.previous_message_id: no such message", 404)
        refused.body["error"]["details"] = {"error_code": "thread_not_found"}
        raise refused
    for name in ("system", "tools"):
        if name in exchange.body:
            raise refuse(f"{name}: cannot be set when a thread is continued")
    whole = {**kept, **exchange.body, "messages": [*kept["messages"], *exchange.body["messages"]]}
    return replace(exchange, body=whole)


def _read(body: Json, shape: Obj) -> Json:
    """The body, if it has this shape."""
    try:
        return shape.read(body, ())
    except Misfit as misfit:
        raise _worded(misfit) from misfit


def spell(path: Path) -> str:
    """A path as Claude writes it: ``messages.0.content.1.text``."""
    return ".".join(str(step) for step in path)


def _worded(misfit: Misfit) -> Refused:
    """Claude's words for a misfit."""
    where = spell(misfit.path)
    match misfit.reason:
        case "unknown":
            return refuse(f"{where}: Extra inputs are not permitted")
        case "missing":
            return refuse(f"{where}: Field required")
        case "type":
            return refuse(f"{where}: Input should be {misfit.detail}")
        case "value":
            return refuse(f"{where}: Input should be {misfit.detail}")


def _check_params(body: Mapping[str, Json]) -> None:
    """Ranges of what the older version still takes, limits and stops."""
    if body.get("max_tokens", 1) < 1:
        raise refuse("max_tokens: Input should be greater than or equal to 1")
    for name in ("temperature", "top_p"):
        if not 0 <= body.get(name, 0) <= 1:
            raise refuse(f"{name}: Input should be between 0 and 1")
    if "temperature" in body and "top_p" in body and _NEWER.match(body["model"]):
        raise refuse("`temperature` and `top_p` cannot both be specified for this model. Please use only one.")
    for stop in body.get("stop_sequences", ()):
        if not stop.strip():
            raise refuse("stop_sequences: each stop sequence must contain non-whitespace")
    if sum(1 for _ in _cache_marks(body)) > 4:
        raise refuse("A maximum of 4 blocks with cache_control may be provided.")


def _cache_marks(value: Json) -> Iterator[Json]:
    """Every cache_control within the body."""
    if isinstance(value, dict):
        if value.get("cache_control") is not None:
            yield value["cache_control"]
        for child in value.values():
            yield from _cache_marks(child)
    elif isinstance(value, list):
        for child in value:
            yield from _cache_marks(child)


def _check_tools(body: Mapping[str, Json]) -> None:
    """Names, schemas, and a choice that needs tools."""
    names: list[str] = []
    for number, tool in enumerate(body.get("tools", ())):
        if not _NAME.fullmatch(tool["name"]):
            raise refuse(f"tools.{number}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        if tool["name"] in names:
            raise refuse("tools: Tool names must be unique.")
        names.append(tool["name"])
        if "input_schema" in tool and tool["input_schema"].get("type") != "object":
            raise refuse(f"tools.{number}.custom.input_schema.type: Input should be 'object'")
        if {"oneOf", "anyOf", "allOf"} & tool.get("input_schema", {}).keys():
            raise refuse(
                f"tools.{number}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"
            )
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not names:
        raise refuse("tool_choice: Tools must be provided when tool_choice is specified.")
    if choice["type"] == "tool" and choice["name"] not in names:
        raise refuse(f"Tool '{choice['name']}' not found in provided tools")


def _check_thinking(body: Mapping[str, Json]) -> None:
    """The budget, and what thinking forbids."""
    thinking = body.get("thinking") or {"type": "disabled"}
    if thinking["type"] == "disabled":
        return
    if thinking["type"] == "enabled":
        if thinking["budget_tokens"] < 1024:
            raise refuse("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
        if "max_tokens" in body and thinking["budget_tokens"] >= body["max_tokens"]:
            raise refuse("`max_tokens` must be greater than `thinking.budget_tokens`.")
    if body.get("temperature", 1) != 1:
        raise refuse("`temperature` may only be set to 1 when thinking is enabled.")
    if "top_k" in body:
        raise refuse("`top_k` must be unset when thinking is enabled.")
    if (body.get("tool_choice") or {"type": "auto"})["type"] in ("any", "tool"):
        raise refuse("Thinking may not be enabled when tool_choice forces tool use.")


def _check_output(body: Mapping[str, Json]) -> None:
    """Structured output: every object closed, no limits that the decoder cannot keep."""
    form = (body.get("output_config") or {}).get("format")
    if form is None:
        return
    for node in _schemas(form["schema"]):
        if node.get("type") == "object" and node.get("additionalProperties") is not False:
            raise refuse(
                "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
            )
        for name in _FORBIDDEN_IN_OUTPUT:
            if name in node:
                raise refuse(f"output_config.format.schema: For '{node.get('type')}' type, property '{name}' is not supported")


def _schemas(schema: Json) -> Iterator[Mapping[str, Json]]:
    """A schema and every schema within it."""
    if not isinstance(schema, dict):
        return
    yield schema
    for key in ("properties", "$defs", "definitions"):
        for child in schema.get(key, {}).values():
            yield from _schemas(child)
    yield from _schemas(schema.get("items"))
    for key in ("anyOf", "allOf"):
        for child in schema.get(key, ()):
            yield from _schemas(child)


def blocks_of(content: Json) -> list[Json]:
    """Content as blocks; a string is one text block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def merged(messages: list[Json]) -> list[tuple[str, list[Json]]]:
    """The turns as (role, blocks): neighbours of one role are one turn."""
    turns: list[tuple[str, list[Json]]] = []
    for message in messages:
        if turns and turns[-1][0] == message["role"]:
            turns[-1][1].extend(blocks_of(message["content"]))
        else:
            turns.append((message["role"], list(blocks_of(message["content"]))))
    return turns


def _check_texts(body: Mapping[str, Json], version: str) -> None:
    """No empty content, no empty text anywhere, nothing that a role may not hold."""
    for block in blocks_of(body.get("system", [])):
        if not block["text"].strip():
            raise refuse("system: text content blocks must be non-empty")
    last = len(body["messages"]) - 1
    for number, message in enumerate(body["messages"]):
        is_prefill = number == last and message["role"] == "assistant"
        if not message["content"] and not is_prefill:
            raise refuse(
                f"messages.{number}: all messages must have non-empty content except for the optional final assistant message"
            )
        for position, block in enumerate(blocks_of(message["content"])):
            if not (is_prefill and message["content"] == ""):
                _check_block(block, message["role"], f"messages.{number}.content.{position}", version)


def _check_block(block: Mapping[str, Json], role: str, where: str, version: str) -> None:
    """One block: its text, its place, its ids."""
    kind = block["type"]
    if kind == "text" and not block["text"].strip():
        raise refuse("messages: text content blocks must be non-empty")
    if kind == "text" and role == "user" and block.get("citations") and version == STRICT_VERSION:
        raise refuse(f"{where}.text.citations: citations are not permitted in user messages")
    assistant_only = kind in ("tool_use", "thinking", "redacted_thinking", "server_tool_use")
    user_only = kind in ("tool_result", "image") or (kind == "document" and version == STRICT_VERSION)
    if (assistant_only and role != "assistant") or (user_only and role != "user") or (role == "system" and kind != "text"):
        raise refuse(f"{where}: `{kind}` blocks are not permitted in `{role}` messages")
    if kind == "tool_use" and not _ID.fullmatch(block["id"]):
        raise refuse(f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    if kind == "tool_use" and not _NAME.fullmatch(block["name"]):
        raise refuse(f"{where}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
    if kind == "tool_result":
        _check_result(block, where)
    source = block.get("source")
    if isinstance(source, dict) and source["type"] == "url" and not source["url"].startswith("https://"):
        raise refuse(f"{where}.{kind}.source.url.url: Only HTTPS URLs are supported.")


def _check_result(block: Mapping[str, Json], where: str) -> None:
    """A tool result's id and texts (an empty string is allowed, an empty text block is not)."""
    if not _ID.fullmatch(block["tool_use_id"]):
        raise refuse(f"{where}.tool_result.tool_use_id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    content = block.get("content", "")
    if isinstance(content, list):
        for part in content:
            if part["type"] == "text" and not part["text"].strip():
                raise refuse("messages: text content blocks must be non-empty")
            if block.get("is_error") and part["type"] != "text":
                raise refuse(f"{where}: all content must be type `text` if `is_error` is true")


def _check_turns(turns: list[tuple[str, list[Json]]], body: Mapping[str, Json]) -> None:
    """Who begins and who ends."""
    if not turns:
        raise refuse("messages: at least one message is required")
    if turns[0][0] != "user":
        raise refuse('messages: first message must use the "user" role')
    role, blocks = turns[-1]
    if role != "assistant":
        return
    thinks = (body.get("thinking") or {"type": "disabled"})["type"] != "disabled"
    if thinks or _NO_PREFILL.match(body["model"]):
        raise refuse("This model does not support assistant message prefill. The conversation must end with a user message.")
    if blocks and blocks[-1]["type"] == "text" and blocks[-1]["text"] != blocks[-1]["text"].rstrip():
        raise refuse("messages: final assistant content cannot end with trailing whitespace")


def _check_tool_pairs(turns: list[tuple[str, list[Json]]], has_tools: bool) -> None:
    """Every call is answered at the beginning of the next turn, once, and nothing else is."""
    calls: list[str] = []
    for number, (_, blocks) in enumerate(turns):
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        for position, block in enumerate(blocks[: len(results)]):
            if block["type"] != "tool_result":
                raise refuse(f"messages.{number}.content.{position}: `tool_result` blocks must come first in the content")
        for position, result in enumerate(results):
            if result not in calls:
                raise refuse(
                    f"messages.{number}.content.{position}: unexpected `tool_use_id` found in `tool_result` blocks: {result}. "
                    "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
                )
        _check_calls_answered(calls, results, number)
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if len(set(calls)) != len(calls):
            raise refuse(f"messages.{number}: `tool_use` ids must be unique")
        if (calls or results) and not has_tools:
            raise refuse("Requests which include `tool_use` or `tool_result` blocks must define tools.")
    _check_calls_answered(calls, [], len(turns))


def _check_calls_answered(calls: list[str], results: list[str], number: int) -> None:
    """Refuse calls without exactly one result."""
    missing = [call for call in calls if call not in results]
    if missing:
        raise refuse(
            f"messages.{number}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        )
    if len(set(results)) != len(results):
        raise refuse(f"messages.{number}: each tool_use must have a single result. Found multiple `tool_result` blocks.")


UNSIGNED = "unsigned-claude"
"""How the models begin of a server that is compatible with Claude and signs its thoughts with nothing."""


def _check_unsigned(turns: list[tuple[str, list[Json]]]) -> None:
    """An answer with calls comes back with its thought, which has the empty signature that it was given."""
    for _, blocks in turns:
        kinds = [block["type"] for block in blocks]
        if "tool_use" in kinds and "thinking" not in kinds:
            raise refuse("The `content[].thinking` in the thinking mode must be passed back to the API.")
        if any(block["type"] == "thinking" and block["signature"] for block in blocks):
            raise refuse("This server did not sign that.")


def _check_signatures(turns: list[tuple[str, list[Json]]], vault: Vault) -> None:
    """Thinking comes back exactly as it was signed."""
    for number, (_, blocks) in enumerate(turns):
        for position, block in enumerate(blocks):
            where = f"messages.{number}.content.{position}"
            # The text may come back empty where its display was omitted.
            if block["type"] == "thinking" and not (
                vault.holds("claude", block["signature"], block["thinking"])
                or (not block["thinking"] and vault.holds("claude", block["signature"]))
            ):
                raise refuse(f"{where}: Invalid `signature` in `thinking` block")
            if block["type"] == "redacted_thinking" and not vault.holds("claude", block["data"]):
                raise refuse(f"{where}: Invalid `data` in `redacted_thinking` block")


def _check_loop_starts_with_thinking(turns: list[tuple[str, list[Json]]], body: Mapping[str, Json]) -> None:
    """With thinking enabled, the assistant turn that began the running tool loop begins with its thought."""
    if (body.get("thinking") or {"type": "disabled"})["type"] != "enabled":
        return
    first: tuple[int, list[Json]] | None = None
    for number, (role, blocks) in enumerate(turns):
        if role == "user" and not any(block["type"] == "tool_result" for block in blocks):
            first = None
        elif role == "assistant" and first is None:
            first = number, blocks
    if first is None or first[0] == len(turns) - 1:
        return
    number, blocks = first
    if blocks[0]["type"] not in ("thinking", "redacted_thinking"):
        raise refuse(
            f"messages.{number}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{blocks[0]['type']}`. "
            "When `thinking` is enabled, a final `assistant` message must start with a thinking block."
        )
