"""OpenAI chat completions and embeddings: what is refused, and how a step is answered."""

import base64
import json
import struct
from collections.abc import Iterator, Mapping

from tests.upstreams import compatible
from tests.upstreams.exchange import Exchange, Refused, dumps, halves
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
from tests.upstreams.openai_shapes import CHAT, EMBEDDINGS
from tests.upstreams.shapes import Json, is_base64
from tests.upstreams.step import Call, Step

CREATED = 1_790_000_000
_FINISH = {"stop": "stop", "length": "length", "stop_sequence": "stop", "content_filter": "content_filter"}


class OpenAIMock:
    """The dialect of POST /v1/chat/completions and /v1/embeddings."""

    name = "openai"

    def content_type(self, exchange: Exchange) -> str:
        """How a stream is announced."""
        return "text/event-stream; charset=utf-8"

    def check(self, exchange: Exchange) -> None:
        """Raise Refused as OpenAI would."""
        if exchange.operation == "embeddings":
            _check_embeddings(read(EMBEDDINGS, exchange.body, top_level="unrecognized"))
            return
        body = read(CHAT, compatible.plain(exchange), top_level="unrecognized")
        _check_params(body)
        _check_model_limits(body)
        _check_tools(body)
        _check_format(body)
        _check_messages(body["messages"])

    def tool_names(self, body: Json) -> tuple[str, ...]:
        """The names of the declared functions."""
        return tuple(tool[tool["type"]]["name"] for tool in body.get("tools", ()))

    def tool_results(self, body: Json) -> list[str]:
        """The texts of the tool results that the conversation ends with."""
        results: list[str] = []
        for message in reversed(body.get("messages", ())):
            if message["role"] != "tool":
                break
            results.append(text_of(message["content"]))
        return results[::-1]

    def refusal(self, exchange: Exchange) -> Refused:
        """The error that the step asks for, with its headers."""
        return openai_error(exchange.step)

    def answer(self, exchange: Exchange) -> Json:
        """A whole answer."""
        if exchange.operation == "embeddings":
            return _embeddings(exchange.body)
        step, body = exchange.step, exchange.body
        if step.blocked:
            raise refuse("The prompt was flagged by the content filter.", "prompt", "content_filter")
        choices = [_choice(exchange, number) for number in range(body.get("n") or 1)]
        return _extra(step, {**_head(exchange, "chat.completion"), "choices": choices, "usage": usage(step)})

    def events(self, exchange: Exchange) -> Iterator[bytes]:
        """A streamed answer, event by event."""
        if exchange.step.blocked:
            raise refuse("The prompt was flagged by the content filter.", "prompt", "content_filter")
        return _events(exchange)

    def failure(self, exchange: Exchange) -> bytes:
        """The error event in the middle of a stream."""
        error = {"message": exchange.step.message, "type": "server_error", "param": None, "code": None}
        return frame({"error": error})


def openai_error(step: Step) -> Refused:
    """The error that a step asks for, in OpenAI's shape."""
    kinds = {429: ("requests", "rate_limit_exceeded"), 401: ("invalid_request_error", "invalid_api_key")}
    kinds[404] = ("invalid_request_error", "model_not_found")
    kind, code = kinds.get(step.status, ("invalid_request_error" if step.status < 500 else "server_error", None))
    if step.quota:
        kind = code = "insufficient_quota"
    headers = {"x-request-id": "req_mock_error"}
    if step.retry_after is not None:
        headers["retry-after"] = str(step.retry_after)
    return Refused(step.status, {"error": {"message": step.message, "type": kind, "param": None, "code": code}}, headers)


def frame(value: Json) -> bytes:
    """One server-sent event."""
    return f"data: {dumps(value)}\n\n".encode()


def text_of(content: Json) -> str:
    """The text of a content that is a string or parts."""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())


# --- what is refused -------------------------------------------------------------------------------------------------


def _check_params(body: Mapping[str, Json]) -> None:
    """Ranges, and what goes only together."""
    check_range(body, "temperature", 0, 2)
    check_range(body, "top_p", 0, 1)
    check_range(body, "presence_penalty", -2, 2)
    check_range(body, "frequency_penalty", -2, 2)
    check_range(body, "n", 1, 128)
    check_range(body, "top_logprobs", 0, 20)
    check_range(body, "max_tokens", 1, 1_000_000)
    check_range(body, "max_completion_tokens", 1, 1_000_000)
    check_metadata(body)
    stop = body.get("stop")
    if isinstance(stop, list) and len(stop) > 4:
        raise refuse(f"Invalid 'stop': array too long. Expected maximum length 4, but got {len(stop)}.", "stop")
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        raise refuse("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.", "max_tokens")
    if body.get("top_logprobs") is not None and not body.get("logprobs"):
        raise refuse("'logprobs' must be true when 'top_logprobs' is used.", "top_logprobs")
    if body.get("stream_options") is not None and not body.get("stream"):
        raise refuse("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options")


