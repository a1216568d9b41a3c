"""Content parts: Gemini's ``Part`` objects and the neutral parts they stand for."""

from collections.abc import Mapping
from typing import Final

from agentui.chat.messages import Media, MediaKind, Opaque, Part, Text, Thinking, ToolCall, ToolResult, media_kind
from agentui.errors import UnsupportedFeature
from agentui.jsonio import InvalidJson, Json, dumps_text, loads
from agentui.vendors.arguments import whole_arguments
from agentui.vendors.gemini.call_marks import marked_call
from agentui.vendors.gemini.protojson import Malformed, camel, items, label_of, member, obj, standard_base64, text

GEMINI: Final = "gemini"

SENTINEL: Final = "skip_thought_signature_validator"
"""What Google documents as the signature of a call that another model made (ai.google.dev, thought signatures)."""
SENTINELS: Final = (SENTINEL, "context_engineering_is_the_way_to_go")
"""What clients write where they have no signature (Gemini CLI does so itself): nobody signed that."""

CANDIDATE_MEMBERS: Final = ("citationMetadata", "groundingMetadata", "urlContextMetadata")
"""What stands beside a candidate's content and travels as an ``Opaque`` of the answer."""

_PAYLOADS: Final = ("executableCode", "codeExecutionResult", "toolCall", "toolResponse")

_MIME_BY_ENDING: Final = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "heic": "image/heic",
    "heif": "image/heif",
    "pdf": "application/pdf",
    "txt": "text/plain",
    "md": "text/markdown",
    "html": "text/html",
    "csv": "text/csv",
    "json": "application/json",
    "wav": "audio/wav",
    "mp3": "audio/mp3",
    "aac": "audio/aac",
    "ogg": "audio/ogg",
    "flac": "audio/flac",
    "aiff": "audio/aiff",
    "mp4": "video/mp4",
    "mov": "video/mov",
    "mpeg": "video/mpeg",
    "webm": "video/webm",
}
_MIME_BY_KIND: Final[dict[MediaKind, str]] = {
    "image": "image/jpeg",
    "document": "application/pdf",
    "audio": "audio/wav",
    "video": "video/mp4",
}
_FILE_STORES: Final = ("gs://", "https://generativelanguage.googleapis.com/", "files/")


def parse_part(raw: Json) -> tuple[Part, ...]:
    """The neutral parts of one ``Part``: none for empty text, two for text with a signature.

    A signature on a text part becomes an empty ``Thinking`` after it, since text has no place for one. What only Gemini
    understands is ``Opaque``. Raises Malformed.
    """
    if not isinstance(raw, dict):
        raise Malformed("Every part must be an object.")
    signature = text(raw, "thoughtSignature")
    if signature in SENTINELS:
        signature = None
    if member(raw, "functionCall") is not None:
        call = _parse_call(obj(raw, "functionCall"), signature)
        return (marked_call(call, signature) or call,)
    if member(raw, "functionResponse") is not None:
        return (_parse_result(obj(raw, "functionResponse")),)
    words = text(raw, "text")
    if words is not None and member(raw, "thought") is True:
        return (Thinking(words, signature, None, GEMINI if signature else None),)
    if member(raw, "thought") is True and words is None:
        return (Opaque(GEMINI, "thought", raw),)
    main = _parse_main(raw, words)
    # A closed part keeps its signature inside.
    if signature is None or (main and isinstance(main[0], Opaque)):
        return main
    return (*main, Thinking("", signature, None, GEMINI))


def _parse_main(raw: dict[str, Json], words: str | None) -> tuple[Part, ...]:
    """Text, media, or a part that stays closed."""
    if words is not None:
        return (Text(words),) if words else ()
    if member(raw, "inlineData") is not None:
        return (_parse_blob(obj(raw, "inlineData")),)
    if member(raw, "fileData") is not None:
        return (_parse_file(obj(raw, "fileData")),)
    names = [label_of(key) for key, value in raw.items() if value is not None and camel(key) != "thoughtSignature"]
    label: str | None = next((name for name in _PAYLOADS if name in names), names[0] if names else None)
    return () if label is None else (Opaque(GEMINI, label, raw),)


def _parse_call(call: dict[str, Json], signature: str | None) -> ToolCall:
    name = text(call, "name")
    if not name:
        raise Malformed("A functionCall needs a name.", "functionCall.name")
    return ToolCall(text(call, "id"), name, dumps_text(obj(call, "args")), signature, GEMINI if signature else None)


