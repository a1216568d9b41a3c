"""How the demo talks over HTTP: bodies in, JSON or a slow stream of events out."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aiohttp import web

from agentui.demo.brain import DemoError
from agentui.jsonio import InvalidJson, Json, dumps, loads


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """``delay`` is the pause after each event of a stream, in seconds."""

    delay: float = 0.03


SETTINGS: web.AppKey[DemoSettings] = web.AppKey("demo_settings", DemoSettings)


async def read_body(request: web.Request) -> dict[str, Json]:
    """The body as a JSON object. Raises DemoError for anything else."""
    try:
        body = loads(await request.read())
    except InvalidJson as error:
        raise DemoError(400, f"The body is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise DemoError(400, "The body must be a JSON object.")
    return body


def required(body: Mapping[str, Json], name: str, kind: type) -> Json:
    """A field that the dialect requires. Raises DemoError when it is missing or of another type."""
    value = body.get(name)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise DemoError(400, f"{name}: this field is required and must be of type {kind.__name__}.", param=name)
    return value


def objects(value: Json) -> list[dict[str, Json]]:
    """The objects of a list; none where it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def positive(value: Json) -> int | None:
    """A positive whole number, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def strings(value: Json) -> tuple[str, ...]:
    """A string or the strings of a list."""
    if isinstance(value, str):
        return (value,)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def reply(body: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """A JSON answer."""
    return web.Response(status=status, body=dumps(body), content_type="application/json", headers=dict(headers or {}))


def event(value: Json, name: str = "", end: str = "\n") -> bytes:
    """One server-sent event with JSON data; ``end`` is how its lines end."""
    head = f"event: {name}{end}" if name else ""
    return head.encode() + b"data: " + dumps(value) + f"{end}{end}".encode()


async def send(request: web.Request, events: Iterable[bytes], content_type: str = "text/event-stream") -> web.StreamResponse:
    """Stream the events with the configured pause after each."""
    response = web.StreamResponse(headers={"Content-Type": content_type, "Cache-Control": "no-cache"})
    await response.prepare(request)
    delay = request.app[SETTINGS].delay
    for piece in events:
        await response.write(piece)
        await asyncio.sleep(delay)
    await response.write_eof()
    return response
