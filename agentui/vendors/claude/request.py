"""Requests in Claude's dialect, taken in: a light check, and the dialect taken off."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

from agentui.chat.capabilities import Effort
from agentui.chat.messages import Message, Opaque, Part, Role, Text, Thinking
from agentui.chat.request import ChatRequest, Params, ResponseFormat, ThinkingConfig, WireRequest
from agentui.errors import BadRequest
from agentui.jsonio import Json
from agentui.vendors.claude.content import parse_content
from agentui.vendors.claude.tools import parse_tool_choice, parse_tools
from agentui.vendors.fields import envelope, integer, mapping, number
from agentui.vendors.thought_marks import is_marked, marked_thought

_KEPT_HEADERS = ("anthropic-version", "anthropic-beta")
_KEPT_QUERY = ("beta",)
_MODELLED = frozenset(
    {
        "model",
        "messages",
        "system",
        "max_tokens",
        "temperature",
        "top_p",
        "top_k",
        "stop_sequences",
        "stream",
        "tools",
        "tool_choice",
        "thinking",
        "metadata",
        "output_config",
        "output_format",
    }
)
_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}


def read_request(path: str, query: Mapping[str, str], headers: Mapping[str, str], body: Mapping[str, Json]) -> WireRequest:
    """Check ``model``, ``messages`` and ``stream``, and keep the headers and the query that choose the API's version."""
    model, stream = envelope(body)
    if body.get("stream", stream) is None:  # the API takes no null
        raise BadRequest("stream must be true or false.", param="stream")
    if not isinstance(body.get("messages"), list):
        raise BadRequest("messages must be a list.", param="messages")
    counts = path.rstrip("/").endswith("/count_tokens")
    return WireRequest(
        vendor="claude",
        operation="count_tokens" if counts else "chat",
        model=model,
        stream=stream and not counts,
        path=path,
        body=dict(body),
        query={name: query[name] for name in _KEPT_QUERY if name in query},
        headers={name: headers[name] for name in _KEPT_HEADERS if name in headers},
    )


def patch_request(wire: WireRequest, *, model: str, stream: bool) -> WireRequest:
    """The same request with another model or stream switch; an absent ``stream`` stays absent when it means the same."""
    body = {**wire.body, "model": model}
    if body.get("stream", False) is not stream:
        body["stream"] = stream
    return replace(wire, model=model, stream=stream, body=body)


def parse_request(wire: WireRequest) -> ChatRequest:
    """Take the dialect off. Raises BadRequest naming ``param``."""
    body = wire.body
    lost = [key for key in body if key not in _MODELLED and body[key] is not None]
    messages = _parse_messages(body, lost)
    return ChatRequest(
        vendor="claude",
        model=wire.model,
        messages=messages,
        params=_parse_params(body, lost),
        wire=wire,
        stream=wire.stream,
        tools=parse_tools(body.get("tools"), lost),
        tool_choice=parse_tool_choice(body.get("tool_choice")),
        response_format=_parse_format(body),
        thinking=_parse_thinking(body, lost),
        unmodelled=tuple(dict.fromkeys(lost)),
        needs_state=None if continued_message(body) is None else "thread",
    )


def continued_message(body: Mapping[str, Json]) -> str | None:
    """The id of the answer that the request continues, holding only what is new since; None for a whole conversation."""
    match body.get("thread"):
        case {"type": "continue", **rest}:
            return str(rest.get("previous_message_id", ""))
    return None


def _parse_messages(body: Mapping[str, Json], lost: list[str]) -> Sequence[Message]:
    """``system``, where it says something, and ``messages``."""
    messages = body.get("messages")
    system = parse_system(body.get("system"), lost)
    if not isinstance(messages, list):
        raise BadRequest("messages must be a list.", param="messages")
    spoken = [_parse_message(message, number, lost) for number, message in enumerate(messages)]
    return tuple(spoken if system is None else [system, *spoken])


def parse_system(system: Json, lost: list[str]) -> Message | None:
    """The top-level ``system`` as a message whose ``raw`` is ``{"system": ...}``; None where it says nothing.

    A wire message has a ``role``; that this raw has none tells it from a system message amid the conversation.
    """
    if system is None:
        return None
    parts = parse_content(system, "system", lost)
    return Message("system", parts, raw={"system": system}, raw_vendor="claude") if parts else None


