"""The demo in OpenAI's dialect: chat completions, embeddings and the model list."""

import base64
import struct
from collections.abc import Iterator, Mapping
from uuid import uuid4

from aiohttp import web

from agentui.demo.brain import (
    CREATED,
    MODELS,
    Answer,
    Ask,
    DemoError,
    Tool,
    answer,
    count_tokens,
    embedding,
    raise_on_demand,
    words,
)
from agentui.demo.stream import event, objects, positive, read_body, reply, required, send, strings
from agentui.jsonio import Json, dumps_text

_FINISH = {"stop": "stop", "stop_sequence": "stop", "length": "length", "tool_calls": "tool_calls"}
_MOST_CHOICES = 8


async def chat(request: web.Request) -> web.StreamResponse:
    """POST /v1/chat/completions."""
    body = await read_body(request)
    ask = _ask(body)
    answers = [answer(ask, number) for number in range(min(positive(body.get("n")) or 1, _MOST_CHOICES))]
    head = {"id": f"chatcmpl-{uuid4().hex}", "created": CREATED, "model": ask.model}
    if body.get("stream") is True:
        options = body.get("stream_options")
        with_usage = isinstance(options, dict) and options.get("include_usage") is True
        return await send(request, _events(head, answers, with_usage=with_usage))
    choices = [_choice(number, one) for number, one in enumerate(answers)]
    return reply({**head, "object": "chat.completion", "choices": choices, "usage": _usage(answers)})


async def embeddings(request: web.Request) -> web.StreamResponse:
    """POST /v1/embeddings: small vectors made from the text's hash."""
    body = await read_body(request)
    model = required(body, "model", str)
    raise_on_demand(model)
    texts = _texts(body.get("input"))
    packs = body.get("encoding_format") == "base64"
    data = []
    for number, text in enumerate(texts):
        vector = embedding(text, positive(body.get("dimensions")))
        packed = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode() if packs else vector
        data.append({"object": "embedding", "index": number, "embedding": packed})
    used = count_tokens(texts)
    return reply({"object": "list", "model": model, "data": data, "usage": {"prompt_tokens": used, "total_tokens": used}})


def models() -> Json:
    """The model list."""
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "created": CREATED, "owned_by": "agentui"} for name in MODELS],
    }


def error(problem: DemoError) -> web.Response:
    """A refusal in OpenAI's shape (the Responses API shares it)."""
    kinds = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}
    kind = "server_error" if problem.status >= 500 else "requests" if problem.status == 429 else "invalid_request_error"
    headers = {} if problem.retry_after is None else {"retry-after": str(problem.retry_after)}
    body = {"message": problem.message, "type": kind, "param": problem.param, "code": kinds.get(problem.status)}
    return reply({"error": body}, problem.status, headers)


def _texts(given: Json) -> list[str]:
    """The inputs of an embeddings request; a list of tokens counts as one text."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, list) or not given:
        raise DemoError(400, "input: this field is required and must be a string or a list.", param="input")
    if all(isinstance(item, int) for item in given):
        return [" ".join(map(str, given))]
    return [item if isinstance(item, str) else dumps_text(item) for item in given]


def _text_of(content: Json) -> str:
    """The text of a content that is a string or parts."""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in objects(content) if isinstance(part.get("text"), str))


def _ask(body: Mapping[str, Json]) -> Ask:
    """The question in a chat request. Raises DemoError for missing fields."""
    messages = objects(required(body, "messages", list))
    said = [(message.get("role"), _text_of(message.get("content"))) for message in messages]
    results: list[str] = []
    for role, text in reversed(said):
        if role != "tool":
            break
        results.insert(0, text)
    form = body.get("response_format")
    form = form if isinstance(form, dict) else {}
    schema = form.get("json_schema")
    return Ask(
        model=required(body, "model", str),
        user=next((text for role, text in reversed(said) if role == "user"), ""),
        system="\n".join(text for role, text in said if role in ("system", "developer")),
        heard=tuple(text for _, text in said),
        tools=_tools(body.get("tools")),
        choice=_choice_of_tool(body.get("tool_choice")),
        parallel=body.get("parallel_tool_calls") is not False,
        tool_results=tuple(results),
        schema=schema.get("schema") if isinstance(schema, dict) else None,
        json=form.get("type") == "json_object",
        thinking=body.get("reasoning_effort") not in (None, "none"),
        max_tokens=positive(body.get("max_completion_tokens")) or positive(body.get("max_tokens")),
        stop=strings(body.get("stop")),
    )


def _tools(value: Json) -> tuple[Tool, ...]:
    """The declared functions."""
    functions = [tool.get("function") for tool in objects(value)]
    return tuple(Tool(str(one.get("name")), one.get("parameters")) for one in objects(functions))


def _choice_of_tool(value: Json) -> str:
    """auto, none, required or a name."""
    match value:
        case "none" | "required":
            return str(value)
        case {"function": {"name": str(name)}}:
            return name
    return "auto"


def _usage(answers: list[Answer]) -> Json:
    """Tokens of all choices together."""
    prompt = answers[0].input_tokens
    output = sum(one.output_tokens for one in answers)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "completion_tokens_details": {"reasoning_tokens": sum(one.reasoning_tokens for one in answers)},
    }


def _calls(one: Answer) -> list[dict[str, Json]]:
    """The calls of an answer."""
    return [
        {
            "id": f"call_{uuid4().hex[:24]}",
            "type": "function",
            "function": {"name": call.name, "arguments": dumps_text(call.arguments)},
        }
        for call in one.calls
    ]


def _choice(number: int, one: Answer) -> Json:
    """One choice of a whole answer. Thoughts go into ``reasoning_content``, as many servers do it."""
    message: dict[str, Json] = {"role": "assistant", "content": None if one.calls else one.text, "refusal": None}
    if one.thought:
        message["reasoning_content"] = one.thought
    if one.calls:
        message["tool_calls"] = _calls(one)
    return {"index": number, "message": message, "logprobs": None, "finish_reason": _FINISH[one.finish]}


def _events(head: Mapping[str, Json], answers: list[Answer], *, with_usage: bool) -> Iterator[bytes]:
    """A streamed answer, choice after choice."""
    head = {**head, "object": "chat.completion.chunk", **({"usage": None} if with_usage else {})}
    for number, one in enumerate(answers):
        for delta in _deltas(one):
            yield event({**head, "choices": [{"index": number, "delta": delta, "logprobs": None, "finish_reason": None}]})
        last = {"index": number, "delta": {}, "logprobs": None, "finish_reason": _FINISH[one.finish]}
        yield event({**head, "choices": [last]})
    if with_usage:
        yield event({**head, "choices": [], "usage": _usage(answers)})
    yield b"data: [DONE]\n\n"


def _deltas(one: Answer) -> Iterator[dict[str, Json]]:
    """One choice, word by word."""
    yield {"role": "assistant", "content": None if one.calls else ""}
    for word in words(one.thought or ""):
        yield {"reasoning_content": word}
    for word in words(one.text):
        yield {"content": word}
    for index, call in enumerate(_calls(one)):
        function = call["function"]
        yield {"tool_calls": [{**call, "index": index, "function": {"name": function["name"], "arguments": ""}}]}
        yield {"tool_calls": [{"index": index, "function": {"arguments": function["arguments"]}}]}
