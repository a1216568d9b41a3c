"""Chat Completions messages as they go on the wire: the roles and parts of ``openai.messages``, written.

What the dialect has no place for is moved, said in words or dropped; what was dropped is named.
"""

import base64
import binascii
import re
from collections.abc import Sequence, Set

from agentui.chat.capabilities import ThoughtsBack
from agentui.chat.messages import (
    Media,
    Message,
    Opaque,
    Part,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    missing_results,
    orphans_as_text,
    pair_tool_calls,
    uses_tools,
)
from agentui.chat.origin import read_token
from agentui.errors import BadRequest, UnsupportedFeature
from agentui.jsonio import Json, dumps_text
from agentui.vendors.openai.free_text import free_text
from agentui.vendors.openai.messages import PLATFORM, VENDOR, is_own_field, short_id
from agentui.vendors.openai.reasoning_details import MEMBER, details_of, is_detailed

_NAME = re.compile(r"[^\s<|\\/>]{1,64}")
_AUDIO_FORMATS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/wave": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
_DETAILS = ("auto", "low", "high", "original")


def render_messages(
    messages: Sequence[Message], custom: Set[str] = frozenset(), thoughts: ThoughtsBack = "own"
) -> tuple[list[Json], tuple[str, ...]]:
    """Write messages; those that came in this dialect are put back as they were. Returns them and what was dropped.

    ``thoughts`` says which thoughts of earlier answers the model takes: those that servers of this dialect made (a caller of
    this function keeps those of other servers away), in every answer even where none is known, or none.

    Tool results become ``tool`` messages of text. Pictures and files inside a result, and those that an assistant made,
    are moved to the next user message, since this dialect takes them nowhere else.
    A call without a result gets one that says so. Calls of the tools in ``custom`` are those of custom tools. Raises
    UnsupportedFeature for media that the dialect cannot express.
    """
    own = [message.raw for message in messages if message.raw_vendor == VENDOR and message.raw is not None]
    if len(own) == len(messages):
        return own, ()
    writer = _Writer(custom, thoughts)
    paired, missing = messages, dict[int, Message]()
    has_tools = uses_tools(messages)
    if has_tools or any(map(_is_thought_alone, messages)):
        messages = paired = _whole_turns(messages)
    if has_tools:
        answered = pair_tool_calls(messages)
        paired = orphans_as_text(answered)
        if any(one is not other for one, other in zip(answered, paired, strict=True)):
            writer.dropped.append("messages.orphan_tool_result")
        missing = dict(missing_results(paired))
        if missing:
            writer.dropped.append("messages.missing_tool_result")
    for place, (message, said) in enumerate(zip(messages, paired, strict=True)):
        if message.raw_vendor == VENDOR and message.raw is not None:
            writer.put_back(message.raw)
        else:
            writer.write(said, knows_files=message.raw_vendor is None or message.raw_vendor in PLATFORM)
        if place in missing:
            writer.write(missing[place], knows_files=False)
    writer.flush()
    return writer.wire, tuple(dict.fromkeys(writer.dropped))


def _whole_turns(messages: Sequence[Message]) -> list[Message]:
    """Messages with the calls of one turn in one message: dialects whose every call is an item of its own (Responses)
    scatter them, and this one refuses a call whose results do not follow at once."""
    turns: list[Message] = []
    run: list[Message] = []
    for message in messages:
        if message.role == "assistant" and message.raw_vendor != VENDOR:
            run.append(message)
            continue
        turns += _joined(run)
        run = []
        turns.append(message)
    return turns + _joined(run)


def _joined(run: Sequence[Message]) -> list[Message]:
    """Neighbours of an assistant as turns: a message with calls belongs to the one before it, and so does what follows; a
    thought alone belongs to what it led to."""
    groups: list[list[Message]] = []
    has_calls = False
    for message in run:
        if groups and (has_calls or message.tool_calls or _is_thought_alone(groups[-1][-1])):
            groups[-1].append(message)
            has_calls = has_calls or bool(message.tool_calls)
        else:
            groups.append([message])
            has_calls = bool(message.tool_calls)
    return [
        group[0]
        if len(group) == 1
        else Message(
            "assistant", tuple([part for one in group for part in one.parts]), group[0].name, raw_vendor=group[0].raw_vendor
        )
        for group in groups
    ]


def _is_thought_alone(message: Message) -> bool:
    """Whether a message is a thought and nothing else, as items of the Responses API are."""
    return message.lone_text is None and bool(message.parts) and all(isinstance(part, Thinking) for part in message.parts)


