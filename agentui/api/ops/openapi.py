"""The OpenAPI 3.1 document, read off the router and the handlers themselves.

Paths, methods and summaries (the first sentence of each handler's docstring) come from what is registered, the editor's
bodies and the memory's from their types; only what code cannot tell is written here.
"""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from http import HTTPStatus
from typing import Any

from aiohttp import web
from pydantic import TypeAdapter

from agentui import __version__
from agentui.api.accounts import ROUTES as ACCOUNT_ROUTES
from agentui.api.chats import ROUTES as CHAT_ROUTES
from agentui.api.chats.live import PIPELINE_ROUTES
from agentui.api.editor import ROUTES as EDITOR_ROUTES
from agentui.api.library import ROUTES as LIBRARY_ROUTES
from agentui.api.memories import ROUTES as MEMORIES_ROUTES
from agentui.api.operations.logs import ROUTES as OPERATION_ROUTES
from agentui.api.ops.health import SERVICE
from agentui.api.profiles import ROUTES as PROFILE_ROUTES
from agentui.api.proxy.models import add_model_routes
from agentui.api.proxy.routes import add_proxy_routes
from agentui.api.tools import ROUTES as TOOL_ROUTES
from agentui.api.usage import ROUTES as USAGE_ROUTES
from agentui.documents.document import ID_PATTERN
from agentui.http.credentials import CLIENT_KEY_HEADER, SIGN_IN_COOKIE
from agentui.http.guard import PUBLIC_PATHS
from agentui.http.keys import SETTINGS
from agentui.http.route import EVENT_STREAM, Route
from agentui.jsonio import Json, dumps
from agentui.settings import Settings
from agentui.vendors.passed import PASSED, BodyKind

OPENAPI_VERSION = "3.1.0"

_SCHEMAS = "#/components/schemas/"
_OBJECT: Json = {"type": "object", "additionalProperties": True}
_PIPELINE_PREFIX = "/p/{pipeline}"

_VENDOR_BODIES: Mapping[str, str] = {
    "/v1/chat/completions": "A chat completion as OpenAI defines it.",
    "/v1/completions": "A text completion as OpenAI defines it.",
    "/v1/responses": "A response request as OpenAI defines it.",
    "/v1/responses/input_tokens": "A response request whose input tokens are counted, as OpenAI defines it.",
    "/v1/embeddings": "An embeddings request as OpenAI defines it.",
    "/v1/messages": "A message request as Anthropic defines it.",
    "/v1/messages/count_tokens": "A message request whose tokens are counted, as Anthropic defines it.",
    "/{version}/models/{call}": "A request as Gemini defines it for the operation in the path.",
}
"""What the proxied routes take, by path."""

_PASSED_BODIES: Mapping[tuple[str, str], BodyKind] = {(route.method, route.name): route.body for route in PASSED}
"""What the routes that pass through take, by method and path."""

_STREAMING = frozenset({"/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages", "/{version}/models/{call}"})

