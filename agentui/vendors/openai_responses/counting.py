"""Token counts: ``/v1/responses/input_tokens`` and ``{"object": "response.input_tokens", "input_tokens": n}``."""

from agentui.chat.request import ChatRequest, WireRequest
from agentui.errors import UpstreamInvalid
from agentui.jsonio import Json
from agentui.vendors.openai_responses.render import render_request as render_chat
from agentui.vendors.openai_responses.sealed import VENDOR

_ENDPOINT = "/v1/responses/input_tokens"
_COUNTED = {
    "model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "text", "reasoning", "truncation",
    "previous_response_id", "conversation", "personality",
}  # fmt: skip


def endpoint(model: str) -> str:
    """The model stands in the body."""
    return _ENDPOINT


def render_request(chat: ChatRequest) -> WireRequest:
    """The same prompt for ``/v1/responses/input_tokens``, which takes fewer fields than the API itself."""
    wire = render_chat(chat)
    body = wire.body
    own = chat.wire_in(VENDOR)
    if own is None or own.operation != "count_tokens":
        body = {key: value for key, value in body.items() if key in _COUNTED}
    return WireRequest(VENDOR, "count_tokens", chat.model, False, _ENDPOINT, body, headers=wire.headers, dropped=wire.dropped)


def parse_reply(body: Json) -> int:
    """The number. Raises UpstreamInvalid."""
    match body:
        case {"input_tokens": int(tokens)}:
            return tokens
    raise UpstreamInvalid("The upstream's answer holds no input_tokens.", vendor=VENDOR)


def render_reply(tokens: int) -> Json:
    """The answer for a caller."""
    return {"object": "response.input_tokens", "input_tokens": tokens}
