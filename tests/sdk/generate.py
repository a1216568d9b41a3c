"""Write the client's resources and shapes from the server's own routes: ``python -m tests.sdk.generate``.

Each route becomes one method, once for ``TavernClient`` and once for ``AsyncTavernClient``; ``tests/sdk/names.py`` says what it
is called. Fields, types and words come from the OpenAPI document, so what the client says of the server is what the server
says of itself. ``tests/test_gates.py`` fails where the files are older than the routes.
"""

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import BaseModel, TypeAdapter

from agentui.api.accounts import ROUTES as ACCOUNT_ROUTES
from agentui.api.chats import ROUTES as CHAT_ROUTES
from agentui.api.chats.protocol import described
from agentui.api.library import ROUTES as LIBRARY_ROUTES
from agentui.api.memories import ROUTES as MEMORIES_ROUTES
from agentui.api.ops.openapi import build_openapi
from agentui.api.profiles import ROUTES as PROFILE_ROUTES
from agentui.api.tools import ROUTES as TOOL_ROUTES
from agentui.api.usage import ROUTES as USAGE_ROUTES
from agentui.schemas.forms import Form
from agentui.settings import Settings
from tests.sdk.names import (
    DOCUMENTS,
    FEEDS,
    FILES,
    LEFT_OUT,
    LISTS_WITHIN,
    NAMES,
    PLACES,
    PLAIN_QUERIES,
    RESOURCES,
    SINGULAR,
    STREAMED,
    WITHIN,
)
from tests.sdk.shapes_of import (
    PREFIX,
    Shapes,
    built_in_imports,
    indented,
    is_plain,
    shape_name,
    typing_imports,
)

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = Path("agentui/sdk")
FOLDERS = ("resources", "shapes")
HEADERS = {
    "Idempotency-Key": "Repeatable",
    "If-Match": "Matching",
    "If-None-Match": "Matching",
    "Last-Event-ID": "Resumable",
}
"""The options that a route's headers stand for."""
OPTIONS = {
    "account_id", "caller_owner", "timeout", "extra_headers", "idempotency_key", "if_match", "if_none_match", "last_event_id",
    "file", "filename",
}  # fmt: skip
"""Names of options, which no field of a route may have."""


@dataclass
class Call:
    """One method of the client."""

    method: str
    path: str
    resource: str
    name: str
    summary: str
    places: list[tuple[str, str]]
    query: dict[str, tuple[str, bool]]
    body: str | None
    kind: str
    answer: str
    options: list[str]
    answered: Any
    is_wrapped: bool = True
    statuses: tuple[int, ...] = ()
    fields: set[str] = field(default_factory=set)

    @property
    def constant(self) -> str:
        """The name of its endpoint."""
        return f"_{self.name.upper()}"

    @property
    def given(self) -> str:
        """The name of what its callers may name."""
        return camel(f"{self.resource}_{self.name}_call")

    @property
    def needs_class(self) -> bool:
        """Whether there is more to name than the options that all calls have."""
        route = (self.method, self.path)
        return bool(self.query or self.body or self.options != ["Options"] or route in DOCUMENTS or route in WITHIN)

    @property
    def unpacked(self) -> str:
        """The type of the keywords."""
        return f"Unpack[{self.given if self.needs_class else 'Options'}]"