_PARAMETERS: Mapping[str, Json] = {
    "branch": {"description": "A branch's name.", "schema": {"type": "string"}},
    "variable": {"description": "The name of a working variable, its slashes as %2F.", "schema": {"type": "string"}},
    "floor": {"description": "The id of the floor.", "schema": {"type": "string"}},
    "identity": {"description": "The id of a linked sign-on.", "schema": {"type": "string"}},
    "key": {"description": "The id of a client's key.", "schema": {"type": "string"}},
    "hash": {
        "description": "The SHA-256 of the data, the `blob` of a part.",
        "schema": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    },
    "id": {"description": "The id of the thing.", "schema": {"type": "string"}},
    "mutation": {"description": "The id of a write.", "schema": {"type": "string"}},
    "namespace": {"description": "A namespace of Session State.", "schema": {"type": "string"}},
    "scope": {
        "description": "The scope of memories.",
        "schema": {"type": "string", "enum": ["global", "chat", "branch", "floor"]},
    },
    "scope_id": {
        "description": "The scope's host; a branch as the JSON of its session and its name, escaped.",
        "schema": {"type": "string"},
    },
    "slot": {"description": "A slot of the namespace.", "schema": {"type": "string"}},
    "pipeline": {
        "description": "The pipeline that serves this request.",
        "schema": {"type": "string", "pattern": f"^{ID_PATTERN}$"},
    },
    "entry_id": {"description": "The id of the entry: its name in the worldbook.", "schema": {"type": "string"}},
    "identifier": {"description": "The identifier of the prompt.", "schema": {"type": "string"}},
    "version_id": {"description": "The id of the version.", "schema": {"type": "string"}},
    "group": {"description": "A group of skill rules.", "schema": {"type": "string"}},
    "rule": {"description": "The rule's name in its group.", "schema": {"type": "string"}},
    "secret": {"description": "The key's name.", "schema": {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_-]{0,63}$"}},
    "number": {"description": "A version's number.", "schema": {"type": "integer", "minimum": 1}},
    "sequence": {"description": "An event's number within its run.", "schema": {"type": "integer", "minimum": 0}},
    "model": {"description": "A model's name.", "schema": {"type": "string"}},
    "version": {"description": "The API's version.", "schema": {"type": "string", "enum": ["v1", "v1beta", "v1alpha"]}},
    "call": {
        "description": "Model and operation, e.g. gemini-2.5-flash:generateContent.",
        "schema": {"type": "string", "pattern": "^.+:[A-Za-z]+$"},
    },
}

_ERROR: Json = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "details"],
            "properties": {
                "code": {"type": "string", "description": "A stable word for programs."},
                "message": {"type": "string", "description": "What happened, and what to do."},
                "details": {
                    "type": ["object", "array"],
                    "description": "Facts; for validation_error a list of {path, message, code}.",
                },
            },
        }
    },
}

_HEALTH: Json = {
    "type": "object",
    "required": ["ok", "status", "service", "version", "database"],
    "properties": {
        "ok": {"const": True},
        "status": {"const": "ok"},
        "service": {"const": SERVICE},
        "version": {"type": "string"},
        "database": {"enum": ["ready", "read_only", "full", "unreachable"]},
        "active_pipeline": {"type": ["string", "null"]},
        "in_flight": {"type": "integer", "description": "Proxied requests under way."},
        "store": {
            "type": "object",
            "description": "The memory. It opens when it is first needed.",
            "properties": {
                "engine": {"enum": ["sqlite", "postgresql", "none"]},
                "open": {"type": "boolean"},
                "read_only": {"type": "boolean", "description": "Open for reading only, because the file is damaged or newer."},
                "full": {"type": "boolean", "description": "The disk is full; nothing can be saved."},
            },
        },
    },
}


_VERSION: Json = {
    "type": "object",
    "required": ["version", "service"],
    "properties": {"version": {"type": "string"}, "service": {"const": SERVICE}},
}

_READINESS: Json = {
    "type": "object",
    "required": ["status", "reasons"],
    "properties": {
        "status": {"enum": ["ready", "not_ready"]},
        "reasons": {
            "type": "array",
            "description": "What speaks against sending requests here; empty when all is well.",
            "items": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {
                    "code": {"enum": ["stopping", "database_unreachable", "no_active_pipeline"]},
                    "message": {"type": "string"},
                },
            },
        },
    },
}


async def openapi(request: web.Request) -> web.Response:
    """Read this document."""
    settings = request.app[SETTINGS]
    body = await asyncio.to_thread(_written, settings.token is not None, settings.auth_mode != "off")
    return web.Response(body=body, content_type="application/json")


@cache  # what it says changes with nothing else, and it takes a third of a second of everybody's time
def _written(has_token: bool, has_accounts: bool) -> bytes:
    return dumps(_document(has_token, has_accounts))


def build_openapi(settings: Settings) -> dict[str, Json]:
    """The document of every route but the editor's pages. Where a token is set, or callers have accounts, every
    route asks for a credential."""
    return _document(settings.token is not None, settings.auth_mode != "off")


