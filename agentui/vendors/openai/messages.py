"""Chat Completions messages, taken in as ``Message`` and put on the wire again.

    wire role                   Message.role   parts
    system, developer           system         Text
    user                        user           Text, Media, Opaque
    assistant                   assistant      Thinking, Text, Refusal, Media, Opaque, ToolCall
    tool, function (legacy)     tool           ToolResult

An ``Opaque`` of this dialect holds a content part where its raw object has a ``type``, and otherwise fields of the
message itself (``{"audio": {"id": ...}}``).
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Sequence, Set
from urllib.parse import unquote_to_bytes

from agentui.chat.messages import (
    Media,
    MediaKind,
    Message,
    Opaque,
    Part,
    Refusal,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    media_kind,
    missing_results,
    orphans_as_text,
    pair_tool_calls,
    uses_tools,
)
from agentui.errors import BadRequest, UnsupportedFeature
from agentui.jsonio import Json, dumps_text
from agentui.vendors.arguments import whole_arguments
from agentui.vendors.openai.free_text import free_text, free_text_arguments

VENDOR = "openai"
PLATFORM = frozenset({VENDOR, "openai_responses"})
"""OpenAI's two dialects: what was uploaded through one is known in the other, and errors have one shape."""

MAX_ID = 64
"""Characters of a tool call's id and of ``user``; the API refuses longer ones."""