def render_image(media: Media) -> Json:
    """An ``image_url`` content part. Raises UnsupportedFeature for pictures that are neither bytes nor an http(s) URL."""
    if media.data is not None:
        url = f"data:{media.media_type or 'image/png'};base64,{media.data}"
    elif media.url is not None and media.url.startswith(("http://", "https://")):
        url = media.url
    else:
        raise UnsupportedFeature("OpenAI takes pictures as bytes or by an http(s) URL only.", param="messages")
    image = {"url": url, "detail": media.detail} if media.detail in _DETAILS else {"url": url}
    return {"type": "image_url", "image_url": image}


def render_call(call: ToolCall, custom: Set[str] = frozenset()) -> Json:
    """A whole tool call, as in a message's ``tool_calls``; ``custom`` names the tools that take free text."""
    if call.name in custom:
        said = {"name": call.name, "input": free_text(call.arguments)}
        return {"id": short_id(call.id or ""), "type": "custom", "custom": said}
    function = {"name": call.name, "arguments": call.arguments or "{}"}
    written: dict[str, Json] = {"id": short_id(call.id or ""), "type": "function", "function": function}
    if call.signed_by == VENDOR and (token := read_token(call.signature)) is not None:
        written["extra_content"] = {token.member: {"thought_signature": token.text}}
    return written


