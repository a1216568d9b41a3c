"""Whole answers in Claude's dialect, both ways, with what stream and answer share: stop reasons, usage and ids."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from agentui.chat.deltas import FinishReason, Usage
from agentui.chat.messages import Media, Opaque, Part, Refusal, Text, Thinking, ToolCall, ToolResult
from agentui.chat.origin import OriginToken
from agentui.chat.reply import Choice, Reply
from agentui.chat.request import WireRequest
from agentui.errors import BadRequest, UpstreamInvalid
from agentui.jsonio import Json, dumps
from agentui.vendors.claude.content import (
    CITATION,
    call_input,
    cited_page,
    clean_id,
    parse_content,
    rendered_citation,
    written_signature,
)
from agentui.vendors.fields import told_count, told_text

_FINISHES: Mapping[str, FinishReason] = MappingProxyType(
    {
        "end_turn": "stop",
        "stop_sequence": "stop_sequence",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "tool_use": "tool_calls",
        "refusal": "refusal",
        "pause_turn": "pause",
    }
)
_STOP_REASONS: Mapping[FinishReason, str] = MappingProxyType(
    {
        "stop_sequence": "stop_sequence",
        "length": "max_tokens",
        "tool_calls": "tool_use",
        "content_filter": "refusal",
        "refusal": "refusal",
        "pause": "pause_turn",
    }
)


MADE_HERE = "msg_agentui_"
"""How the ids of answers begin that Claude did not give."""


def parse_reply(body: Json, origin: str = "") -> Reply:
    """Take the dialect off a whole answer. Thoughts that the server ``origin`` did not sign get its token. Raises
    UpstreamInvalid."""
    if not isinstance(body, dict) or not isinstance(body.get("content"), list):
        raise UpstreamInvalid("The upstream's answer is not a Claude message: it has no list of content.")
    try:
        parts = parse_content(body["content"], "content", [])
    except BadRequest as error:
        raise UpstreamInvalid(f"The upstream's answer is not a Claude message: {error.message}") from error
    stop_sequence = body.get("stop_sequence")
    choice = Choice(
        tuple(_placed([_bound(part, origin) for part in parts] if origin else parts)),
        parse_finish(body.get("stop_reason")),
        stop_sequence if isinstance(stop_sequence, str) else None,
    )
    return Reply(
        (choice,),
        told_text(body, "id"),
        told_text(body, "model"),
        None,
        parse_usage(body.get("usage")),
        raw=body,
        raw_vendor="claude",
    )


def _placed(parts: Iterable[Part]) -> Iterator[Part]:
    """The parts, whose citations say which page is cited by what of the answer: by the block that they stand on."""
    start = end = 0
    for part in parts:
        if isinstance(part, Text):
            start, end = end, end + len(part.text)
        elif isinstance(part, Opaque) and part.label == CITATION:
            part = replace(part, cited=cited_page(part.raw["citation"], start, end))
        yield part


def _bound(part: Part, origin: str) -> Part:
    """A part, with the server's token where it is a thought that nobody signed."""
    if not isinstance(part, Thinking) or part.signed_by is not None:
        return part
    return Thinking(part.text, unsigned_token(origin), None, "claude")


def unsigned_token(origin: str) -> str:
    """The token of a thought that a compatible server did not sign."""
    return str(OriginToken(origin, "thinking"))


def render_reply(reply: Reply, wire: WireRequest) -> Json:
    """A whole answer for a Claude caller. Only the first choice can be told; log probabilities have no place."""
    if reply.raw_vendor == "claude":
        return reply.raw
    id = message_id(reply.id, wire)
    choice = reply.choices[0] if reply.choices else Choice()
    refused = any(isinstance(part, Refusal) for part in choice.parts)
    stop_reason = render_finish(choice.finish, has_calls=bool(choice.tool_calls), refused=refused)
    return {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": reply.model or wire.model,
        "content": _render_content(choice.parts, id),
        "stop_reason": stop_reason,
        "stop_sequence": choice.stop_sequence if stop_reason == "stop_sequence" else None,
        "usage": render_usage(reply.usage),
    }


def parse_finish(stop_reason: Json) -> FinishReason | None:
    """Why the answer ended, None where it does not say."""
    if stop_reason is None:
        return None
    return _FINISHES.get(stop_reason, "other") if isinstance(stop_reason, str) else "other"


