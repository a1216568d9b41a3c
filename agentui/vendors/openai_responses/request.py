"""A request as it comes: read with a light check, patched, or with the dialect taken off."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

from agentui.chat.capabilities import Effort
from agentui.chat.messages import Message, Text
from agentui.chat.request import ChatRequest, Operation, Params, ResponseFormat, ThinkingConfig, WireRequest
from agentui.errors import BadRequest
from agentui.ids import fingerprint
from agentui.jsonio import Json
from agentui.redaction import provider_keys
from agentui.vendors.fields import envelope, integer, mapping, number
from agentui.vendors.openai.headers import caller_headers
from agentui.vendors.openai_responses.cache import is_reference
from agentui.vendors.openai_responses.callables import declared_tools
from agentui.vendors.openai_responses.items import parse_input
from agentui.vendors.openai_responses.sealed import VENDOR
from agentui.vendors.openai_responses.tools import is_own_choice, parse_tool_choice
from agentui.vendors.thought_marks import is_marked

ENDPOINT = "/v1/responses"
LOGPROBS = "message.output_text.logprobs"
ENCRYPTED = "reasoning.encrypted_content"

_MODELLED = {
    "model", "input", "instructions", "stream", "tools", "tool_choice", "parallel_tool_calls", "text", "reasoning",
    "max_output_tokens", "temperature", "top_p", "top_logprobs", "user", "safety_identifier", "include",
}  # fmt: skip
_DEFAULTS: dict[str, Json] = {"background": False, "truncation": "disabled", "service_tier": "auto", "metadata": {}}
"""Saying these changes nothing, so leaving them out loses nothing."""  # fmt: skip


def read_request(path: str, query: Mapping[str, str], headers: Mapping[str, str], body: Mapping[str, Json]) -> WireRequest:
    """Take in a caller's body. Raises BadRequest for ``model``, ``stream`` or ``input`` that cannot be used at all.

    ``input`` may be absent where ``prompt``, ``previous_response_id`` or ``conversation`` stand in for it. Of the headers
    those that ``caller_headers`` names are kept.
    """
    model, stream = envelope(body)
    given = body.get("input")
    if given is not None and not isinstance(given, str | list):
        raise BadRequest("input must be a string or a list of items.", param="input")
    if given is None and not any(body.get(key) for key in ("prompt", "previous_response_id", "conversation")):
        raise BadRequest("input is missing: send a string or a list of items.", param="input")
    operation: Operation = "count_tokens" if path.rstrip("/").endswith("/input_tokens") else "chat"
    caller = fingerprint(*provider_keys(headers))
    return WireRequest(VENDOR, operation, model, stream, path, dict(body), headers=caller_headers(headers), caller=caller)


def patch_request(wire: WireRequest, *, model: str, stream: bool) -> WireRequest:
    """The same request with another model or stream switch."""
    return replace(wire, model=model, stream=stream, body=patched_body(wire.body, model, stream))


def patched_body(body: Mapping[str, Json], model: str, stream: bool) -> dict[str, Json]:
    """A shallow copy of a body with model and stream; ``stream`` is only written where it says something new."""
    patched = {**body, "model": model}
    if bool(patched.get("stream")) != stream:
        patched["stream"] = stream
    return patched


def requires_state(wire: WireRequest) -> str | None:
    """The field that leans on something kept at OpenAI (an earlier response, a conversation, a stored prompt, an item by
    reference, a background job), None where the request is complete in itself.

    Another dialect cannot answer such a request: it would see half of the conversation.
    """
    for key in ("previous_response_id", "conversation", "background", "prompt"):
        if wire.body.get(key):
            return key
    items = wire.body.get("input")
    if isinstance(items, list) and any(is_reference(item) for item in items):
        return "input"
    return None


def holds_foreign_thoughts(wire: WireRequest) -> bool:
    """Whether a reasoning item of the input carries another vendor's token, which OpenAI would refuse."""
    items = wire.body.get("input")
    return isinstance(items, list) and any(is_marked(item.get("encrypted_content")) for item in items if isinstance(item, dict))


