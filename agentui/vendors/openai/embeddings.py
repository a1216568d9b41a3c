"""Embeddings: asked for and answered in this dialect, whoever makes them."""

from dataclasses import replace

from agentui.chat.request import WireRequest
from agentui.jsonio import Json
from agentui.vendors.openai.request import EMBEDDINGS_PATH


def endpoint(wire: WireRequest) -> str:
    """The model stands in the body."""
    return EMBEDDINGS_PATH


def parse_request(wire: WireRequest) -> WireRequest:
    """The request itself."""
    return wire


def render_request(wire: WireRequest) -> WireRequest:
    """The request as this dialect's."""
    return replace(wire, vendor="openai", path=EMBEDDINGS_PATH)


def parse_reply(body: Json, wire: WireRequest) -> Json:
    """The answer itself."""
    return body


def render_reply(answer: Json, wire: WireRequest) -> Json:
    """The answer itself."""
    return answer
