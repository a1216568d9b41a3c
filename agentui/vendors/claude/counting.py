"""Token counts in Claude's dialect: ``{"input_tokens": n}``."""

from dataclasses import replace

from agentui.chat.request import ChatRequest, Params, WireRequest
from agentui.errors import UpstreamInvalid
from agentui.jsonio import Json
from agentui.vendors.claude.render import render_request as render_chat

_ENDPOINT = "/v1/messages/count_tokens"
_NOT_COUNTED = frozenset(
    {
        "max_tokens",
        "stream",
        "temperature",
        "top_p",
        "top_k",
        "stop_sequences",
        "metadata",
        "service_tier",
        "container",
        "inference_geo",
        "diagnostics",
    }
)
"""What a chat's body has and the count's refuses: limits, sampling, and how to run."""


def endpoint(model: str) -> str:
    """The model stands in the body."""
    return _ENDPOINT


def render_request(chat: ChatRequest) -> WireRequest:
    """The token count of a chat: the caller's own body when it asked for a count, else the chat's without its limits."""
    own = chat.wire_in("claude")
    if own is not None and own.operation == "count_tokens":
        return render_chat(chat)
    # Nothing is generated, so whatever only steers generation is not lost but beside the point.
    wire = render_chat(replace(chat, params=Params(), stream=False))
    kept = {key: value for key, value in wire.body.items() if key not in _NOT_COUNTED}
    return replace(wire, operation="count_tokens", path=_ENDPOINT, stream=False, body=kept)


def parse_reply(body: Json) -> int:
    """The number. Raises UpstreamInvalid."""
    tokens = body.get("input_tokens") if isinstance(body, dict) else None
    if isinstance(tokens, bool) or not isinstance(tokens, int):
        raise UpstreamInvalid("The upstream's answer is not a Claude token count: it has no input_tokens.")
    return tokens


def render_reply(tokens: int) -> Json:
    """An answer to ``count_tokens``."""
    return {"input_tokens": tokens}
