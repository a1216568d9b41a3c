"""Claude's messages and count_tokens: how a step is answered. What is refused stands in ``claude_rules``."""

import json
from collections.abc import Iterator

from tests.upstreams import claude_rules
from tests.upstreams.claude_rules import blocks_of
from tests.upstreams.exchange import Exchange, Refused, dumps, halves
from tests.upstreams.shapes import Json
from tests.upstreams.step import Step

_FINISH = {"stop": "end_turn", "length": "max_tokens", "stop_sequence": "stop_sequence", "content_filter": "refusal"}


class ClaudeMock:
    """The dialect of POST /v1/messages and /v1/messages/count_tokens."""

    name = "claude"

    def content_type(self, exchange: Exchange) -> str:
        """How a stream is announced."""
        return "text/event-stream; charset=utf-8"

    def check(self, exchange: Exchange) -> None:
        """Raise Refused as Claude would."""
        claude_rules.check(claude_rules.with_history(exchange))

    def tool_names(self, body: Json) -> tuple[str, ...]:
        """The names of the declared tools."""
        return tuple(tool["name"] for tool in body.get("tools", ()) if "input_schema" in tool)

    def tool_results(self, body: Json) -> list[str]:
        """The texts of the tool results in the last message."""
        messages = body.get("messages") or [{"content": []}]
        results = [block for block in blocks_of(messages[-1]["content"]) if block["type"] == "tool_result"]
        return ["".join(part.get("text", "") for part in blocks_of(block.get("content", ""))) for block in results]

    def refusal(self, exchange: Exchange) -> Refused:
        """The error that the step asks for, with its headers."""
        step = exchange.step
        headers = {} if step.retry_after is None else {"retry-after": str(step.retry_after)}
        return claude_rules.refuse(step.message, step.status, headers)

    def answer(self, exchange: Exchange) -> Json:
        """A whole answer."""
        if exchange.operation == "count_tokens":
            return {"input_tokens": exchange.step.tokens.input}
        step = exchange.step
        message = _message(exchange)
        message["content"] = [whole for whole, _ in _blocks(exchange)]
        message.update(_ending(exchange))
        message["usage"] = {**_input_usage(step), **_output_usage(step)}
        _keep(exchange, message)
        return _extra(step, message)

    def events(self, exchange: Exchange) -> Iterator[bytes]:
        """A streamed answer, event by event."""
        step = exchange.step
        message = _message(exchange)
        message["usage"] = {**_input_usage(step), "output_tokens": 1}
        yield frame("message_start", {"message": _extra(step, message)})
        yield frame("ping", {})
        if step.extras:
            yield frame("brand_new_event", {"x_unknown": [1]})
        for index, (whole, deltas) in enumerate(_blocks(exchange)):
            yield frame("content_block_start", {"index": index, "content_block": _opening(whole)})
            for delta in deltas:
                yield frame("content_block_delta", {"index": index, "delta": _extra(step, delta)})
            yield frame("content_block_stop", {"index": index})
        _keep(exchange, {**message, "content": [whole for whole, _ in _blocks(exchange)]})
        usage = {**_input_usage(step), **_output_usage(step)}
        yield frame("message_delta", {"delta": _ending(exchange), "usage": usage})
        yield frame("message_stop", {})

    def failure(self, exchange: Exchange) -> bytes:
        """The error event in the middle of a stream."""
        return frame("error", {"error": {"type": "overloaded_error", "message": exchange.step.message}})


def frame(event: str, fields: dict[str, Json]) -> bytes:
    """One server-sent event, its type in both places."""
    return f"event: {event}\ndata: {dumps({'type': event, **fields})}\n\n".encode()


def _extra(step: Step, value: dict[str, Json]) -> dict[str, Json]:
    """The value, with a field nobody knows where the step wants that."""
    return {**value, "x_unknown": {"new": "✓", "none": None}} if step.extras else value


