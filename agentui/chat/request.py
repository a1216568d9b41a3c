"""What a caller asked: as its dialect wrote it (``WireRequest``) and as every dialect means it (``ChatRequest``)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from agentui.chat.capabilities import Differences, Effort
from agentui.chat.messages import Message
from agentui.jsonio import Json

VendorName = Literal["openai", "openai_responses", "claude", "gemini"]
Operation = Literal["chat", "count_tokens", "embeddings", "forward"]
"""What is asked for; ``forward`` is whatever passes through to the vendor unread."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Stop strings that the upstream is not told of, so that its answer of so many choices is cut here."""

    stops: tuple[str, ...]
    choices: int = 1


@dataclass(slots=True, unsafe_hash=True)
class WireRequest:
    """A request in one dialect: its JSON body and what the dialect puts into URL and headers.

    ``model`` and ``stream`` stand here because Gemini has them in the path. ``path`` starts with ``/`` and has no query.
    ``dropped`` names what could not be carried when the request was made from another dialect's. ``is_retold`` is True where
    answers in the dialect itself cannot reach the caller as they came (OpenAI's text completions, which are asked as a chat).
    ``is_wrapped`` is whether the answer's JSON will come as the member of an object (``chat.wrapping``).
    ``caller`` tells callers apart where something is kept for one of them; it is a hash of keys.
    A value that nobody changes; it is not frozen for speed alone, as every request makes several (see ``Message``).
    """

    vendor: VendorName
    operation: Operation
    model: str
    stream: bool
    path: str
    body: dict[str, Json]
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    is_retold: bool = False
    cut: Cut | None = None
    is_wrapped: bool = False
    caller: str = ""


@dataclass(slots=True, unsafe_hash=True)
class Params:
    """Sampling and limits; None means that the caller did not say. As ``WireRequest``, not frozen for speed alone."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] | None = None
    n: int | None = None
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    user: str | None = None
    is_answer_limit: bool = False
    """Whether ``max_tokens`` counts the answer alone; all but OpenAI's old ``max_tokens`` count the thoughts before it too."""
    min_p: float | None = None
    repetition_penalty: float | None = None
    logit_bias: tuple[tuple[str, float], ...] | None = None
    """By the numbers of tokens; of a turn alone, as ``banned_strings``: what a caller of OpenAI's says stays in its body, and
    is dropped by its name elsewhere."""
    banned_strings: tuple[str, ...] | None = None
    answers: int | None = None
    """How many a turn would like, where its model gives several (``n`` is what a caller must have)."""

    @property
    def limiting_top_k(self) -> int | None:
        """``top_k`` where it limits anything. 0 and -1 are "all tokens" to local servers and in SillyTavern's presets; vendors
        say that by leaving it out, and refuse numbers below 1 or 0."""
        return self.top_k if self.top_k is not None and self.top_k > 0 else None


@dataclass(frozen=True, slots=True)
class FreeText:
    """What a tool that takes free text says of itself; ``grammar`` is the syntax (lark, regex) and the definition."""

    description: str | None = None
    grammar: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may call. ``schema`` is JSON Schema of its arguments, None for no arguments. A tool that takes
    ``free_text`` is a function of one string, ``input``, where a dialect has no such tools."""

    name: str
    description: str | None = None
    schema: Mapping[str, Json] | None = None
    strict: bool | None = None
    raw: Json = None
    free_text: FreeText | None = None


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool that the vendor runs itself (web search, code execution); other dialects drop it by ``label``."""

    label: str
    raw: Json


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """``named`` holds ``names`` (one or more); ``parallel`` False forbids several calls in one turn."""

    mode: Literal["auto", "none", "required", "named"] = "auto"
    names: tuple[str, ...] = ()
    parallel: bool | None = None


@dataclass(frozen=True, slots=True)
class ResponseFormat:
    """``json`` is any JSON, ``schema`` is JSON that follows ``schema``."""

    kind: Literal["text", "json", "schema"]
    schema: Mapping[str, Json] | None = None
    name: str | None = None
    strict: bool | None = None


@dataclass(frozen=True, slots=True)
class ThinkingConfig:
    """How much to think. ``budget`` is in tokens; ``include`` says whether thoughts are shown."""

    effort: Effort | None = None
    budget: int | None = None
    include: bool | None = None
    mode: Literal["enabled", "disabled", "adaptive"] = "enabled"


@dataclass(slots=True, unsafe_hash=True)
class ChatRequest:
    """A chat request with the dialect taken off. As ``WireRequest``, a value that is not frozen for speed alone.

    ``vendor`` is the dialect it came in, or ``agentui`` for one made here (of a caller's parameters, or for a turn that nobody
    sent over HTTP).
    ``wire`` is the request as it came, where it came in a dialect; a renderer of the same dialect starts from its body, so
    that fields which are not modelled here arrive untouched. ``unmodelled`` names the wire fields that carry meaning and are
    modelled nowhere: another dialect drops them by these names. ``include_usage`` is whether a streaming caller wants usage
    (always True but in OpenAI chat, where the caller must ask). ``needs_state`` names the wire field that leans on
    something kept at the caller's own vendor, so that no other vendor can answer; None where the request is complete.
    ``cache`` is Claude's ``cache_control`` for the whole request, None where nobody wants it.
    ``differences`` is what the node says of its model against ``vendors.capabilities``.
    """

    vendor: VendorName | Literal["agentui"]
    model: str
    messages: Sequence[Message]
    params: Params = field(default_factory=Params)
    wire: WireRequest | None = None
    stream: bool = False
    tools: tuple[Tool | ServerTool, ...] = ()
    tool_choice: ToolChoice | None = None
    response_format: ResponseFormat | None = None
    thinking: ThinkingConfig | None = None
    include_usage: bool = True
    unmodelled: tuple[str, ...] = ()
    needs_state: str | None = None
    differences: Differences = field(default_factory=Differences)
    cache: Json = None

    def asking(self, messages: Sequence[Message], model: str, *, stream: bool) -> "ChatRequest":
        """The same request with another conversation, model and stream switch."""
        return ChatRequest(
            self.vendor,
            model,
            messages,
            self.params,
            self.wire,
            stream,
            self.tools,
            self.tool_choice,
            self.response_format,
            self.thinking,
            self.include_usage,
            self.unmodelled,
            self.needs_state,
            self.differences,
            self.cache,
        )

    def wire_in(self, vendor: VendorName) -> WireRequest | None:
        """The request as it came, where it came in this dialect."""
        return self.wire if self.vendor == vendor else None

    @property
    def is_recomposed(self) -> bool:
        """Whether some message was made here. What a caller sends to its own vendor is for the vendor to judge."""
        return any(message.raw_vendor is None for message in self.messages)

    @property
    def system(self) -> str:
        """The system texts joined by an empty line, "" where there are none."""
        return "\n\n".join(text for m in self.messages if m.role == "system" and (text := m.text))

    @property
    def last_user(self) -> str:
        """The text of the last user message that has text, "" where there is none."""
        return next((m.text for m in reversed(self.messages) if m.role == "user" and m.text), "")
