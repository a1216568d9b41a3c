"""Requests: ``/{version}/models/{model}:{operation}``, its body and its ``generationConfig``, both ways."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import parse_qsl, quote

from agentui.chat.request import ChatRequest, Operation, Params, ResponseFormat, WireRequest
from agentui.chat.stops import cut_of
from agentui.errors import BadRequest, NotFound
from agentui.jsonio import Json
from agentui.vendors.base import model_path_segment
from agentui.vendors.capabilities import capabilities_of
from agentui.vendors.gemini.contents import (
    own_content,
    parse_messages,
    put_conversation,
    render_foreign,
    render_own,
    with_contents,
)
from agentui.vendors.gemini.parts import GEMINI
from agentui.vendors.gemini.protojson import (
    Malformed,
    camel,
    flag,
    integer,
    items,
    label_of,
    member,
    number,
    obj,
    spelling,
    text,
    within,
)
from agentui.vendors.gemini.thinking import parse_thinking, render_thinking
from agentui.vendors.gemini.tools import parse_tool_choice, parse_tools, render_tools, to_json_schema, unmodelled_tool_config

_PATH: Final = re.compile(r"/(v1|v1beta|v1alpha)/(?:models/|(?=tunedModels/))(.+):([A-Za-z]+)", re.DOTALL)
_METHODS: Final[Mapping[str, Operation]] = {
    "generateContent": "chat",
    "streamGenerateContent": "chat",
    "countTokens": "count_tokens",
    "embedContent": "embeddings",
    "batchEmbedContents": "embeddings",
}
_CREDENTIALS: Final = {"key", "$key", "access_token", "oauth_token", "api_key"}
_KEPT_HEADERS: Final = ("x-goog-user-project",)
_MODELLED: Final = {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "model"}


def read_request(path: str, query: Mapping[str, str], headers: Mapping[str, str], body: Mapping[str, Json]) -> WireRequest:
    """Take in a caller's request. Keys never stay in the query; the path keeps the API version that was asked.

    Raises NotFound for a path that is no method of a model, BadRequest for a bad model or a body without contents.
    """
    match = _PATH.fullmatch(path)
    method = match[3] if match else ""
    if match is None or method not in _METHODS:
        raise NotFound(
            "No such method: Gemini requests go to /v1beta/models/{model}:generateContent, "
            ":streamGenerateContent, :countTokens, :embedContent or :batchEmbedContents."
        )
    if not isinstance(body, dict):
        raise BadRequest("The body must be a JSON object.", param="body")
    operation = _METHODS[method]
    if operation != "embeddings":
        _check_contents(body, operation)
    return WireRequest(
        vendor="gemini",
        operation=operation,
        model=model_path_segment(match[2]),
        stream=method == "streamGenerateContent",
        path=path,
        body=body,
        query={name: value for name, value in query.items() if name.lower() not in _CREDENTIALS},
        headers={name: headers[name] for name in _KEPT_HEADERS if name in headers},
    )


def _check_contents(body: dict[str, Json], operation: Operation) -> None:
    """Raise BadRequest unless the request has a list of contents; a count may have it inside generateContentRequest."""
    inner = member(body, "generateContentRequest") if operation == "count_tokens" else None
    where = "contents" if inner is None else "generateContentRequest.contents"
    if inner is not None and not isinstance(inner, dict):
        raise BadRequest("generateContentRequest must be an object.", param="generateContentRequest")
    if not isinstance(member(body if inner is None else inner, "contents"), list):
        raise BadRequest("contents must be a list of objects with role and parts.", param=where)


def chat_endpoint(model: str, *, stream: bool) -> str:
    """Path and query below the base URL. ``models/x`` and ``tunedModels/x`` are taken as they are. Raises BadRequest."""
    return method_path("v1beta", model, _chat_method(stream)) + ("?alt=sse" if stream else "")


def fit_endpoint(endpoint: str, *, stream: bool) -> tuple[str, bool]:
    """A written endpoint with the streaming method where a stream is wanted, and ``alt=sse`` beside every such method."""
    path, _, query = endpoint.partition("?")
    if stream:
        path = path.replace(":generateContent", ":streamGenerateContent")
    stream = ":streamGenerateContent" in path
    if stream and not any(name == "alt" for name, _ in parse_qsl(query, keep_blank_values=True)):
        query = f"{query}&alt=sse" if query else "alt=sse"
    return (f"{path}?{query}" if query else path), stream


def _chat_method(stream: bool) -> str:
    return "streamGenerateContent" if stream else "generateContent"


def method_path(version: str, model: str, method: str) -> str:
    """The path of a model's method. Raises BadRequest when the model cannot stand in a path."""
    return f"/{version}/{quote(resource(model), safe='/:')}:{method}"


