"""Bodies for the routes of the memory, made of the OpenAPI document: whatever route there is, there is one that fits."""

from collections.abc import Callable

from agentui.api.ops.openapi import build_openapi
from agentui.jsonio import Json
from agentui.settings import Settings

DOCUMENT = build_openapi(Settings())

QUERIES = {
    "/sessions/{id}/branches/diff": "?target_branch_id=x",
    "/floors/{id}/session-state/diff": "?against=floor:y",
    "/sessions/{id}/session-state/live/{namespace}/{slot}": "?branch_id=main",
    "/sessions/{id}/state/diff": "?floor_id=x&against=floor:y",
    "/sessions/{id}/state/resolve": "?branch_id=x",
}
"""What the queries of routes must name, by their paths."""

Known = Callable[[str], Json]
"""What a field of this name should hold; None where the caller does not mind."""


def operation_body(method: str, path: str) -> Json:
    """The schema of an operation's body; None where it takes none."""
    operation = DOCUMENT["paths"][path][method.lower()]
    return operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")


def fitting(method: str, path: str) -> Json:
    """A body that fits an operation and names nothing that exists; of a change its first field. None where it takes none."""
    schema = operation_body(method, path)
    if schema is None:
        return None
    fields = resolved(schema)["properties"]
    first = next((name for name in fields if not name.startswith("expected_")), next(iter(fields)))
    return whole(schema, _nothing) or {first: good(fields[first], first, _nothing)}


LIBRARY: dict[str, Json] = {
    "snapshot": {"name": "words"},
    "entries": [],
    "order_contexts": [],
    "fields": {"content": "words"},
}
"""Contents of assets that are some, by the fields that hold them."""


def _nothing(name: str) -> Json:
    return LIBRARY.get(name)


def resolved(schema: Json) -> Json:
    """A schema without its reference, and without its null."""
    if "$ref" in schema:
        return resolved(DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
    return resolved(choices[0]) if choices else schema


def whole(schema: Json, known: Known) -> dict[str, Json]:
    """A body with all that is required."""
    fields = resolved(schema).get("properties", {})
    return {name: good(fields[name], name, known) for name in resolved(schema).get("required", ())}


def good(schema: Json, name: str, known: Known) -> Json:
    """A value that fits a schema."""
    schema = resolved(schema)
    if known(name) is not None:
        return known(name)
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "string":
            return "main" if name.endswith("branch_id") else "words"
        case "integer" | "number":
            return max(schema.get("minimum", 0), 0)
        case "boolean":
            return False
        case "array":
            return [good(schema.get("items", {}), name.removesuffix("s"), known)]
        case "object":
            return whole(schema, known)
    return 1
