"""The demo as a server: routes, and errors in the dialect of each route."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from aiohttp import web

from agentui.demo import claude, gemini, openai, responses
from agentui.demo.brain import DemoError
from agentui.demo.stream import SETTINGS, DemoSettings, reply

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_ErrorShape = Callable[[DemoError], web.Response]

MAX_BODY_BYTES = 64 * 1024 * 1024


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
    app = web.Application(client_max_size=MAX_BODY_BYTES)
    app[SETTINGS] = settings or DemoSettings()
    app.router.add_get("/", _welcome)
    app.router.add_post("/v1/chat/completions", _speaking(openai.chat, openai.error))
    app.router.add_post("/v1/embeddings", _speaking(openai.embeddings, openai.error))
    app.router.add_post("/v1/responses", _speaking(responses.create, openai.error))
    app.router.add_post("/v1/responses/input_tokens", _speaking(responses.input_tokens, openai.error))
    app.router.add_post("/v1/messages", _speaking(claude.messages, claude.error))
    app.router.add_post("/v1/messages/count_tokens", _speaking(claude.count, claude.error))
    # The model may hold a slash or a colon; the operation stands behind the last colon.
    app.router.add_post(
        "/{version:v1|v1beta|v1alpha}/models/{model:.+}:{operation:[A-Za-z]+}", _speaking(gemini.operate, gemini.error)
    )
    app.router.add_get("/{version:v1|v1beta|v1alpha}/models", _models)
    app.router.add_route("*", "/{path:.*}", _speaking(_nothing, openai.error))
    return app


def _speaking(handle: _Handler, error: _ErrorShape) -> _Handler:
    """The handler, with its refusals in its dialect's shape."""

    async def speak(request: web.Request) -> web.StreamResponse:
        try:
            return await handle(request)
        except DemoError as problem:
            return error(problem)

    return speak


async def _welcome(request: web.Request) -> web.StreamResponse:
    """GET /: what this is."""
    text = "This is agentui's built-in demo of OpenAI, Claude and Gemini. Its models say what you said; no key is needed.\n"
    return web.Response(text=text)


async def _nothing(request: web.Request) -> web.StreamResponse:
    """Any other route: refuse it in words."""
    raise DemoError(404, f"The demo does not serve {request.method} {request.path}.")


async def _models(request: web.Request) -> web.StreamResponse:
    """GET models, in the dialect that headers and path speak."""
    speaks_google = "x-goog-api-key" in request.headers or "key" in request.query
    if speaks_google or request.match_info["version"] != "v1":
        return reply(gemini.models())
    if "anthropic-version" in request.headers or "x-api-key" in request.headers:
        return reply(claude.models())
    return reply(openai.models())