def _document(has_token: bool, has_accounts: bool) -> dict[str, Json]:
    shapes, definitions = _shapes(ROUTES_BY_PLACE.values())
    by_path: dict[str, Json] = {}
    for method, path, handler in _registered():
        by_path.setdefault(path, {})[method.lower()] = _operation(method, path, handler, shapes)
    by_path["/health"] = {"get": _own("health", "Say that the server is up, and what it would run.", _ref("Health"))}
    by_path["/version"] = {"get": _own("version", "Say which version of what this is.", _ref("ServerVersion"))}
    by_path["/ready"] = {"get": _own("ready", "Say whether requests should be sent here.", _ref("Readiness"))}
    by_path["/ready"]["get"]["responses"]["503"] = {"description": "Not now.", "content": _json(_ref("Readiness"))}
    by_path["/metrics"] = {"get": _own("metrics", "Read what this server has counted, for Prometheus.", _OBJECT)}
    by_path["/metrics"]["get"]["responses"]["200"]["content"] = {"text/plain": {"schema": {"type": "string"}}}
    by_path["/openapi.json"] = {"get": _own("openapi", "Read this document.", _OBJECT)}
    document: dict[str, Json] = {
        "openapi": OPENAPI_VERSION,
        "info": {
            "title": "agentui",
            "version": __version__,
            "description": "An LLM proxy that runs a pipeline on every request, and the API of its editor.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "tags": [
            {"name": "proxy", "description": "The vendors' own routes. Errors have the vendor's shape."},
            {"name": "editor", "description": "The editor's API."},
            {"name": "memory", "description": "Sessions, branches, floors, pages, messages and variables."},
            {"name": "server", "description": "About the server."},
        ],
        "paths": {path: by_path[path] for path in sorted(by_path)},
        "components": {
            "schemas": {**definitions, "Error": _ERROR, "Health": _HEALTH, "Readiness": _READINESS, "ServerVersion": _VERSION},
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "token": {"type": "apiKey", "in": "header", "name": "x-agentui-token"},
                "client_key": {"type": "apiKey", "in": "header", "name": CLIENT_KEY_HEADER},
                "sign_in": {"type": "apiKey", "in": "cookie", "name": SIGN_IN_COOKIE},
            },
        },
    }
    if has_token or has_accounts:
        document["security"] = [{"bearer": []}, {"token": []}]
        public = ["/health", "/ready", "/version"]
        if has_accounts:
            document["security"] += [{"client_key": []}, {"sign_in": []}]
            public += PUBLIC_PATHS
        for operation in (each for path in public for each in by_path[path].values()):
            operation["security"] = []
    return document


def first_sentence(text: str) -> str:
    """The first sentence of a docstring, on one line."""
    line = " ".join(text.split())
    end = re.search(r"\.(?=\s|$)", line)
    return line[: end.end()] if end else line


def _registered() -> Iterator[tuple[str, str, Any]]:
    """Method, path and handler of every route but those of ``server``; HEAD comes with GET and is left out, and so is the
    prefix of a session, with which every proxied route stands thrice."""
    router = web.UrlDispatcher()
    add_proxy_routes(router)
    add_model_routes(router)
    for known in ROUTES_BY_PLACE.values():
        router.add_route(known.method, known.path, known.handler)
    for route in router.routes():
        resource = route.resource
        if route.method != "HEAD" and resource is not None and "/s/{session}" not in resource.canonical:
            yield route.method, resource.canonical, route.handler


def _shapes(routes: Iterable[Route]) -> tuple[Mapping[Any, Json], dict[str, Json]]:
    """The JSON Schemas of the routes' bodies (by route and "validation") and answers ("serialization"), and what they
    refer to."""
    adapters: list[tuple[Any, Any, TypeAdapter[Any]]] = []
    for route in routes:
        key = (route.method, route.path)
        if route.body is not None:
            adapters.append((key, "validation", TypeAdapter(route.body)))
        if route.answer is not None:
            adapters.append((key, "serialization", TypeAdapter(route.answer)))
    shapes, whole = TypeAdapter.json_schemas(adapters, ref_template=_SCHEMAS + "{model}")
    return shapes, whole.get("$defs", {})


