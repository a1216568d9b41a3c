"""The words of an error in JSON, whatever shape a vendor, a compatible server or a gateway gave it."""

from collections.abc import Mapping

from agentui.jsonio import Json

_PLACES = ("message", "detail", "error", "msg", "error_description")


def error_words(body: Json) -> str:
    """What an error says: in ``{"error": {"message"}}``, ``{"error": "text"}``, ``{"message"}``, ``{"detail"}`` (a text, or the
    list of what does not validate that FastAPI and vLLM send), or the first entry of an array of these; "" for no words."""
    match body:
        case str(text):
            return text.strip()
        case [first, *_]:
            return error_words(first)
        case {"error": dict(error)} if error:
            return _words(error)
        case dict():
            return _words(body)
    return ""


def _words(error: Mapping[str, Json]) -> str:
    """The words of an error object."""
    for place in _PLACES:
        match error.get(place):
            case str(text) if text.strip():
                return text.strip()
            case dict(inner) if inner:
                return _words(inner)
            case [*problems] if problems:
                return "; ".join(_problem(problem) for problem in problems)
    return ""


def _problem(problem: Json) -> str:
    """One entry of a list of what does not validate."""
    match problem:
        case {"loc": [*place], "msg": str(message)}:
            return f"{'.'.join(str(step) for step in place)}: {message}"
        case dict(inner):
            return _words(inner)
    return str(problem)
