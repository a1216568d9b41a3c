"""What a caller says to OpenAI in headers beside the key: its organization and project, beta features, the request's id."""

from collections.abc import Mapping

from agentui.chat.request import ChatRequest, WireRequest
from agentui.vendors.openai.messages import PLATFORM

_NAMES = ("openai-organization", "openai-project", "openai-beta", "x-client-request-id")


def caller_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Those of a request's headers (names in lower case) that OpenAI is told."""
    return {name: headers[name] for name in _NAMES if name in headers}


def told_headers(wire: WireRequest | None) -> dict[str, str]:
    """The headers of a request in either of OpenAI's dialects, {} for none: both know the same accounts."""
    return dict(wire.headers) if wire is not None and wire.vendor in PLATFORM else {}


def chat_headers(chat: ChatRequest) -> dict[str, str]:
    """The headers of the caller's request, where it came in one of OpenAI's dialects and is not one made here."""
    return told_headers(chat.wire) if chat.vendor in PLATFORM else {}
