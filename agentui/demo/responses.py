"""The demo in OpenAI's Responses dialect."""

from collections.abc import Iterator, Mapping
from itertools import count
from uuid import uuid4

from aiohttp import web

from agentui.demo.brain import CREATED, Answer, Ask, DemoError, Tool, answer, count_tokens, raise_on_demand, words
from agentui.demo.stream import event, objects, positive, read_body, reply, required, send
from agentui.jsonio import Json, dumps_text

_Inner = Iterator[tuple[str, dict[str, Json]]]


async def create(request: web.Request) -> web.StreamResponse:
    """POST /v1/responses."""
    body = await read_body(request)
    ask = _ask(body)
    said = answer(ask)
    head = _head(body, ask.model)
    if body.get("stream") is True:
        return await send(request, _events(head, said))
    return reply(_done(head, said, [item for item, _ in _items(said)]))


async def input_tokens(request: web.Request) -> web.StreamResponse:
    """POST /v1/responses/input_tokens."""
    ask = _ask(await read_body(request))
    raise_on_demand(ask.model)
    return reply({"object": "response.input_tokens", "input_tokens": count_tokens(ask.heard)})


def _text_of(content: Json) -> str:
    """The text of a content that is a string or parts."""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in objects(content) if isinstance(part.get("text"), str))


