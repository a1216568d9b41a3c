"""The demo as a server: the vendors' own readers and renderers around one"""

import asyncio
import base64
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import web

from agentui.chat.request import WireRequest
from agentui.demo.model import CREATED, answer, count_tokens, deltas, embedding, refuse_on_demand
from agentui.errors import AgentUIError, BadRequest, NotFound
from agentui.jsonio import InvalidJson, Json, dumps, dumps_text, loads
from agentui.vendors.base import ModelInfo, Vendor, Vendors
from agentui.vendors.detect import detect_vendor, proxied_route
from agentui.vendors.registry import make_vendors

MAX_BODY_BYTES = 64 * 1024 * 1024
MODELS = tuple(ModelInfo(name, name.title(), CREATED) for name in ("demo-small", "demo-large"))

_EMBEDS = re.compile(r"/models/(?P<model>.+):(?:e|batchE)mbedContents?$")


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """``delay`` is the pause after each event of a stream, in seconds."""

    delay: float = 0.03


@dataclass(frozen=True, slots=True)
class DemoServer:
    """A running demo. ``origin`` is like ``http://127.0.0.1:49321``."""

    origin: str
    runner: web.AppRunner

    async def close(self) -> None:
        """Stop serving; streams under way are cut."""
        await self.runner.cleanup()


async def start_demo(host: str = "127.0.0.1", port: int = 0, settings: DemoSettings | None = None) -> DemoServer:
    """Serve the demo; port 0 takes a free one. Raises OSError when the address is taken."""
    runner = web.AppRunner(create_demo_app(settings), handler_cancellation=True, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError:
        await runner.cleanup()
        raise
    shown = f"[{host}]" if ":" in host else host
    return DemoServer(f"http://{shown}:{runner.addresses[0][1]}", runner)


def create_demo_app(settings: DemoSettings | None = None) -> web.Application:
    """The demo as an aiohttp application: every route of every dialect. Any key is accepted, and none is needed."""
    demo = _Demo(make_vendors(), (settings or DemoSettings()).delay)
    app = web.Application(client_max_size=MAX_BODY_BYTES)
    app.router.add_get("/", _welcome)
    app.router.add_route("*", "/{path:.*}", demo.speak)
    return app


async def _welcome(request: web.Request) -> web.StreamResponse:
    """GET /: what this is."""
    text = "This is agentui's built-in demo of OpenAI, Claude and Gemini. Its models say what you said; no key is needed.\n"
    return web.Response(text=text)


class _Demo:
    """Answers requests in the dialect in which they come."""

    def __init__(self, vendors: Vendors, delay: float) -> None:
        self._vendors = vendors
        self._delay = delay

    async def speak(self, request: web.Request) -> web.StreamResponse:
        """Answer one request; refusals have the dialect's shape."""
        headers = {name.lower(): value for name, value in request.headers.items()}
        vendor = self._vendors[detect_vendor(request.path, headers, request.query) or "openai"]
        try:
            if request.method == "GET" and re.fullmatch(r"/v1(?:beta|alpha)?/models", request.path):
                return _json(vendor.models.render_list(MODELS))
            if request.method != "POST" or proxied_route(request.path) is None:
                raise NotFound(
                    f"The demo does not serve {request.method} {request.path}: it answers chats, counts and embeddings."
                )
            body = await _read(request)
            if embeds := _EMBEDS.search(request.path):
                refuse_on_demand(embeds["model"])
                return _json(_gemini_embeddings(body))
            wire = vendor.read_request(request.path, request.query, headers, body)
            refuse_on_demand(wire.model)
            return await self._answer(request, vendor, wire)
        except AgentUIError as error:
            shape = vendor.render_error(error)
            return _json(shape.body, shape.status, shape.headers)

    async def _answer(self, request: web.Request, vendor: Vendor, wire: WireRequest) -> web.StreamResponse:
        if wire.operation == "embeddings":
            return _json(_openai_embeddings(wire))
        chat = vendor.parse_request(wire)
        if wire.operation == "count_tokens" and vendor.count_tokens is not None:
            return _json(vendor.count_tokens.render_reply(count_tokens(chat)))
        reply = answer(chat)
        if not wire.stream:
            return _json(vendor.render_reply(reply, wire))
        content_type = vendor.stream_format(wire).content_type
        response = web.StreamResponse(headers={"Content-Type": content_type, "Cache-Control": "no-cache"})
        await response.prepare(request)
        renderer = vendor.stream_renderer(wire)
        for delta in deltas(reply):
            if piece := renderer.feed(delta):
                await response.write(piece)
                await asyncio.sleep(self._delay)
        await response.write_eof()
        return response


async def _read(request: web.Request) -> dict[str, Json]:
    """The body as a JSON object. Raises BadRequest for anything else."""
    try:
        body = loads(await request.read())
    except InvalidJson as error:
        raise BadRequest(f"The body is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise BadRequest("The body must be a JSON object.")
    return body


def _json(body: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(status=status, body=dumps(body), content_type="application/json", headers=headers)


def _openai_embeddings(wire: WireRequest) -> Json:
    """Vectors for texts; a list of tokens counts as one text. Raises BadRequest without input."""
    given = wire.body.get("input")
    if not given or not isinstance(given, (str, list)):
        raise BadRequest("input: this field is required and must be a string or a list.", param="input")
    if isinstance(given, str) or all(isinstance(item, int) for item in given):
        given = [given]
    texts = [item if isinstance(item, str) else dumps_text(item) for item in given]
    vectors = [embedding(text, wire.body.get("dimensions")) for text in texts]
    packs = wire.body.get("encoding_format") == "base64"
    data = [
        {
            "object": "embedding",
            "index": number,
            "embedding": base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode() if packs else vector,
        }
        for number, vector in enumerate(vectors)
    ]
    tokens = sum(len(text.split()) for text in texts)
    return {"object": "list", "model": wire.model, "data": data, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}


def _gemini_embeddings(body: Mapping[str, Json]) -> Json:
    """Vectors for one content, or for each of several requests."""
    match body:
        case {"requests": list(requests)}:
            return {"embeddings": [_gemini_embeddings(one)["embedding"] for one in requests if isinstance(one, dict)]}
        case {"content": {"parts": list(parts)}}:
            text = "".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))
            size = body.get("outputDimensionality", body.get("output_dimensionality"))
            return {"embedding": {"values": embedding(text, size)}}
    raise BadRequest("content: this field is required and must have parts.", param="content")
