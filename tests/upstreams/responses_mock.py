"""OpenAI's Responses API: how a step is answered. What is refused stands in ``responses_rules``."""

from collections.abc import Iterator
from itertools import count

from tests.upstreams import responses_rules
from tests.upstreams.exchange import Exchange, Refused, dumps, halves
from tests.upstreams.openai_mock import CREATED, call_id, citation, free_text, openai_error
from tests.upstreams.shapes import Json
from tests.upstreams.step import Call, Step


class ResponsesMock:
    """The dialect of POST /v1/responses and /v1/responses/input_tokens."""

    name = "openai_responses"

    def content_type(self, exchange: Exchange) -> str:
        """How a stream is announced."""
        return "text/event-stream; charset=utf-8"

    def check(self, exchange: Exchange) -> None:
        """Raise Refused as the Responses API would."""
        responses_rules.check(exchange)

    def tool_names(self, body: Json) -> tuple[str, ...]:
        """The names of the declared functions."""
        return tuple(tool["name"] for tool in body.get("tools") or () if tool.get("type") in ("function", "custom"))

    def tool_results(self, body: Json) -> list[str]:
        """The outputs that the input ends with."""
        results: list[str] = []
        for item in reversed(responses_rules.items_of(body)):
            if item["type"] not in ("function_call_output", "custom_tool_call_output"):
                break
            output = item["output"]
            results.append(output if isinstance(output, str) else "".join(part.get("text", "") for part in output))
        return results[::-1]

    def refusal(self, exchange: Exchange) -> Refused:
        """The error that the step asks for, with its headers."""
        return openai_error(exchange.step)

    def answer(self, exchange: Exchange) -> Json:
        """A whole answer."""
        if exchange.operation == "count_tokens":
            return {"object": "response.input_tokens", "input_tokens": exchange.step.tokens.input}
        return _response(exchange, [whole for whole, _ in _items(exchange)], done=True)

    def events(self, exchange: Exchange) -> Iterator[bytes]:
        """A streamed answer, event by event."""
        numbers = count()

        def frame(event: str, fields: dict[str, Json]) -> bytes:
            value = {"type": event, "sequence_number": next(numbers), **fields}
            return _frame(event, _extra(exchange.step, value))

        yield frame("response.created", {"response": _response(exchange, [])})
        yield frame("response.in_progress", {"response": _response(exchange, [])})
        if exchange.step.extras:
            yield frame("response.brand_new", {"x": 1})
        done: list[Json] = []
        for index, (item, inner) in enumerate(_items(exchange)):
            yield frame("response.output_item.added", {"output_index": index, "item": _opening(item)})
            for event, fields in inner:
                yield frame(event, {"item_id": item["id"], "output_index": index, **fields})
            yield frame("response.output_item.done", {"output_index": index, "item": item})
            done.append(item)
        final = _response(exchange, done, done=True)
        yield frame(f"response.{final['status']}", {"response": final})

    def failure(self, exchange: Exchange) -> bytes:
        """The error event in the middle of a stream."""
        error = {"type": "error", "code": "server_error", "message": exchange.step.message, "param": None}
        return _frame("error", {**error, "sequence_number": exchange.step.fail_after or 0})


def _frame(event: str, value: Json) -> bytes:
    """One server-sent event, its type in both places."""
    return f"event: {event}\ndata: {dumps(value)}\n\n".encode()


def _extra(step: Step, value: dict[str, Json]) -> dict[str, Json]:
    """The value, with a field nobody knows where the step wants that."""
    return {**value, "x_unknown": {"new": "✓", "none": None}} if step.extras else value


