"""Chat Completions messages, taken in as ``Message``; ``message_writer`` puts them on the wire again.

    wire role                   Message.role   parts
    system, developer           system         Text
    user                        user           Text, Media, Opaque
    assistant                   assistant      Thinking, Text, Refusal, Media, Opaque, ToolCall
    tool, function (legacy)     tool           ToolResult

An ``Opaque`` of this dialect holds a content part where its raw object has a ``type``, and otherwise fields of the
message itself (``{"audio": {"id": ...}}``).
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Literal
from urllib.parse import unquote_to_bytes

from agentui.chat.messages import (
    CACHE_MARK,
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
)
from agentui.chat.origin import OriginToken
from agentui.errors import BadRequest
from agentui.jsonio import Json, dumps_text
from agentui.vendors.arguments import whole_arguments
from agentui.vendors.openai.cache_marks import marks_of
from agentui.vendors.openai.citations import read_citations
from agentui.vendors.openai.free_text import free_text_arguments
from agentui.vendors.openai.reasoning_details import MEMBER, token_of, words_of

VENDOR: Literal["openai"] = "openai"
PLATFORM = frozenset({VENDOR, "openai_responses"})
"""OpenAI's two dialects: what was uploaded through one is known in the other, and errors have one shape."""

GOOGLES = ("google", "vertex")
"""Where in a tool call's ``extra_content`` Google's two compatible endpoints put a signature."""

MAX_ID = 64
"""Characters of a tool call's id and of ``user``; the API refuses longer ones."""

