"""Members of a JSON body, checked: what a caller wrote is refused by name, what an upstream told is taken or left."""

from collections.abc import Mapping

from agentui.errors import BadRequest
from agentui.jsonio import Json


def envelope(body: Json) -> tuple[str, bool]:
    """The model that a caller's body names, and whether it asks for a stream. Raises BadRequest."""
    if not isinstance(body, dict):
        raise BadRequest("The request's body must be a JSON object.")
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise BadRequest("model must be a string that is not empty.", param="model")
    return model, flag(body, "stream") or False


def text(body: Mapping[str, Json], name: str) -> str | None:
    """A string, None where it is absent or null. Raises BadRequest."""
    value = body.get(name)
    if value is None or isinstance(value, str):
        return value
    raise BadRequest(f"{name} must be a string.", param=name)


def flag(body: Mapping[str, Json], name: str) -> bool | None:
    """True or false, None where it is absent or null. Raises BadRequest."""
    value = body.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise BadRequest(f"{name} must be true or false.", param=name)


def number(body: Mapping[str, Json], name: str, within: str = "") -> float | None:
    """A number (true and false are none), None where it is absent or null. Raises BadRequest naming ``within`` too."""
    value = body.get(name)
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise BadRequest(f"{within}{name} must be a number.", param=f"{within}{name}")


def integer(body: Mapping[str, Json], name: str, within: str = "") -> int | None:
    """A whole number; 5.0 is one, as JSON does not tell them apart. Raises BadRequest naming ``within`` too."""
    value = number(body, name, within)
    if value is None or int(value) == value:
        return None if value is None else int(value)
    raise BadRequest(f"{within}{name} must be a whole number.", param=f"{within}{name}")


def one_or_more(body: Mapping[str, Json], name: str) -> tuple[str, ...] | None:
    """Texts, of which a single one may stand without a list; None where it is absent or null. Raises BadRequest."""
    match body.get(name):
        case None:
            return None
        case str(text):
            return (text,)
        case list(texts) if all(isinstance(text, str) for text in texts):
            return tuple(texts)
    raise BadRequest(f"{name} must be a string or a list of strings.", param=name)


def mapping(body: Mapping[str, Json], name: str) -> dict[str, Json]:
    """An object, {} where it is absent or null. Raises BadRequest."""
    value = body.get(name)
    if value is not None and not isinstance(value, dict):
        raise BadRequest(f"{name} must be an object.", param=name)
    return value or {}


def told_text(holder: Json, name: str) -> str | None:
    """A string that an upstream told, None for anything else."""
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, str) else None


def told_count(holder: Json, name: str) -> int | None:
    """A number of tokens that an upstream told, None for anything else."""
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
