"""The demo in Gemini's dialect: generateContent, streams, token counts, embeddings and the model list."""

import base64
import re
from collections.abc import Iterator, Mapping
from uuid import uuid4

from aiohttp import web

from agentui.demo.brain import (
    MODELS,
    Answer,
    Ask,
    Call,
    DemoError,
    Tool,
    answer,
    count_tokens,
    embedding,
    raise_on_demand,
    words,
)
from agentui.demo.stream import event, objects, positive, read_body, reply, send, strings
from agentui.jsonio import Json, dumps, dumps_text

_FINISH = {"stop": "STOP", "stop_sequence": "STOP", "length": "MAX_TOKENS", "tool_calls": "STOP"}
_SIGNATURE = base64.b64encode(b"agentui demo: not a real signature").decode()
_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_MOST_CANDIDATES = 8
# Names below these keys are the caller's own, not proto fields.
_FREE = ("args", "response", "properties", "parametersJsonSchema", "responseJsonSchema", "responseSchema", "parameters")


async def operate(request: web.Request) -> web.StreamResponse:
    """POST /{version}/models/{model}:{operation}."""
    model = request.match_info["model"]
    raise_on_demand(model)
    body = _camel(await read_body(request))
    match request.match_info["operation"]:
        case "generateContent":
            return reply(_whole(model, _answers(model, body)))
        case "streamGenerateContent":
            return await _stream(request, model, body)
        case "countTokens":
            inner = body.get("generateContentRequest")
            ask = _ask(model, inner if isinstance(inner, dict) else body)
            return reply({"totalTokens": count_tokens(ask.heard)})
        case "batchEmbedContents":
            return reply({"embeddings": [{"values": _vector(one)} for one in objects(body.get("requests"))]})
        case "embedContent":
            return reply({"embedding": {"values": _vector(body)}})
        case other:
            raise DemoError(404, f"The demo has no operation {other!r}.")


def models() -> Json:
    """The model list."""
    methods = ["generateContent", "streamGenerateContent", "countTokens", "embedContent", "batchEmbedContents"]
    limits = {"inputTokenLimit": 100_000, "outputTokenLimit": 8192, "supportedGenerationMethods": methods}
    return {"models": [{"name": f"models/{name}", "displayName": name.title(), **limits} for name in MODELS]}


def error(problem: DemoError) -> web.Response:
    """A refusal in Google's shape; the waiting time stands in RetryInfo."""
    word = _STATUSES.get(problem.status, "INTERNAL" if problem.status >= 500 else "INVALID_ARGUMENT")
    body: dict[str, Json] = {"code": problem.status, "message": problem.message, "status": word}
    if problem.retry_after is not None:
        delay = f"{problem.retry_after}s"
        body["details"] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]
    return reply({"error": body}, problem.status)


def _camel(value: Json) -> Json:
    """JSON with its field names in camelCase; both spellings are legal on this wire."""
    if isinstance(value, list):
        return [_camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    result: dict[str, Json] = {}
    for key, item in value.items():
        name = re.sub(r"_([a-z])", lambda match: match[1].upper(), key)
        result[name] = item if name in _FREE else _camel(item)
    return result


def _parts(content: Json) -> list[dict[str, Json]]:
    """The parts of a content."""
    return objects(content.get("parts")) if isinstance(content, dict) else []


def _text_of(content: Json) -> str:
    """The text of a content; thoughts do not count."""
    return "".join(part["text"] for part in _parts(content) if isinstance(part.get("text"), str) and not part.get("thought"))


def _results_of(content: Json) -> tuple[str, ...]:
    """The function responses of a content, as JSON text (or the bare string they wrap)."""
    results: list[str] = []
    for part in _parts(content):
        match part.get("functionResponse"):
            case {"response": {"result": str(text)} | {"output": str(text)}}:
                results.append(text)
            case {"response": value}:
                results.append(dumps_text(value))
    return tuple(results)


def _ask(model: str, body: Mapping[str, Json]) -> Ask:
    """The question in a request. Raises DemoError without contents."""
    contents = objects(body.get("contents"))
    if not contents:
        raise DemoError(400, "* GenerateContentRequest.contents: contents is not specified", param="contents")
    config = body.get("generationConfig")
    config = config if isinstance(config, dict) else {}
    users = [text for one in contents if one.get("role", "user") == "user" and (text := _text_of(one))]
    system = _text_of(body.get("systemInstruction"))
    schema = config.get("responseJsonSchema") or config.get("responseSchema")
    tools = tuple(tool for one in objects(body.get("tools")) for tool in _tools(one))
    thinking = config.get("thinkingConfig")
    return Ask(
        model=model,
        user=users[-1] if users else "",
        system=system,
        heard=(system, *(text for one in contents for text in (_text_of(one), *_results_of(one)))),
        tools=tools,
        choice=_choice_of_tool(body.get("toolConfig"), tools),
        tool_results=_results_of(contents[-1]),
        schema=schema,
        json=config.get("responseMimeType") == "application/json",
        thinking=isinstance(thinking, dict) and thinking.get("includeThoughts") is True,
        max_tokens=positive(config.get("maxOutputTokens")),
        stop=strings(config.get("stopSequences")),
    )


def _tools(tool: Mapping[str, Json]) -> Iterator[Tool]:
    """The functions that one tool declares."""
    for declaration in objects(tool.get("functionDeclarations")):
        schema = declaration.get("parametersJsonSchema") or declaration.get("parameters")
        yield Tool(str(declaration.get("name")), schema)


def _choice_of_tool(config: Json, tools: tuple[Tool, ...]) -> str:
    """auto, none, required or a name."""
    match config:
        case {"functionCallingConfig": {"mode": "NONE"}}:
            return "none"
        case {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [str(name), *_]}}:
            return name if any(tool.name == name for tool in tools) else "required"
        case {"functionCallingConfig": {"mode": "ANY"}}:
            return "required"
    return "auto"


