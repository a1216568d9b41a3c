"""A whole chat completion: understood, and written for a caller."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

from agentui.chat.citations import Citation
from agentui.chat.deltas import FinishReason, TokenLogprob, Usage
from agentui.chat.messages import Media, Opaque, Part, Refusal, Text, Thinking, ToolCall
from agentui.chat.reply import Choice, Reply
from agentui.chat.request import WireRequest
from agentui.errors import BadRequest, UpstreamInvalid
from agentui.jsonio import Json
from agentui.vendors.fields import told_count
from agentui.vendors.openai.citations import chat_annotations, listed_pages
from agentui.vendors.openai.errors import reported_error
from agentui.vendors.openai.free_text import custom_names
from agentui.vendors.openai.message_writer import render_call, render_image
from agentui.vendors.openai.messages import VENDOR, invented_call_id, is_own_field, parse_assistant_parts

_FINISH: dict[Json, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}
_FINISH_WORDS: dict[FinishReason, str] = {
    "stop": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "pause": "stop",
    "malformed_call": "stop",
    "other": "stop",
}


def parse_reply(body: Json, origin: str = "") -> Reply:
    """Take the dialect off; thoughts get the token of the server ``origin``.

    Raises UpstreamInvalid for what is no answer, UpstreamRefused for an error sent with 200.
    """
    if isinstance(body, dict) and body.get("error"):
        raise reported_error(body)
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(choices, list):
        raise UpstreamInvalid("The upstream's answer is not an OpenAI chat completion: it has no list named choices.")
    id, model, created = body.get("id"), body.get("model"), body.get("created")
    id = id if isinstance(id, str) and id else None
    try:
        pages = listed_pages(body)
        # They are the whole answer's: with each of very many choices they would be told very many times.
        parsed = tuple(_parse_choice(choice, index, id, origin, () if index else pages) for index, choice in enumerate(choices))
    except BadRequest as error:
        raise UpstreamInvalid(f"The upstream's answer is not an OpenAI chat completion: {error.message}") from error
    return Reply(
        parsed,
        id,
        model if isinstance(model, str) and model else None,
        int(created) if isinstance(created, int | float) else None,
        parse_usage(body.get("usage")),
        body,
        VENDOR,
    )


def render_reply(reply: Reply, wire: WireRequest, *, id: str, now: int) -> Json:
    """A chat completion; the upstream's own body when it is one. ``id``, ``model`` and ``now`` (seconds since 1970) stand
    in for what the upstream did not say.

    A caller of this dialect reads ``choices[0]`` unasked, so there always is one.
    """
    if reply.raw_vendor == VENDOR and reply.raw is not None:
        return reply.raw
    id = reply.id or id
    custom = custom_names(wire.body)
    choices = reply.choices or (Choice(),)
    body: dict[str, Json] = {
        "id": id,
        "object": "chat.completion",
        "created": now if reply.created is None else reply.created,
        "model": reply.model or wire.model,
        "choices": [_render_choice(choice, index, id, custom) for index, choice in enumerate(choices)],
    }
    if reply.usage is not None:
        body["usage"] = render_usage(reply.usage)
    return body


def finish_of(word: Json, *, has_calls: bool, has_refusal: bool) -> FinishReason:
    """What a finish_reason means; some servers say "stop" after tool calls, and OpenAI does after a refusal."""
    reason = _FINISH.get(word, "other") if isinstance(word, str) else "other"
    if reason == "stop" and has_calls:
        return "tool_calls"
    if reason == "stop" and has_refusal:
        return "refusal"
    return reason


def finish_word(reason: FinishReason, *, has_refusal: bool) -> str:
    """The finish_reason to write: a refusal whose words were told ends with "stop", one without words looks filtered."""
    if reason == "refusal" and has_refusal:
        return "stop"
    return _FINISH_WORDS[reason]


def parse_usage(usage: Json) -> Usage | None:
    """Tokens as reported; ``prompt_cache_hit_tokens`` is DeepSeek's word for cached ones. None for no report."""
    if not isinstance(usage, dict) or not usage:
        return None
    prompt, completion = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    cached = told_count(prompt, "cached_tokens") if prompt else None
    return Usage(
        told_count(usage, "prompt_tokens"),
        told_count(usage, "completion_tokens"),
        told_count(usage, "prompt_cache_hit_tokens") if cached is None and "prompt_cache_hit_tokens" in usage else cached,
        told_count(prompt, "cache_write_tokens") if prompt else None,
        told_count(completion, "reasoning_tokens") if completion else None,
    )