def _ask(body: Mapping[str, Json]) -> Ask:
    """The question in a request. Raises DemoError for missing fields."""
    given = body.get("input")
    if not isinstance(given, (str, list)):
        raise DemoError(400, "input: this field is required and must be a string or a list.", param="input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else objects(given)
    system = [body["instructions"]] if isinstance(body.get("instructions"), str) else []
    system += [_text_of(item.get("content")) for item in items if item.get("role") in ("system", "developer")]
    users = [_text_of(item.get("content")) for item in items if item.get("role") == "user"]
    results = [_text_of(item.get("output")) for item in items if item.get("type") == "function_call_output"]
    others = [_text_of(item.get("content")) for item in items if item.get("role") == "assistant"]
    ends_with_result = bool(items) and items[-1].get("type") == "function_call_output"
    reasoning = body.get("reasoning")
    form = _format(body.get("text"))
    return Ask(
        model=required(body, "model", str),
        user=users[-1] if users else "",
        system="\n".join(system),
        heard=(*system, *users, *others, *results),
        tools=tuple(
            Tool(str(tool.get("name")), tool.get("parameters"))
            for tool in objects(body.get("tools"))
            if tool.get("type") == "function"
        ),
        choice=_choice_of_tool(body.get("tool_choice")),
        parallel=body.get("parallel_tool_calls") is not False,
        tool_results=_last_results(items) if ends_with_result else (),
        schema=form.get("schema"),
        json=form.get("type") == "json_object",
        thinking=isinstance(reasoning, dict) and reasoning.get("effort") not in (None, "none"),
        max_tokens=positive(body.get("max_output_tokens")),
    )


def _last_results(items: list[dict[str, Json]]) -> tuple[str, ...]:
    """The tool outputs that the input ends with."""
    results: list[str] = []
    for item in reversed(items):
        if item.get("type") != "function_call_output":
            break
        results.insert(0, _text_of(item.get("output")))
    return tuple(results)


def _format(text: Json) -> dict[str, Json]:
    """The ``text.format`` object."""
    match text:
        case {"format": dict(form)}:
            return form
    return {}


def _choice_of_tool(value: Json) -> str:
    """auto, none, required or a name."""
    match value:
        case "none" | "required":
            return str(value)
        case {"type": "function", "name": str(name)}:
            return name
    return "auto"


def _head(body: Mapping[str, Json], model: str) -> dict[str, Json]:
    """A response at its beginning."""
    return {
        "id": f"resp_{uuid4().hex}",
        "object": "response",
        "created_at": CREATED,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "metadata": body.get("metadata") or {},
        "model": model,
        "output": [],
        "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
        "temperature": body.get("temperature", 1.0),
        "tool_choice": body.get("tool_choice") or "auto",
        "tools": body.get("tools") or [],
        "top_p": body.get("top_p", 1.0),
        "usage": None,
    }


def _done(head: Mapping[str, Json], said: Answer, output: list[Json]) -> dict[str, Json]:
    """The response at its end."""
    is_cut = said.finish == "length"
    usage = {
        "input_tokens": said.input_tokens,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": said.output_tokens,
        "output_tokens_details": {"reasoning_tokens": said.reasoning_tokens},
        "total_tokens": said.input_tokens + said.output_tokens,
    }
    return {
        **head,
        "status": "incomplete" if is_cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "output": output,
        "usage": usage,
    }


def _items(said: Answer) -> Iterator[tuple[dict[str, Json], _Inner]]:
    """Every output item: whole, and as the events within it."""
    if said.thought:
        summary = {"type": "summary_text", "text": said.thought}
        yield {"type": "reasoning", "id": f"rs_{uuid4().hex}", "summary": [summary]}, _summary_events(said.thought)
    if not said.calls:
        part = {"type": "output_text", "text": said.text, "annotations": []}
        item = {"type": "message", "id": f"msg_{uuid4().hex}", "role": "assistant", "status": "completed", "content": [part]}
        yield item, _text_events(said.text, part)
    for call in said.calls:
        arguments = dumps_text(call.arguments)
        item = {
            "type": "function_call",
            "id": f"fc_{uuid4().hex}",
            "call_id": f"call_{uuid4().hex[:24]}",
            "name": call.name,
            "arguments": arguments,
            "status": "completed",
        }
        yield item, _call_events(call.name, arguments)


def _summary_events(thought: str) -> _Inner:
    """A thought, word by word."""
    empty = {"type": "summary_text", "text": ""}
    yield "response.reasoning_summary_part.added", {"summary_index": 0, "part": empty}
    for word in words(thought):
        yield "response.reasoning_summary_text.delta", {"summary_index": 0, "delta": word}
    yield "response.reasoning_summary_text.done", {"summary_index": 0, "text": thought}
    yield "response.reasoning_summary_part.done", {"summary_index": 0, "part": {**empty, "text": thought}}


def _text_events(text: str, part: dict[str, Json]) -> _Inner:
    """A text, word by word."""
    yield "response.content_part.added", {"content_index": 0, "part": {**part, "text": ""}}
    for word in words(text):
        yield "response.output_text.delta", {"content_index": 0, "delta": word, "logprobs": []}
    yield "response.output_text.done", {"content_index": 0, "text": text, "logprobs": []}
    yield "response.content_part.done", {"content_index": 0, "part": part}


def _call_events(name: str, arguments: str) -> _Inner:
    """A call's arguments."""
    yield "response.function_call_arguments.delta", {"delta": arguments}
    yield "response.function_call_arguments.done", {"name": name, "arguments": arguments}


def _opening(item: Mapping[str, Json]) -> dict[str, Json]:
    """An item as its first event shows it: in progress, without content."""
    empty: dict[str, Json] = {"content": [], "summary": [], "arguments": "", "status": "in_progress"}
    return {key: empty.get(key, value) for key, value in item.items()}


def _events(head: dict[str, Json], said: Answer) -> Iterator[bytes]:
    """A streamed response, every event numbered."""
    numbers = count()

    def numbered(name: str, fields: Mapping[str, Json]) -> bytes:
        return event({"type": name, "sequence_number": next(numbers), **fields}, name)

    yield numbered("response.created", {"response": head})
    yield numbered("response.in_progress", {"response": head})
    output: list[Json] = []
    for index, (item, inner) in enumerate(_items(said)):
        yield numbered("response.output_item.added", {"output_index": index, "item": _opening(item)})
        for name, fields in inner:
            yield numbered(name, {"item_id": item["id"], "output_index": index, **fields})
        yield numbered("response.output_item.done", {"output_index": index, "item": item})
        output.append(item)
    final = _done(head, said, output)
    yield numbered(f"response.{final['status']}", {"response": final})
