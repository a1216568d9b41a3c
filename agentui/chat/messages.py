"""A conversation: messages made of parts.

One ``Message`` stands for one message (or input item) of the wire it came from, so that the same dialect can put
the caller's own object back (``raw``). Tool results are parts of a ``tool`` message, or of a ``user`` message where the
dialect mixes them with text (Claude, Gemini).
"""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from agentui.chat.citations import Citation
from agentui.jsonio import Json, dumps

Role = Literal["system", "user", "assistant", "tool"]
NO_RESULT = "No result was given."
"""What a model reads as the result of a call that the history leaves open."""
MediaKind = Literal["image", "document", "audio", "video"]


@dataclass(slots=True, unsafe_hash=True)
class Text:
    """Words. As ``Message``, a value that nobody changes and that is not frozen for speed alone."""

    text: str


@dataclass(frozen=True, slots=True)
class Media:
    """An image, document, sound or film: exactly one of ``data`` (standard base64), ``url`` and ``file_id``."""

    kind: MediaKind
    media_type: str | None = None
    data: str | None = None
    url: str | None = None
    file_id: str | None = None
    filename: str | None = None
    detail: str | None = None


def media_kind(media_type: str | None) -> MediaKind:
    """What sort of media a type names; whatever is neither seen nor heard is a document."""
    match (media_type or "").partition("/")[0]:
        case "image" | "audio" | "video" as kind:
            return kind
    return "document"


@dataclass(slots=True, unsafe_hash=True)
class ToolCall:
    """The model asks for a tool. ``arguments`` is JSON text (``"{}"`` for none). Not frozen for speed alone, as ``Text``.

    ``id`` is None only where the wire had none (Gemini 2.x); ``pair_tool_calls`` gives it one.
    ``signature`` is the vendor's continuity token (Gemini's thoughtSignature) of dialect ``signed_by``.
    """

    id: str | None
    name: str
    arguments: str = "{}"
    signature: str | None = None
    signed_by: str | None = None


@dataclass(slots=True, unsafe_hash=True)
class ToolResult:
    """What a tool gave back for the call ``call_id``. Not frozen for speed alone, as ``Text``.

    ``content`` holds Text and Media parts; ``value`` is the JSON object where the wire carries one (Gemini).
    ``name`` is the function's name where the wire carries it, else None (``pair_tool_calls`` fills it in).
    """

    call_id: str | None
    content: tuple["Text | Media", ...] = ()
    name: str | None = None
    is_error: bool = False
    value: Json = None

    @property
    def text(self) -> str:
        """The text parts joined."""
        return "".join(part.text for part in self.content if isinstance(part, Text))


@dataclass(frozen=True, slots=True)
class Thinking:
    """What the model thought. ``signature``/``redacted`` may only go back to the dialect ``signed_by``."""

    text: str = ""
    signature: str | None = None
    redacted: str | None = None
    signed_by: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """The model's words for not answering (OpenAI's ``refusal``)."""

    text: str


@dataclass(frozen=True, slots=True)
class Opaque:
    """A part that only its own dialect understands (server tools, citations, file references).

    ``label`` names it for ``x-agentui-dropped`` when another dialect cannot carry it. ``cited`` are the pages of the web that
    it cites in an answer, which every dialect can tell in words of its own.
    """

    vendor: str
    label: str
    raw: Json
    cited: tuple[Citation, ...] = ()


CACHE_MARK = "cache_control"
"""The label of an ``Opaque`` of nobody's dialect that says: all up to the part before it is to be cached."""

Part: TypeAlias = Text | Media | ToolCall | ToolResult | Thinking | Refusal | Opaque


