"""Parts as Claude's content blocks, as they stand in a request."""

import base64
import binascii
import re
from collections.abc import Mapping
from types import MappingProxyType

from agentui.chat.messages import Media, Opaque, Part, Refusal, Text, Thinking, ToolCall, ToolResult
from agentui.errors import BadRequest, UnsupportedFeature
from agentui.jsonio import InvalidJson, Json, dumps_text, loads

_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")
_IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_ALIASES: Mapping[str, str] = MappingProxyType({"image/jpg": "image/jpeg"})
_STANDARD = str.maketrans("-_", "+/", " \t\r\n")
_UNUSUAL = re.compile(r"[-_\s]")


def render_part(part: Part) -> dict[str, Json]:
    """One part as a block. Raises UnsupportedFeature for what Claude cannot read."""
    if type(part) is Text:  # nearly every part: not worth the walk through the cases
        return {"type": "text", "text": part.text}
    match part:
        case Text(text) | Refusal(text):
            return {"type": "text", "text": text}
        case Media():
            return render_media(part)
        case ToolCall(id, name, arguments):
            return {"type": "tool_use", "id": clean_id(id or ""), "name": clean_name(name), "input": call_input(arguments)}
        case ToolResult():
            return _render_result(part)
        case Thinking(redacted=str(data)):
            return {"type": "redacted_thinking", "data": data}
        case Thinking(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature or ""}
        case Opaque(raw=raw):
            return dict(raw)


def clean_id(id: str) -> str:
    """A call's id in Claude's characters (``^[a-zA-Z0-9_-]+$``); the same id always becomes the same."""
    return _FOREIGN.sub("_", id) or "call"


def clean_name(name: str) -> str:
    """A tool's name in the history in Claude's characters, at most 128 of them."""
    return _FOREIGN.sub("_", name)[:128] or "tool"


def call_input(arguments: str) -> dict[str, Json]:
    """A call's arguments as the object that Claude requires: {} for none, ``{"_raw": text}`` for what is no JSON object
    (models do write broken arguments, and the conversation must go on)."""
    if not arguments.strip():
        return {}
    try:
        value = loads(arguments)
    except InvalidJson:
        return {"_raw": arguments}
    return value if isinstance(value, dict) else {"_raw": arguments}


def standard_base64(data: str) -> str:
    """Base64 in the standard alphabet, padded, without whitespace; the same string when it is that already."""
    plain = data.translate(_STANDARD) if _UNUSUAL.search(data) else data
    return plain if len(plain) % 4 == 0 else plain + "=" * (-len(plain) % 4)


def render_media(media: Media) -> dict[str, Json]:
    """An image or document block. Raises UnsupportedFeature for other kinds and types, BadRequest for broken base64."""
    if media.kind == "image":
        return {"type": "image", "source": _image_source(media)}
    if media.kind == "document":
        document: dict[str, Json] = {"type": "document", "source": _document_source(media)}
        if media.filename:
            document["title"] = media.filename
        return document
    raise _unsupported(f"Claude takes no {media.kind}.")


def _image_source(media: Media) -> dict[str, Json]:
    """Where an image comes from."""
    if media.data is None:
        return _url_source(media)
    media_type = (media.media_type or "").partition(";")[0].strip().lower()
    media_type = _ALIASES.get(media_type, media_type)
    if media_type not in _IMAGE_TYPES:
        raise _unsupported(f"Claude reads JPEG, PNG, GIF and WebP images, not {media_type[:100] or 'an untyped one'!r}.")
    return {"type": "base64", "media_type": media_type, "data": standard_base64(media.data)}


def _document_source(media: Media) -> dict[str, Json]:
    """Where a document comes from: a PDF as bytes, text as words."""
    if media.data is None:
        return _url_source(media)
    media_type = (media.media_type or "application/pdf").partition(";")[0].strip().lower()
    if media_type == "application/pdf":
        return {"type": "base64", "media_type": media_type, "data": standard_base64(media.data)}
    if media_type.startswith("text/"):
        return {"type": "text", "media_type": "text/plain", "data": _decoded_text(media.data)}
    raise _unsupported(f"Claude reads PDF and plain text documents, not {media_type[:100]!r}.")


def _url_source(media: Media) -> dict[str, Json]:
    """A web address; file ids of one vendor mean nothing to another."""
    if media.url is None:
        raise _unsupported(f"The {media.kind} is a file that only its own vendor can open; send its bytes or a URL.")
    if not media.url.lower().startswith(("https://", "http://")):
        raise _unsupported(f"Claude fetches http and https addresses only; send the {media.kind}'s bytes.")
    return {"type": "url", "url": media.url}


def _decoded_text(data: str) -> str:
    """The words of a base64 text document."""
    try:
        return base64.b64decode(standard_base64(data), validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError) as error:
        raise BadRequest("A document's data is no base64.", param="messages") from error


def _render_result(result: ToolResult) -> dict[str, Json]:
    """A tool_result block; a lone text stands as a string, empty content is left out."""
    block: dict[str, Json] = {"type": "tool_result", "tool_use_id": clean_id(result.call_id or "")}
    parts = _result_parts(result)
    if len(parts) == 1 and isinstance(parts[0], Text):
        block["content"] = parts[0].text
    elif parts:
        block["content"] = [render_part(part) for part in parts]
    if result.is_error:
        block["is_error"] = True
    return block


def _result_parts(result: ToolResult) -> list[Text | Media]:
    """What a result says; a JSON object (Gemini's) as its JSON text, or as the one string that it only wraps."""
    said = [part for part in result.content if isinstance(part, Media) or part.text.strip()]
    if result.value is None:
        return said
    wrapped = next(iter(result.value.values())) if isinstance(result.value, dict) and len(result.value) == 1 else None
    is_wrapper = isinstance(wrapped, str) and next(iter(result.value)) in ("result", "output", "error")
    text = wrapped if is_wrapper and isinstance(wrapped, str) else dumps_text(result.value)
    media = [part for part in said if isinstance(part, Media)]
    return [Text(text), *media] if text.strip() else [*media]


def _unsupported(message: str) -> UnsupportedFeature:
    """The refusal of something in the messages."""
    return UnsupportedFeature(message, param="messages")
