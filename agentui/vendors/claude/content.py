"""Claude's content blocks, both ways.

A block that no other dialect could understand (server tools, container uploads) becomes ``Opaque`` with itself as ``raw``;
fields of known blocks that are modelled nowhere are named in ``lost``.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from types import MappingProxyType

from agentui.chat.citations import Citation
from agentui.chat.messages import Media, MediaKind, Opaque, Part, Refusal, Text, Thinking, ToolCall, ToolResult
from agentui.chat.origin import read_token
from agentui.errors import BadRequest, UnsupportedFeature
from agentui.jsonio import InvalidJson, Json, dumps_text, loads
from agentui.vendors.arguments import whole_arguments
from agentui.vendors.thought_marks import MARK, is_marked, mark_of

_MODELLED: Mapping[str, frozenset[str]] = {
    "text": frozenset({"text"}),
    "image": frozenset({"source"}),
    "document": frozenset({"source", "title"}),
    "search_result": frozenset({"title", "source", "content"}),
    "tool_use": frozenset({"id", "name", "input"}),
    "tool_result": frozenset({"tool_use_id", "content", "is_error"}),
    "thinking": frozenset({"thinking", "signature"}),
    "redacted_thinking": frozenset({"data"}),
}

CITATION = "citations"
"""The label of an ``Opaque`` that holds one citation of the text before it, as ``citations_delta`` writes it."""


def parse_content(content: Json, where: str, lost: list[str]) -> tuple[Part, ...]:
    """The parts of a message's ``content``: a string or a list of blocks. Raises BadRequest naming ``where``."""
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if not isinstance(content, list):
        raise BadRequest(f"{where} must be a string or a list of content blocks.", param=where)
    parts: list[Part] = []
    for number, block in enumerate(content):
        if (words := plain_words(block)) is not None:
            parts.append(Text(words))
            continue
        parts.extend(parse_block(block, f"{where}.{number}", lost))
    return tuple(parts)


def plain_words(block: Json) -> str | None:
    """The words of a text block that says nothing else, as nearly all are; None for any other block."""
    if type(block) is not dict or len(block) != 2 or block.get("type") != "text":
        return None
    words = block.get("text")
    return words if type(words) is str else None


def parse_block(block: Json, where: str, lost: list[str]) -> tuple[Part, ...]:
    """The parts that one block means, usually one. Raises BadRequest naming ``where``."""
    if not isinstance(block, dict) or not isinstance(kind := block.get("type"), str):
        raise BadRequest(f"{where} must be an object with a type.", param=where)
    if kind not in _MODELLED:
        return (Opaque("claude", kind, block),)
    parts = _parse_known(block, where, lost)
    if len(block) > 1 + len(_MODELLED[kind]) or not block.keys() - {"type"} <= _MODELLED[kind]:
        _name_extras(kind, block, lost)
    return parts


def _parse_known(block: dict[str, Json], where: str, lost: list[str]) -> tuple[Part, ...]:
    """One block of a modelled kind."""
    match block:
        case {"type": "text", "text": str(text), **rest}:
            return (Text(text), *_citations(rest.get("citations")))
        case {"type": "image", "source": dict(source)}:
            return (_parse_image(source, block),)
        case {"type": "document", "source": dict(source)}:
            return _parse_document(source, block, where, lost)
        case {"type": "search_result", "content": list(content), **rest}:
            return (_search_result_text(rest, content, where, lost),)
        case {"type": "tool_use", "id": str(id), "name": str(name), **rest}:
            return (ToolCall(id, name, dumps_text(rest.get("input") or {})),)
        case {"type": "tool_result", "tool_use_id": str(call_id), **rest}:
            given = _parse_result_content(rest.get("content"), f"{where}.content", lost)
            return (ToolResult(call_id, given, is_error=rest.get("is_error") is True),)
        case {"type": "thinking", "thinking": str(text), **rest}:
            signature = rest.get("signature")
            # Compatible servers sign with "".
            return (Thinking(text, signature, None, "claude") if isinstance(signature, str) and signature else Thinking(text),)
        case {"type": "redacted_thinking", "data": str(data)}:
            return (Thinking("", None, data, "claude"),)
    raise BadRequest(f"{where} is no valid {block['type']} block.", param=where)


def _name_extras(kind: str, block: Mapping[str, Json], lost: list[str]) -> None:
    """Name the fields that carry meaning but are modelled nowhere; null and empty ones carry none."""
    for key in block.keys() - _MODELLED[kind] - {"type"}:
        if block[key] in (None, [], {}):
            continue
        lost.append(key if key in ("cache_control", "citations") else f"{kind}.{key}")


def _citations(citations: Json) -> tuple[Opaque, ...]:
    """A text block's citations, one part each, as the stream would have told them."""
    if not isinstance(citations, list):
        return ()
    return tuple(Opaque("claude", CITATION, {"type": "citations_delta", "citation": citation}) for citation in citations)