@dataclass(slots=True, unsafe_hash=True)
class Message:
    """One message. ``raw`` is its wire object in the dialect ``raw_vendor``, None for messages made here. ``speaker`` is who
    speaks where ``name`` is what the message is (SillyTavern's ``example_user``): dialects without names say it.

    A value: nobody changes one. It is not frozen, because a long conversation makes hundreds for every request and a frozen
    dataclass takes three times as long to make.
    """

    role: Role
    parts: tuple[Part, ...]
    name: str | None = None
    raw: Json = None
    raw_vendor: str | None = None
    speaker: str | None = None

    @property
    def text(self) -> str:
        """The text parts joined without separator; of a system message by an empty line, for each is a text of its own."""
        if len(self.parts) == 1 and type(part := self.parts[0]) is Text:
            return part.text
        between = "\n\n" if self.role == "system" else ""
        return between.join(part.text for part in self.parts if isinstance(part, Text) and part.text)

    @property
    def lone_text(self) -> str | None:
        """The text of a message that is this text alone and names no speaker, as nearly all are; None for any other."""
        if self.name is None and len(self.parts) == 1 and type(part := self.parts[0]) is Text:
            return part.text
        return None

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls that this message asks for, in order."""
        if len(self.parts) == 1 and type(self.parts[0]) is Text:
            return ()
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


def text_message(role: Role, text: str) -> Message:
    """A message of one text part, made here rather than by a caller."""
    return Message(role, (Text(text),))


def has_tool_parts(message: Message) -> bool:
    """Whether the message asks for a tool or tells what one gave."""
    return uses_tools((message,))


def uses_tools(messages: Iterable[Message]) -> bool:
    """Whether any message asks for a tool or tells what one gave."""
    for message in messages:
        for part in message.parts:
            if type(part) is ToolCall or type(part) is ToolResult:
                return True
    return False


def pair_tool_calls(messages: Sequence[Message]) -> Sequence[Message]:
    """Give every tool call an id and every tool result its call's id and name.

    Calls without an id get ``call_<n>`` counted through the conversation, so the same history gives the same ids.
    Results without an id are paired with the open calls of the same name, else of any name, in order.
    Messages that change lose their ``raw``.
    """
    if not uses_tools(messages):
        return messages
    paired: list[Message] = []
    calls = _Calls()
    for message in messages:
        if not has_tool_parts(message):
            paired.append(message)
            continue
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolCall):
                parts.append(calls.open(part))
            else:
                parts.append(calls.close(part) if isinstance(part, ToolResult) else part)
        same = all(new is old for new, old in zip(parts, message.parts, strict=True))
        paired.append(message if same else Message(message.role, tuple(parts), message.name))
    return paired


class _Calls:
    """The calls of a conversation, of which the open ones still wait for their results. No step looks at all of them."""

    def __init__(self) -> None:
        self._count = 0
        self._names: dict[str, str] = {}
        self._open: OrderedDict[int, str] = OrderedDict()
        """Ids by the number of the call."""
        self._by_id: defaultdict[str, deque[int]] = defaultdict(deque)
        self._by_name: defaultdict[str | None, deque[int]] = defaultdict(deque)

    def open(self, call: ToolCall) -> ToolCall:
        """The call, with an id."""
        self._count += 1
        id = f"call_{self._count}" if call.id is None else call.id
        self._names[id] = call.name
        self._open[self._count] = id
        self._by_id[id].append(self._count)
        self._by_name[call.name].append(self._count)
        return call if id == call.id else replace(call, id=id)

    def close(self, result: ToolResult) -> ToolResult:
        """The result, with the id and the name of the call that it answers."""
        call_id = self._waiting_for(result.name) if result.call_id is None else result.call_id
        if numbers := self._by_id.get(call_id):
            del self._open[numbers.popleft()]
        name = result.name or self._names.get(call_id)
        if call_id == result.call_id and name == result.name:
            return result
        return ToolResult(call_id, result.content, name, result.is_error, result.value)

    def _waiting_for(self, name: str | None) -> str:
        """The id of the oldest open call of this name, else of any name, else one made of the name."""
        numbers = self._by_name.get(name)
        while numbers and numbers[0] not in self._open:
            numbers.popleft()
        oldest = numbers[0] if numbers else next(iter(self._open), None)
        return f"call_{name or 'unknown'}" if oldest is None else self._open[oldest]


def orphans_as_text(messages: Sequence[Message]) -> Sequence[Message]:
    """The same messages, in which every result of a call that is not there, or that has its result already, is words.

    For dialects that refuse such results; ``messages`` are paired. A message that changes loses its ``raw``.
    """
    if not uses_tools(messages):
        return messages
    waiting: defaultdict[str | None, int] = defaultdict(int)
    whole: list[Message] = []
    for message in messages:
        orphans: list[Part] = []
        kept: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolCall):
                waiting[part.id] += 1
            elif isinstance(part, ToolResult):
                if waiting[part.call_id] == 0:
                    orphans += _as_words(part)
                    continue
                waiting[part.call_id] -= 1
            kept.append(part)
        # Behind the results that are left: nothing may stand between those and their calls.
        whole.append(Message("user", (*kept, *orphans), message.name) if orphans else message)
    return whole


def missing_results(messages: Sequence[Message]) -> Mapping[int, Message]:
    """For dialects that refuse calls without results: what is to stand behind each message with calls that nobody answers, by
    that message's place. ``messages`` are paired, and their orphans are words."""
    given: defaultdict[str | None, int] = defaultdict(int)
    missing: dict[int, Message] = {}
    for place in range(len(messages) - 1, -1, -1):
        results: list[Part] = []
        for part in reversed(messages[place].parts):
            if isinstance(part, ToolResult):
                given[part.call_id] += 1
            elif isinstance(part, ToolCall) and given[part.id]:
                given[part.id] -= 1
            elif isinstance(part, ToolCall):
                results.append(ToolResult(part.id, (Text(NO_RESULT),), part.name))
        if results:
            missing[place] = Message("tool", tuple(reversed(results)))
    return missing


def _as_words(result: ToolResult) -> list[Part]:
    """A result without its call: its words, and its pictures and files."""
    value = "" if result.value is None else dumps(result.value).decode()
    label = result.name or result.call_id or "unknown"
    words = Text(f"The tool {label} gave: {result.text or value or 'nothing'}")
    return [words, *(part for part in result.content if isinstance(part, Media))]


def merge_turns(messages: Sequence[Message]) -> list[Message]:
    """Join neighbours of one role (``tool`` counts as ``user``) into single turns, results first in a user turn.

    For dialects whose turns alternate: Claude wants all results of one turn in one user message, Gemini in one content.
    System messages are left as they are. Merged messages have role ``user`` or ``assistant`` and no ``raw``.
    """
    roles: list[Role] = ["user" if message.role == "tool" else message.role for message in messages]
    turns: list[Message] = []
    start = 0
    for end, role in enumerate(roles, 1):
        if end < len(roles) and roles[end] == role and role != "system":
            continue
        message = messages[start]
        if end - start > 1:
            turns.append(_merged(role, messages[start:end]))
        else:
            turns.append(message if message.role == role else Message(role, message.parts, message.name))
        start = end
    return turns


def _merged(role: Role, run: Sequence[Message]) -> Message:
    """Neighbours as one turn."""
    parts = [part for message in run for part in message.parts]
    if role == "user":
        parts.sort(key=lambda part: not isinstance(part, ToolResult))
    return Message(role, tuple(parts), run[0].name)