def _operation(method: str, path: str, handler: Any, shapes: Mapping[Any, Json]) -> Json:
    """One method on one path."""
    operation: dict[str, Json] = {
        "operationId": _operation_id(method, path),
        "summary": first_sentence(handler.__doc__ or ""),
        "parameters": [
            {"name": name, "in": "path", "required": True, **_PARAMETERS[name]} for name in re.findall(r"{(\w+)}", path)
        ],
    }
    route = ROUTES_BY_PLACE.get((method, path))
    operation.update(_proxied(method, path) if route is None else _described(route, shapes))
    operation["parameters"] += operation.pop("more_parameters", [])
    return operation


ROUTES_BY_PLACE = {
    (route.method, route.path): route
    for route in (
        *EDITOR_ROUTES,
        *CHAT_ROUTES,
        *LIBRARY_ROUTES,
        *TOOL_ROUTES,
        *PROFILE_ROUTES,
        *MEMORIES_ROUTES,
        *ACCOUNT_ROUTES,
        *USAGE_ROUTES,
        *OPERATION_ROUTES,
        *PIPELINE_ROUTES,
    )
}
"""The routes that say themselves what goes in and out."""


def _operation_id(method: str, path: str) -> str:
    return "_".join([method.lower(), *re.findall(r"\w+", path)])


def _proxied(method: str, path: str) -> dict[str, Json]:
    """A vendor's route: whatever the vendor's own documents say goes in and out."""
    path = path.removeprefix(_PIPELINE_PREFIX)
    content: dict[str, Json] = {"application/json": {"schema": _OBJECT}}
    if path in _STREAMING:
        content[EVENT_STREAM] = {"schema": {"type": "string"}}
    described: dict[str, Json] = {
        "tags": ["proxy"],
        "responses": {
            "200": {"description": "The answer in the caller's dialect, streamed if that was asked for.", "content": content},
            "default": {"description": "An error in the caller's dialect.", "content": _json(_OBJECT)},
        },
    }
    body = _PASSED_BODIES.get((method, path))
    if body is not None:
        if body != "none":
            types = {"form": ("multipart/form-data", "application/json")}.get(body, ("application/json",))
            shown = {name: {"schema": _OBJECT} for name in types}
            described["requestBody"] = {"required": True, "description": "As the vendor defines it.", "content": shown}
        described["responses"]["200"] = {
            "description": "The upstream's own answer.",
            "content": {"application/json": {"schema": _OBJECT}, "application/octet-stream": {"schema": {"type": "string"}}},
        }
    elif method == "POST":
        described["requestBody"] = {"required": True, "description": _VENDOR_BODIES[path], "content": _json(_OBJECT)}
    return described


def _described(route: Route, shapes: Mapping[Any, Json]) -> dict[str, Json]:
    """A route that says itself what goes in and out."""
    key = (route.method, route.path)
    success: dict[str, Json] = {"description": HTTPStatus(route.status).phrase}
    if route.content_type != "application/json":
        success["content"] = {route.content_type: {"schema": {"type": "string"}}}
    elif route.answer is not None:
        success["content"] = _json(shapes[(key, "serialization")])
        if route.streams:
            success["content"][EVENT_STREAM] = {"schema": {"type": "string"}}
    responses: dict[str, Json] = {str(route.status): success}
    for status in route.errors:
        responses[str(status)] = {"description": HTTPStatus(status).phrase, "content": _json(_ref("Error"))}
    responses["default"] = {"description": "An error.", "content": _json(_ref("Error"))}
    described: dict[str, Json] = {
        "tags": [route.tag],
        "responses": responses,
        "more_parameters": [
            {"name": name, "in": place, "required": False, "description": text, "schema": {"type": "string"}}
            for place, texts in (("query", route.query), ("header", route.headers))
            for name, text in texts.items()
        ],
    }
    if route.body is not None:
        described["requestBody"] = {
            "required": not route.body_optional,
            "content": _json(shapes[(key, "validation")]),
        }
    return described


def _own(name: str, summary: str, schema: Json) -> Json:
    """A route about the server itself."""
    return {
        "operationId": f"get_{name}",
        "summary": summary,
        "tags": ["server"],
        "responses": {"200": {"description": "OK", "content": _json(schema)}},
    }


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _ref(name: str) -> Json:
    return {"$ref": _SCHEMAS + name}