_NAME = re.compile(r"[^\s<|\\/>]{1,64}")
_AUDIO_FORMATS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/wave": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
_PLAIN_ROLES: dict[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_BESIDE_WORDS = ("reasoning_content", "reasoning", "refusal", "images", "annotations", "tool_calls", "function_call")
"""What an assistant's message may hold beside its words, but for its voice; null and empty ones mean nothing."""
_DETAILS = ("auto", "low", "high", "original")


def parse_messages(messages: list[Json]) -> Sequence[Message]:
    """Take in ``messages``; each Message keeps its wire object as ``raw``. Raises BadRequest naming ``messages[i]...``."""
    return tuple([_parse_message(message, index) for index, message in enumerate(messages)])


def render_messages(messages: Sequence[Message], custom: Set[str] = frozenset()) -> tuple[list[Json], tuple[str, ...]]:
    """Write messages; those that came in this dialect are put back as they were. Returns them and what was dropped.

    Tool results become ``tool`` messages of text. Pictures and files inside a result, and those that an assistant made,
    are moved to the next user message, since this dialect takes them nowhere else.
    A call without a result gets one that says so. Calls of the tools in ``custom`` are those of custom tools. Raises
    UnsupportedFeature for media that the dialect cannot express.
    """
    own = [message.raw for message in messages if message.raw_vendor == VENDOR and message.raw is not None]
    if len(own) == len(messages):
        return own, ()
    writer = _Writer(custom)
    paired, missing = messages, dict[int, Message]()
    if uses_tools(messages):
        messages = _whole_turns(messages)
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
    """Neighbours of an assistant as turns: a message with calls belongs to the one before it, and so does what follows."""
    groups: list[list[Message]] = []
    has_calls = False
    for message in run:
        if groups and (has_calls or message.tool_calls):
            groups[-1].append(message)
            has_calls = True
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


def parse_assistant_parts(message: Json, where: str) -> tuple[Part, ...]:
    """The parts of an assistant's message, in history or in an answer. Raises BadRequest naming ``where``.

    ``reasoning_content`` (DeepSeek, vLLM, LiteLLM) and ``reasoning`` (OpenRouter, newer vLLM) are the same thing; servers
    that send both repeat themselves.
    """
    content = message.get("content")
    if type(content) is str and content and not any(map(message.get, _BESIDE_WORDS)) and message.get("audio") is None:
        return (Text(content),)
    parts: list[Part] = []
    thought = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(thought, str) and thought:
        parts.append(Thinking(thought))
    parts += parse_content(content, f"{where}.content")
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        parts.append(Refusal(refusal))
    parts += parse_images(message.get("images"), where)
    parts += _parse_fields(message)
    parts += _parse_calls(message, where)
    return tuple(parts)


def parse_content(content: Json, where: str) -> list[Part]:
    """The parts of ``content``: null, a string or a list. Raises BadRequest naming ``where``."""
    if content is None:
        return []
    if isinstance(content, str):
        return [Text(content)] if content else []
    if not isinstance(content, list):
        raise BadRequest(f"{where} must be a string or a list of content parts.", param=where)
    return [_parse_part(part, f"{where}[{index}]") for index, part in enumerate(content)]


def parse_images(images: Json, where: str) -> list[Part]:
    """The pictures that an assistant made: a list of ``image_url`` parts beside ``content`` (OpenRouter's extension)."""
    if not isinstance(images, list):
        return []
    return [_parse_part(image, f"{where}.images[{index}]") for index, image in enumerate(images)]


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
    return {"id": short_id(call.id or ""), "type": "function", "function": function}


def is_own_field(vendor: str, raw: Json) -> bool:
    """Whether an opaque part is fields of this dialect's message (its voice, its citations) rather than content."""
    return vendor == VENDOR and isinstance(raw, dict) and "type" not in raw


def short_id(id: str) -> str:
    """The id itself, or a stable stand-in of 64 characters for a longer one."""
    if len(id) <= MAX_ID:
        return id
    return f"{id[:31]}_{hashlib.sha256(id.encode()).hexdigest()[:32]}"


def invented_call_id(answer_id: str | None, choice: int, index: int) -> str:
    """An id for a call that came without one: the same answer always gives the same ids."""
    return short_id(f"call_{answer_id or 'x'}_{choice}_{index}")


def _parse_message(message: Json, index: int) -> Message:
    """One wire message."""
    if type(message) is dict and len(message) == 2:  # nearly every message is a role and words
        role, content = message.get("role"), message.get("content")
        if type(content) is str and content and type(role) is str and role in _PLAIN_ROLES:
            return Message(_PLAIN_ROLES[role], (Text(content),), None, message, VENDOR)
    where = f"messages[{index}]"
    if not isinstance(message, dict):
        raise BadRequest(f"{where} must be an object.", param=where)
    name = message.get("name")
    name = name if isinstance(name, str) else None
    match message.get("role"):
        case "system" | "developer":
            return Message("system", tuple(parse_content(message.get("content"), f"{where}.content")), name, message, VENDOR)
        case "user":
            return Message("user", tuple(parse_content(message.get("content"), f"{where}.content")), name, message, VENDOR)
        case "assistant":
            return Message("assistant", parse_assistant_parts(message, where), name, message, VENDOR)
        case "tool":
            result = _parse_result(message, message.get("tool_call_id"), None, where)
            return Message("tool", (result,), None, message, VENDOR)
        case "function":
            return Message("tool", (_parse_result(message, None, name, where),), None, message, VENDOR)
    raise BadRequest(
        f"{where}.role must be one of system, developer, user, assistant, tool and function.", param=f"{where}.role"
    )


def _parse_result(message: Json, call_id: Json, name: str | None, where: str) -> ToolResult:
    """A ``tool`` or ``function`` message. A part that is neither text nor media is shown as its JSON text."""
    if call_id is not None and not isinstance(call_id, str):
        raise BadRequest(f"{where}.tool_call_id must be a string.", param=f"{where}.tool_call_id")
    content: list[Text | Media] = []
    for part in parse_content(message.get("content"), f"{where}.content"):
        if isinstance(part, Text | Media):
            content.append(part)
        elif isinstance(part, Opaque):
            content.append(Text(dumps_text(part.raw)))
    return ToolResult(call_id, tuple(content), name)


def _parse_fields(message: Json) -> list[Part]:
    """Fields of an assistant's message that only this dialect understands: its voice and its citations."""
    parts: list[Part] = []
    audio = message.get("audio")
    if isinstance(audio, dict):
        transcript = audio.get("transcript")
        if isinstance(transcript, str) and transcript:
            parts.append(Text(transcript))
        parts.append(Opaque(VENDOR, "audio", {"audio": audio}))
    annotations = message.get("annotations")
    if isinstance(annotations, list) and annotations:
        parts.append(Opaque(VENDOR, "annotations", {"annotations": annotations}))
    return parts


def _parse_calls(message: Json, where: str) -> list[ToolCall]:
    """``tool_calls``, or the legacy ``function_call``, which has no id."""
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise BadRequest(f"{where}.tool_calls must be a list.", param=f"{where}.tool_calls")
    parsed = [_parse_call(call, f"{where}.tool_calls[{index}]") for index, call in enumerate(calls)]
    match message.get("function_call"):
        case {"name": str(name), **rest}:
            parsed.append(ToolCall(None, name, _arguments_text(rest.get("arguments"))))
    return parsed


def _parse_call(call: Json, where: str) -> ToolCall:
    """One call. A custom tool's free text becomes ``{"input": text}``, so that its result still has a call to answer."""
    id = call.get("id") if isinstance(call, dict) else None
    id = id if isinstance(id, str) and id else None
    match call:
        case {"type": "custom", "custom": {"name": str(name), "input": str(text)}}:
            return ToolCall(id, name, free_text_arguments(text))
        case {"function": {"name": str(name), **function}}:
            return ToolCall(id, name, _arguments_text(function.get("arguments")))
    raise BadRequest(f"{where} must have a function with a name.", param=where)


def _arguments_text(arguments: Json) -> str:
    """Arguments as JSON text; servers that send an object are understood."""
    if isinstance(arguments, str):
        return whole_arguments(arguments)
    return "{}" if arguments is None else dumps_text(arguments)


def _parse_part(part: Json, where: str) -> Part:
    """One content part. Raises BadRequest for a known type without its own field; unknown types become Opaque."""
    match part:
        case {"type": "text", "text": str(text)} | str(text):
            return Text(text)
        case {"type": "image_url", "image_url": {"url": str(url), **image}}:
            return _media("image", url, detail=image.get("detail"))
        case {"type": "image_url", "image_url": str(url)}:
            return _media("image", url)
        case {"type": "video_url", "video_url": {"url": str(url)}}:
            return _media("video", url)
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(format)}}:
            return Media("audio", "audio/mpeg" if format == "mp3" else f"audio/{format}", data)
        case {"type": "file", "file": dict(file)}:
            return _parse_file(file, where)
        case {"type": "refusal", "refusal": str(text)}:
            return Refusal(text)
        case {"type": "text" | "image_url" | "input_audio" | "file" | "refusal" as kind}:
            raise BadRequest(f"{where} is of type {kind!r}, but its {kind!r} field is missing or wrong.", param=where)
        case {"type": str(kind)}:
            return Opaque(VENDOR, kind, part)
    raise BadRequest(f"{where} must be a content part with a type.", param=where)


