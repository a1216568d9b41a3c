"""Embeddings: asked for and answered in this dialect, whoever makes them."""

from agentui.chat.request import WireRequest
from agentui.jsonio import Json
from agentui.vendors.openai.request import EMBEDDINGS_PATH


def endpoint(model: str) -> str:
    """The model stands in the body."""
    return EMBEDDINGS_PATH


def render_request(wire: WireRequest) -> WireRequest:
    """The request itself."""
    return wire


def parse_reply(body: Json, wire: WireRequest) -> Json:
    """The answer itself."""
    return body
