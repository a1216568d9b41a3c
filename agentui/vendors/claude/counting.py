"""Token counts in Claude's dialect: ``{"input_tokens": n}``."""

from agentui.errors import UpstreamInvalid
from agentui.jsonio import Json


def parse_token_count(body: Json) -> int:
    """The number. Raises UpstreamInvalid."""
    tokens = body.get("input_tokens") if isinstance(body, dict) else None
    if isinstance(tokens, bool) or not isinstance(tokens, int):
        raise UpstreamInvalid("The upstream's answer is not a Claude token count: it has no input_tokens.")
    return tokens


def render_token_count(tokens: int) -> Json:
    """An answer to ``count_tokens``."""
    return {"input_tokens": tokens}