def cited_page(citation: Json, start: int, end: int) -> tuple[Citation, ...]:
    """The page of the web that a citation names, of the block that stands there in the answer; none for one of a document."""
    match citation:
        case {"url": str(url)}:
            pass
        case {"type": "search_result_location", "source": str(url)} if url.startswith(("http://", "https://")):
            pass
        case _:
            return ()
    title, quote = citation.get("title"), citation.get("cited_text")
    return (
        Citation(
            url,
            title if isinstance(title, str) else None,
            start if start < end else None,
            end if start < end else None,
            quote if isinstance(quote, str) and quote else None,
        ),
    )


def rendered_citation(cited: Citation) -> dict[str, Json]:
    """A page that another vendor's answer cites, for a caller who reads Claude's citations. ``encrypted_index`` is a token that
    Claude alone makes, so our mark stands there, by which the citation is known and left out when it comes back."""
    return {
        "type": "web_search_result_location",
        "cited_text": cited.quote or "",
        "encrypted_index": MARK,
        "title": cited.title,
        "url": cited.url,
    }


def is_foreign_citation(citation: Json) -> bool:
    """Whether a citation is another vendor's that was written here."""
    return isinstance(citation, dict) and is_marked(citation.get("encrypted_index"))


def _parse_source(kind: MediaKind, source: Mapping[str, Json], filename: str | None = None) -> Media | None:
    """Bytes, a URL or a file id; None for a source of another kind."""
    match source:
        case {"type": "base64", "data": str(data), "media_type": str(media_type)}:
            return Media(kind, media_type, data=data, filename=filename)
        case {"type": "url", "url": str(url)}:
            return Media(kind, "application/pdf" if kind == "document" else None, url=url, filename=filename)
        case {"type": "file", "file_id": str(file_id)}:
            return Media(kind, file_id=file_id, filename=filename)
    return None


def _parse_image(source: Mapping[str, Json], block: Json) -> Part:
    """An image block."""
    return _parse_source("image", source) or Opaque("claude", "image", block)


def _parse_document(source: Mapping[str, Json], block: Mapping[str, Json], where: str, lost: list[str]) -> tuple[Part, ...]:
    """A document: a PDF stays a document, plain text and content blocks become what they hold (title first)."""
    title = block.get("title")
    filename = title if isinstance(title, str) else None
    media = _parse_source("document", source, filename)
    if media is not None:
        return (media,)
    heading = (Text(f"{filename}\n"),) if filename else ()
    match source:
        case {"type": "text", "data": str(text)}:
            return (*heading, Text(text))
        case {"type": "content", "content": content}:
            return (*heading, *parse_content(content, f"{where}.source.content", lost))
    return (Opaque("claude", "document", block),)


def _search_result_text(result: Mapping[str, Json], content: list[Json], where: str, lost: list[str]) -> Text:
    """A search result as the text that any model can read: title, source, words."""
    head = [value for key in ("title", "source") if isinstance(value := result.get(key), str)]
    words = "".join(part.text for part in parse_content(content, f"{where}.content", lost) if isinstance(part, Text))
    return Text("\n".join([*head, words]))


def _parse_result_content(content: Json, where: str, lost: list[str]) -> tuple[Text | Media, ...]:
    """What a tool gave back; kinds that only Claude has (tool references, browser states) are named in ``lost``."""
    kept: list[Text | Media] = []
    for part in () if content is None else parse_content(content, where, lost):
        if isinstance(part, Text | Media):
            kept.append(part)
        else:
            lost.append(f"tool_result.{part.label}" if isinstance(part, Opaque) else "tool_result.content")
    return tuple(kept)


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
        case Thinking(text):
            return {"type": "thinking", "thinking": text, "signature": written_signature(part)}
        case Opaque(raw=raw):
            return dict(raw)


def written_signature(thought: Thinking) -> str:
    """What stands in ``signature``: Claude's own, "" for a compatible server that signs nothing, and a mark on a thought of
    another dialect."""
    if thought.signed_by != "claude":
        return mark_of(thought)
    return "" if read_token(thought.signature) is not None else thought.signature or ""


def clean_id(id: str) -> str:
    """A call's id in Claude's characters (``^[a-zA-Z0-9_-]+$``); the same id always becomes the same."""
    return _FOREIGN.sub("_", id) or "call"


def clean_name(name: str) -> str:
    """A tool's name in the history in Claude's characters, at most 128 of them."""
    return _FOREIGN.sub("_", name)[:128] or "tool"


def call_input(arguments: str) -> dict[str, Json]:
    """A call's arguments as the object that Claude requires: {} for none, ``{"_raw": text}`` for what is no JSON object
    (models do write broken arguments, and the conversation must go on)."""
    try:
        value = loads(whole_arguments(arguments))
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
