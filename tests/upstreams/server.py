"""The mock as a server: keys, routes, the record of requests, and the ways in which a transport fails."""

import asyncio
import contextlib
import json
import socket
import struct
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from aiohttp import web

from tests.upstreams import claude_rules, gemini_rules, openai_rules
from tests.upstreams.claude_mock import ClaudeMock
from tests.upstreams.exchange import Exchange, Refused, Vault, dumps
from tests.upstreams.gemini_mock import GeminiMock
from tests.upstreams.openai_mock import CREATED, OpenAIMock
from tests.upstreams.responses_mock import ResponsesMock
from tests.upstreams.shapes import Json
from tests.upstreams.step import Call, Step, scenario

__all__ = ["API_KEY", "Call", "Mock", "Recorded", "Step", "start_mock"]

API_KEY = "sk-test-key-0123456789abcdef"
MODELS = ("text", "tool", "thinking")
_GEMINI_OPERATIONS = ("generateContent", "streamGenerateContent", "countTokens", "batchEmbedContents", "embedContent")


class Dialect(Protocol):
    """One vendor's way to refuse and to answer."""

    name: str

    def content_type(self, exchange: Exchange) -> str:
        """How a stream is announced."""

    def check(self, exchange: Exchange) -> None:
        """Raise Refused for a request that the vendor refuses."""

    def tool_names(self, body: Json) -> tuple[str, ...]:
        """The names of the declared functions."""

    def tool_results(self, body: Json) -> list[str]:
        """The tool results that the conversation ends with."""

    def refusal(self, exchange: Exchange) -> Refused:
        """The error that the step asks for."""

    def answer(self, exchange: Exchange) -> Json:
        """A whole answer."""

    def events(self, exchange: Exchange) -> Iterator[bytes]:
        """A streamed answer."""

    def failure(self, exchange: Exchange) -> bytes:
        """The error event in the middle of a stream."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request as it came. ``path`` is unquoted and without query, header names are lower case, ``body`` is None
    where it was no JSON."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Json
    raw: bytes


@dataclass(slots=True)
class Mock:
    """A running mock. ``requests`` holds everything that came, ``aborted`` counts clients that left in mid-answer."""

    origin: str = ""
    requests: list[Recorded] = field(default_factory=list)
    aborted: int = 0
    open_answers: int = 0
    _steps: deque[Step] = field(default_factory=deque)
    _choose: Callable[[Recorded], Step | None] | None = None
    vault: Vault = field(default_factory=Vault)
    """The signatures that it gave."""
    _released: asyncio.Event = field(default_factory=asyncio.Event)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _closing: bool = False
    _runner: web.AppRunner | None = None

    @property
    def last(self) -> Recorded:
        """The latest request."""
        return self.requests[-1]

    def script(self, steps: Step | Iterable[Step]) -> None:
        """Answer the next requests that pass the checks with these steps, one each; after them the model's name decides."""
        self._steps.extend([steps] if isinstance(steps, Step) else steps)

    def play(self, choose: Callable[[Recorded], Step | None]) -> None:
        """Answer each request that passes the checks with the step that is chosen for it; None: as without."""
        self._choose = choose

    def forget_steps(self) -> None:
        """Drop the scripted steps that were not asked for."""
        self._steps.clear()

    def release(self) -> None:
        """Let every answer that holds go on, now and later."""
        self._released.set()

    def hold_again(self) -> None:
        """Let answers hold again, where they say so."""
        self._released.clear()

    async def was_asked(self, times: int = 1) -> None:
        """Wait until so many requests came."""
        await self._until(lambda: len(self.requests) >= times)

    async def was_aborted(self, times: int = 1) -> None:
        """Wait until so many clients left in mid-answer."""
        await self._until(lambda: self.aborted >= times)

    async def is_idle(self) -> None:
        """Wait until no answer is under way."""
        await self._until(lambda: self.open_answers == 0)

    async def close(self) -> None:
        """Stop; answers under way are cut and not counted as aborted."""
        self._closing = True
        self._released.set()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _until(self, holds: Callable[[], bool]) -> None:
        async with self._changed:
            await self._changed.wait_for(holds)

    async def _note(self) -> None:
        """Wake whoever waits for a change."""
        async with self._changed:
            self._changed.notify_all()

    @contextlib.asynccontextmanager
    async def _answering(self) -> AsyncIterator[None]:
        """Count an answer while it is under way, and whether its client stayed."""
        self.open_answers += 1
        try:
            yield
        except (asyncio.CancelledError, ConnectionError):
            self.aborted += not self._closing
            raise
        finally:
            self.open_answers -= 1
            await asyncio.shield(asyncio.ensure_future(self._note()))