def _parse_message(message: Json, number: int, lost: list[str]) -> Message:
    """One entry of ``messages``."""
    if type(message) is dict and len(message) == 2:  # nearly every message is a role and words
        name, content = message.get("role"), message.get("content")
        if type(content) is str and content and type(name) is str and name in _ROLES:
            return Message(_ROLES[name], (Text(content),), None, message, "claude")
    where = f"messages.{number}"
    if not isinstance(message, dict):
        raise BadRequest(f"{where} must be an object.", param=where)
    role = message.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise BadRequest(f"{where}.role must be user, assistant or system.", param=f"{where}.role")
    if len(message) > 2:
        lost.extend(f"messages.{key}" for key in message.keys() - {"role", "content"} if message[key] is not None)
    parts = tuple([_unmarked(part) for part in parse_content(message.get("content"), f"{where}.content", lost)])
    return Message(_ROLES[role], parts, raw=message, raw_vendor="claude")


def _unmarked(part: Part) -> Part:
    """A part of the history: what a mark of ours stands on is another dialect's thought with its token, and what Claude made of
    a conversation that it compacted is words for every other model."""
    if isinstance(part, Opaque) and part.label == "compaction" and isinstance(part.raw.get("content"), str):
        return Text(part.raw["content"])
    if not isinstance(part, Thinking) or part.signature is None or not is_marked(part.signature):
        return part
    return marked_thought(part.text, part.signature)


def _parse_params(body: Mapping[str, Json], lost: list[str]) -> Params:
    """Sampling and limits."""
    metadata = mapping(body, "metadata")
    lost.extend(f"metadata.{key}" for key in metadata if key != "user_id")
    user = metadata.get("user_id")
    if user is not None and not isinstance(user, str):
        raise BadRequest("metadata.user_id must be a string.", param="metadata.user_id")
    return Params(
        temperature=number(body, "temperature"),
        top_p=number(body, "top_p"),
        top_k=integer(body, "top_k"),
        max_tokens=integer(body, "max_tokens"),
        stop=_strings(body, "stop_sequences"),
        user=user,
    )


def _parse_format(body: Mapping[str, Json]) -> ResponseFormat | None:
    """Structured output: ``output_config.format``, or ``output_format`` as the beta spelled it."""
    config = mapping(body, "output_config")
    where = "output_config.format" if config.get("format") is not None else "output_format"
    match config.get("format") or body.get("output_format"):
        case None:
            return None
        case {"type": "json_schema", "schema": dict(schema)}:
            return ResponseFormat("schema", schema)
    raise BadRequest(f"{where} must be of type json_schema and have a schema object.", param=where)


def _parse_thinking(body: Mapping[str, Json], lost: list[str]) -> ThinkingConfig | None:
    """``thinking`` and ``output_config.effort``; an effort alone leaves it to the model whether to think."""
    config = mapping(body, "output_config")
    lost.extend(f"output_config.{key}" for key in config if key not in ("effort", "format"))
    effort = _effort(config.get("effort"))
    thinking = mapping(body, "thinking")
    if not thinking:
        return None if effort is None else ThinkingConfig(effort, mode="adaptive")
    include = thinking.get("display") != "omitted"
    match thinking:
        case {"type": "disabled"}:
            return ThinkingConfig("none", mode="disabled")
        case {"type": "enabled", **rest}:
            return ThinkingConfig(effort, integer(rest, "budget_tokens", "thinking."), include, "enabled")
        case {"type": "adaptive"}:
            return ThinkingConfig(effort, None, include, "adaptive")
        case {"type": "between_tools"}:
            lost.append("thinking.between_tools")
            return ThinkingConfig(effort, None, include, "adaptive")
    raise BadRequest("thinking.type must be enabled, disabled, adaptive or between_tools.", param="thinking.type")


def _effort(value: Json) -> Effort | None:
    """A known word for effort."""
    if value is None:
        return None
    for effort in get_args(Effort):
        if value == effort:
            known: Effort = effort
            return known
    raise BadRequest("output_config.effort must be low, medium, high, xhigh or max.", param="output_config.effort")


def _strings(body: Mapping[str, Json], key: str) -> tuple[str, ...] | None:
    """An optional list of strings."""
    value = body.get(key)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BadRequest(f"{key} must be a list of strings.", param=key)
    return tuple(value)