def resource(model: str) -> str:
    """A model's resource name: ``models/x``, or ``tunedModels/x`` as it is. Raises BadRequest."""
    name = model_path_segment(model.removeprefix("models/"))
    return name if name.startswith("tunedModels/") else f"models/{name}"


def with_method(wire: WireRequest, model: str, operation: Operation, stream: bool, body: dict[str, Json]) -> WireRequest:
    """The request with another model, method and body, on the API version that the caller uses.

    A stream asks for SSE, the only framing that the parser reads; the framing of the answer follows the caller's request.
    """
    version = match[1] if (match := _PATH.fullmatch(wire.path)) else "v1beta"
    query = {name: value for name, value in wire.query.items() if name != "alt"}
    if operation == "chat" and stream:
        query["alt"] = "sse"
    method = "countTokens" if operation == "count_tokens" else _chat_method(stream)
    if operation == "embeddings" and match is not None:
        method = match[3]
    return replace(
        wire, operation=operation, model=model, stream=stream, path=method_path(version, model, method), query=query, body=body
    )


def patch_request(wire: WireRequest, *, model: str, stream: bool) -> WireRequest:
    """The same request with another model or stream switch; a body that names its model as well is kept in step."""
    body = _with_model(wire.body, model)
    if wire.operation == "embeddings" and isinstance(requests := body.get("requests"), list):
        body["requests"] = [{**one, "model": resource(model)} if isinstance(one, dict) else one for one in requests]
    if isinstance(contents := member(body, "contents"), list):
        kept = [own_content(content, model) for content in contents]
        if any(new is not old for new, old in zip(kept, contents, strict=True)):
            body[spelling(body, "contents")] = kept
    return with_method(wire, model, wire.operation, stream, body)


def _with_model(body: dict[str, Json], model: str) -> dict[str, Json]:
    """A shallow copy of the body; the model that some clients repeat in it is replaced, in the form that it had."""
    told = body.get("model")
    if not isinstance(told, str):
        return dict(body)
    return {**body, "model": resource(model) if "/" in told else model.removeprefix("models/")}


def parse_request(wire: WireRequest) -> ChatRequest:
    """Take the dialect off. Raises BadRequest naming ``param``, such as ``contents.2.parts.0``."""
    try:
        return _parse(wire, generate_body(wire))
    except Malformed as error:
        raise BadRequest(error.message, param=error.where or "contents") from error


def generate_body(wire: WireRequest) -> dict[str, Json]:
    """The GenerateContentRequest: the body, or what a token count carries inside."""
    inner = member(wire.body, "generateContentRequest") if wire.operation == "count_tokens" else None
    return inner if isinstance(inner, dict) else wire.body


def _parse(wire: WireRequest, body: dict[str, Json]) -> ChatRequest:
    config = obj(body, "generationConfig")
    with within("generationConfig"):
        params, response_format, thinking = parse_params(config), parse_format(config), parse_thinking(config)
    return ChatRequest(
        vendor="gemini",
        model=wire.model,
        messages=parse_messages(body),
        params=params,
        wire=wire,
        stream=wire.stream,
        tools=parse_tools(body),
        tool_choice=parse_tool_choice(body),
        response_format=response_format,
        thinking=thinking,
        unmodelled=_unmodelled(body, config),
        needs_state="cachedContent" if member(body, "cachedContent") else None,
    )


def _unmodelled(body: dict[str, Json], config: dict[str, Json]) -> tuple[str, ...]:
    """What the request says and nobody else understands."""
    names = [label_of(key) for key, value in body.items() if value not in (None, [], {}, "") and camel(key) not in _MODELLED]
    return tuple(dict.fromkeys([*names, *unmodelled_tool_config(body), *unmodelled_config(config)]))


def render_request(chat: ChatRequest) -> WireRequest:
    """Put this dialect on. From itself only the conversation, the model and the method change.

    Raises UnsupportedFeature where dropping would change the meaning.
    """
    came = chat.wire_in(GEMINI)
    if came is not None:
        own = render_own(chat.messages, chat.model, capabilities_of(GEMINI, chat).system)
        if chat.is_recomposed:
            own = with_contents(own)
        rendered = put_conversation(_with_model(generate_body(came), chat.model), own)
        wire = with_method(came, chat.model, "chat", chat.stream, rendered)
        return replace(wire, dropped=tuple(dict.fromkeys(own.dropped)))
    conversation = render_foreign(chat.messages, chat.model, capabilities_of(GEMINI, chat).system)
    dropped = [*chat.unmodelled, *conversation.dropped]
    body = put_conversation({}, conversation) | render_tools(chat, dropped)
    config = render_config(chat, dropped)
    if config:
        body["generationConfig"] = config
    return WireRequest(
        vendor="gemini",
        operation="chat",
        model=chat.model,
        stream=chat.stream,
        path=method_path("v1beta", chat.model, _chat_method(chat.stream)),
        body=body,
        query={"alt": "sse"} if chat.stream else {},
        dropped=tuple(dict.fromkeys(dropped)),
        cut=cut_of((chat.params.stop or ())[MAX_STOPS:], chat.params.n or 1),
    )


