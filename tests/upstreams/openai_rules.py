"""What OpenAI's two request dialects refuse in the same words: fields, strict schemas, images, reasoning models."""

import re
from collections.abc import Iterator, Mapping

from tests.upstreams.exchange import Refused
from tests.upstreams.shapes import Json, Kind, Misfit, Path, is_base64

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_REASONING = re.compile(r"(o[1-9]|gpt-5)(?![0-9])")
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,(.*)", re.DOTALL)
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def refuse(message: str, param: str | None = None, code: str | None = None, status: int = 400) -> Refused:
    """OpenAI's error shape."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    return Refused(status, {"error": {"message": message, "type": kind, "param": param, "code": code}})


def is_reasoning(model: str) -> bool:
    """Whether a model's name belongs to the families that think before they answer."""
    return _REASONING.match(model) is not None


def spell(path: Path) -> str:
    """A path as OpenAI writes it: ``messages[0].content[1].text``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def read(kind: Kind, body: Json, *, top_level: str) -> Json:
    """The body, if it has the shape. ``top_level`` is how this endpoint words an unknown argument."""
    try:
        return kind.read(body, ())
    except Misfit as misfit:
        raise _worded(misfit, top_level) from misfit


def _worded(misfit: Misfit, top_level: str) -> Refused:
    """OpenAI's words for a misfit."""
    where = spell(misfit.path)
    match misfit.reason:
        case "unknown" if len(misfit.path) == 1 and top_level == "unrecognized":
            return refuse(f"Unrecognized request argument supplied: {where}")
        case "unknown":
            return refuse(f"Unknown parameter: '{where}'.", where, "unknown_parameter")
        case "missing":
            return refuse(f"Missing required parameter: '{where}'.", where, "missing_required_parameter")
        case "type":
            return refuse(f"Invalid type for '{where}': expected {misfit.detail}.", where, "invalid_type")
        case "value":
            return refuse(f"Invalid value for '{where}'. Supported values are: {misfit.detail}.", where, "invalid_value")


def check_range(body: Mapping[str, Json], name: str, low: float, high: float) -> None:
    """Refuse a number outside its range."""
    value = body.get(name)
    if value is not None and not low <= value <= high:
        raise refuse(f"Invalid '{name}': {value} is not between {low} and {high}.", name, "decimal_above_max_value")


def check_unsupported(body: Mapping[str, Json], names: tuple[str, ...]) -> None:
    """Refuse parameters that reasoning models do not take."""
    for name in names:
        if body.get(name) is not None:
            raise refuse(f"Unsupported parameter: '{name}' is not supported with this model.", name, "unsupported_parameter")


def check_temperature_is_one(body: Mapping[str, Json]) -> None:
    """Reasoning models take their default sampling only."""
    for name in ("temperature", "top_p"):
        if body.get(name) not in (None, 1):
            raise refuse(
                f"Unsupported value: '{name}' does not support {body[name]} with this model. "
                "Only the default (1) value is supported.",
                name,
                "unsupported_value",
            )


def check_metadata(body: Mapping[str, Json]) -> None:
    """At most 16 strings."""
    metadata = body.get("metadata") or {}
    if len(metadata) > 16 or any(not isinstance(value, str) or len(value) > 512 for value in metadata.values()):
        raise refuse("Invalid 'metadata': expected at most 16 strings of at most 512 characters.", "metadata")


def check_name(name: str, where: str) -> None:
    """A tool's or schema's name."""
    if not NAME.fullmatch(name):
        raise refuse(
            f"Invalid '{where}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
            where,
            "invalid_value",
        )


def check_image_url(url: str, where: str) -> None:
    """An http(s) URL or a data URL of a picture."""
    data = _DATA_URL.fullmatch(url)
    if data is None:
        if not url.startswith(("http://", "https://")):
            raise refuse(f"Invalid '{where}'. Expected a valid URL, but got a value with an invalid format.", where)
    elif data[1] not in _IMAGES or not is_base64(data[2]):
        raise refuse(
            "You uploaded an unsupported image. Please make sure your image has of one the following formats: "
            "['png', 'jpeg', 'gif', 'webp'].",
            where,
            "invalid_image_format",
        )


def check_file(file: Mapping[str, Json], where: str) -> None:
    """A PDF as data URL with a name, or a file id."""
    if "file_data" in file:
        data = _DATA_URL.fullmatch(file["file_data"])
        if data is None or not is_base64(data[2]):
            raise refuse(f"Invalid '{where}.file_data'. Expected a base64-encoded data URL.", f"{where}.file_data")
        if not file.get("filename"):
            raise refuse(f"Missing required parameter: '{where}.filename'.", f"{where}.filename", "missing_required_parameter")
    elif not file.get("file_id") and not file.get("file_url"):
        raise refuse(f"Missing required parameter: '{where}.file_id'.", f"{where}.file_id", "missing_required_parameter")


def check_strict_schema(schema: Json, name: str, where: str) -> None:
    """Strict schemas: every object closed and all of its properties required."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise refuse(f"Invalid schema for '{name}': schema must be a JSON Schema of 'type: \"object\"'.", where)
    for context, node in _objects(schema, ()):
        if node.get("additionalProperties") is not False:
            raise refuse(
                f"Invalid schema for '{name}': In context={context}, 'additionalProperties' is required to be supplied and "
                "to be false.",
                where,
                "invalid_function_parameters",
            )
        if set(node.get("required", ())) != set(node.get("properties", {})):
            raise refuse(
                f"Invalid schema for '{name}': In context={context}, 'required' is required to be supplied and to be an "
                "array including every key in properties.",
                where,
                "invalid_function_parameters",
            )


def check_root(schema: Json, name: str, where: str, model: str) -> None:
    """The root of every schema, strict or not, for OpenAI's own models."""
    if not re.match(r"(gpt-\d|o\d|chatgpt-)", model) or not isinstance(schema, dict):
        return
    if schema.get("type") != "object" or {"oneOf", "anyOf", "allOf", "enum", "not"} & schema.keys():
        raise refuse(
            f"Invalid schema for '{name}': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at "
            "the top level.",
            where,
            "invalid_function_parameters",
        )


def _objects(schema: Json, context: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Json]]]:
    """Every object schema within a schema, with where it is."""
    if not isinstance(schema, dict):
        return
    kind = schema.get("type")
    if "properties" in schema or kind == "object" or (isinstance(kind, list) and "object" in kind):
        yield context, schema
    for key in ("properties", "$defs", "definitions"):
        for name, child in schema.get(key, {}).items():
            yield from _objects(child, (*context, key, name))
    yield from _objects(schema.get("items"), (*context, "items"))
    for number, child in enumerate(schema.get("anyOf", ())):
        yield from _objects(child, (*context, "anyOf", str(number)))