def _parse_file(file: Json, where: str) -> Media:
    """A ``file`` part: bytes as a data URL (some clients send bare base64), or an uploaded file's id."""
    name = file.get("filename")
    name = name if isinstance(name, str) else None
    match file:
        case {"file_data": str(data)} if data.startswith("data:"):
            media = _media("document", data)
            return Media(media_kind(media.media_type), media.media_type, media.data, filename=name)
        case {"file_data": str(data)}:
            return Media("document", "application/pdf", data, filename=name)
        case {"file_id": str(id)}:
            return Media("document", file_id=id, filename=name)
    raise BadRequest(f"{where}.file needs file_data or file_id.", param=f"{where}.file")


def _media(kind: MediaKind, url: str, detail: Json = None) -> Media:
    """Media at a URL; a data URL is taken apart into type and base64."""
    detail = detail if isinstance(detail, str) else None
    if not url.startswith("data:"):
        return Media(kind, url=url, detail=detail)
    head, _, data = url[5:].partition(",")
    media_type, *flags = head.split(";")
    if "base64" not in flags:
        data = base64.b64encode(unquote_to_bytes(data)).decode()
    return Media(kind, media_type or None, data, detail=detail)


class _Writer:
    """Writes a conversation; ``pending`` holds parts that wait for the next user message."""

    def __init__(self, custom: Set[str]) -> None:
        self._custom = custom
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
        if not self._pending and message.role != "tool" and (words := message.lone_text):
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
            elif isinstance(part, Thinking | Opaque):
                self._drop(part)
        if wire["content"] is not None or len(wire) > 2:
            self.wire.append(self._named(wire, message))

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
