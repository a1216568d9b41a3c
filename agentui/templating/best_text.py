"""The text that ``[[OUT1]]`` means: the answer in a node's result, whatever vendor wrote it.

Seed 003 part 2: OpenAI ``choices[0].message.content``, Gemini the first candidate's parts, Claude the text blocks; else the
first string found under ``text`` or ``content``. Thoughts never count.
"""

from collections.abc import Iterator, Mapping

from agentui.jsonio import Json
from agentui.templating.paths import is_sequence

_MOST_NODES = 100_000
_THOUGHT_TYPES = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_content", "thought"})
_THOUGHT_KEYS = frozenset({"thinking", "reasoning", "reasoning_content", "reasoning_details"})


def best_text(result: Json) -> str:
    """The most likely text of a node's result or of a vendor's raw answer; "" when there is none."""
    if isinstance(result, str):
        return result
    if not isinstance(result, Mapping):
        return _search(result)
    said = result.get("response_text")
    if isinstance(said, str):
        return said
    text = _vendor_text(result)
    if text is not None:
        return text
    inner = result.get("result")
    if isinstance(inner, str):
        return inner
    text = _vendor_text(inner) if isinstance(inner, Mapping) else None
    return _search(result) if text is None else text


def _vendor_text(body: Mapping[str, Json]) -> str | None:
    """The text of an answer in a known shape; None when the shape is not known."""
    match body:
        case {"choices": [{"message": {"content": content}}, *_]}:
            return _parts_text(content)
        case {"choices": [{"text": str(text)}, *_]}:
            return text
        case {"candidates": [{"content": {"parts": parts}}, *_]}:
            return _parts_text(parts)
        case {"output": [*items]} if any(_is_type(item, "message") for item in items):
            return "".join(_parts_text(item.get("content")) for item in items if _is_type(item, "message"))
        case {"content": [*blocks]}:
            return _parts_text(blocks)
    return None


def _is_type(item: Json, name: str) -> bool:
    """Whether the item is an object of this type."""
    return isinstance(item, Mapping) and item.get("type") == name


def _parts_text(content: Json) -> str:
    """A content's text: the string itself, or the text of its parts joined without separator."""
    if isinstance(content, str):
        return content
    if not is_sequence(content):
        return ""
    return "".join(
        part["text"]
        for part in content
        if isinstance(part, Mapping) and not _is_thought(part) and isinstance(part.get("text"), str)
    )


def _is_thought(part: Mapping[str, Json]) -> bool:
    """Whether the part is the model thinking aloud (Gemini marks it, the others have types)."""
    kind = part.get("type")
    return part.get("thought") is True or (isinstance(kind, str) and kind in _THOUGHT_TYPES)


def _search(result: Json) -> str:
    """The first string that is not empty under ``text`` or ``content``, in the order of the document."""
    waiting: list[Json] = [result]
    for _ in range(_MOST_NODES):
        if not waiting:
            break
        item = waiting.pop()
        if isinstance(item, Mapping):
            if _is_thought(item):
                continue
            for key in ("text", "content"):
                found = item.get(key)
                if isinstance(found, str) and found:
                    return found
            waiting.extend(_reversed_children(item))
        elif is_sequence(item):
            waiting.extend(reversed(item))
    return ""


def _reversed_children(item: Mapping[str, Json]) -> Iterator[Json]:
    """The object's values, last first, without those that hold thoughts."""
    return (item[key] for key in reversed(tuple(item)) if key not in _THOUGHT_KEYS)
