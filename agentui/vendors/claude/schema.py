"""JSON Schema as Claude's structured output takes it.

Objects must say ``additionalProperties: false``; limits on numbers, lengths and counts are refused, and ``oneOf`` is not
known (``anyOf`` is).
"""

from collections.abc import Mapping
from types import MappingProxyType

from agentui.jsonio import Json

_REFUSED = frozenset(
    {
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "maxItems",
        "uniqueItems",
        "contains",
        "minContains",
        "maxContains",
        "minProperties",
        "maxProperties",
        "patternProperties",
        "propertyNames",
    }
)
_MAPS_OF_SCHEMAS = frozenset({"properties", "$defs", "definitions"})
_LISTS_OF_SCHEMAS = frozenset({"anyOf", "allOf", "prefixItems"})
_RENAMED: Mapping[str, str] = MappingProxyType({"oneOf": "anyOf"})


def fit_schema(schema: Json, removed: list[str]) -> Json:
    """A copy that Claude accepts; the keywords that had to go are named in ``removed``.

    Values that only look like schemas (``enum``, ``const``, ``default``) are left alone.
    """
    if not isinstance(schema, Mapping):
        return schema
    fitted: dict[str, Json] = {}
    for keyword, value in schema.items():
        if keyword in _REFUSED or (keyword == "minItems" and value not in (0, 1)):
            removed.append(keyword)
            continue
        name = _RENAMED.get(keyword, keyword)
        if name in fitted:
            removed.append(keyword)
            continue
        fitted[name] = _fit_value(name, value, removed)
    if _is_object(fitted):
        fitted["additionalProperties"] = False
    return fitted


def _fit_value(keyword: str, value: Json, removed: list[str]) -> Json:
    """What stands behind one keyword: schemas are fitted, anything else is as it was."""
    if keyword in _MAPS_OF_SCHEMAS and isinstance(value, Mapping):
        return {name: fit_schema(schema, removed) for name, schema in value.items()}
    if keyword in _LISTS_OF_SCHEMAS and isinstance(value, list):
        return [fit_schema(schema, removed) for schema in value]
    if keyword == "items":
        return [fit_schema(item, removed) for item in value] if isinstance(value, list) else fit_schema(value, removed)
    return value


def _is_object(schema: Mapping[str, Json]) -> bool:
    """Whether the schema describes objects."""
    kind = schema.get("type")
    return kind == "object" or (isinstance(kind, list) and "object" in kind) or (kind is None and "properties" in schema)