def parse_request(wire: WireRequest) -> ChatRequest:
    """Take the dialect off. Raises BadRequest naming ``param``."""
    body = wire.body
    return ChatRequest(
        VENDOR,
        wire.model,
        _parse_messages(body),
        _parse_params(body),
        wire,
        stream=wire.stream,
        tools=declared_tools(body),
        tool_choice=parse_tool_choice(body),
        response_format=_parse_format(body),
        thinking=_parse_thinking(body),
        unmodelled=_unmodelled(body),
        needs_state=requires_state(wire),
    )


def _parse_messages(body: Mapping[str, Json]) -> Sequence[Message]:
    """``instructions`` and ``input``."""
    return (*_parse_instructions(body.get("instructions")), *parse_input(body.get("input")))


def _parse_instructions(instructions: Json) -> list[Message]:
    """``instructions`` as a leading system message whose ``raw`` is the string."""
    if instructions is None or instructions == "":
        return []
    if not isinstance(instructions, str):
        raise BadRequest("instructions must be a string.", param="instructions")
    return [Message("system", (Text(instructions),), raw=instructions, raw_vendor=VENDOR)]


def _parse_params(body: Mapping[str, Json]) -> Params:
    """Sampling and limits."""
    user = body.get("safety_identifier") or body.get("user")
    return Params(
        temperature=number(body, "temperature"),
        top_p=number(body, "top_p"),
        max_tokens=integer(body, "max_output_tokens"),
        logprobs=True if LOGPROBS in _include(body) else None,
        top_logprobs=integer(body, "top_logprobs"),
        user=user if isinstance(user, str) else None,
    )


def _include(body: Mapping[str, Json]) -> list[Json]:
    """``include`` as a list."""
    include = body.get("include")
    if include is not None and not isinstance(include, list):
        raise BadRequest("include must be a list.", param="include")
    return include or []


def _parse_format(body: Mapping[str, Json]) -> ResponseFormat | None:
    """``text.format``."""
    match mapping(body, "text").get("format"):
        case None:
            return None
        case {"type": "text"}:
            return ResponseFormat("text")
        case {"type": "json_object"}:
            return ResponseFormat("json")
        case {"type": "json_schema", "schema": dict(schema), **rest}:
            name, strict = rest.get("name"), rest.get("strict")
            return ResponseFormat(
                "schema", schema, name if isinstance(name, str) else None, strict if isinstance(strict, bool) else None
            )
    raise BadRequest("text.format must be of type text, json_object or json_schema (with a schema).", param="text.format")


def _parse_thinking(body: Mapping[str, Json]) -> ThinkingConfig | None:
    """``reasoning``: a summary asked for is thoughts shown; effort ``none`` is thinking switched off."""
    reasoning = mapping(body, "reasoning")
    if not reasoning:
        return None
    shown = reasoning.get("summary") or reasoning.get("generate_summary")
    effort = next((known for known in get_args(Effort) if known == reasoning.get("effort")), None)
    return ThinkingConfig(effort=effort, include=True if shown else None, mode="disabled" if effort == "none" else "enabled")


def _unmodelled(body: Mapping[str, Json]) -> tuple[str, ...]:
    """Names of fields that say something which ``ChatRequest`` has no place for."""
    names = [
        key
        for key, value in body.items()
        if key not in _MODELLED and key != "stream_options" and value is not None and value != _DEFAULTS.get(key)
    ]
    if any(wish not in (LOGPROBS, ENCRYPTED) for wish in _include(body)):
        names.append("include")
    if is_own_choice(body.get("tool_choice")):
        names.append("tool_choice")
    if mapping(body, "text").get("verbosity") is not None:
        names.append("text.verbosity")
    effort = mapping(body, "reasoning").get("effort")
    if effort is not None and effort not in get_args(Effort):
        names.append("reasoning.effort")
    return tuple(names)