async def start_mock(host: str = "127.0.0.1") -> Mock:
    """Start a mock on a free port. Close it with ``await mock.close()``."""
    mock = Mock()
    handlers = _Handlers(mock)
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_get("/{version:v1|v1beta|v1alpha}/models", handlers.models)
    app.router.add_post("/v1/chat/completions", handlers.route(OpenAIMock(), "chat"))
    app.router.add_post("/v1/embeddings", handlers.route(OpenAIMock(), "embeddings"))
    app.router.add_post("/v1/responses", handlers.route(ResponsesMock(), "chat"))
    app.router.add_post("/v1/responses/input_tokens", handlers.route(ResponsesMock(), "count_tokens"))
    app.router.add_post("/v1/messages", handlers.route(ClaudeMock(), "chat"))
    app.router.add_post("/v1/messages/count_tokens", handlers.route(ClaudeMock(), "count_tokens"))
    app.router.add_post("/{version:v1|v1beta|v1alpha}/models/{model:.+}:{operation}", handlers.gemini)
    app.router.add_route("*", "/{anything:.*}", handlers.nothing)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, host, 0)
    await site.start()
    mock._runner = runner
    mock.origin = f"http://{host}:{runner.addresses[0][1]}"
    return mock


class _Handlers:
    """The routes of one mock."""

    def __init__(self, mock: Mock) -> None:
        self._mock = mock
        self._gemini = GeminiMock()

    def route(self, dialect: Dialect, operation: str) -> "_Handler":
        """A handler for a dialect whose model and stream switch stand in the body."""

        async def handle(request: web.Request) -> web.StreamResponse:
            return await self._serve(request, dialect, operation, None)

        return handle

    async def gemini(self, request: web.Request) -> web.StreamResponse:
        """Gemini's handler: model and operation stand in the path."""
        operation = request.match_info["operation"]
        if operation not in _GEMINI_OPERATIONS:
            return await self.nothing(request)
        return await self._serve(request, self._gemini, operation, request.match_info["model"])

    async def models(self, request: web.Request) -> web.StreamResponse:
        """The model list, in the dialect that the headers speak."""
        await self._record(request)
        try:
            return web.json_response(_model_list(request))
        except Refused as refused:
            return _refusal(refused)

    async def nothing(self, request: web.Request) -> web.StreamResponse:
        """No such route."""
        await self._record(request)
        return _refusal(openai_rules.refuse(f"Invalid URL ({request.method} {request.path})", status=404))

    async def _record(self, request: web.Request) -> Recorded:
        """Write the request down before anything is judged."""
        raw = await request.read()
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = None
        headers = {name.lower(): value for name, value in request.headers.items()}
        recorded = Recorded(request.method, request.path, dict(request.query), headers, body, raw)
        self._mock.requests.append(recorded)
        await self._mock._note()
        return recorded

    async def _serve(self, request: web.Request, dialect: Dialect, operation: str, model: str | None) -> web.StreamResponse:
        """Judge one request and answer it."""
        recorded = await self._record(request)
        try:
            exchange = self._admit(recorded, dialect, operation, model)
        except Refused as refused:
            return _refusal(refused)
        async with self._mock._answering():
            return await _play(request, exchange, dialect, self._mock._released)

    def _admit(self, recorded: Recorded, dialect: Dialect, operation: str, model: str | None) -> Exchange:
        """The exchange, with its step. Raises Refused for a bad key, body or request, and when the step says so."""
        _check_key(dialect.name, recorded.headers, recorded.query)
        body = _body(dialect.name, recorded)
        name = model if model is not None else body.get("model")
        stream = operation == "streamGenerateContent" or body.get("stream") is True
        exchange = Exchange(
            model=name if isinstance(name, str) else "",
            body=body,
            headers=recorded.headers,
            query=recorded.query,
            operation=operation,
            stream=stream,
            step=Step(),
            vault=self._mock.vault,
            serial=len(self._mock.requests),
        )
        dialect.check(exchange)
        exchange = replace(exchange, tool_names=dialect.tool_names(body), step=self._step(recorded, exchange, dialect))
        if exchange.step.fail_after is not None and not exchange.stream:
            # An answer in one piece has no middle to fail in.
            raise dialect.refusal(replace(exchange, step=replace(exchange.step, status=503)))
        if exchange.step.status >= 400:
            raise dialect.refusal(exchange)
        if exchange.step.blocked:
            # Some dialects refuse a blocked prompt outright; that is known before any header goes out.
            next(iter(dialect.events(exchange)), b"")
        return exchange

    def _step(self, recorded: Recorded, exchange: Exchange, dialect: Dialect) -> Step:
        """The step that is scripted or chosen, else the one that the model's name stands for (which quotes tool results
        and ends)."""
        if self._mock._steps:
            return self._mock._steps.popleft()
        if self._mock._choose is not None and (chosen := self._mock._choose(recorded)) is not None:
            return chosen
        step = scenario(exchange.model)
        results = dialect.tool_results(exchange.body) if step.calls else []
        return replace(step, text=f"The tool said: {' | '.join(results)}", calls=(), chunks=None) if results else step


