"""JSON values and text: a value written as text, a literal read as a value, the best text of a result.

Text is what strings, URLs and headers hold: a string as it is, nothing for null, everything else as compact JSON.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Final

from agentui.jsonio import Json, dumps_text
from agentui.templating.core.paths import MISSING, is_sequence
from agentui.templating.core.problems import CannotInsert

CONSTANTS: Final[dict[str, Json]] = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "none": None,
    "None": None,
}
"""The words that are values."""

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\", "/": "/"}
_MAX_DIGITS = 400

_MOST_NODES = 100_000
_THOUGHT_TYPES = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_content", "thought"})
_THOUGHT_KEYS = frozenset({"thinking", "reasoning", "reasoning_content", "reasoning_details"})


def text_of(value: Json) -> str:
    """The value as text; null and MISSING are the empty text.

    Raises CannotInsert for what is not JSON.
    """
    if type(value) is str:
        return value
    if value is None or value is MISSING:
        return ""
    return json_text(value)


def json_text(value: Json) -> str:
    """The value as compact JSON; lone surrogates stay as they are.

    Raises CannotInsert for what is not JSON, and for what nests too deep to write.
    """
    try:
        return dumps_text(value)
    except (TypeError, ValueError, RecursionError):
        # Read-only mappings, lone surrogates and the like: rare enough for the slow way.
        return _json_text_slowly(value)


def _json_text_slowly(value: Json) -> str:
    """What ``json_text`` does, by the standard library."""
    try:
        return json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise CannotInsert(f"The value cannot be written as JSON ({type(error).__name__}). Insert a part of it.") from error


def plain(value: Json) -> Json:
    """A copy of the value with every mapping a dict and every tuple a list; MISSING is null."""
    if isinstance(value, Mapping):
        return {key: plain(member) for key, member in value.items()}
    if is_sequence(value):
        return [plain(item) for item in value]
    return None if value is MISSING else value


def plain_top(value: Json) -> Json:
    """The value ready to stand in a JSON document: itself if it is a plain one, a plain copy of a read-only one."""
    if isinstance(value, (str, int, float, dict, list)) or value is None:
        return value
    return plain(value)


def unescape(body: str) -> str:
    r"""What stands between the quotes, with ``\n``, ``\u00e9`` and the like resolved; an unknown escape stays as it is.

    >>> unescape(r"a\tb \u00e9 \d")
    'a\tb é \\d'
    """
    return body if "\\" not in body else join_surrogates(_ESCAPE.sub(_resolve, body))


def _resolve(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    return chr(int(digits, 16)) if digits else _ESCAPES.get(match[3], match[0])


def join_surrogates(text: str) -> str:
    """The text with pairs of surrogates made into the characters that they mean; lone ones stay."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def number(text: str) -> int | float:
    """The number that JSON's spelling ``text`` means. Raises ValueError when it is too large for anything."""
    if len(text) > _MAX_DIGITS:
        raise ValueError("The number has too many digits.")
    try:
        value: int | float = int(text)
    except ValueError:
        value = float(text)
    if not is_in_range(value):
        raise ValueError("The number is too large.")
    return value


def is_in_range(value: int | float) -> bool:
    """Whether JSON's readers can take the number: it is finite, and no whole number beyond all fractions (2^1024)."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def best_text(result: Json) -> str:
    """The text that ``[[OUT1]]`` means: the answer in a node's result, or in a vendor's raw answer; "" when there is none.

    Seed 003 part 2: OpenAI ``choices[0].message.content``, Gemini the first candidate's parts, Claude the text blocks; else
    the first string found under ``text`` or ``content``. Thoughts never count.
    """
    if isinstance(result, str):
        return result
    if not isinstance(result, Mapping):
        return _search(result)
    answer = result.get("response_text")
    if isinstance(answer, str):
        return answer
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