def camel(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def is_left_out(path: str, tag: str) -> bool:
    """Whether a route has no method."""
    return any(mark == tag or mark in path for mark in LEFT_OUT)


def calls(document: Mapping[str, Any]) -> Iterator[Call]:
    """A call for every route of the document. Raises LookupError for a route that has no name, and for a name without one."""
    paths = document["paths"]
    seen = set()
    for path, operations in paths.items():
        for word, operation in operations.items():
            method, tag = word.upper(), operation["tags"][0]
            if is_left_out(path, tag) or path.startswith("/p/{pipeline}/"):
                continue
            seen.add((method, path))
            if (method, path) in NAMES:
                yield call_of(document, method, path, operation)
    if seen - NAMES.keys():
        raise LookupError(f"Give each of these routes a line in tests/sdk/names.py: {sorted(seen - NAMES.keys())}")
    if NAMES.keys() - seen:
        raise LookupError(f"tests/sdk/names.py names what is no route: {sorted(NAMES.keys() - seen)}")


def call_of(document: Mapping[str, Any], method: str, path: str, operation: Mapping[str, Any]) -> Call:
    """The call of one route."""
    resource, name = NAMES[method, path]
    parameters = operation.get("parameters", [])
    options = sorted({HEADERS[each["name"]] for each in parameters if each["in"] == "header"})
    if f"/p/{{pipeline}}{path}" in document["paths"]:
        options.append("ByPipeline")
    if path.endswith("/image") and method == "PUT":
        options.append("FileAlone")
    if path in FILES:
        options.append("WithFile")
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    call = Call(
        method,
        path,
        resource,
        name,
        operation["summary"],
        list(places_of(path)),
        query_of(method, path, {each["name"]: each for each in parameters if each["in"] == "query"}),
        None if body is None or (method, path) in DOCUMENTS or (method, path) in WITHIN else body["$ref"].removeprefix(PREFIX),
        "call",
        "None",
        ["Options", *options],
        None,
    )
    take_answer(call, document, operation)
    schemas = document["components"]["schemas"]
    call.fields = set(call.query) | (set(schemas[call.body]["properties"]) if call.body else set())
    taken = OPTIONS | {name for name, _ in call.places} | ({"pipeline"} if "ByPipeline" in options else set())
    if call.fields & taken:
        raise LookupError(f"{method} {path}: {call.fields & taken} mean two things")
    return call


def take_answer(call: Call, document: Mapping[str, Any], operation: Mapping[str, Any]) -> None:
    """Note what the route answers."""
    status = min(operation["responses"])
    content = operation["responses"][status].get("content", {})
    if "503" in operation["responses"] and call.resource == "health":
        call.statuses = (503,)
    if "application/json" in content:
        schema = content["application/json"]["schema"]
        key = schema.get("$ref", "").removeprefix(PREFIX)
        inner = document["components"]["schemas"].get(key, {})
        call.is_wrapped = is_envelope(key)
        call.answered = inner["properties"]["data"] if call.is_wrapped else schema
        if (call.is_wrapped and "meta" in inner["properties"]) or (call.method, call.path) == ("GET", "/api/runs"):
            call.kind = "list"
    elif "text/event-stream" in content:
        call.kind = "events" if call.method == "GET" else "turn"
    elif "text/plain" in content:
        call.kind = "text"
    elif content:
        call.kind = "download"
    elif status != "204":
        call.kind = "events"


def is_envelope(key: str) -> bool:
    """Whether a schema is what every answer of the memory is wrapped in."""
    return bool(re.match(r"(agentui__schemas__forms__)?(List)?Data_", key))


def places_of(path: str) -> Iterator[tuple[str, str]]:
    """The placeholders of a path as parameters with their types."""
    words = path.split("/")
    for before, word in pairwise(words):
        if word.startswith("{"):
            name = word[1:-1]
            if name == "id":
                yield SINGULAR[before], "str"
            else:
                yield PLACES.get(name, name), "int" if name in ("number", "sequence") else "str"


MEMORY = {
    (route.method, route.path): route
    for route in (
        *CHAT_ROUTES,
        *LIBRARY_ROUTES,
        *TOOL_ROUTES,
        *PROFILE_ROUTES,
        *MEMORIES_ROUTES,
        *ACCOUNT_ROUTES,
        *USAGE_ROUTES,
    )
}


def query_of(method: str, path: str, parameters: Mapping[str, Any]) -> dict[str, tuple[str, bool]]:
    """The parameters of a query: the type of each, and whether it must be there."""
    route = MEMORY.get((method, path))
    if route is None or not route.query:
        return {name: (PLAIN_QUERIES.get(name, "str"), False) for name in parameters}
    found = {}
    for form in forms_below(Form):
        if described(form) == dict(route.query):
            schema = TypeAdapter(form).json_schema(mode="validation")
            found[repr(schema["properties"])] = schema
    if not found:
        raise LookupError(f"{method} {path}: no form of this query is known")
    types = Shapes({}, {}, set())
    schema = next(iter(found.values()))
    defined = schema.get("$defs", {})
    return {
        name: (query_type(types, defined, inner), name in schema.get("required", ()))
        for name, inner in schema["properties"].items()
    }


def query_type(types: Shapes, defined: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """The type of a parameter; it is never null, and words for true and false are a bool."""
    if "$ref" in schema:
        return query_type(types, defined, defined[schema["$ref"].removeprefix("#/$defs/")])
    choices = [each for each in schema.get("anyOf", [schema]) if each.get("type") != "null"]
    kinds = []
    for each in choices:
        kinds.append("bool" if each.get("enum") == ["true", "false"] else types.type_of(each))
    return " | ".join(dict.fromkeys(kinds))


def forms_below(kind: type[BaseModel]) -> Iterator[type[Any]]:
    yield kind
    for below in kind.__subclasses__():
        yield from forms_below(below)


class Writer:
    """The text of all files."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.by_resource: dict[str, list[Call]] = defaultdict(list)
        for call in sorted(calls(document), key=lambda call: list(NAMES).index((call.method, call.path))):
            self.by_resource[call.resource].append(call)
        folders = {name: folder for name, (folder, _) in RESOURCES.items()}
        every = [call for group in self.by_resource.values() for call in group]
        partial = {call.body for call in every if call.path in FILES and call.body is not None}
        self.shapes = Shapes(document["components"]["schemas"], folders, partial)
        for call in every:
            if call.body is not None:
                self.shapes.use({"$ref": PREFIX + call.body}, call.resource)
            if call.answered is not None:
                self.shapes.use(call.answered, call.resource)

    def files(self) -> dict[Path, str]:
        """Every generated file below the repository, by its path."""
        made = {}
        for place, text in self.shapes.modules().items():
            made[PACKAGE / "shapes" / f"{place.replace('.', '/')}.py"] = text
        for resource, (folder, _) in RESOURCES.items():
            made[PACKAGE / "resources" / folder / f"{resource}.py"] = self.resource(resource)
        made[PACKAGE / "resources" / "every.py"] = self.every()
        for folder in {path.parent for path in made}:
            words = "What the server speaks of" if "shapes" in folder.parts else "Groups of calls"
            last = "" if folder.name in FOLDERS else f": {folder.name}"
            made[folder / "__init__.py"] = f'"""{words}{last}. Made by ``python -m tests.sdk.generate``."""\n'
        made[PACKAGE / "shapes" / "__init__.py"] = self.shapes.door()
        return made

    def every(self) -> str:
        """The module that holds all resources of a client."""
        lines = ['"""All groups of calls of a client. Made by ``python -m tests.sdk.generate``."""\n']
        lines += ["from agentui.sdk.asynctransport import AsyncTransport"]
        for resource, (folder, _) in RESOURCES.items():
            name = camel(resource)
            lines.append(f"from agentui.sdk.resources.{folder}.{resource} import Async{name}Resource, {name}Resource")
        lines += ["from agentui.sdk.transport import Transport", "", ""]
        for prefix, words in (("", "each call waits for its answer"), ("Async", "each call is awaited")):
            lines.append(f'class {prefix}Resources:\n    """All groups of calls; {words}."""\n')
            lines.append(f"    def __init__(self, transport: {prefix}Transport) -> None:")
            lines += [f"        self.{name} = {prefix}{camel(name)}Resource(transport)" for name in RESOURCES]
            lines += ["", ""]
        return "\n".join(lines)

    def resource(self, resource: str) -> str:
        """The module of one resource."""
        group = self.by_resource[resource]
        given = [self.given(call) for call in group if call.needs_class]
        endpoints = [line for call in group for line in self.endpoints(call)]
        classes = [self.methods(resource, group, is_async=False), self.methods(resource, group, is_async=True)]
        text = "\n".join([*given, *endpoints, *classes])
        refs = {call.body for call in group if call.body}
        for call in group:
            if call.answered is not None and call.kind in ("call", "list"):
                refs |= self.shapes.named(call.answered)
            if (call.method, call.path) in LISTS_WITHIN:
                refs |= self.shapes.named(self.items_of(call))
        shapes = self.shapes.imports(key for key in refs if not is_plain(self.shapes.schemas[key]))
        lines = [f'"""{RESOURCES[resource][1]} Made by ``python -m tests.sdk.generate``."""\n']
        lines += ["from __future__ import annotations\n"]
        if re.search(r"\bIterator\b", text):
            lines.append("from collections.abc import AsyncIterator, Iterator")
        lines += [*typing_imports(text), *built_in_imports(text), *shapes]
        lines.append("from agentui.sdk.transport import Resource")
        lines.append("from agentui.sdk.asynctransport import AsyncResource")
        if "Download" in text:
            lines.append("from agentui.sdk.downloads import AsyncDownload, Download")
        feeds = [FEEDS[call.method, call.path] for call in group if call.kind == "events"]
        if feeds:
            lines.append(f"from agentui.sdk.feeds import {', '.join(feeds)}")
        streams = [name for name in ("AnswerStream", "EventStream", "TurnStream") if re.search(rf"\b{name}\b", text)]
        if streams:
            names = ", ".join([*streams, *(f"Async{name}" for name in streams)])
            lines.append(f"from agentui.sdk.streams import {names}")
        return "\n".join([*lines, "", "", *given, *endpoints, "", "", *classes])

    def given(self, call: Call) -> str:
        """The class of what the callers of a call may name."""
        bases = [*([shape_name(call.body)] if call.body else []), *call.options]
        lines = [f"class {call.given}({', '.join(bases)}):", indented(f"What ``{call.resource}.{call.name}`` may be told.")]
        if (call.method, call.path) in DOCUMENTS:
            lines += ["", "    document: dict[str, Json]"]
        if (call.method, call.path) in WITHIN:
            lines += ["", *(f"    {name}: str" for name in WITHIN[call.method, call.path])]
        if call.query:
            lines.append("")
        route = MEMORY.get((call.method, call.path))
        for name, (kind, is_required) in call.query.items():
            lines.append(f"    {name}: {kind if is_required else f'NotRequired[{kind}]'}")
            if route is not None and route.query.get(name):
                lines.append(indented(route.query[name]))
        return "\n".join([*lines, "", ""])

    def endpoints(self, call: Call) -> Iterator[str]:
        """The constants of a call's endpoint; one more where its items stand within the data."""
        yield f"{call.constant} = Endpoint[{self.answer(call)}]({self.arguments(call)})"
        if (call.method, call.path) in LISTS_WITHIN:
            within = f"items={LISTS_WITHIN[call.method, call.path]!r}"
            yield f"{call.constant}_ITEMS = Endpoint[ListOf[Items[{self.item(call)}]]]({self.arguments(call)}, {within})"

    def arguments(self, call: Call) -> str:
        """What an endpoint is made of."""
        parts = [repr(call.method), repr(call.path)]
        if call.query:
            parts.append(f"query={tuple(call.query)!r}")
        within = WITHIN.get((call.method, call.path))
        body = "file" if {"FileAlone"} & set(call.options) else "json" if call.body or within else "none"
        body = "document" if (call.method, call.path) in DOCUMENTS else body
        if body != "none":
            parts.append(f"body={body!r}")
        answer = {"list": "whole", "text": "text"}.get(call.kind, "data" if call.is_wrapped else "whole")
        if call.kind == "call" and call.answered is None:
            answer = "none"
        if answer != "data" and call.kind in ("call", "list", "text"):
            parts.append(f"answer={answer!r}")
        if call.statuses:
            parts.append(f"statuses={call.statuses!r}")
        if "ByPipeline" in call.options:
            parts.append("by_pipeline=True")
        if within:
            parts.append(f"within={within!r}")
        return ", ".join(parts)

    def answer(self, call: Call) -> str:
        """The type of a call's answer."""
        if call.kind == "text":
            return "str"
        if call.kind == "events":
            return FEEDS[call.method, call.path]
        if call.kind not in ("call", "list"):
            return "bytes"
        if call.answered is None:
            return "None"
        kind = self.shapes.type_of(call.answered)
        kind = re.sub(r"^list\[", "Items[", kind)
        return f"ListOf[{kind}]" if call.kind == "list" and call.is_wrapped else kind

    def item(self, call: Call) -> str:
        """The type of a list's items."""
        return self.shapes.type_of(self.items_of(call))

    def items_of(self, call: Call) -> Any:
        """The schema of a list's items."""
        schema = call.answered
        if (call.method, call.path) in LISTS_WITHIN:
            schema = self.shapes.schemas[schema["$ref"].removeprefix(PREFIX)]
            schema = schema["properties"][LISTS_WITHIN[call.method, call.path]]
        return schema["items"]

    def methods(self, resource: str, group: list[Call], *, is_async: bool) -> str:
        """The class of a resource."""
        prefix = "Async" if is_async else ""
        lines = [f"class {prefix}{camel(resource)}Resource({prefix}Resource):", indented(RESOURCES[resource][1]), ""]
        for call in group:
            lines += [self.one(call, prefix), ""]
            if (call.method, call.path) in STREAMED:
                lines += [self.streamed(call, prefix), ""]
            if call.kind == "list":
                lines += [self.iterator(call, prefix), ""]
        return "\n".join([*lines, ""])

    def one(self, call: Call, prefix: str) -> str:
        """One method."""
        summary = indented(f"{call.summary} ``{call.method} {call.path}``").replace("\n", "\n    ")
        kind, begin, wait = self.answer(call), "    def", ""
        returned = {"turn": "TurnStream", "events": "EventStream", "download": "Download"}.get(call.kind)
        helper = {"turn": "_turn", "events": "_events", "download": "_download"}.get(call.kind, "_call")
        if returned is not None:
            kind = prefix + returned + (f"[{kind}]" if call.kind == "events" else "")
        elif prefix:
            begin, wait = "    async def", "await "
        result = "" if kind == "None" else "return "
        head = f"{begin} {call.name}({self.signature(call)}) -> {kind}:"
        return f"{head}\n    {summary}\n        {result}{wait}self.{helper}({call.constant}, {self.place(call)}, given)"

    def streamed(self, call: Call, prefix: str) -> str:
        """The method that reads an answer as it comes."""
        head = f"    def {STREAMED[call.method, call.path]}({self.signature(call)}) -> {prefix}AnswerStream:"
        words = indented(f"As ``{call.name}``, for a request that asks for a stream: its events as they come.")
        return f"{head}\n    {words}\n        return self._answer({call.constant}, {self.place(call)}, given)"

    def iterator(self, call: Call, prefix: str) -> str:
        """The method that walks through all parts of a list."""
        name = "iterate" + call.name.removeprefix("list").removeprefix("get")
        constant = f"{call.constant}_ITEMS" if (call.method, call.path) in LISTS_WITHIN else call.constant
        head = f"    def {name}({self.signature(call)}) -> {prefix}Iterator[{self.item(call)}]:"
        words = f"All that ``{call.name}`` gives, part after part as they are needed."
        return f'{head}\n        """{words}"""\n        return self._iterate({constant}, {self.place(call)}, given)'

    def signature(self, call: Call) -> str:
        """The parameters of a method."""
        return ", ".join(["self", *(f"{name}: {kind}" for name, kind in call.places), f"**given: {call.unpacked}"])

    def place(self, call: Call) -> str:
        """What fills the path."""
        names = [name for name, _ in call.places]
        return f"({names[0]},)" if len(names) == 1 else f"({', '.join(names)})"


def tidy(files: Mapping[Path, str]) -> dict[Path, str]:
    """The files as ruff wants them."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text(encoding="utf-8"), encoding="utf-8")
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        for package in (PACKAGE, *PACKAGE.parents[:-1]):
            (root / package / "__init__.py").touch()  # else ruff takes the names for somebody else's
        for command in (["check", "--fix", "--quiet", "--select", "I,RUF022"], ["format", "--quiet"]):
            subprocess.run([sys.executable, "-m", "ruff", *command, str(root / PACKAGE)], check=True, cwd=root)
        return {path: (root / path).read_text(encoding="utf-8") for path in files}


def generated() -> dict[Path, str]:
    """Every generated file as it should be."""
    return tidy(Writer(build_openapi(Settings())).files())


def existing() -> dict[Path, str]:
    """Every generated file as it is."""
    return {
        path.relative_to(ROOT): path.read_text(encoding="utf-8")
        for folder in FOLDERS
        for path in sorted((ROOT / PACKAGE / folder).rglob("*.py"))
    }


def main() -> None:
    """Write what is new, remove what is gone."""
    wanted, there = generated(), existing()
    for path in there.keys() - wanted.keys():
        (ROOT / path).unlink()
    for path, text in wanted.items():
        if there.get(path) != text:
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
