"""JSON Schemas whose root is no plain object, for models that take nothing else (``Capabilities.object_root``).

OpenAI: "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf' at the top level"; Anthropic: "input_schema does
not support oneOf, allOf, or anyOf at the top level". Arguments are an object anyway, so the alternatives of a tool become one
object that has the members of all, and calls need no translation on their way back. The form of an answer becomes the only
member of an object, and the answer is unwrapped (``chat.wrapping``).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from agentui.chat.capabilities import Capabilities
from agentui.chat.request import ChatRequest, Tool
from agentui.chat.wrapping import MEMBER
from agentui.jsonio import Json, dumps

_ALTERNATIVES: Final = ("anyOf", "oneOf", "allOf")
_SHARED: Final = ("$defs", "definitions")
"""Members to which references point from everywhere, so that they stay at the root."""  # fmt: skip


def arguments_schema(schema: Mapping[str, Json]) -> dict[str, Json]:
    """The schema of a tool's arguments as one object; the same one where it is that already."""
    merged = dict(schema)
    told: list[str] = []
    for keyword in _ALTERNATIVES:
        given = merged.pop(keyword, None)
        options = [_resolved(one, schema) for one in given] if isinstance(given, list) else []
        objects = [one for one in options if isinstance(one.get("properties"), Mapping)]
        _merge(merged, objects, needs_all=keyword == "allOf")
        if keyword != "allOf" and len(objects) > 1:
            told += [", ".join(map(str, one["properties"])) or "nothing" for one in objects]
    if merged.keys() == schema.keys():
        return merged
    if told:
        said = f"Give the members of one of these: {'; '.join(told)}."
        merged["description"] = f"{merged['description']} {said}" if merged.get("description") else said
    return {**merged, "type": "object", "properties": merged.get("properties", {})}


def _merge(merged: dict[str, Json], objects: list[Mapping[str, Json]], *, needs_all: bool) -> None:
    """Put the members of alternatives, or of parts that all hold, into the object. Only what each alternative requires is
    required."""
    if not objects:
        return
    own = merged.get("properties")
    # By what is written of each: to compare members with one another would cost the square of the alternatives.
    properties = {name: {dumps(one): one} for name, one in own.items()} if isinstance(own, Mapping) else {}
    for one in objects:
        for name, member in one["properties"].items():
            properties.setdefault(name, {}).setdefault(dumps(member), member)
    merged["properties"] = {name: _one_of([*known.values()]) for name, known in properties.items()}
    needed = [_required(one) for one in objects]
    shared = _required(merged) | (set.union(*needed) if needs_all else set.intersection(*needed))
    if required := [name for name in properties if name in shared]:
        merged["required"] = required
    if not needs_all and all(one.get("additionalProperties") is False for one in objects):
        merged["additionalProperties"] = False


def _one_of(members: list[Json]) -> Json:
    return members[0] if len(members) == 1 else {"anyOf": members}


def _required(schema: Mapping[str, Json]) -> set[str]:
    """The names that a schema requires; what is no name is for the model's server to judge."""
    names = schema.get("required")
    return {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()


def _resolved(schema: Json, root: Mapping[str, Json]) -> Mapping[str, Json]:
    """An alternative, found where it only points to one of the root's definitions."""
    if not isinstance(schema, Mapping):
        return {}
    match str(schema.get("$ref", "")).split("/"):
        case ["#", ("$defs" | "definitions") as place, name]:
            defined = root.get(place)
            found = defined.get(name) if isinstance(defined, Mapping) else None
            return found if isinstance(found, Mapping) else {}
    return schema


def is_object(schema: Mapping[str, Json]) -> bool:
    """Whether the root of an answer's schema is a plain object, or says nothing of what it is."""
    if "$ref" in schema or any(keyword in schema for keyword in _ALTERNATIVES):
        return False
    return schema.get("type", "object") == "object" and "enum" not in schema and "const" not in schema


def wrapped_schema(schema: Mapping[str, Json]) -> dict[str, Json]:
    """An object whose only member has this schema."""
    inner = {name: value for name, value in schema.items() if name not in _SHARED}
    shared = {name: schema[name] for name in _SHARED if name in schema}
    closed = {"type": "object", "properties": {MEMBER: inner}, "required": [MEMBER], "additionalProperties": False}
    return {**closed, **shared}


def with_object_roots(chat: ChatRequest, model: Capabilities) -> tuple[ChatRequest, bool]:
    """A request with schemas that the model takes, and whether that of its answer was wrapped."""
    if not model.object_root:
        return chat, False
    if any(isinstance(tool, Tool) and tool.schema and not is_object(tool.schema) for tool in chat.tools):
        chat = replace(chat, tools=tuple(_with_object_root(tool) if isinstance(tool, Tool) else tool for tool in chat.tools))
    form = chat.response_format
    if form is None or form.schema is None or is_object(form.schema):
        return chat, False
    return replace(chat, response_format=replace(form, schema=wrapped_schema(form.schema))), True


def _with_object_root(tool: Tool) -> Tool:
    return tool if not tool.schema else replace(tool, schema=arguments_schema(tool.schema))