def _check_model_limits(body: Mapping[str, Json]) -> None:
    """What reasoning models refuse, and what only they take."""
    if not is_reasoning(body["model"]):
        if body["model"].startswith(("gpt-4", "gpt-3")) and body.get("reasoning_effort") is not None:
            raise refuse("Unrecognized request argument supplied: reasoning_effort")
        return
    if body.get("max_tokens") is not None:
        raise refuse(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "max_tokens",
            "unsupported_parameter",
        )
    check_temperature_is_one(body)
    check_unsupported(body, ("stop", "presence_penalty", "frequency_penalty", "logprobs", "top_logprobs", "logit_bias"))


def _check_tools(body: Mapping[str, Json]) -> None:
    """Names, strict schemas, and choices that need tools."""
    tools = body.get("tools")
    if tools is None:
        for name in ("tool_choice", "parallel_tool_calls"):
            if name in body and body[name] != "none":
                raise refuse(f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified.", name)
        return
    for number, tool in enumerate(tools):
        definition = tool[tool["type"]]
        check_name(definition["name"], f"tools[{number}].{tool['type']}.name")
        check_root(definition.get("parameters"), definition["name"], f"tools[{number}].function.parameters", body["model"])
        if definition.get("strict"):
            check_strict_schema(definition.get("parameters"), definition["name"], f"tools[{number}].function.parameters")
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice["type"] != "allowed_tools":
        wanted = choice[choice["type"]]["name"]
        if wanted not in [tool[tool["type"]]["name"] for tool in tools]:
            raise refuse(f"Tool choice '{wanted}' not found in 'tools' parameter.", "tool_choice")


def _check_format(body: Mapping[str, Json]) -> None:
    """Structured output: the word json, or a named schema that keeps the strict rules."""
    form = body.get("response_format") or {"type": "text"}
    if form["type"] == "json_object":
        said = " ".join(text_of(message.get("content")) for message in body["messages"])
        if "json" not in said.lower():
            raise refuse(
                "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
                "messages",
            )
    if form["type"] == "json_schema":
        schema = form["json_schema"]
        check_name(schema["name"], "response_format.json_schema.name")
        check_root(schema.get("schema"), schema["name"], "response_format", body["model"])
        if schema.get("strict"):
            check_strict_schema(schema.get("schema"), schema["name"], "response_format")


def _check_messages(messages: list[Json]) -> None:
    """Parts, and tool results that answer exactly the calls before them."""
    waiting: list[str] = []
    for number, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                raise refuse(
                    "Invalid parameter: messages with role 'tool' must be a response to "
                    "a preceeding message with 'tool_calls'.",
                    f"messages.[{number}].role",
                )
            waiting.remove(message["tool_call_id"])
            continue
        _check_answered(waiting, number)
        if message["role"] == "assistant":
            _check_assistant(message, number)
            waiting = [call["id"] for call in message.get("tool_calls", ())]
        if message["role"] == "user" and isinstance(message["content"], list):
            _check_parts(message["content"], number)
    _check_answered(waiting, len(messages))


def _check_answered(waiting: list[str], number: int) -> None:
    """Refuse to go on while calls have no result."""
    if waiting:
        raise refuse(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
            f"The following tool_call_ids did not have response messages: {', '.join(waiting)}",
            f"messages.[{number}].role",
        )


def _check_assistant(message: Mapping[str, Json], number: int) -> None:
    """Content may only be missing beside calls, audio or a refusal; ids are short and unique."""
    says = any(message.get(key) is not None for key in ("tool_calls", "function_call", "audio", "refusal"))
    if message.get("content") is None and not says:
        where = f"messages.[{number}].content"
        raise refuse("Invalid value for 'content': expected a string, got null.", where, "invalid_type")
    ids = [call["id"] for call in message.get("tool_calls", ())]
    if len(set(ids)) != len(ids):
        raise refuse("Duplicate tool call id in one message.", f"messages[{number}].tool_calls")
    for position, call in enumerate(message.get("tool_calls", ())):
        where = f"messages[{number}].tool_calls[{position}]"
        if not 1 <= len(call["id"]) <= 64:
            raise refuse(f"Invalid '{where}.id': string too long. Expected a string with maximum length 64.", f"{where}.id")
        check_name(call[call["type"]]["name"], f"{where}.{call['type']}.name")


def _check_parts(parts: list[Json], number: int) -> None:
    """Pictures, sounds and files of a user message."""
    for position, part in enumerate(parts):
        where = spell(("messages", number, "content", position))
        if part["type"] == "image_url":
            check_image_url(part["image_url"]["url"], f"{where}.image_url.url")
        elif part["type"] == "input_audio" and not is_base64(part["input_audio"]["data"]):
            raise refuse(f"Invalid '{where}.input_audio.data'. Expected base64-encoded audio.", where)
        elif part["type"] == "file":
            check_file(part["file"], f"{where}.file")


def _check_embeddings(body: Mapping[str, Json]) -> None:
    """Non-empty texts or token lists."""
    items = [body["input"]] if isinstance(body["input"], str) else body["input"]
    if any(item == "" or not isinstance(item, (str, int, list)) for item in items):
        raise refuse("'$.input' is invalid. Please check the API reference.", None)


# --- what is answered ------------------------------------------------------------------------------------------------


def _head(exchange: Exchange, kind: str) -> dict[str, Json]:
    """The fields that every body and every chunk carries."""
    return {
        "id": f"chatcmpl-mock{exchange.serial}",
        "object": kind,
        "created": CREATED,
        "model": exchange.model,
        "service_tier": "default",
        "system_fingerprint": "fp_mock",
    }


def _extra(step: Step, value: dict[str, Json]) -> dict[str, Json]:
    """The value, with a field nobody knows where the step wants that."""
    return {**value, "x_unknown": {"new": "✓", "none": None}} if step.extras else value


def usage(step: Step) -> Json:
    """Chat usage: totals that include cached and reasoning tokens."""
    tokens = step.tokens
    return {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {
            "cached_tokens": tokens.cache_read,
            "cache_write_tokens": tokens.cache_write,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning, "audio_tokens": 0},
    }


def call_id(exchange: Exchange, number: int, call: Call) -> str:
    """The id of a call: its own, else one made from the request's number."""
    return call.id or f"call_mock{exchange.serial}_{number}"


def finish(step: Step) -> str:
    """Why the answer ends, in OpenAI's word."""
    return "tool_calls" if step.calls and step.finish == "stop" else _FINISH[step.finish]


def _logprobs(body: Json, pieces: list[str]) -> Json:
    """Log probabilities, where asked for."""
    if not body.get("logprobs"):
        return None
    rivals = body.get("top_logprobs") or 0
    return {"content": [_token(piece, rivals) for piece in pieces], "refusal": None}


def _token(piece: str, rivals: int) -> Json:
    """One token with its rivals, each less probable than the one before."""
    names = [piece, *(f"rival{number}" for number in range(1, rivals))]
    top = [_logprob(name, -0.25 * (number + 1)) for number, name in enumerate(names[:rivals])]
    return {**_logprob(piece, -0.25), "top_logprobs": top}


def _logprob(token: str, value: float) -> dict[str, Json]:
    return {"token": token, "logprob": value, "bytes": list(token.encode())}


def _choice(exchange: Exchange, number: int) -> Json:
    """One choice of a whole answer; de-facto ``reasoning_content`` carries thoughts."""
    step = exchange.step
    text = step.words(number)
    message: dict[str, Json] = {"role": "assistant", "content": text or None, "refusal": step.refusal, "annotations": []}
    if step.cited:
        message["annotations"] = [{"type": "url_citation", "url_citation": citation(step)}]
    if not step.calls and not step.refusal:
        message["content"] = text
    if step.thinking:
        message |= compatible.thought(exchange, step.thinking)
    if compatible.has_details(exchange):
        message["reasoning_details"] = compatible.details(exchange, call_id(exchange, 0, step.calls[0]))
    if step.calls:
        message["tool_calls"] = [
            compatible.signed(exchange, {"id": call_id(exchange, position, call), **_called(exchange, call, call.arguments)})
            for position, call in enumerate(step.calls)
        ]
    choice = {
        "index": number,
        "message": _extra(step, message),
        "logprobs": _logprobs(exchange.body, list(step.pieces(number)) if not step.forever else []),
        "finish_reason": finish(step),
    }
    return _extra(step, choice)


def _events(exchange: Exchange) -> Iterator[bytes]:
    """Chunks of all choices, the usage where asked for, the end marker."""
    step, body = exchange.step, exchange.body
    wants_usage = bool((body.get("stream_options") or {}).get("include_usage"))
    head = _extra(step, _head(exchange, "chat.completion.chunk"))
    if wants_usage:
        head["usage"] = None
    if step.extras:
        yield b": a comment\n\n"
    for delta, number, more in _deltas(exchange):
        choice = {"index": number, "delta": _extra(step, delta), "logprobs": None, "finish_reason": None, **more}
        yield frame({**head, "choices": [_extra(step, choice)]})
    if wants_usage:
        yield frame({**head, "choices": [], "usage": usage(step)})
    yield b"data: [DONE]\n\n"


def _deltas(exchange: Exchange) -> Iterator[tuple[dict[str, Json], int, dict[str, Json]]]:
    """Every delta with its choice and what else the choice says; several choices take turns."""
    step, body = exchange.step, exchange.body
    choices = range(body.get("n") or 1)
    speaks = bool(step.text) or not (step.calls or step.refusal)
    for number in choices:
        yield {"role": "assistant", "content": "" if speaks else None, "refusal": None}, number, {}
    for number in choices:
        for piece in halves(step.thinking or ""):
            yield compatible.thought(exchange, piece), number, {}
    sealed: list[Json] = []
    if compatible.has_details(exchange):
        signed, *sealed = compatible.details(exchange, call_id(exchange, 0, step.calls[0]))
        yield {"reasoning_details": [{**signed, "text": ""}]}, 0, {}
    # Choices take turns, as they do on the wire; a spent one is left out.
    texts = {number: step.pieces(number) for number in choices}
    while texts:
        for number, pieces in list(texts.items()):
            word = next(pieces, None)
            if word is None:
                del texts[number]
            else:
                yield {"content": word}, number, {"logprobs": _logprobs(body, [word])}
    if step.cited:
        yield {"annotations": [{"type": "url_citation", "url_citation": citation(step)}]}, 0, {}
    for number in choices:
        for piece in halves(step.refusal or ""):
            yield {"refusal": piece}, number, {}
        for delta in _call_deltas(exchange):
            yield delta, number, {}
        if sealed:
            yield {"reasoning_details": sealed}, number, {}
        yield {}, number, {"finish_reason": finish(step)}


def _call_deltas(exchange: Exchange) -> Iterator[dict[str, Json]]:
    """The tool calls, one after the other or, where the step interleaves, piece by piece in turns."""
    calls = [list(_one_call(exchange, number, call)) for number, call in enumerate(exchange.step.calls)]
    if exchange.step.interleave:
        for row in range(max((len(call) for call in calls), default=0)):
            yield from (call[row] for call in calls if row < len(call))
    else:
        for call in calls:
            yield from call


def _one_call(exchange: Exchange, number: int, call: Call) -> Iterator[dict[str, Json]]:
    """One call: its head, then its arguments in pieces."""
    head = {"index": number, "id": call_id(exchange, number, call), **_called(exchange, call, "")}
    yield {"tool_calls": [compatible.signed(exchange, head)]}
    is_custom = head["type"] == "custom"
    for piece in halves(free_text(call) if is_custom else call.arguments):
        said = {"custom": {"input": piece}} if is_custom else {"function": {"arguments": piece}}
        yield {"tool_calls": [{"index": number, **said}]}


def _called(exchange: Exchange, call: Call, arguments: str) -> dict[str, Json]:
    """A call of a function, or of a custom tool where the request declares it as one; empty ``arguments`` begin a stream."""
    name = exchange.tool_name(call.name)
    custom = [tool["custom"]["name"] for tool in exchange.body.get("tools") or () if tool["type"] == "custom"]
    if name in custom:
        return {"type": "custom", "custom": {"name": name, "input": free_text(call) if arguments else ""}}
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


def citation(step: Step) -> dict[str, Json]:
    """A page that the whole text cites."""
    return {"start_index": 0, "end_index": len(step.words()), "url": step.cited, "title": "A page"}


def free_text(call: Call) -> str:
    """What a custom tool is given by a call whose arguments are ``{"input": text}``."""
    text: str = json.loads(call.arguments)["input"]
    return text


def _embeddings(body: Json) -> Json:
    """Three numbers for each input, as floats or as base64 of little-endian float32."""
    given = body["input"]
    inputs = [given] if isinstance(given, str) or (given and isinstance(given[0], int)) else given
    data = []
    for number, item in enumerate(inputs):
        vector = [0.5, -0.25, float(len(item))]
        packed: Json = vector
        if body.get("encoding_format") == "base64":
            packed = base64.b64encode(struct.pack("<3f", *vector)).decode()
        data.append({"object": "embedding", "index": number, "embedding": packed})
    return {"object": "list", "data": data, "model": body["model"], "usage": {"prompt_tokens": 5, "total_tokens": 5}}
