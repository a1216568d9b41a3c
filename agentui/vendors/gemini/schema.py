"""Gemini's ``Schema`` (a subset of OpenAPI 3) as JSON Schema."""

from collections.abc import Mapping
from typing import Final

from agentui.jsonio import Json
from agentui.vendors.gemini.protojson import camel

_OF_SCHEMAS: Final = {"properties", "$defs", "definitions", "patternProperties"}
_LISTS_OF_SCHEMAS: Final = {"anyOf", "oneOf", "allOf", "prefixItems"}
_SCHEMAS: Final = {"items", "additionalProperties", "not"}
_COUNTS: Final = {"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"}
_RENAMED: Final = {"defs": "$defs", "ref": "$ref"}


def to_json_schema(schema: Json) -> Json:
    """A ``Schema`` as JSON Schema: lower-case types, ``nullable`` as a type or an alternative, counts as numbers.

    ``propertyOrdering`` and ``example`` have no counterpart that others accept and are left out. Anything that is not an
    object (``true``) comes back as it is.
    """
    if not isinstance(schema, Mapping):
        return schema
    result: dict[str, Json] = {}
    for key, value in schema.items():
        name = camel(key)
        name = _RENAMED.get(name, name)
        if value is not None and name not in ("nullable", "propertyOrdering", "example"):
            result[name] = _member(name, value)
    return _nullable(result) if schema.get("nullable") is True else result


def _member(name: str, value: Json) -> Json:
    """One keyword's value."""
    if name == "type":
        return _types(value)
    if name in _OF_SCHEMAS and isinstance(value, Mapping):
        return {key: to_json_schema(inner) for key, inner in value.items()}
    if name in _LISTS_OF_SCHEMAS and isinstance(value, list):
        return [to_json_schema(inner) for inner in value]
    if name in _SCHEMAS:
        return to_json_schema(value)
    if name in _COUNTS and isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    return value


def _types(value: Json) -> Json:
    """``STRING`` as ``string``; lists of types are JSON Schema already but for their case."""
    if isinstance(value, str):
        return value.lower()
    return [_types(inner) for inner in value] if isinstance(value, list) else value


def _nullable(schema: dict[str, Json]) -> dict[str, Json]:
    """The schema, or null."""
    kind = schema.get("type")
    if isinstance(kind, str) and "enum" not in schema:
        return {**schema, "type": [kind, "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def takes_nothing(schema: Mapping[str, Json] | None) -> bool:
    """True for the schema of a function without arguments, whose parameters Gemini wants left out."""
    if not schema:
        return True
    meaningful = {"anyOf", "oneOf", "allOf", "$ref", "patternProperties", "minProperties"}
    return (
        schema.get("type", "object") == "object"
        and not schema.get("properties")
        and schema.get("additionalProperties") in (None, False)
        and not meaningful & schema.keys()
    )
