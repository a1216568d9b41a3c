"""Claude's content blocks as parts.

A block that no other dialect could understand (server tools, container uploads) becomes ``Opaque`` with itself as ``raw``;
fields of known blocks that are modelled nowhere are named in ``lost``.
"""

from collections.abc import Mapping

from agentui.chat.messages import Media, MediaKind, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from agentui.errors import BadRequest
from agentui.jsonio import Json, dumps_text

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
            # We write "" for thoughts of other vendors: there is nothing in it that Claude signed.
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