def _parse_result(result: dict[str, Json]) -> ToolResult:
    """A function's result, unwrapped from ``result``/``output``; ``error`` marks a failure."""
    value = obj(result, "response")
    content: list[Text | Media] = []
    is_error = bool(value.get("error")) and not {"result", "output"} & value.keys()
    inner: Json = value
    if len(value) == 1:
        inner = next((value[key] for key in ("result", "output", "error") if key in value), value)
    content.append(Text(inner if isinstance(inner, str) else dumps_text(inner)))
    for part in items(result, "parts"):
        if isinstance(part, dict) and member(part, "inlineData") is not None:
            content.append(_parse_blob(obj(part, "inlineData")))
        elif isinstance(part, dict) and member(part, "fileData") is not None:
            content.append(_parse_file(obj(part, "fileData")))
    return ToolResult(text(result, "id"), tuple(content), text(result, "name"), is_error, value)


def _parse_blob(blob: dict[str, Json]) -> Media:
    mime = text(blob, "mimeType")
    data = standard_base64(text(blob, "data") or "")
    return Media(media_kind(mime), mime, data=data, filename=text(blob, "displayName"))


def _parse_file(file: dict[str, Json]) -> Media:
    """A file by its address; one in Google's own stores is an id, since nobody else can fetch it."""
    uri = text(file, "fileUri") or ""
    mime = text(file, "mimeType")
    kind = media_kind(mime or _mime_of_name(uri)) if mime or not _is_film(uri) else "video"
    name = text(file, "displayName")
    if uri.startswith(_FILE_STORES) or not uri.startswith(("http://", "https://")):
        return Media(kind, mime, file_id=uri, filename=name)
    return Media(kind, mime, url=uri, filename=name)


def _is_film(uri: str) -> bool:
    return uri.startswith(("https://www.youtube.com/", "https://youtube.com/", "https://youtu.be/"))


def _mime_of_name(name: str | None) -> str | None:
    """The MIME type that a file name or an address ends with."""
    path = (name or "").partition("?")[0].partition("#")[0]
    return _MIME_BY_ENDING.get(path.rpartition(".")[2].lower())


def media_part(media: Media) -> dict[str, Json]:
    """Media as ``inlineData`` or ``fileData``. Raises UnsupportedFeature for another vendor's file id."""
    if media.data is not None:
        mime = media.media_type or _mime_of_name(media.filename) or _MIME_BY_KIND[media.kind]
        return {"inlineData": {"mimeType": mime, "data": standard_base64(media.data)}}
    if media.file_id is not None and not media.file_id.startswith(_FILE_STORES):
        raise UnsupportedFeature(
            "Gemini cannot read a file that another provider stores: send its bytes instead of its id.", param="messages"
        )
    uri = media.url or media.file_id or ""
    told = media.media_type or _mime_of_name(uri) or _mime_of_name(media.filename)
    if told is None and _is_film(uri):
        return {"fileData": {"fileUri": uri}}
    return {"fileData": {"fileUri": uri, "mimeType": told or _MIME_BY_KIND[media.kind]}}


def thinking_part(words: str, signature: str | None) -> dict[str, Json]:
    """A thought; a signature alone stands on an empty text part, as Gemini itself sends it."""
    part: dict[str, Json] = {"text": words}
    if words:
        part["thought"] = True
    if signature:
        part["thoughtSignature"] = signature
    return part


def call_part(id: str | None, name: str, args: Mapping[str, Json], signature: str | None = None) -> dict[str, Json]:
    """A function call, whole."""
    call: dict[str, Json] = {"name": name, "args": args}
    if id:
        call["id"] = id
    part: dict[str, Json] = {"functionCall": call}
    if signature:
        part["thoughtSignature"] = signature
    return part


def result_part(result: ToolResult, *, media: bool) -> dict[str, Json]:
    """A function's result; its media go along inside when ``media`` is true."""
    part: dict[str, Json] = {"name": result.name or "", "response": _response(result)}
    if result.call_id:
        part["id"] = result.call_id
    pictures = [media_part(item) for item in result.content if isinstance(item, Media)] if media else []
    if pictures:
        part["parts"] = pictures
    return {"functionResponse": part}


def _response(result: ToolResult) -> dict[str, Json]:
    """The object that Gemini wants: the tool's own JSON object, else its text under ``result`` or ``error``."""
    if isinstance(result.value, dict):
        return result.value
    if result.is_error:
        return {"error": result.text}
    value = json_object(result.text)
    return {"result": result.text} if value is None else value


def json_object(words: str) -> dict[str, Json] | None:
    """The JSON object that a text spells, None when it spells anything else."""
    if not words.lstrip().startswith("{"):
        return None
    try:
        value = loads(words)
    except InvalidJson:
        return None
    return value if isinstance(value, dict) else None


def call_arguments(arguments: str) -> dict[str, Json] | None:
    """A call's arguments as an object: {} for an empty text, None when they are not a JSON object."""
    return json_object(whole_arguments(arguments))
