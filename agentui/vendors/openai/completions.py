"""Text completions (``/v1/completions``): asked of a model as a conversation of one turn, and told as text.

    {"prompt": "Once", "max_tokens": 16}  ->  a user message "Once"
    an answer  ->  {"object": "text_completion", "choices": [{"text", "index", "logprobs", "finish_reason"}], "usage"}

Today's models take conversations only, whoever makes them. A server that also completes raw text is reached by RawForward.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agentui.chat.deltas import Delta, End, Failure, Finish, LogprobsDelta, Start, TextDelta, TokenLogprob, Usage, UsageDelta
from agentui.chat.messages import Message, Text
from agentui.chat.reply import Choice, Reply
from agentui.chat.request import ChatRequest, Params, WireRequest
from agentui.errors import AgentUIError, BadRequest, UnsupportedFeature
from agentui.jsonio import Json, dumps
from agentui.vendors.fields import flag, integer, number, one_or_more, text
from agentui.vendors.openai.errors import render_stream_error
from agentui.vendors.openai.reply import finish_word, render_usage
from agentui.vendors.sse import SseEvent, encode_event

COMPLETIONS_PATH = "/v1/completions"

_MODELLED = {
    *("model", "prompt", "suffix", "echo", "stream", "stream_options", "max_tokens", "stop", "n", "seed", "user"),
    *("temperature", "top_p", "top_k", "presence_penalty", "frequency_penalty", "logprobs"),
}


def is_completion(wire: WireRequest) -> bool:
    """Whether a request of this dialect asks for a text completion."""
    return wire.path.endswith("/completions") and not wire.path.endswith("/chat/completions")


def check_prompt(body: Mapping[str, Json]) -> None:
    """Raise BadRequest or UnsupportedFeature unless the body holds one prompt of text."""
    _prompt(body)


def parse_request(wire: WireRequest) -> ChatRequest:
    """The completion as a conversation. Its ``vendor`` is none, for no answer of this dialect can go back as it came.

    Raises BadRequest naming ``param``.
    """
    body = wire.body
    count = integer(body, "logprobs")
    params = Params(
        temperature=number(body, "temperature"),
        top_p=number(body, "top_p"),
        top_k=integer(body, "top_k"),
        max_tokens=integer(body, "max_tokens"),
        n=integer(body, "n"),
        seed=integer(body, "seed"),
        presence_penalty=number(body, "presence_penalty"),
        frequency_penalty=number(body, "frequency_penalty"),
        stop=one_or_more(body, "stop") or None,
        logprobs=None if count is None else True,
        top_logprobs=count,
        user=text(body, "user"),
    )
    flag(body, "echo")
    unmodelled = tuple(name for name, value in body.items() if name not in _MODELLED and value is not None)
    message = Message("user", (Text(_question(body)),))
    return ChatRequest("agentui", wire.model, [message], params, wire, wire.stream, unmodelled=unmodelled)


def render_reply(reply: Reply, wire: WireRequest, *, id: str, now: int) -> Json:
    """A whole text completion. ``id`` and ``now`` (seconds since 1970) stand in for what the upstream did not say."""
    echoed = _echoed(wire)
    body: dict[str, Json] = {
        "id": reply.id or id,
        "object": "text_completion",
        "created": now if reply.created is None else reply.created,
        "model": reply.model or wire.model,
        "choices": [_choice(choice, number, echoed) for number, choice in enumerate(reply.choices or (Choice(),))],
    }
    if reply.usage is not None:
        body["usage"] = render_usage(reply.usage)
    return body


class CompletionStreamRenderer:
    """Writes one stream of text to the caller who sent ``wire``. Holds state, touches no socket."""

    def __init__(self, wire: WireRequest, *, id: str, now: int) -> None:
        options = wire.body.get("stream_options")
        self._wants_usage = isinstance(options, dict) and options.get("include_usage") is True
        self._echoed = _echoed(wire)
        self._envelope: dict[str, Json] = {"id": id, "object": "text_completion", "created": now, "model": wire.model}
        self._written: dict[int, _Written] = {}
        self._usage: Usage | None = None
        self._is_over = False

    def feed(self, delta: Delta) -> bytes:
        """The chunks for one delta, possibly none: thoughts and calls have no place in a text."""
        match delta:
            case Start(id, model, created):
                told = {"id": id, "model": model, "created": created}
                self._envelope |= {name: value for name, value in told.items() if value is not None}
            case TextDelta(words, number) if words:
                return self._lead(number) + self._say(number, words)
            case LogprobsDelta(tokens, number):
                return self._lead(number) + self._say(number, "", logprobs=self._logprobs(number, tokens))
            case Finish(reason, _, number):
                return self._lead(number) + self._end_choice(number, finish_word(reason, has_refusal=False))
            case UsageDelta(usage):
                self._usage = usage if self._usage is None else self._usage.updated(usage)
            case Failure(error):
                return self.fail(error)
            case End():
                return self._end()
        return b""

    def passthrough(self, event: SseEvent) -> bytes:
        """No event passes: an upstream tells chunks of a chat."""
        raise AssertionError("A text completion is never told in a chat's events.")

    def fail(self, error: AgentUIError) -> bytes:
        """``data: {"error": {...}}``; no ``[DONE]`` ever follows. Nothing the second time."""
        if self._is_over:
            return b""
        self._is_over = True
        return encode_event(dumps(render_stream_error(error)))

    def _lead(self, number: int) -> bytes:
        """The prompt, where it is wanted, once before anything else of a choice."""
        if number in self._written:
            return b""
        self._written[number] = _Written(len(self._echoed))
        return self._say(number, self._echoed) if self._echoed else b""

    def _say(self, number: int, words: str, *, logprobs: Json = None, finish: str | None = None) -> bytes:
        choice = {"text": words, "index": number, "logprobs": logprobs, "finish_reason": finish}
        usage = {"usage": None} if self._wants_usage else {}
        return encode_event(dumps({**self._envelope, "choices": [choice], **usage}))

    def _logprobs(self, number: int, tokens: Sequence[TokenLogprob]) -> Json:
        written = self._written[number]
        told, written.offset = _logprobs(tokens, written.offset)
        return told

    def _end_choice(self, number: int, word: str) -> bytes:
        if self._written[number].is_finished:
            return b""
        self._written[number].is_finished = True
        return self._say(number, "", finish=word)

    def _end(self) -> bytes:
        if self._is_over:
            return b""
        self._is_over = True
        closing = [self._lead(0), *(self._end_choice(number, "stop") for number in self._written)]
        if self._wants_usage and self._usage is not None:
            closing.append(encode_event(dumps({**self._envelope, "choices": [], "usage": render_usage(self._usage)})))
        return b"".join([*closing, encode_event(b"[DONE]")])


@dataclass(slots=True)
class _Written:
    """What a choice was told so far; ``offset`` is where in the text the next token with a log probability begins."""

    offset: int
    is_finished: bool = field(default=False)


def _prompt(body: Mapping[str, Json]) -> str:
    """The one text that is to be completed."""
    match body.get("prompt"):
        case str(words) | [str(words)]:
            return words
        case [str(), *more] if all(isinstance(each, str) for each in more):
            raise UnsupportedFeature("prompt holds several texts: send each in a request of its own.", param="prompt")
        case list(tokens) if tokens and all(isinstance(each, int | list) for each in tokens):
            raise UnsupportedFeature(
                "prompt holds token numbers, which mean something to one model only: send text.", param="prompt"
            )
    raise BadRequest("prompt must be a string, or a list with one string.", param="prompt")


def _question(body: Mapping[str, Json]) -> str:
    """The prompt as a turn of a conversation; that something follows the gap can only be said in words."""
    prompt, after = _prompt(body), text(body, "suffix")
    if not after:
        return prompt
    return (
        "Write the text that belongs between the beginning and the end below. Answer with that text alone.\n\n"
        f"<beginning>{prompt}</beginning>\n\n<end>{after}</end>"
    )


def _echoed(wire: WireRequest) -> str:
    """What stands before the answer: the prompt, where the caller wants it back."""
    return _prompt(wire.body) if wire.body.get("echo") is True else ""


def _choice(choice: Choice, number: int, echoed: str) -> Json:
    return {
        "text": echoed + choice.text,
        "index": number,
        "logprobs": None if choice.logprobs is None else _logprobs(choice.logprobs, len(echoed))[0],
        "finish_reason": finish_word(choice.finish or "stop", has_refusal=False),
    }


def _logprobs(tokens: Sequence[TokenLogprob], offset: int) -> tuple[Json, int]:
    """Log probabilities as lists beside each other, and the place in the text behind the last token."""
    offsets = []
    for token in tokens:
        offsets.append(offset)
        offset += len(token.token)
    told = {
        "tokens": [token.token for token in tokens],
        "token_logprobs": [token.logprob for token in tokens],
        "top_logprobs": [dict(token.top) for token in tokens],
        "text_offset": offsets,
    }
    return told, offset