def render_usage(usage: Usage) -> Json:
    """``usage``, with the details that are known."""
    body: dict[str, Json] = {
        "prompt_tokens": usage.input or 0,
        "completion_tokens": usage.output or 0,
        "total_tokens": usage.total,
    }
    prompt: dict[str, Json] = {}
    if usage.cache_read is not None:
        prompt["cached_tokens"] = usage.cache_read
    if usage.cache_write is not None:
        prompt["cache_write_tokens"] = usage.cache_write
    if prompt:
        body["prompt_tokens_details"] = prompt
    if usage.reasoning is not None:
        body["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning}
    return body


def parse_logprobs(content: Json) -> tuple[TokenLogprob, ...] | None:
    """A list of tokens with their log probabilities; None where there is none. Entries of another shape are skipped."""
    if not isinstance(content, list):
        return None
    return tuple(TokenLogprob(token, value, _rivals(entry)) for entry in content for token, value in _token(entry))


def render_logprobs(tokens: Sequence[TokenLogprob]) -> list[Json]:
    """Tokens with their log probabilities and the bytes of their UTF-8."""
    return [
        {
            **_render_token(token.token, token.logprob),
            "top_logprobs": [_render_token(rival, logprob) for rival, logprob in token.top],
        }
        for token in tokens
    ]


def _token(entry: Json) -> Iterable[tuple[str, float]]:
    """A token and its log probability, or nothing."""
    match entry:
        case {"token": str(token), "logprob": int(value) | float(value)}:
            yield token, float(value)


def _rivals(entry: Json) -> tuple[tuple[str, float], ...]:
    """The tokens that could have stood there."""
    rivals = entry.get("top_logprobs")
    return tuple(pair for rival in rivals for pair in _token(rival)) if isinstance(rivals, list) else ()


def _render_token(token: str, logprob: float) -> dict[str, Json]:
    return {"token": token, "logprob": logprob, "bytes": list(token.encode("utf-8", "surrogatepass"))}


def _parse_choice(choice: Json, index: int, answer_id: str | None, origin: str, pages: tuple[Citation, ...]) -> Choice:
    """One choice."""
    message = choice.get("message") if isinstance(choice, dict) else None
    if message is None and isinstance(choice, dict) and isinstance(choice.get("text"), str):
        message = {"role": "assistant", "content": choice["text"]}  # a text completion, forwarded as it came
    if not isinstance(message, dict):
        raise BadRequest(f"choices[{index}] has no message.", param=f"choices[{index}]")
    parts: list[Part] = []
    calls = 0
    for part in parse_assistant_parts(message, f"choices[{index}].message", origin):
        if isinstance(part, ToolCall):
            id = part.id or invented_call_id(answer_id, index, calls)
            part = replace(part, id=id)
            calls += 1
        parts.append(part)
    if pages and not any(isinstance(part, Opaque) and part.cited for part in parts):
        parts.append(Opaque(VENDOR, "citations", {"type": "citations"}, pages))
    has_refusal = any(isinstance(part, Refusal) for part in parts)
    word = choice.get("finish_reason")
    finish = None if word is None else finish_of(word, has_calls=calls > 0, has_refusal=has_refusal)
    logprobs = choice.get("logprobs")
    tokens = parse_logprobs(logprobs.get("content")) if isinstance(logprobs, dict) else None
    return Choice(tuple(parts), finish, logprobs=tokens)


def _render_choice(choice: Choice, index: int, answer_id: str, custom: Set[str]) -> Json:
    """One choice. Thoughts go as ``reasoning_content``, pictures as ``images``; other media have no place here."""
    if len(choice.parts) == 1 and type(choice.parts[0]) is Text:
        return _ending({"role": "assistant", "content": choice.text, "refusal": None}, choice, index)
    message: dict[str, Json] = {"role": "assistant", "content": choice.text or None, "refusal": None}
    thoughts = "".join(part.text for part in choice.parts if isinstance(part, Thinking))
    refusal = "".join(part.text for part in choice.parts if isinstance(part, Refusal))
    images = [render_image(part) for part in choice.parts if isinstance(part, Media) and is_shown(part)]
    calls = [
        render_call(call if call.id else replace(call, id=invented_call_id(answer_id, index, number)), custom)
        for number, call in enumerate(choice.tool_calls)
    ]
    if refusal:
        message["refusal"] = refusal
    if thoughts:
        message["reasoning_content"] = thoughts
    if images:
        message["images"] = images
    if calls:
        message["tool_calls"] = calls
    beside = [part for part in choice.parts if isinstance(part, Opaque)]
    if cited := [citation for part in beside for citation in part.cited]:
        message["annotations"] = chat_annotations(cited)
    for part in beside:
        if is_own_field(part.vendor, part.raw):
            message.update(part.raw)
    if message["content"] is None and not refusal and not calls:
        message["content"] = ""
    return _ending(message, choice, index)


def _ending(message: dict[str, Json], choice: Choice, index: int) -> dict[str, Json]:
    """A choice around its message."""
    return {
        "index": index,
        "message": message,
        "logprobs": None if choice.logprobs is None else {"content": render_logprobs(choice.logprobs), "refusal": None},
        "finish_reason": finish_word(choice.finish or "stop", has_refusal=bool(message["refusal"])),
    }


def is_shown(media: Media) -> bool:
    """Whether this is a picture that can be written: bytes, or a URL of the web."""
    has_url = media.url is not None and media.url.startswith(("http://", "https://"))
    return media.kind == "image" and (media.data is not None or has_url)
