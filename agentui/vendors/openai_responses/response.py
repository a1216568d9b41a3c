"""The response object, which repeats what was asked."""

from agentui.chat.request import WireRequest
from agentui.jsonio import Json

_ECHOED: dict[str, Json] = {
    "background": False, "instructions": None, "max_output_tokens": None, "max_tool_calls": None, "metadata": {},
    "parallel_tool_calls": True, "previous_response_id": None, "prompt_cache_key": None, "safety_identifier": None,
    "service_tier": "default", "temperature": 1.0, "tool_choice": "auto", "top_logprobs": 0, "top_p": 1.0,
    "truncation": "disabled", "user": None,
}  # fmt: skip
"""Fields of the request that come back, and what the API says for those that were not sent."""  # fmt: skip


def blank_response(wire: WireRequest) -> dict[str, Json]:
    """A response to ``wire`` that has not begun: everything but id, time, output and usage.

    ``store`` is always False: nothing made here can be asked for again by its id.
    """
    body = wire.body
    echoed = {key: default if body.get(key) is None else body[key] for key, default in _ECHOED.items()}
    reasoning = body.get("reasoning")
    text = body.get("text")
    return {
        "id": "",
        "object": "response",
        "created_at": 0,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "model": wire.model,
        "output": [],
        "usage": None,
        **echoed,
        "reasoning": {"effort": None, "summary": None, **(reasoning if isinstance(reasoning, dict) else {})},
        "store": False,
        "text": {"format": {"type": "text"}, **(text if isinstance(text, dict) else {})},
        "tools": _tools(body.get("tools")),
    }


def _tools(tools: Json) -> list[Json]:
    """The tools as asked; a function names all its fields."""
    if not isinstance(tools, list):
        return []
    blank: dict[str, Json] = {"description": None, "parameters": None, "strict": True}
    return [blank | tool if isinstance(tool, dict) and tool.get("type") == "function" else tool for tool in tools]