class _Writer:
    """Writes a conversation; ``pending`` holds parts that wait for the next user message."""

    def __init__(self, custom: Set[str], thoughts: ThoughtsBack) -> None:
        self._custom = custom
        self._thoughts = thoughts
        self.wire: list[Json] = []
        self.dropped: list[str] = []
        self._pending: list[Json] = []

    def put_back(self, raw: Json) -> None:
        """A message of this dialect, as it came. Results of one turn must stand together, so only others end the wait."""
        if raw.get("role") not in ("tool", "function"):
            self.flush()
        self.wire.append(raw)

    def flush(self) -> None:
        """Send what waits for a user message as one of its own."""
        if self._pending:
            self.wire.append({"role": "user", "content": self._pending})
            self._pending = []

    def write(self, message: Message, *, knows_files: bool) -> None:
        """Any message; ``knows_files`` is whether its file ids may be OpenAI's."""
        is_bare = message.role == "assistant" and self._thoughts == "required"
        if not is_bare and not self._pending and message.role != "tool" and (words := message.lone_text):
            self.wire.append({"role": message.role, "content": words})
            return
        match message.role:
            case "system":
                self.flush()
                self._write_system(message)
            case "assistant":
                self.flush()
                self._write_assistant(message, knows_files)
            case "user" | "tool":
                self._write_user(message, knows_files)

    def _write_system(self, message: Message) -> None:
        """Texts joined by an empty line: several compatible servers refuse a list here."""
        self._drop_others(message, (Text,))
        text = "\n\n".join(part.text for part in message.parts if isinstance(part, Text) and part.text)
        if text:
            self.wire.append(self._named({"role": "system", "content": text}, message))

    def _write_assistant(self, message: Message, knows_files: bool) -> None:
        """Content null beside calls, and nothing at all for a message of which nothing is left."""
        wire: dict[str, Json] = {"role": "assistant", "content": message.text or None}
        refusal = "".join(part.text for part in message.parts if isinstance(part, Refusal))
        if refusal:
            wire["refusal"] = refusal
        if message.tool_calls:
            wire["tool_calls"] = [render_call(call, self._custom) for call in message.tool_calls]
        for part in message.parts:
            if isinstance(part, Opaque) and is_own_field(part.vendor, part.raw):
                wire.update(part.raw)
            elif isinstance(part, Media):
                self._pending += [_note("The assistant made this:"), self._media(part, knows_files)]
            elif isinstance(part, Opaque) or (isinstance(part, Thinking) and not self._is_told(part)):
                self._drop(part)
        self._write_thoughts(wire, [part for part in message.parts if isinstance(part, Thinking) and self._is_told(part)])
        if wire["content"] is not None or len(wire) > 2:
            self.wire.append(self._named(wire, message))

    def _is_told(self, thought: Thinking) -> bool:
        """Whether the model is told a thought: a server's own, and any where a model wants one in every answer. What came with
        details goes back whatever the model, for only a server that knows them gave them."""
        return is_detailed(thought) or self._thoughts == "required" or (self._thoughts == "own" and thought.signed_by == VENDOR)

    def _write_thoughts(self, wire: dict[str, Json], thoughts: Sequence[Thinking]) -> None:
        """Thoughts where the server had them, else where most have them; a space where it wants one and none is known (DeepSeek
        refuses an empty text, and ``content: null`` beside a thought)."""
        if details := details_of(thoughts):
            wire[MEMBER] = details
            # They hold the words, too; a model that wants those gets them under the name that it knows.
            thoughts = thoughts if self._thoughts == "required" else [one for one in thoughts if not is_detailed(one)]
        text = "".join(thought.text for thought in thoughts)
        tokens = [token for thought in thoughts if (token := read_token(thought.signature)) is not None]
        member = tokens[0].member if tokens and tokens[0].member != MEMBER else "reasoning_content"
        if self._thoughts == "required":
            text, member = text or " ", "reasoning_content"
            wire["content"] = wire["content"] or ""
        if not text:
            return
        if member == "thinking":  # Mistral's parts
            words = [_note(wire["content"])] if wire["content"] else []
            wire["content"] = [{"type": "thinking", "thinking": [_note(text)]}, *words]
        else:
            wire[member] = text

    def _write_user(self, message: Message, knows_files: bool) -> None:
        """Results first, as messages of their own, then the rest with what waited."""
        rest: list[Json] = []
        for part in message.parts:
            match part:
                case ToolResult():
                    self._write_result(part, knows_files)
                case Text(text):
                    rest.append(_note(text))
                case Media():
                    rest.append(self._media(part, knows_files))
                case Opaque(vendor, _, raw) if vendor == VENDOR and not is_own_field(vendor, raw):
                    rest.append(raw)
                case _:
                    self._drop(part)
        if rest or not message.parts:
            content: Json = self._pending + rest
            self._pending = []
            if len(content) <= 1 and all(part["type"] == "text" for part in content):
                content = content[0]["text"] if content else ""
            self.wire.append(self._named({"role": "user", "content": content}, message))

    def _write_result(self, result: ToolResult, knows_files: bool) -> None:
        """A ``tool`` message of text; there is no flag for an error in this dialect."""
        if result.is_error:
            self.dropped.append("is_error")
        media = [part for part in result.content if isinstance(part, Media)]
        text = "\n".join(part.text for part in result.content if isinstance(part, Text)) or value_text(result.value)
        if media and not text:
            text = "The result is attached to the next message."
        call_id = short_id(result.call_id or "")
        self.wire.append({"role": "tool", "tool_call_id": call_id, "content": text})
        for part in media:
            self._pending += [_note(f"Result of tool call {call_id}:"), self._media(part, knows_files)]

    def _media(self, media: Media, knows_files: bool) -> Json:
        """A content part for a user message. Raises UnsupportedFeature for what cannot be said."""
        if media.file_id is not None and knows_files and media.kind == "document":
            return {"type": "file", "file": {"file_id": media.file_id}}
        if media.kind == "image":
            return render_image(media)
        if media.data is not None and media.kind == "document":
            return _document(media, media.data)
        audio_format = _AUDIO_FORMATS.get(media.media_type or "")
        if media.data is not None and media.kind == "audio" and audio_format:
            return {"type": "input_audio", "input_audio": {"data": media.data, "format": audio_format}}
        given = "a file id" if media.file_id is not None else "a URL" if media.url is not None else media.media_type
        raise UnsupportedFeature(f"OpenAI chat completions cannot take {media.kind} given as {given}.", param="messages")

    def _named(self, wire: dict[str, Json], message: Message) -> dict[str, Json]:
        """Add the speaker's name where the API's rule for names allows it."""
        if message.name is None:
            return wire
        if _NAME.fullmatch(message.name):
            wire["name"] = message.name
        else:
            self.dropped.append("messages.name")
        return wire

    def _drop_others(self, message: Message, kept: tuple[type[Part], ...]) -> None:
        """Name every part that is not of a kept kind."""
        for part in message.parts:
            if not isinstance(part, kept):
                self._drop(part)

    def _drop(self, part: Part) -> None:
        """Name a part that cannot be said."""
        match part:
            case Opaque(_, label, _):
                self.dropped.append(label)
            case Media(kind):
                self.dropped.append(f"messages.{kind}")
            case Thinking():
                self.dropped.append("thinking")
            case _:
                self.dropped.append(f"messages.{type(part).__name__.lower()}")


def _note(text: str) -> Json:
    """A text content part."""
    return {"type": "text", "text": text}


def _document(media: Media, data: str) -> Json:
    """A ``file`` part, which must have a file name; plain text goes as text, since ``file`` is for PDF."""
    media_type = media.media_type or "application/pdf"
    if media_type.startswith("text/"):
        try:
            return _note(base64.b64decode(data).decode())
        except (binascii.Error, UnicodeDecodeError) as error:
            raise BadRequest("A text document is not base64 of UTF-8 text.", param="messages") from error
    name = media.filename or ("document.pdf" if media_type == "application/pdf" else "document")
    return {"type": "file", "file": {"filename": name, "file_data": f"data:{media_type};base64,{data}"}}


def value_text(value: Json) -> str:
    """A JSON result as text; ``{"result": s}`` and ``{"output": s}`` are how a string was wrapped for Gemini."""
    match value:
        case None:
            return ""
        case {"result": str(text)} | {"output": str(text)} if len(value) == 1:
            return text
    return dumps_text(value)
