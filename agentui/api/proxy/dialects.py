"""The paths that run a pipeline, and whose dialect is spoken there. Each also stands below ``/p/{pipeline}``."""

import re
from collections.abc import Mapping

from agentui.chat.request import VendorName

DIALECTS: Mapping[str, VendorName] = {
    "/v1/chat/completions": "openai",
    "/v1/responses": "openai_responses",
    "/v1/responses/input_tokens": "openai_responses",
    "/v1/embeddings": "openai",
    "/v1/messages": "claude",
    "/v1/messages/count_tokens": "claude",
}
"""Every such path but Gemini's, whose model and operation stand in it."""
GEMINI = re.compile(r"/(v1|v1beta|v1alpha)/models/.+:[A-Za-z]+")
GEMINI_ROUTE = "/{version:v1|v1beta|v1alpha}/models/{call:.+:[A-Za-z]+}"
"""The same as aiohttp spells it."""


def is_proxied(path: str) -> bool:
    """True for a path, without ``/p/{pipeline}`` before it, whose POST runs a pipeline."""
    return path in DIALECTS or GEMINI.fullmatch(path) is not None
