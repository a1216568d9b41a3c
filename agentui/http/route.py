"""A route of the editor or the memory: what handles it, what goes in and out, in one place for the router and OpenAPI."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from aiohttp import web
from pydantic import BaseModel, ValidationError

from agentui.documents.document import MAX_FILE_BYTES
from agentui.errors import BadRequest, WrongContentType
from agentui.http.keys import SETTINGS
from agentui.http.reading import essence_of, read_body
from agentui.http.rights import Handler, Right, with_right
from agentui.jsonio import MAX_VALUES, InvalidJson, Json, dumps, loads, work_of
from agentui.threads import apart

M = TypeVar("M", bound=BaseModel)

EVENT_STREAM = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Route:
    """One method on one path.

    ``body`` and ``answer`` are the types (pydantic models, dataclasses) of the JSON that goes in and out; ``answer`` None
    means that there is none. ``streams`` says that the answer is a stream of events where the request asks for one.
    ``query`` and ``headers`` are optional parameters with their descriptions, ``errors`` the codes of the errors that are
    this route's own; ``tag`` is the part of the API it belongs to, ``needs`` a right that its caller must have.
    ``around`` stands around the handler and the check of that right: it hears of what either refuses.
    """

    method: str
    path: str
    handler: Handler
    answer: Any = None
    body: Any = None
    status: int = 200
    content_type: str = "application/json"
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    errors: tuple[int, ...] = ()
    body_optional: bool = False
    streams: bool = False
    tag: str = "editor"
    needs: Right | None = None
    around: Callable[[Handler], Handler] | None = None


def add_routes(router: web.UrlDispatcher, routes: Iterable[Route]) -> None:
    """Register routes in their order, which decides between paths that fit alike."""
    for route in routes:
        handler = route.handler if route.needs is None else with_right(route.handler, route.needs)
        if route.around is not None:
            handler = route.around(handler)
        router.add_route(route.method, route.path, handler)


def answer(value: Json, *, status: int = 200, etag: str | None = None) -> web.Response:
    """A JSON answer; dataclasses are written as objects."""
    headers = {"cache-control": "no-store"}
    if etag is not None:
        headers["etag"] = etag
    return web.Response(status=status, body=dumps(value), content_type="application/json", headers=headers)


async def read_json(
    request: web.Request, limit: int = MAX_FILE_BYTES, parse: Callable[[bytes], Json] = loads, values: int = MAX_VALUES
) -> Json:
    """The request's JSON of at most so many bytes and values, read by ``parse``. Raises WrongContentType, BodyTooLarge,
    SlowBody, BadRequest."""
    # Not ``request.content_type``: aiohttp reads it with the standard library's email parser, in quadratic time.
    if essence_of(request.headers.get("Content-Type", "")) != "application/json":
        raise WrongContentType("The content type must be application/json.")
    raw = await read_body(request, limit, request.app[SETTINGS].body_timeout, values)
    try:
        return await apart(work_of(raw), partial(parse, raw))
    except InvalidJson as error:
        raise BadRequest(f"The request's body is not valid JSON: {error}.") from error


async def read_model(request: web.Request, model: type[M], limit: int = MAX_FILE_BYTES) -> M:
    """The request's JSON as a model. Raises as ``read_json`` does, and BadRequest naming the first wrong field."""
    document = await read_json(request, limit)
    try:
        return model.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadRequest(f"{where or 'The body'}: {first['msg']}.", param=where or None) from error


def whole_number(text: str, name: str, *, least: int = 0, most: int = 10**12) -> int:
    """A number out of a path or query. Raises BadRequest."""
    if not text.isascii() or not text.isdigit() or not least <= int(text[:15]) <= most:
        raise BadRequest(f"{name} must be a whole number from {least} to {most}.", param=name)
    return int(text[:15])