class _Handler(Protocol):
    async def __call__(self, request: web.Request) -> web.StreamResponse: ...


def _refusal(refused: Refused) -> web.Response:
    """A refusal as an HTTP answer."""
    return web.Response(
        status=refused.status, text=dumps(refused.body), content_type="application/json", headers=refused.headers
    )


# --- keys and bodies -------------------------------------------------------------------------------------------------


def _bearer(headers: Mapping[str, str]) -> str | None:
    """The token of an Authorization header."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" else None


def _check_key(dialect: str, headers: Mapping[str, str], query: Mapping[str, str]) -> None:
    """Raise the vendor's own refusal for a missing or a wrong key."""
    match dialect:
        case "claude":
            # Where both are present, x-api-key is the one that counts.
            if headers.get("x-api-key", _bearer(headers)) != API_KEY:
                raise claude_rules.refuse("invalid x-api-key", 401)
        case "gemini":
            _check_google_key(headers.get("x-goog-api-key", query.get("key")))
        case _:
            key = _bearer(headers)
            if key is None:
                raise openai_rules.refuse("You didn't provide an API key.", status=401)
            if key != API_KEY:
                raise openai_rules.refuse("Incorrect API key provided.", code="invalid_api_key", status=401)


def _check_google_key(key: str | None) -> None:
    """No key is 403, a bad one 400."""
    if key is None:
        raise gemini_rules.refuse("Method doesn't allow unregistered callers. Please use API Key.", 403)
    if key != API_KEY:
        info = {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "API_KEY_INVALID",
            "domain": "googleapis.com",
            "metadata": {"service": "generativelanguage.googleapis.com"},
        }
        raise gemini_rules.refuse("API key not valid. Please pass a valid API key.", 400, [info])


def _body(dialect: str, recorded: Recorded) -> dict[str, Json]:
    """The body as an object, or the vendor's words for bytes that are none."""
    if isinstance(recorded.body, dict):
        return recorded.body
    match dialect:
        case "claude":
            raise claude_rules.refuse("The request body is not valid JSON: expected an object")
        case "gemini":
            raise gemini_rules.refuse("Invalid JSON payload received. Expected an object.")
        case _:
            raise openai_rules.refuse("We could not parse the JSON body of your request.")


