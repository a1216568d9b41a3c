"""A local guess at token counts, for upstreams that have no call for it."""

from agentui.chat.messages import Media, ToolCall, ToolResult
from agentui.chat.request import ChatRequest, Tool, WireRequest
from agentui.errors import AgentUIError
from agentui.jsonio import dumps
from agentui.vendors.base import Vendor

MESSAGE_OVERHEAD = 4
MEDIA_TOKENS = 1000


def estimate_tokens(chat: ChatRequest) -> int:
    """Roughly the input tokens of a request: a token for four bytes of text or about one CJK character and a half,
    four for each message, a thousand for each picture or file. Right within some tens of percent."""
    total = 0
    for message in chat.messages:
        total += MESSAGE_OVERHEAD + _text_tokens(message.text)
        for part in message.parts:
            if isinstance(part, Media):
                total += MEDIA_TOKENS
            elif isinstance(part, ToolCall):
                total += _text_tokens(part.name + part.arguments)
            elif isinstance(part, ToolResult):
                total += _text_tokens(part.text)
    for tool in chat.tools:
        if isinstance(tool, Tool):
            total += _text_tokens(tool.name + (tool.description or "")) + len(dumps(dict(tool.schema or {}))) // 4
    return max(total, 1)


def estimate_outgoing(vendor: Vendor, wire: WireRequest) -> int | None:
    """Roughly the input tokens of a request in a vendor's dialect; None for one that is no conversation, or cannot be read."""
    if wire.operation == "embeddings":
        return None
    try:
        return estimate_tokens(vendor.parse_request(wire))
    except AgentUIError:
        return None


def _text_tokens(text: str) -> int:
    wide = sum(1 for char in text if ord(char) > 0x2E7F)
    narrow = len("".join(char for char in text if ord(char) <= 0x2E7F).encode()) if wide else len(text.encode())
    return (narrow + 3) // 4 + (wide * 2 + 2) // 3