MAX_STOPS: Final = 5

_MODELLED_CONFIG: Final = {
    "temperature",
    "topP",
    "topK",
    "maxOutputTokens",
    "stopSequences",
    "candidateCount",
    "seed",
    "presencePenalty",
    "frequencyPenalty",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "thinkingConfig",
    "responseLogprobs",
    "logprobs",
}


def parse_params(config: Mapping[str, Json]) -> Params:
    """Sampling and limits. Raises Malformed."""
    stops = items(config, "stopSequences")
    if not all(isinstance(stop, str) for stop in stops):
        raise Malformed("stopSequences must hold strings.", "stopSequences")
    return Params(
        temperature=number(config, "temperature"),
        top_p=number(config, "topP"),
        top_k=integer(config, "topK"),
        max_tokens=integer(config, "maxOutputTokens"),
        stop=tuple(stops) or None,
        n=integer(config, "candidateCount"),
        seed=integer(config, "seed"),
        presence_penalty=number(config, "presencePenalty"),
        frequency_penalty=number(config, "frequencyPenalty"),
        logprobs=flag(config, "responseLogprobs"),
        top_logprobs=integer(config, "logprobs"),
    )


def parse_format(config: Mapping[str, Json]) -> ResponseFormat | None:
    """JSON with or without a schema; ``text/x.enum`` has no neutral counterpart. Raises Malformed."""
    mime = (text(config, "responseMimeType") or "").lower()
    if mime and mime != "application/json":
        return ResponseFormat("text") if mime == "text/plain" else None
    schema = member(config, "responseJsonSchema")
    if schema is None:
        schema = to_json_schema(member(config, "responseSchema"))
    if schema is None:
        return ResponseFormat("json") if mime else None
    if not isinstance(schema, dict):
        raise Malformed("The response's schema must be an object.", "responseSchema")
    return ResponseFormat("schema", schema)


def unmodelled_config(config: Mapping[str, Json]) -> list[str]:
    """What is said here and modelled nowhere, by name."""
    names = [label_of(key) for key, value in config.items() if value not in (None, [], {}, "")]
    kept = [name for name in names if name not in _MODELLED_CONFIG]
    if str(member(config, "responseMimeType") or "").startswith("text/x."):
        kept.append("responseMimeType")
    return [f"generationConfig.{name}" for name in kept]


def render_config(chat: ChatRequest, dropped: list[str]) -> dict[str, Json]:
    """``generationConfig`` for a request of another dialect, {} when nothing was asked."""
    params = chat.params
    if params.user is not None:
        dropped.append("user")
    if params.min_p:
        dropped.append("min_p")
    if params.repetition_penalty not in (None, 1):
        dropped.append("repetition_penalty")
    members: dict[str, Json] = {
        "temperature": params.temperature,
        "topP": params.top_p,
        "topK": params.limiting_top_k,
        "maxOutputTokens": params.max_tokens,
        "stopSequences": list(params.stop[:MAX_STOPS]) if params.stop else None,
        "candidateCount": params.n,
        "seed": params.seed,
        "presencePenalty": params.presence_penalty,
        "frequencyPenalty": params.frequency_penalty,
        "responseLogprobs": params.logprobs or None,
        "logprobs": params.top_logprobs or None if params.logprobs else None,
        **_format(chat.response_format, dropped),
        "thinkingConfig": render_thinking(chat.thinking, capabilities_of(GEMINI, chat), dropped),
    }
    return {name: value for name, value in members.items() if value is not None}


def _format(wanted: ResponseFormat | None, dropped: list[str]) -> dict[str, Json]:
    if wanted is None or wanted.kind == "text":
        return {}
    if wanted.kind == "json" or wanted.schema is None:
        return {"responseMimeType": "application/json"}
    if wanted.strict:
        dropped.append("response_format.strict")
    return {"responseMimeType": "application/json", "responseJsonSchema": wanted.schema}
