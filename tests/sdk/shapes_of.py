"""TypedDicts out of the JSON Schemas of the server's OpenAPI document."""

import keyword
import re
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

PREFIX = "#/components/schemas/"
RENAMED = {
    "Endpoint": "McpEndpoint",
}
"""Shapes whose names say too little where all of them stand together."""
BUILT_IN = {"ListMeta"}
"""Shapes that ``agentui/sdk/endpoints.py`` has."""
_WIDTH = 112
_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def shape_name(key: str) -> str:
    """What a schema is called in the client."""
    if key in RENAMED:
        return RENAMED[key]
    *_, module, name = ["", *key.removesuffix("-Output").replace("-Input", "Input").split("__")]
    return f"{module[:1].upper()}{module[1:]}{name}"


class Shapes:
    """The schemas of a document, and which of them belong to which resource."""

    def __init__(self, schemas: Mapping[str, Schema], folders: Mapping[str, str], partial: set[str]) -> None:
        self.schemas = schemas
        self._folders = folders
        self._partial = partial
        self._users: dict[str, set[str]] = defaultdict(set)

    def use(self, schema: Schema, resource: str) -> None:
        """Note that a resource speaks of a schema, and of all within it."""
        for key in keys_in(schema):
            if resource not in self._users[key]:
                self._users[key].add(resource)
                self.use(self.schemas[key], resource)

    def place(self, key: str) -> str:
        """The module of a shape: the resource's, its folder's, or everybody's."""
        users = self._users[key]
        folders = {self._folders[user] for user in users}
        if len(folders) > 1:
            return "common"
        return f"{folders.pop()}.{users.copy().pop() if len(users) == 1 else 'common'}"

    def modules(self) -> dict[str, str]:
        """The text of every module of shapes, by its name below ``shapes``."""
        by_place: dict[str, list[str]] = defaultdict(list)
        for key in self._users:
            if shape_name(key) not in BUILT_IN and not is_plain(self.schemas[key]):
                by_place[self.place(key)].append(key)
        return {place: self._module(place, sorted(keys, key=shape_name)) for place, keys in by_place.items()}

    def door(self) -> str:
        """The text of the package's own module, where every shape is found whichever module it lies in."""
        keys = [key for key in self._users if shape_name(key) not in BUILT_IN and not is_plain(self.schemas[key])]
        names = sorted(map(shape_name, keys))
        if len(set(names)) != len(names):
            raise LookupError("Two shapes have one name: give one of them another in tests/sdk/shapes_of.py.")
        listed = "".join(f"    {name!r},\n" for name in names)
        head = (
            '"""What the server speaks of: everything that goes in or comes out. Made by ``python -m tests.sdk.generate``."""\n'
        )
        return "\n".join([head, *self.imports(keys), "", f"__all__ = [\n{listed}]", ""])

    def _module(self, place: str, keys: list[str]) -> str:
        classes = [self._class(key) for key in keys]
        imported = {other for key in keys for other in self.named(self.schemas[key]) if self.place(other) != place}
        lines = [*self.imports(imported), *built_in_imports("\n".join(classes))]
        told = place.replace(".", ", ").replace("_", " ")
        head = f'"""What the server speaks of: {told}."""\n\nfrom __future__ import annotations\n'
        return "\n".join([head, *typing_imports("\n".join(classes)), *lines, "", "", *classes])

    def named(self, schema: Schema) -> set[str]:
        """The schemas that a type names as classes; those of plain values are written out."""
        found = set()
        for key in keys_in(schema):
            if is_plain(self.schemas[key]):
                found |= self.named(self.schemas[key])
            elif shape_name(key) not in BUILT_IN:
                found.add(key)
        return found

    def imports(self, keys: Iterable[str]) -> Iterator[str]:
        """The lines that import shapes."""
        by_place: dict[str, list[str]] = defaultdict(list)
        for key in keys:
            by_place[self.place(key)].append(shape_name(key))
        for place, names in sorted(by_place.items()):
            yield f"from agentui.sdk.shapes.{place} import {', '.join(sorted(names))}"

    def _class(self, key: str) -> str:
        schema = self.schemas[key]
        required = set() if key in self._partial else set(schema.get("required", ()))
        name = shape_name(key)
        if not schema.get("properties"):
            return f"class {name}(TypedDict):\n{docstring(schema)}\n"
        fields = {
            field: self.type_of(inner) if field in required else f"NotRequired[{self.type_of(inner)}]"
            for field, inner in schema["properties"].items()
        }
        if any(keyword.iskeyword(field) or not field.isidentifier() for field in fields):
            body = ", ".join(f"{field!r}: {kind!r}" for field, kind in fields.items())
            return f"{name} = TypedDict({name!r}, {{{body}}})\n{docstring(schema).strip()}\n"
        lines = [f"    {field}: {kind}" + _told(schema["properties"][field]) for field, kind in fields.items()]
        return "\n".join([f"class {name}(TypedDict):", docstring(schema), "", *lines, ""])

    def type_of(self, schema: Schema) -> str:
        """A schema as a type."""
        if "$ref" in schema:
            key = schema["$ref"].removeprefix(PREFIX)
            return self.type_of(self.schemas[key]) if is_plain(self.schemas[key]) else shape_name(key)
        if "const" in schema:
            return f"Literal[{schema['const']!r}]"
        if "enum" in schema:
            return f"Literal[{', '.join(map(repr, schema['enum']))}]"
        for word in ("anyOf", "oneOf"):
            if word in schema:
                return _union(self.type_of(each) for each in schema[word])
        kind = schema.get("type")
        if isinstance(kind, list):
            return _union(self.type_of({**schema, "type": each}) for each in kind)
        if kind == "array":
            return f"list[{self.type_of(schema.get('items', {}))}]"
        if kind == "object":
            within = schema.get("additionalProperties")
            return f"dict[str, {self.type_of(within) if isinstance(within, dict) else 'Json'}]"
        return _PLAIN.get(kind or "", "Json")