def _answers(model: str, body: Mapping[str, Json]) -> list[Answer]:
    """One answer for each candidate asked for."""
    ask = _ask(model, body)
    match body.get("generationConfig"):
        case {"candidateCount": int(wanted)}:
            number = min(max(wanted, 1), _MOST_CANDIDATES)
        case _:
            number = 1
    return [answer(ask, variant) for variant in range(number)]


def _vector(request: Mapping[str, Json]) -> list[float]:
    """The embedding of one request's content."""
    return embedding(_text_of(request.get("content")), positive(request.get("outputDimensionality")))


def _tail(model: str, answers: list[Answer]) -> dict[str, Json]:
    """Usage and names; candidates leave the thoughts out, the total does not."""
    prompt = answers[0].input_tokens
    output = sum(one.output_tokens for one in answers)
    thoughts = sum(one.reasoning_tokens for one in answers)
    usage = {"promptTokenCount": prompt, "candidatesTokenCount": output - thoughts, "totalTokenCount": prompt + output}
    if thoughts:
        usage["thoughtsTokenCount"] = thoughts
    return {"usageMetadata": usage, "modelVersion": model, "responseId": uuid4().hex}


def _call_part(call: Call, number: int) -> dict[str, Json]:
    """A call; the first one is signed, as Gemini 3 does it."""
    part: dict[str, Json] = {"functionCall": {"id": uuid4().hex[:16], "name": call.name, "args": call.arguments}}
    return part if number else {**part, "thoughtSignature": _SIGNATURE}


def _candidate(number: int, parts: list[Json], finish: str | None = None) -> dict[str, Json]:
    """One candidate, with its reason when it is done."""
    candidate: dict[str, Json] = {"content": {"role": "model", "parts": parts}, "index": number}
    return {**candidate, "finishReason": finish} if finish else candidate


def _said_parts(one: Answer, *, streamed: bool) -> Iterator[dict[str, Json]]:
    """The parts of an answer, word by word when streamed."""
    for piece in words(one.thought or "") if streamed else [one.thought] if one.thought else []:
        yield {"text": piece, "thought": True}
    for piece in words(one.text) if streamed else [one.text] if one.text else []:
        yield {"text": piece}
    for number, call in enumerate(one.calls):
        yield _call_part(call, number)


def _whole(model: str, answers: list[Answer]) -> Json:
    """An answer that is not streamed."""
    candidates = [
        _candidate(number, list(_said_parts(one, streamed=False)), _FINISH[one.finish]) for number, one in enumerate(answers)
    ]
    return {"candidates": candidates, **_tail(model, answers)}


def _chunks(model: str, answers: list[Answer]) -> Iterator[Json]:
    """The chunks of a stream; each candidate ends with an empty text and its reason."""
    tail = _tail(model, answers)
    for number, one in enumerate(answers):
        for part in _said_parts(one, streamed=True):
            yield {"candidates": [_candidate(number, [part])], **tail}
        yield {"candidates": [_candidate(number, [{"text": ""}], _FINISH[one.finish])], **tail}


async def _stream(request: web.Request, model: str, body: Mapping[str, Json]) -> web.StreamResponse:
    """Events with ``alt=sse``, else a JSON array that grows."""
    chunks = _chunks(model, _answers(model, body))
    if request.query.get("alt") == "sse":
        return await send(request, (event(chunk, end="\r\n") for chunk in chunks))
    return await send(request, _array(chunks), "application/json")


def _array(chunks: Iterator[Json]) -> Iterator[bytes]:
    """The members of a JSON array as they come."""
    before = b"["
    for chunk in chunks:
        yield before + dumps(chunk)
        before = b",\r\n"
    yield b"]"