def _response(exchange: Exchange, output: list[Json], *, done: bool = False) -> dict[str, Json]:
    """The response object, at its beginning or when it is done."""
    step, body = exchange.step, exchange.body
    status, incomplete = "completed", None
    if step.finish in ("length", "content_filter"):
        reason = "max_output_tokens" if step.finish == "length" else "content_filter"
        status, incomplete = "incomplete", {"reason": reason}
    response = {
        "id": f"resp_mock{exchange.serial}",
        "object": "response",
        "created_at": CREATED,
        "status": status if done else "in_progress",
        "error": None,
        "incomplete_details": incomplete if done else None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "metadata": body.get("metadata") or {},
        "model": exchange.model,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": body.get("reasoning") or {"effort": None, "summary": None},
        "service_tier": "default",
        "store": body.get("store", True),
        "temperature": 1.0,
        "text": body.get("text") or {"format": {"type": "text"}},
        "tool_choice": body.get("tool_choice") or "auto",
        "tools": body.get("tools") or [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": _usage(step) if done else None,
        "user": None,
    }
    return _extra(step, response)


def _usage(step: Step) -> Json:
    """Totals that include cached and reasoning tokens."""
    tokens = step.tokens
    return {
        "input_tokens": tokens.input,
        "input_tokens_details": {"cached_tokens": tokens.cache_read, "cache_write_tokens": tokens.cache_write},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.input + tokens.output,
    }


def _opening(item: dict[str, Json]) -> dict[str, Json]:
    """An item as its first event shows it: in progress and without content."""
    empty: dict[str, Json] = {"content": [], "summary": [], "arguments": "", "input": "", "status": "in_progress"}
    return {key: empty.get(key, value) for key, value in item.items()}


_Inner = Iterator[tuple[str, dict[str, Json]]]


def _items(exchange: Exchange) -> Iterator[tuple[dict[str, Json], _Inner]]:
    """Every output item: whole, and as the events within it."""
    step = exchange.step
    if step.thinking:
        yield _reasoning(exchange, step.thinking)
    if step.refusal or step.text or step.chunks:
        yield _message(exchange)
    custom = [tool["name"] for tool in exchange.body.get("tools") or () if tool.get("type") == "custom"]
    for number, call in enumerate(step.calls):
        if exchange.tool_name(call.name) in custom:
            yield _custom_call(exchange, number, call)
            continue
        item = {
            "type": "function_call",
            "id": f"fc_mock{exchange.serial}_{number}",
            "call_id": call_id(exchange, number, call),
            "name": exchange.tool_name(call.name),
            "arguments": call.arguments,
            "status": "completed",
        }
        yield item, _call_events(item)


def _custom_call(exchange: Exchange, number: int, call: Call) -> tuple[dict[str, Json], _Inner]:
    """A call of a custom tool, and its input in pieces."""
    text = free_text(call)
    item = {
        "type": "custom_tool_call",
        "id": f"ctc_mock{exchange.serial}_{number}",
        "call_id": call_id(exchange, number, call),
        "name": exchange.tool_name(call.name),
        "input": text,
        "status": "completed",
    }
    pieces = [("response.custom_tool_call_input.delta", {"delta": piece}) for piece in halves(text)]
    return item, iter([*pieces, ("response.custom_tool_call_input.done", {"input": text})])


def _call_events(item: dict[str, Json]) -> _Inner:
    """The arguments in pieces, then whole."""
    for piece in halves(item["arguments"]):
        yield "response.function_call_arguments.delta", {"delta": piece}
    yield "response.function_call_arguments.done", {"arguments": item["arguments"], "name": item["name"]}


def _reasoning(exchange: Exchange, thought: str) -> tuple[dict[str, Json], _Inner]:
    """A reasoning item: its summary where asked for, its sealed content where included."""
    wants = (exchange.body.get("reasoning") or {}).get("summary")
    item: dict[str, Json] = {
        "type": "reasoning",
        "id": f"rs_mock{exchange.serial}",
        "summary": [{"type": "summary_text", "text": thought}] if wants else [],
    }
    if "reasoning.encrypted_content" in (exchange.body.get("include") or ()):
        item["encrypted_content"] = exchange.vault.issue("responses", thought)
    return item, _summary_events(item["summary"])


def _summary_events(summary: list[Json]) -> _Inner:
    """The summary's parts, each in pieces."""
    for index, part in enumerate(summary):
        empty = {"type": "summary_text", "text": ""}
        yield "response.reasoning_summary_part.added", {"summary_index": index, "part": empty}
        for piece in halves(part["text"]):
            yield "response.reasoning_summary_text.delta", {"summary_index": index, "delta": piece}
        yield "response.reasoning_summary_text.done", {"summary_index": index, "text": part["text"]}
        yield "response.reasoning_summary_part.done", {"summary_index": index, "part": part}


def _message(exchange: Exchange) -> tuple[dict[str, Json], _Inner]:
    """The message with its one part: words or a refusal."""
    step = exchange.step
    part: dict[str, Json] = {"type": "output_text", "text": step.words(), "annotations": []}
    if step.cited:
        part["annotations"] = [{"type": "url_citation", **citation(step)}]
    if "message.output_text.logprobs" in (exchange.body.get("include") or ()):
        part["logprobs"] = [_logprob(piece) for piece in ([] if step.forever else step.pieces())]
    if step.refusal:
        part = {"type": "refusal", "refusal": step.refusal}
    status = "completed" if step.finish in ("stop", "stop_sequence") else "incomplete"
    item = {
        "type": "message",
        "id": f"msg_mock{exchange.serial}",
        "role": "assistant",
        "status": status,
        "content": [part],
    }
    return item, _part_events(step, part)


def _logprob(piece: str) -> Json:
    return {"token": piece, "logprob": -0.25, "bytes": list(piece.encode()), "top_logprobs": []}


def _part_events(step: Step, part: dict[str, Json]) -> _Inner:
    """A part's beginning, its pieces and its end."""
    field, event = ("refusal", "response.refusal") if step.refusal else ("text", "response.output_text")
    yield "response.content_part.added", {"content_index": 0, "part": {**part, field: ""}}
    more: dict[str, Json] = {} if step.refusal else {"logprobs": []}
    for piece in halves(step.refusal) if step.refusal else step.pieces():
        shown = {"logprobs": [_logprob(piece)]} if "logprobs" in part else more
        yield f"{event}.delta", {"content_index": 0, "delta": piece, **shown}
    yield f"{event}.done", {"content_index": 0, field: part[field], **more}
    yield "response.content_part.done", {"content_index": 0, "part": part}
