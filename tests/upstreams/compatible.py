"""What servers that are compatible with OpenAI add to its dialect: thoughts, and what they want back of them.

By the name of the model: ``deepseek-v4-*`` and ``kimi-*`` refuse an answer in the history without its thought;
``google/gemini-3*`` a tool call without the signature that it gave; ``router/*`` (OpenRouter) a tool call without the
``reasoning_details`` that came before and with it, just as they were; ``magistral-*`` thinks in parts of the content; anything
that OpenAI itself does not serve takes ``reasoning_content``, ``top_k``, ``min_p``, ``repetition_penalty`` and
``banned_strings``.
"""

import re
from collections.abc import Mapping

from tests.upstreams.exchange import Exchange
from tests.upstreams.openai_rules import refuse
from tests.upstreams.shapes import Json

_OWN = re.compile(r"(gpt-\d|o\d|chatgpt-)")
_WANTS_THOUGHTS = re.compile(r"(deepseek-v4|kimi-)")
_SIGNS = re.compile(r"google/gemini-3")
_DETAILS = re.compile(r"router/")
_SAMPLING = frozenset({"top_k", "min_p", "repetition_penalty", "banned_strings"})
_IN_PARTS = re.compile(r"magistral-")


def plain(exchange: Exchange) -> Json:
    """The body as OpenAI knows it, without what this model adds. Raises Refused for what the model wants and does not find."""
    body, model = exchange.body, exchange.model
    if not isinstance(body, dict) or _OWN.match(model) or not isinstance(body.get("messages"), list):
        return body
    told = {name: value for name, value in body.items() if name not in _SAMPLING}
    return {**told, "messages": [_plain(exchange, message, at) for at, message in enumerate(body["messages"])]}


def _plain(exchange: Exchange, message: Json, at: int) -> Json:
    if not isinstance(message, dict) or message.get("role") != "assistant":
        return message
    model = exchange.model
    if _WANTS_THOUGHTS.match(model) and not (message.get("reasoning_content") and message.get("content") is not None):
        raise refuse(
            "The `reasoning_content` in the thinking mode must be passed back to the API.", None, "invalid_request_error"
        )
    thoughts = ("reasoning_content", "reasoning", *(("reasoning_details",) if _DETAILS.match(model) else ()))
    said = {name: value for name, value in message.items() if name not in thoughts}
    if _DETAILS.match(model) and message.get("tool_calls"):
        told = [str(sorted(one.items())) for one in message.get("reasoning_details") or [{}]]
        if not exchange.vault.holds("router", _key(message["tool_calls"][0]["id"]), "\n".join(told)):
            raise refuse(f"The reasoning_details of message {at} must be passed back unmodified.", None)
    if isinstance(said.get("content"), list) and _IN_PARTS.match(model):
        said["content"] = [part for part in said["content"] if part["type"] != "thinking"] or None
    if isinstance(said.get("tool_calls"), list):
        said["tool_calls"] = [_plain_call(exchange, call, at) for call in said["tool_calls"]]
    return said


def _plain_call(exchange: Exchange, call: Mapping[str, Json], at: int) -> Json:
    if not _SIGNS.match(exchange.model):
        return call
    signature = call.get("extra_content", {}).get("google", {}).get("thought_signature", "")
    if not exchange.vault.holds("gemini", signature):
        raise refuse(f"Function call is missing a thought_signature in functionCall parts, position {at}.", None)
    return {name: value for name, value in call.items() if name != "extra_content"}


def _key(id: str) -> str:
    return f"details of {id}"


def details(exchange: Exchange, id: str) -> list[Json]:
    """The details of an answer of ``router/*`` that calls a tool: a signed thought, and what is sealed with the call."""
    signature, data = exchange.vault.issue("router", "text"), exchange.vault.issue("router", "data")
    text = {"type": "reasoning.text", "text": exchange.step.thinking, "format": "anthropic-claude-v1", "index": 0}
    told: list[Json] = [
        {**text, "signature": signature},
        {"type": "reasoning.encrypted", "data": data, "id": id, "format": "google-gemini-v1", "index": 1},
    ]
    exchange.vault.content_by_token[_key(id)] = "router:" + "\n".join(str(sorted(one.items())) for one in told)
    return told


def has_details(exchange: Exchange) -> bool:
    """Whether this answer has details."""
    return bool(_DETAILS.match(exchange.model) and exchange.step.thinking and exchange.step.calls)


def thought(exchange: Exchange, text: str) -> dict[str, Json]:
    """A thought as this model tells it, in a message or a delta."""
    if _IN_PARTS.match(exchange.model):
        return {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]}
    if _DETAILS.match(exchange.model):
        piece = {"type": "reasoning.text", "text": text, "format": "anthropic-claude-v1", "index": 0}
        return {"reasoning": text, "reasoning_details": [piece]}
    return {"reasoning_content": text}


def signed(exchange: Exchange, call: dict[str, Json]) -> dict[str, Json]:
    """A call with the signature that this model puts on it."""
    if not _SIGNS.match(exchange.model):
        return call
    return {**call, "extra_content": {"google": {"thought_signature": exchange.vault.issue("gemini", call["id"])}}}