def _model_list(request: web.Request) -> Json:
    """The list in the dialect of the headers."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    if "x-goog-api-key" in headers or "key" in request.query or request.match_info["version"] != "v1":
        _check_key("gemini", headers, request.query)
        methods = ["generateContent", "countTokens"]
        limits = {"inputTokenLimit": 1_000_000, "outputTokenLimit": 65_536, "supportedGenerationMethods": methods}
        return {"models": [{"name": f"models/{name}", "displayName": name.title(), **limits} for name in MODELS]}
    if "anthropic-version" in headers or "x-api-key" in headers:
        _check_key("claude", headers, request.query)
        created = "2026-10-21T00:00:00Z"
        data = [{"type": "model", "id": name, "display_name": name.title(), "created_at": created} for name in MODELS]
        return {"data": data, "has_more": False, "first_id": MODELS[0], "last_id": MODELS[-1]}
    _check_key("openai", headers, request.query)
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "created": CREATED, "owned_by": "mock"} for name in MODELS],
    }


# --- playing an answer -----------------------------------------------------------------------------------------------


async def _play(request: web.Request, exchange: Exchange, dialect: Dialect, released: asyncio.Event) -> web.StreamResponse:
    """Send the answer as the step says."""
    step = exchange.step
    if step.hold == "headers":
        await released.wait()
    if step.raw is not None:
        raw = step.raw
        return web.Response(status=raw.status, body=raw.body, headers={"Content-Type": raw.content_type, **dict(raw.headers)})
    if not exchange.stream:
        return await _whole(request, exchange, dialect, released)
    return await _stream(request, exchange, dialect, released)


async def _whole(request: web.Request, exchange: Exchange, dialect: Dialect, released: asyncio.Event) -> web.StreamResponse:
    """One JSON body; a cut one promises more bytes than it sends."""
    step = exchange.step
    data = b'{"broken": tru' if step.bad_event else dumps(dialect.answer(exchange)).encode()
    if step.cut is None and step.hold is None and not step.forever:
        return web.Response(body=data, content_type="application/json", headers={"x-request-id": "req_mock"})
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(data))})
    await response.prepare(request)
    await response.write(data[: len(data) // 2])
    if step.hold is not None or step.forever:
        await released.wait()
        await response.write(data[len(data) // 2 :])
    else:
        _drop(request, reset=step.cut == "reset")
    return response


async def _stream(request: web.Request, exchange: Exchange, dialect: Dialect, released: asyncio.Event) -> web.StreamResponse:
    """The events, until the step cuts them."""
    step = exchange.step
    headers = {"Content-Type": dialect.content_type(exchange), "Cache-Control": "no-cache", "x-request-id": "req_mock"}
    response = web.StreamResponse(headers=headers)
    await response.prepare(request)
    if step.forever:
        await _write(response, dialect.events(exchange), step, released)
    else:
        await _write(response, _cut(list(dialect.events(exchange)), exchange, dialect), step, released)
    if step.cut == "reset":
        _drop(request, reset=True)
    else:
        await response.write_eof()
    return response


def _cut(events: list[bytes], exchange: Exchange, dialect: Dialect) -> list[bytes]:
    """The events that are sent, with what the step breaks."""
    step = exchange.step
    if step.fail_after is not None:
        return [*events[: step.fail_after], dialect.failure(exchange)]
    if step.bad_event:
        middle = len(events) // 2
        return [*events[:middle], b'data: {"broken": tru\n\n', *events[middle:]]
    if step.cut == "half_line":
        broken = events[step.cut_after]
        return [*events[: step.cut_after], broken[: len(broken) // 2]]
    return events[: step.cut_after] if step.cut else events


async def _write(response: web.StreamResponse, events: Iterable[bytes], step: Step, released: asyncio.Event) -> None:
    """Send events one by one, or their bytes in odd pieces."""
    if step.byte_cut is not None:
        whole = b"".join(events)
        events = [whole[at : at + step.byte_cut] for at in range(0, len(whole), step.byte_cut)]
    for number, event in enumerate(events):
        if step.hold == number:
            await released.wait()
        await response.write(event)
        await asyncio.sleep(step.pause)


def _drop(request: web.Request, *, reset: bool) -> None:
    """End the connection in mid-answer, with a reset where asked for."""
    transport = request.transport
    if transport is None:
        return
    if reset:
        # Lingering zero seconds makes the kernel answer the close with RST instead of FIN.
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    else:
        transport.close()