def _message(exchange: Exchange) -> dict[str, Json]:
    """A message before its content."""
    return {
        "id": f"msg_mock{exchange.serial}",
        "type": "message",
        "role": "assistant",
        "model": exchange.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {},
    }


def _keep(exchange: Exchange, message: dict[str, Json]) -> None:
    """Keep the conversation of a thread under the id of its last answer."""
    if exchange.body.get("thread"):
        whole = claude_rules.with_history(exchange).body
        said = {"role": "assistant", "content": message["content"]}
        exchange.vault.threads[message["id"]] = {**whole, "messages": [*whole["messages"], said]}


def _input_usage(step: Step) -> dict[str, Json]:
    """What went in; ``input_tokens`` leaves the cached ones out."""
    tokens = step.tokens
    return {
        "input_tokens": tokens.input - tokens.cache_read - tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "cache_creation_input_tokens": tokens.cache_write,
    }


def _output_usage(step: Step) -> dict[str, Json]:
    """What came out, thoughts included."""
    usage: dict[str, Json] = {"output_tokens": step.tokens.output}
    if step.tokens.reasoning:
        usage["output_tokens_details"] = {"thinking_tokens": step.tokens.reasoning}
    return usage


def _ending(exchange: Exchange) -> dict[str, Json]:
    """Why the answer ends."""
    step = exchange.step
    reason = "tool_use" if step.calls and step.finish == "stop" else _FINISH[step.finish]
    ending: dict[str, Json] = {"stop_reason": reason, "stop_sequence": None}
    if step.finish == "stop_sequence":
        ending["stop_sequence"] = (exchange.body.get("stop_sequences") or ["END"])[0]
    if step.refusal or reason == "refusal":
        ending["stop_reason"] = "refusal"
        ending["stop_details"] = {"type": "refusal", "category": None, "explanation": step.refusal or "Filtered."}
    return ending


def _opening(block: dict[str, Json]) -> dict[str, Json]:
    """A block as its start event shows it: emptied, but for redacted data, which comes whole."""
    empty: dict[str, Json] = {"text": "", "thinking": "", "signature": "", "input": {}}
    return {key: empty.get(key, value) for key, value in block.items()}


def _blocks(exchange: Exchange) -> Iterator[tuple[dict[str, Json], Iterator[dict[str, Json]]]]:
    """Every content block: whole, and as the deltas that tell it."""
    step = exchange.step
    if step.thinking and step.redacted:
        data = exchange.vault.issue("claude", step.thinking)
        yield {"type": "redacted_thinking", "data": data}, iter(())
    elif step.thinking:
        yield _thinking(exchange, step.thinking)
    said = step.refusal or step.text or "".join(step.chunks or ())
    if said:
        pieces = iter(halves(step.refusal)) if step.refusal else step.pieces()
        text = step.refusal or step.words()
        yield {"type": "text", "text": text}, ({"type": "text_delta", "text": piece} for piece in pieces)
    for number, call in enumerate(step.calls):
        block = {
            "type": "tool_use",
            "id": call.id or f"toolu_mock{exchange.serial}_{number}",
            "name": exchange.tool_name(call.name),
            "input": json.loads(call.arguments or "{}"),
        }
        # The vendor opens the arguments with an empty piece; for no arguments nothing else follows.
        pieces = iter(["", *halves(call.arguments)])
        yield block, ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)


def _thinking(exchange: Exchange, thought: str) -> tuple[dict[str, Json], Iterator[dict[str, Json]]]:
    """A signed thought; its text is left out where the request asked for that."""
    signature = "" if exchange.model.startswith(claude_rules.UNSIGNED) else exchange.vault.issue("claude", thought)
    shown = "" if (exchange.body.get("thinking") or {}).get("display") == "omitted" else thought
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in halves(shown)]
    if signature:
        deltas.append({"type": "signature_delta", "signature": signature})
    return {"type": "thinking", "thinking": shown, "signature": signature}, iter(deltas)
