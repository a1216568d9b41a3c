"""What a node wants beside what a caller asks for, also where its request goes out as it came: tools beside those that the
caller brings, for one answer, as tools are called by one; and the form of the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentui.chat.messages import text_message
from agentui.chat.request import ChatRequest, ResponseFormat, Tool, ToolChoice
from agentui.jsonio import Json
from agentui.vendors.base import Vendor

_QUESTION = (text_message("user", "?"),)


def offer(vendor: Vendor, chat: ChatRequest, tools: Sequence[Tool], choice: ToolChoice | None) -> ChatRequest:
    """The request for one answer with these tools too, and with this choice among all instead of the caller's (None: the
    caller's).

    A renderer of the caller's dialect starts from the caller's body, so that is changed: by what the dialect writes for the
    tools alone. Raises UnsupportedFeature for a tool that the dialect cannot name.
    """
    one = replace(chat.params, n=None)
    told = replace(chat, params=one, tools=(*chat.tools, *tools), tool_choice=choice or chat.tool_choice)
    own = chat.wire_in(vendor.name)
    if own is None:
        return told
    probe = ChatRequest("agentui", chat.model, _QUESTION)
    plain, offered = (_body(vendor, replace(probe, tools=some)) for some in ((), tuple(tools)))
    body = dict(own.body)
    for name, value in offered.items():
        if plain.get(name) != value:
            key = _key_of(name, body)
            body[key] = [*(body.get(key) or ()), *value]
    if choice is not None:
        chosen = _body(vendor, replace(probe, tools=tuple(tools), tool_choice=choice))
        refused = _body(vendor, replace(probe, tools=tuple(tools), tool_choice=ToolChoice("none")))
        for name in [name for name, value in refused.items() if offered.get(name) != value]:
            body.pop(_key_of(name, body), None)
            if name in chosen:
                body[name] = chosen[name]
    if chat.params.n is not None:
        _forget(body, plain, _body(vendor, replace(probe, params=replace(probe.params, n=chat.params.n))))
    return replace(told, wire=replace(own, body=body))


def want(vendor: Vendor, chat: ChatRequest, form: ResponseFormat) -> ChatRequest:
    """The request for an answer of this form, instead of the caller's. The caller's body is changed as by ``offer``."""
    told = replace(chat, response_format=form)
    own = chat.wire_in(vendor.name)
    if own is None:
        return told
    probe = ChatRequest("agentui", chat.model, _QUESTION)
    formed = vendor.render_request(replace(probe, response_format=form))
    plain, written = _body(vendor, probe), formed.body
    body = dict(own.body)
    if chat.response_format is not None:
        _forget(body, plain, _body(vendor, replace(probe, response_format=chat.response_format)))
    for name, value in written.items():
        if plain.get(name) != value:
            key = _key_of(name, body)
            before = body.get(key)
            body[key] = {**before, **value} if isinstance(before, Mapping) and isinstance(value, Mapping) else value
    return replace(told, wire=replace(own, body=body, is_wrapped=formed.is_wrapped))


def _body(vendor: Vendor, chat: ChatRequest) -> dict[str, Json]:
    return vendor.render_request(chat).body


def _forget(body: dict[str, Json], plain: Mapping[str, Json], written: Mapping[str, Json]) -> None:
    """Take out of a body the members that ``written`` has and ``plain`` has not, one level deep."""
    for name, value in written.items():
        key = _key_of(name, body)
        if not isinstance(value, Mapping):
            if name not in plain:
                body.pop(key, None)
        elif isinstance(inner := body.get(key), Mapping):
            kept = dict(inner)
            _forget(kept, plain.get(name) or {}, value)
            body[key] = kept


def _key_of(name: str, body: Mapping[str, Json]) -> str:
    """The name as the body has it: one dialect takes both ``toolConfig`` and ``tool_config``."""
    plain = name.replace("_", "").lower()
    return next((key for key in body if key.replace("_", "").lower() == plain), name)