_PLAIN_ROLES: dict[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_BESIDE_WORDS = (
    *("reasoning_content", "reasoning", MEMBER, "refusal", "images", "annotations", "tool_calls", "function_call"),
)  # fmt: skip
"""What an assistant's message may hold beside its words, but for its voice; null and empty ones mean nothing."""


def parse_messages(messages: list[Json]) -> Sequence[Message]:
    """Take in ``messages``; each Message keeps its wire object as ``raw``. Raises BadRequest naming ``messages[i]...``."""
    return tuple([_parse_message(message, index) for index, message in enumerate(messages)])


def parse_assistant_parts(message: Json, where: str, origin: str = "") -> tuple[Part, ...]:
    """The parts of an assistant's message, in history or in an answer. Raises BadRequest naming ``where``.

    ``reasoning_content`` (DeepSeek, vLLM, LiteLLM) and ``reasoning`` (OpenRouter, newer vLLM) are the same thing; servers
    that send both repeat themselves. Mistral's thoughts are parts of the content, OpenRouter's stand in ``reasoning_details``,
    too. In an answer of the server ``origin`` they get its token.
    """
    content = message.get("content")
    if type(content) is str and content and not any(map(message.get, _BESIDE_WORDS)) and message.get("audio") is None:
        return (Text(content),)
    parts: list[Part] = []
    member = "reasoning_content" if message.get("reasoning_content") else "reasoning"
    details = message.get(MEMBER)
    thought = told if isinstance(told := message.get(member), str) and told else words_of(details)
    if isinstance(details, list) and details and origin:
        parts.append(Thinking(thought, token_of(details, origin), None, VENDOR))
    elif thought:
        parts.append(thought_of(thought, member, origin))
    parts += parse_content(content, f"{where}.content", origin)
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        parts.append(Refusal(refusal))
    parts += parse_images(message.get("images"), where)
    parts += _parse_fields(message)
    parts += _parse_calls(message, where, origin)
    return tuple(parts)


def thought_of(text: str, member: str, origin: str) -> Thinking:
    """A thought that stood in ``member`` of a message of the server ``origin``; "" for one that a caller tells."""
    return Thinking(text, str(OriginToken(origin, member)), None, VENDOR) if origin else Thinking(text)


def signature_of(call: Mapping[str, Json], origin: str) -> str | None:
    """The token of what Google signed a tool call with: its compatible endpoints hand Gemini's thoughtSignature out as
    ``extra_content.google.thought_signature`` (Vertex AI: ``vertex``) and want it back there. None where there is none."""
    extra = call.get("extra_content")
    if not isinstance(extra, dict) or not origin:
        return None
    for name in GOOGLES:
        match extra.get(name):
            case {"thought_signature": str(signature)} if signature:
                return str(OriginToken(origin, name, signature))
    return None


def parse_content(content: Json, where: str, origin: str = "") -> list[Part]:
    """The parts of ``content``: null, a string or a list. Raises BadRequest naming ``where``."""
    if content is None:
        return []
    if isinstance(content, str):
        return [Text(content)] if content else []
    if not isinstance(content, list):
        raise BadRequest(f"{where} must be a string or a list of content parts.", param=where)
    parts: list[Part] = []
    for index, part in enumerate(content):
        parts.append(_parse_part(part, f"{where}[{index}]", origin))
        parts += marks_of(part)
    return parts


def parse_images(images: Json, where: str) -> list[Part]:
    """The pictures that an assistant made: a list of ``image_url`` parts beside ``content`` (OpenRouter's extension)."""
    if not isinstance(images, list):
        return []
    return [_parse_part(image, f"{where}.images[{index}]") for index, image in enumerate(images)]


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
        elif isinstance(part, Opaque) and part.label != CACHE_MARK:
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
        parts.append(Opaque(VENDOR, "annotations", {"annotations": annotations}, read_citations(annotations)))
    return parts


def _parse_calls(message: Json, where: str, origin: str) -> list[ToolCall]:
    """``tool_calls``, or the legacy ``function_call``, which has no id."""
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise BadRequest(f"{where}.tool_calls must be a list.", param=f"{where}.tool_calls")
    parsed = [_parse_call(call, f"{where}.tool_calls[{index}]", origin) for index, call in enumerate(calls)]
    match message.get("function_call"):
        case {"name": str(name), **rest}:
            parsed.append(ToolCall(None, name, _arguments_text(rest.get("arguments"))))
    return parsed


def _parse_call(call: Json, where: str, origin: str) -> ToolCall:
    """One call. A custom tool's free text becomes ``{"input": text}``, so that its result still has a call to answer."""
    id = call.get("id") if isinstance(call, dict) else None
    id = id if isinstance(id, str) and id else None
    match call:
        case {"type": "custom", "custom": {"name": str(name), "input": str(text)}}:
            return ToolCall(id, name, free_text_arguments(text))
        case {"function": {"name": str(name), **function}}:
            signature = signature_of(call, origin)
            return ToolCall(id, name, _arguments_text(function.get("arguments")), signature, VENDOR if signature else None)
    raise BadRequest(f"{where} must have a function with a name.", param=where)


def _arguments_text(arguments: Json) -> str:
    """Arguments as JSON text; servers that send an object are understood."""
    if isinstance(arguments, str):
        return whole_arguments(arguments)
    return "{}" if arguments is None else dumps_text(arguments)


def _parse_part(part: Json, where: str, origin: str = "") -> Part:
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
        case {"type": "thinking", "thinking": str() | list() as thinking}:
            return thought_of(_thinking_text(thinking), "thinking", origin)
        case {"type": "text" | "image_url" | "input_audio" | "file" | "refusal" as kind}:
            raise BadRequest(f"{where} is of type {kind!r}, but its {kind!r} field is missing or wrong.", param=where)
        case {"type": str(kind)}:
            return Opaque(VENDOR, kind, part)
    raise BadRequest(f"{where} must be a content part with a type.", param=where)


def _thinking_text(thinking: Json) -> str:
    """The words of Mistral's thinking part: a text, or text parts."""
    if isinstance(thinking, str):
        return thinking
    return "".join(part["text"] for part in thinking if isinstance(part, dict) and isinstance(part.get("text"), str))


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