def keys_in(schema: Any) -> Iterator[str]:
    """The keys of the schemas that a schema names."""
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].removeprefix(PREFIX)
        for word, value in schema.items():
            if word not in ("default", "examples"):
                yield from keys_in(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from keys_in(value)


def is_plain(schema: Schema) -> bool:
    """Whether a schema is no object with members of its own."""
    return schema.get("type") != "object" or not schema.get("properties")


def _union(kinds: Iterable[str]) -> str:
    each = list(dict.fromkeys(kinds))
    if "Json" in each:
        return "Json"
    literals = [kind[8:-1] for kind in each if kind.startswith("Literal[")]
    rest = [kind for kind in each if not kind.startswith("Literal[")]
    return " | ".join([*([f"Literal[{', '.join(literals)}]"] if literals else []), *rest])


def _told(schema: Schema) -> str:
    """A field's own description, below it."""
    text = schema.get("description")
    return "" if not text else "\n" + indented(text)


def docstring(schema: Schema, otherwise: str = "What the server speaks of.") -> str:
    """The docstring of a class."""
    return indented(schema.get("description") or otherwise)


def indented(text: str) -> str:
    """A docstring within a class."""
    words = re.sub(r"\s+", " ", text).strip()
    lines = textwrap.wrap(words, _WIDTH, break_long_words=False, break_on_hyphens=False)
    if len(lines) == 1:
        return f'    """{lines[0]}"""'
    return "\n".join([f'    """{lines[0]}', *(f"    {line}" for line in lines[1:]), '    """'])


def typing_imports(text: str) -> list[str]:
    """The line that imports what a module needs of ``typing``."""
    names = [name for name in ("Literal", "NotRequired", "TypedDict", "Unpack") if re.search(rf"\b{name}\b", text)]
    return [f"from typing import {', '.join(names)}\n"] if names else []


def built_in_imports(text: str) -> list[str]:
    """The line that imports what a module needs of ``agentui/sdk/endpoints.py``."""
    known = (
        "ByPipeline", "Endpoint", "FileAlone", "Items", "Json", "ListMeta", "ListOf", "Matching", "Options", "Repeatable",
        "Resumable", "WithFile",
    )  # fmt: skip
    names = [name for name in known if re.search(rf"\b{name}\b", text)]
    return [f"from agentui.sdk.endpoints import {', '.join(names)}"] if names else []
