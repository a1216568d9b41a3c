"""The demo in Claude's dialect: messages, token counts and the model list."""

import base64
from collections.abc import Iterator, Mapping
from uuid import uuid4

from aiohttp import web

from agentui.demo.brain import MODELS, Answer, Ask, DemoError, Tool, answer, count_tokens, raise_on_demand, words
from agentui.demo.stream import event, objects, positive, read_body, reply, required, send, strings
from agentui.jsonio import Json, dumps_text

_FINISH = {"stop": "end_turn", "stop_sequence": "stop_sequence", "length": "max_tokens", "tool_calls": "tool_use"}
_SIGNATURE = base64.b64encode(b"agentui demo: not a real signature").decode()
_KINDS = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


async def messages(request: web.Request) -> web.StreamResponse:
    """POST /v1/messages."""
    body = await read_body(request)
    limit = required(body, "max_tokens", int)
    ask = _ask(body, limit)
    said = answer(ask)
    head = {"id": f"msg_{uuid4().hex}", "type": "message", "role": "assistant", "model": ask.model}
    if body.get("stream") is True:
        return await send(request, _events(head, said))
    content = [block for block, _ in _blocks(said)]
    return reply({**head, "content": content, **_ending(said), "usage": _usage(said)})


async def count(request: web.Request) -> web.StreamResponse:
    """POST /v1/messages/count_tokens."""
    ask = _ask(await read_body(request), None)
    raise_on_demand(ask.model)
    return reply({"input_tokens": count_tokens(ask.heard)})


def models() -> Json:
    """The model list."""
    created = "2026-09-21T12:00:00Z"
    data = [{"type": "model", "id": name, "display_name": name.title(), "created_at": created} for name in MODELS]
    return {"data": data, "has_more": False, "first_id": MODELS[0], "last_id": MODELS[-1]}


def error(problem: DemoError) -> web.Response:
    """A refusal in Claude's shape."""
    kind = _KINDS.get(problem.status, "api_error" if problem.status >= 500 else "invalid_request_error")
    headers = {} if problem.retry_after is None else {"retry-after": str(problem.retry_after)}
    request_id = f"req_{uuid4().hex}"
    body = {"type": "error", "error": {"type": kind, "message": problem.message}, "request_id": request_id}
    return reply(body, problem.status, {**headers, "request-id": request_id})


def _blocks_of(content: Json) -> list[dict[str, Json]]:
    """Content as blocks; a string is one text block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)


def _text_of(content: Json) -> str:
    """The text of a content."""
    return "".join(block["text"] for block in _blocks_of(content) if isinstance(block.get("text"), str))


def _results_of(content: Json) -> tuple[str, ...]:
    """The tool results in a content."""
    return tuple(_text_of(block.get("content")) for block in _blocks_of(content) if block.get("type") == "tool_result")


def _ask(body: Mapping[str, Json], limit: int | None) -> Ask:
    """The question in a request. Raises DemoError for missing fields."""
    turns = objects(required(body, "messages", list))
    users = [text for turn in turns if turn.get("role") == "user" and (text := _text_of(turn.get("content")))]
    system = [_text_of(body.get("system"))]
    system += [_text_of(turn.get("content")) for turn in turns if turn.get("role") == "system"]
    system = [text for text in system if text]
    heard = [text for turn in turns for text in (_text_of(turn.get("content")), *_results_of(turn.get("content")))]
    choice, parallel = _choice_of_tool(body.get("tool_choice"))
    thinking = body.get("thinking")
    return Ask(
        model=required(body, "model", str),
        user=users[-1] if users else "",
        system="\n".join(system),
        heard=(_text_of(body.get("system")), *heard),
        tools=tuple(Tool(str(tool.get("name")), tool.get("input_schema")) for tool in objects(body.get("tools"))),
        choice=choice,
        parallel=parallel,
        tool_results=_results_of(turns[-1].get("content")) if turns else (),
        schema=_schema(body.get("output_config")),
        thinking=isinstance(thinking, dict) and thinking.get("type") in ("enabled", "adaptive", "between_tools"),
        max_tokens=positive(limit),
        stop=strings(body.get("stop_sequences")),
    )


def _schema(config: Json) -> Json:
    """The schema that the answer shall fit."""
    match config:
        case {"format": {"schema": schema}}:
            return schema
    return None


def _choice_of_tool(value: Json) -> tuple[str, bool]:
    """auto, none, required or a name; and whether several calls are allowed."""
    if not isinstance(value, dict):
        return "auto", True
    parallel = value.get("disable_parallel_tool_use") is not True
    names = {"any": "required", "none": "none", "tool": str(value.get("name"))}
    return names.get(str(value.get("type")), "auto"), parallel


def _usage(said: Answer) -> dict[str, Json]:
    """Tokens in and out."""
    return {"input_tokens": said.input_tokens, "output_tokens": said.output_tokens}


def _ending(said: Answer) -> dict[str, Json]:
    """Why the answer ends."""
    return {"stop_reason": _FINISH[said.finish], "stop_sequence": said.stop_sequence}


def _blocks(said: Answer) -> Iterator[tuple[dict[str, Json], list[dict[str, Json]]]]:
    """Every content block: whole, and as the deltas that tell it."""
    if said.thought:
        deltas = [{"type": "thinking_delta", "thinking": word} for word in words(said.thought)]
        deltas.append({"type": "signature_delta", "signature": _SIGNATURE})
        yield {"type": "thinking", "thinking": said.thought, "signature": _SIGNATURE}, deltas
    if said.text:
        deltas = [{"type": "text_delta", "text": word} for word in words(said.text)]
        yield {"type": "text", "text": said.text}, deltas
    for call in said.calls:
        block = {"type": "tool_use", "id": f"toolu_{uuid4().hex[:24]}", "name": call.name, "input": call.arguments}
        yield block, [{"type": "input_json_delta", "partial_json": dumps_text(call.arguments)}]


def _opening(block: Mapping[str, Json]) -> dict[str, Json]:
    """A block as its start event shows it: still empty."""
    empty: dict[str, Json] = {"text": "", "thinking": "", "signature": "", "input": {}}
    return {key: empty.get(key, value) for key, value in block.items()}


def _named(name: str, fields: Mapping[str, Json]) -> bytes:
    """One event with its type in both places."""
    return event({"type": name, **fields}, name)


def _events(head: Mapping[str, Json], said: Answer) -> Iterator[bytes]:
    """A streamed answer."""
    usage = {"input_tokens": said.input_tokens, "output_tokens": 0}
    start = {**head, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield _named("message_start", {"message": start})
    for index, (block, deltas) in enumerate(_blocks(said)):
        yield _named("content_block_start", {"index": index, "content_block": _opening(block)})
        for delta in deltas:
            yield _named("content_block_delta", {"index": index, "delta": delta})
        yield _named("content_block_stop", {"index": index})
    yield _named("message_delta", {"delta": _ending(said), "usage": _usage(said)})
    yield _named("message_stop", {})
