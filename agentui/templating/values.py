"""How a JSON value looks as text and as plain data.

Text is what strings, URLs and headers hold: a string as it is, nothing for null, everything else as compact JSON.
"""

import json
from collections.abc import Mapping

from agentui.jsonio import Json, dumps_text
from agentui.templating.paths import MISSING, is_sequence
from agentui.templating.problems import Fault


def text_of(value: Json) -> str:
    """The value as text; null and MISSING are the empty text.

    Raises Fault for what is not JSON.
    """
    if type(value) is str:
        return value
    if value is None or value is MISSING:
        return ""
    return json_text(value)


def json_text(value: Json) -> str:
    """The value as compact JSON; lone surrogates stay as they are.

    Raises Fault for what is not JSON, and for what nests too deep to write.
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
        raise Fault(f"The value cannot be written as JSON ({type(error).__name__}). Insert a part of it.") from error


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
