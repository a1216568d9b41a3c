"""Chat completion requests: read with a light check, patched, taken apart and put together; and Prompt Blocks."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, get_args

from agentui.chat.capabilities import Effort
from agentui.chat.messages import CACHE_MARK, Message
from agentui.chat.request import ChatRequest, Operation, Params, ThinkingConfig, WireRequest
from agentui.chat.stops import cut_of
from agentui.errors import BadRequest
from agentui.jsonio import Json
from agentui.vendors.base import Prompt
from agentui.vendors.capabilities import capabilities_of, clamped_limit, effort_for, without_refused
from agentui.vendors.fields import envelope, flag, integer, number, one_or_more, text
from agentui.vendors.openai.cache_marks import has_mark
from agentui.vendors.openai.completions import check_prompt, is_completion
from agentui.vendors.openai.completions import parse_request as parse_completion
from agentui.vendors.openai.free_text import free_text_names
from agentui.vendors.openai.headers import caller_headers, chat_headers
from agentui.vendors.openai.message_writer import render_messages
from agentui.vendors.openai.messages import VENDOR, parse_messages, short_id
from agentui.vendors.openai.tools import (
    parse_response_format,
    parse_tool_choice,
    parse_tools,
    render_response_format,
    render_tools,
)
from agentui.vendors.schema_roots import with_object_roots
from agentui.vendors.system_place import placed

CHAT_PATH = "/v1/chat/completions"
EMBEDDINGS_PATH = "/v1/embeddings"

MAX_STOPS = 4
_PENALTY: Final = "repetition_penalty"

_MODELLED = {
    *("model", "messages", "stream", "stream_options", "response_format", "reasoning_effort", "user", "safety_identifier"),
    *("tools", "tool_choice", "parallel_tool_calls", "functions", "function_call", "web_search_options"),
    *("max_tokens", "max_completion_tokens", "temperature", "top_p", "top_k", "stop", "n", "seed"),
    *("presence_penalty", "frequency_penalty", "logprobs", "top_logprobs"),
    # No members of OpenAI's own: vLLM, SGLang, OpenRouter, TabbyAPI and others have them under these names.
    *("min_p", "repetition_penalty"),
}


def read_request(path: str, query: Mapping[str, str], headers: Mapping[str, str], body: Mapping[str, Json]) -> WireRequest:
    """Take in a caller's request, looking only at what the proxy itself needs. Raises BadRequest naming ``param``.

    The dialect defines no query, so none is kept; of the headers those that ``caller_headers`` names
    are.
    """
    model, stream = envelope(body)
    operation: Operation = "embeddings" if path.endswith("/embeddings") else "chat"
    stream = stream and operation == "chat"
    wire = WireRequest("openai", operation, model, stream, path, dict(body), headers=caller_headers(headers))
    if is_completion(wire):
        check_prompt(body)
        return replace(wire, is_retold=True)
    if operation == "chat" and not isinstance(body.get("messages"), list):
        raise BadRequest("messages must be a list.", param="messages")
    return wire


def patch_request(wire: WireRequest, *, model: str, stream: bool) -> WireRequest:
    """The same request for another model or with streaming switched.

    ``stream_options`` leaves with ``stream``: the API refuses it alone.
    """
    if wire.operation != "chat":
        return replace(wire, model=model, body={**wire.body, "model": model})
    body = _switched(wire.body, model, stream)
    return WireRequest(wire.vendor, "chat", model, stream, wire.path, body, wire.query, wire.headers, wire.dropped)


def parse_request(wire: WireRequest) -> ChatRequest:
    """Take the dialect off. Raises BadRequest naming ``param`` for what cannot be understood."""
    if wire.is_retold:
        return parse_completion(wire)
    body = wire.body
    messages = body.get("messages")
    if not isinstance(messages, list):
        raise BadRequest("messages must be a list.", param="messages")
    options = body.get("stream_options")
    parsed = parse_messages(messages)
    return ChatRequest(
        "openai",
        wire.model,
        parsed,
        _parse_params(body),
        wire,
        wire.stream,
        parse_tools(body),
        parse_tool_choice(body),
        parse_response_format(body),
        _parse_thinking(body),
        isinstance(options, dict) and options.get("include_usage") is True,
        tuple(_unmodelled(body)),
        cache=mark if isinstance(mark := body.get(CACHE_MARK), dict) else None,
    )


def render_request(chat: ChatRequest) -> WireRequest:
    """Put the dialect on; see ``Vendor.render_request``. A caller of this dialect gets its own body back."""
    model, own = capabilities_of(VENDOR, chat), chat.wire_in("openai")
    lost: list[str] = []
    is_wrapped = own is not None and own.is_wrapped
    # What a caller of this dialect says is for its own server to judge; what a pipeline adds is not.
    said = placed(chat.messages, model.system, lost, joins=True) if own is None or chat.is_recomposed else chat.messages
    messages, dropped = render_messages(said, free_text_names(chat.tools, chat.model), model.thoughts)
    dropped = (*lost, *dropped)
    if own is not None:
        body = _switched(own.body, chat.model, chat.stream)
        body["messages"] = messages
        if model.penalty_name not in body and _PENALTY in body:
            body[model.penalty_name] = body.pop(_PENALTY)
        cut = None
    else:
        cut = cut_of((chat.params.stop or ())[len(_told_stops(chat)) :], chat.params.n or 1)
        told, is_wrapped = with_object_roots(chat, model)
        body, dropped = _translated(told, messages, dropped)
    return WireRequest(
        "openai", "chat", chat.model, chat.stream, CHAT_PATH, body, headers=chat_headers(chat),
        dropped=dropped, cut=cut, is_wrapped=is_wrapped,
    )  # fmt: skip


def _switched(body: Mapping[str, Json], model: str, stream: bool) -> dict[str, Json]:
    """A shallow copy with model and stream set; a body that never spoke of streaming stays silent about it."""
    switched = {**body, "model": model}
    if stream:
        switched["stream"] = True
    else:
        if switched.get("stream") is not None:
            switched["stream"] = False
        switched.pop("stream_options", None)
    return switched


def _parse_params(body: Mapping[str, Json]) -> Params:
    """Sampling and limits. The newer of two names for one thing wins, but for ``user``."""
    given = {field: _PARAMS[field](body, field) for field in body if field in _PARAMS}
    if (limit := given.pop("max_completion_tokens", None)) is not None:
        given["max_tokens"] = limit
    else:
        given["is_answer_limit"] = given.get("max_tokens") is not None
    identifier = given.pop("safety_identifier", None)
    given["user"] = given.get("user") or identifier
    return Params(**given)


_PARAMS: Mapping[str, Callable[[Mapping[str, Json], str], Json]] = {
    **dict.fromkeys(("temperature", "top_p", "presence_penalty", "frequency_penalty", "min_p", "repetition_penalty"), number),
    **dict.fromkeys(("top_k", "max_completion_tokens", "max_tokens", "n", "seed", "top_logprobs"), integer),
    **dict.fromkeys(("user", "safety_identifier"), text),
    "logprobs": flag,
    "stop": one_or_more,
}
"""How each member that is a parameter is read."""


def _parse_thinking(body: Mapping[str, Json]) -> ThinkingConfig | None:
    """``reasoning_effort``; a word that we do not know stays with this dialect."""
    effort = body.get("reasoning_effort")
    if effort is None or effort not in get_args(Effort):
        return None
    return ThinkingConfig(effort, mode="disabled" if effort == "none" else "enabled")


def _unmodelled(body: Mapping[str, Json]) -> Iterator[str]:
    """The names of the members that other dialects cannot be told about; null and empty ones say nothing."""
    for field, value in body.items():
        if field not in _MODELLED and value is not None and value not in ({}, []):
            yield field
    match body.get("tool_choice"):
        case {"type": str(kind)} if kind not in ("function", "custom", "allowed_tools"):
            yield "tool_choice"
    match body.get("response_format"):
        case {"type": str(kind)} if kind not in ("text", "json_object", "json_schema"):
            yield "response_format"
    effort = body.get("reasoning_effort")
    if effort is not None and effort not in get_args(Effort):
        yield "reasoning_effort"
    contents = [content for message in body["messages"] if type(content := message.get("content")) is list]
    if any(has_mark(part) for content in contents for part in content):
        yield CACHE_MARK


def _translated(
    chat: ChatRequest, messages: list[Json], dropped_parts: tuple[str, ...]
) -> tuple[dict[str, Json], tuple[str, ...]]:
    """The body for a caller of another dialect, and what it lost."""
    tools, dropped_tools = render_tools(chat)
    params, dropped_params = _render_params(chat)
    effort, dropped_thinking = _render_effort(chat, has_tools="tools" in tools)
    body: dict[str, Json] = {"model": chat.model, "messages": messages, **params, **tools}
    if effort is not None:
        body["reasoning_effort"] = effort
    if chat.response_format is not None and chat.response_format.kind != "text":
        body["response_format"] = render_response_format(chat.response_format)
        if chat.response_format.kind == "json" and not any("json" in message.text.lower() for message in chat.messages):
            # JSON mode is refused unless some message holds the word.
            messages.insert(0, {"role": "system", "content": "Answer with JSON."})
    if chat.stream:
        # Other dialects always report usage in a stream; here it must be asked for.
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    dropped = (
        *dropped_parts,
        *dropped_params,
        *dropped_thinking,
        *dropped_tools,
        *(name for name in chat.unmodelled if name not in params),
    )
    return body, tuple(dict.fromkeys(dropped))


def _render_params(chat: ChatRequest) -> tuple[dict[str, Json], list[str]]:
    """Sampling and limits, and what was dropped.

    Reasoning models refuse ``max_tokens``; compatible servers know only that one. More tokens than a model writes are refused,
    too, so a limit beyond that is the model's own.
    """
    params = chat.params
    model = capabilities_of(VENDOR, chat)
    limit, dropped = clamped_limit(params.max_tokens, model)
    sampling: dict[str, Json] = {
        "temperature": params.temperature,
        "top_p": params.top_p,
        "top_k": params.top_k,
        "min_p": params.min_p,
        "repetition_penalty": params.repetition_penalty,
        "presence_penalty": params.presence_penalty,
        "frequency_penalty": params.frequency_penalty,
        "logprobs": params.logprobs,
        "top_logprobs": params.top_logprobs if params.logprobs else None,
        "logit_bias": dict(params.logit_bias) if params.logit_bias else None,
        "banned_strings": list(params.banned_strings) if params.banned_strings else None,
    }
    rest: dict[str, Json] = {
        model.limit_name: limit,
        "stop": list(_told_stops(chat)) or None,
        "n": params.n or params.answers,
        "seed": params.seed,
        "user": None if params.user is None else short_id(params.user),
    }
    taken, refused = without_refused(VENDOR, chat, sampling)
    if _PENALTY in taken:
        taken = {model.penalty_name if name == _PENALTY else name: value for name, value in taken.items()}
    return {name: value for name, value in {**taken, **rest}.items() if value is not None}, [*dropped, *refused]


def _told_stops(chat: ChatRequest) -> tuple[str, ...]:
    """The stop strings that the model itself takes: reasoning models none, others the first four."""
    return () if "stop" in capabilities_of(VENDOR, chat).refused else (chat.params.stop or ())[:MAX_STOPS]


def _render_effort(chat: ChatRequest, *, has_tools: bool) -> tuple[Effort | None, list[str]]:
    """``reasoning_effort``, and whether the wish for thought was dropped.

    Beside tools some models take no effort in this API, or none but "none" ("To use function tools, use /v1/responses or set
    reasoning_effort to 'none'"), which they must then be told even where nobody spoke of thinking.
    """
    model = capabilities_of(VENDOR, chat)
    effort, dropped = effort_for(chat.thinking, model)
    if not has_tools or model.tool_effort == "any":
        return effort, dropped
    dropped = [*dropped, "thinking"] if effort not in (None, "none") else dropped
    return ("none" if model.tool_effort == "none" else None), dropped


def render_prompt(messages: Sequence[Message]) -> Prompt:
    """``pm.messages`` holds ``{role, content, name?}``, system texts among them; ``[[PROMPT]]`` is ``"messages": [...]``."""
    wire, dropped = render_messages(messages)
    system_text = "\n\n".join(words for message in messages if message.role == "system" and (words := message.text))
    return Prompt({"messages": wire, "system_text": system_text}, {"messages": wire}, dropped)
