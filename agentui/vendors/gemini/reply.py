"""Whole answers: GenerateContentResponse in and out."""

import secrets
from dataclasses import replace

from agentui.chat.deltas import Failure, Finish
from agentui.chat.messages import Media, Opaque, Refusal, Text, Thinking, ToolCall
from agentui.chat.reply import Choice, Reply, ReplyBuilder
from agentui.chat.request import WireRequest
from agentui.errors import UpstreamInvalid
from agentui.jsonio import Json
from agentui.vendors.gemini.metadata import render_logprobs, render_usage
from agentui.vendors.gemini.parts import (
    CANDIDATE_MEMBERS,
    GEMINI,
    call_arguments,
    call_part,
    media_part,
    thinking_part,
)
from agentui.vendors.gemini.stream import candidate_ending, deltas_of


def parse_reply(body: Json) -> Reply:
    """A whole answer with the dialect taken off; calls without an id get one.

    A blocked prompt is a choice without parts that finished as ``content_filter``. Raises UpstreamInvalid for what has
    neither candidates nor a block reason, and the upstream's own error for ``{"error": ...}``.
    """
    deltas = list(deltas_of(body))
    failure = next((delta for delta in deltas if isinstance(delta, Failure)), None)
    if failure is not None:
        raise failure.error
    builder = ReplyBuilder()
    builder.feed(deltas)
    reply = builder.reply()
    if not reply.choices:
        raise UpstreamInvalid("The upstream answered without a candidate and without saying that the prompt was blocked.")
    return replace(reply, raw=body, raw_vendor=GEMINI)


def render_reply(reply: Reply, wire: WireRequest) -> Json:
    """The answer for a Gemini caller: ``reply.raw`` itself where Gemini gave it."""
    if reply.raw is not None and reply.raw_vendor == GEMINI:
        return reply.raw
    body: dict[str, Json] = {
        "candidates": [_candidate(number, choice) for number, choice in enumerate(reply.choices or (Choice(),))],
        "modelVersion": reply.model or wire.model,
        "responseId": reply.id or secrets.token_urlsafe(16),
    }
    if reply.usage is not None:
        body["usageMetadata"] = render_usage(reply.usage)
    return body


def _candidate(number: int, choice: Choice) -> dict[str, Json]:
    """One candidate. A refusal is text that finished for SAFETY; a call whose arguments are unreadable is left out."""
    parts: list[Json] = []
    beside: dict[str, Json] = {}
    broken: str | None = None
    for part in choice.parts:
        match part:
            case Text(words) | Refusal(words):
                parts += [{"text": words}] if words else []
            case Thinking(words, signature, _, signed_by):
                own = signature if signed_by == GEMINI else None
                parts += [thinking_part(words, own)] if words or own else []
            case ToolCall(id, name, arguments, signature, signed_by):
                value = call_arguments(arguments)
                if value is None:
                    broken = name
                else:
                    parts.append(call_part(id, name, value, signature if signed_by == GEMINI else None))
            case Media():
                parts.append(media_part(part))
            case Opaque("gemini", label, raw):
                if label in CANDIDATE_MEMBERS:
                    beside.update(raw)
                else:
                    parts.append(raw)
    finish = None if choice.finish is None else Finish(choice.finish)
    refused = any(isinstance(part, Refusal) for part in choice.parts)
    if choice.logprobs:
        beside["logprobsResult"] = render_logprobs(choice.logprobs)
    ending = candidate_ending(finish, refused=refused, broken=broken)
    return {"content": {"parts": parts or [{"text": ""}], "role": "model"}, **ending, "index": number, **beside}