def render_finish(finish: FinishReason | None, *, has_calls: bool, refused: bool) -> str:
    """The stop reason. Some servers say ``stop`` where calls or a refusal stand in the answer; Claude's clients act on
    the reason alone."""
    if finish is None or finish == "stop":
        return "refusal" if refused else "tool_use" if has_calls else "end_turn"
    return _STOP_REASONS.get(finish, "end_turn")


def parse_usage(usage: Json) -> Usage | None:
    """Tokens; Claude's ``input_tokens`` leaves out what was read from or written to the cache."""
    if not isinstance(usage, dict):
        return None
    fresh = told_count(usage, "input_tokens")
    read = told_count(usage, "cache_read_input_tokens")
    write = told_count(usage, "cache_creation_input_tokens")
    details = usage.get("output_tokens_details")
    return Usage(
        input=None if fresh is read is write is None else (fresh or 0) + (read or 0) + (write or 0),
        output=told_count(usage, "output_tokens"),
        cache_read=read,
        cache_write=write,
        reasoning=told_count(details, "thinking_tokens") if isinstance(details, dict) else None,
    )


def render_usage(usage: Usage | None) -> dict[str, Json]:
    """Tokens as Claude counts them, 0 for what is not known (the clients require numbers)."""
    told = usage or Usage()
    read, write = told.cache_read or 0, told.cache_write or 0
    rendered: dict[str, Json] = {
        "input_tokens": max(0, (told.input or 0) - read - write),
        "cache_creation_input_tokens": write,
        "cache_read_input_tokens": read,
        "output_tokens": told.output or 0,
    }
    if told.reasoning is not None:
        rendered["output_tokens_details"] = {"thinking_tokens": told.reasoning}
    return rendered


def message_id(id: str | None, wire: WireRequest) -> str:
    """The answer's id in Claude's style. An upstream that gives none gets one made from the request, for a vendor has
    neither clock nor dice."""
    if not id:
        return MADE_HERE + hashlib.blake2b(dumps(wire.body), digest_size=12).hexdigest()
    return id if id.startswith("msg_") else MADE_HERE + clean_id(id)


def call_id(id: str | None, message: str, number: int) -> str:
    """A call's id in Claude's characters; one without gets its message's id and its number."""
    return clean_id(id) if id else f"toolu_{message}_{number}"


def media_note(media: Media) -> str:
    """What a caller reads in place of a picture or sound, for which Claude's answers have no block."""
    where = f": {media.url}" if media.url else ""
    return f"[The model made something that cannot be shown here ({media.media_type or media.kind}){where}]"


def _render_content(parts: Iterable[Part], message: str) -> list[Json]:
    """An answer's content blocks."""
    blocks: list[dict[str, Json]] = []
    calls = 0
    for part in parts:
        match part:
            case Text(text) | Refusal(text):
                if text:
                    blocks.append({"type": "text", "text": text})
            case Media():
                blocks.append({"type": "text", "text": media_note(part)})
            case Thinking():
                blocks.extend(_render_thinking(part))
            case ToolCall(id, name, arguments):
                input = call_input(arguments)
                blocks.append({"type": "tool_use", "id": call_id(id, message, calls), "name": name, "input": input})
                calls += 1
            case Opaque("claude", label, raw) if label == CITATION:
                if blocks and blocks[-1]["type"] == "text":
                    blocks[-1].setdefault("citations", []).append(raw["citation"])
            case Opaque("claude", _, raw):
                blocks.append(raw)
            case Opaque(cited=cited) if cited:
                if (words := next((block for block in reversed(blocks) if block["type"] == "text"), None)) is not None:
                    words.setdefault("citations", []).extend(rendered_citation(one) for one in cited)
            case Opaque() | ToolResult():
                # Other vendors' own parts mean nothing to a Claude client, and answers hold no results.
                pass
    return [*blocks]


def _render_thinking(part: Thinking) -> list[dict[str, Json]]:
    """A thinking block, with a mark where the thought is another dialect's; one of those without words is nothing."""
    own = part.signed_by == "claude"
    if part.redacted is not None and own:
        return [{"type": "redacted_thinking", "data": part.redacted}]
    if not part.text and not (own and part.signature):
        return []
    return [{"type": "thinking", "thinking": part.text, "signature": written_signature(part)}]
