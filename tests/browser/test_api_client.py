"""The editor's modules below ``js/api`` in a real Chromium: requests and failures, event streams that break, and drafts."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from aiohttp import web

from agentui.jsonio import Json
from tests.api.editor_client import say
from tests.conftest import ROOT, StartServer

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

pytestmark = pytest.mark.browser

TOKEN = "a-long-enough-token"

CLIENT = "const c = await import('/ui/js/api/client.js');"
EVENTS = "const e = await import('/ui/js/api/events.js');"
DRAFTS = "const d = await import('/ui/js/api/drafts.js');"
FAILURE = "(error) => ({status: error.status, code: error.code, message: error.message, details: error.details})"


PageAt = Callable[..., AbstractAsyncContextManager["Page"]]


@pytest_asyncio.fixture(loop_scope="session")
async def page_at(browser: "Browser") -> PageAt:
    """Opens a page of an origin, in a context of its own; ``setup`` runs before anything else in it."""

    @asynccontextmanager
    async def open_page(url: str, setup: str = "") -> AsyncIterator["Page"]:
        context = await browser.new_context()
        try:
            page = await context.new_page()
            if setup:
                await page.add_init_script(setup)
            await page.goto(url)
            yield page
        finally:
            await context.close()

    return open_page


async def run(page: "Page", modules: str, body: str, arg: Json = None) -> Json:
    """The result of an async function's body in the page."""
    return await page.evaluate(f"async (arg) => {{ {modules} {body} }}", arg)


# Requests


async def test_reading_and_saving_give_body_etag_and_status(page_at: PageAt, start_server: StartServer) -> None:
    server = await start_server({"default": say()})
    async with page_at(f"{server.origin}/health") as page:
        got = await run(page, CLIENT, "return await c.api.get('/api/pipelines/default')")
        assert got["status"] == 200 and got["body"]["id"] == "default" and got["etag"] == got["body"]["etag"]
        made = await run(page, CLIENT, "return await c.api.send('PUT', '/api/pipelines/new', arg, {ifNoneMatch: '*'})", say())
        assert made["status"] == 201
        gone = await run(page, CLIENT, "return await c.api.send('DELETE', '/api/pipelines/new', undefined, {ifMatch: '*'})")
        assert gone == {"body": None, "etag": None, "headers": {}, "status": 204}


async def test_a_refused_save_carries_the_current_document(page_at: PageAt, start_server: StartServer) -> None:
    server = await start_server({"default": say("first")})
    async with page_at(f"{server.origin}/health") as page:
        save = f"return await c.api.send('PUT', '/api/pipelines/default', arg, {{ifMatch: '\"old\"'}}).catch({FAILURE})"
        failure = await run(page, CLIENT, save, say("second"))
        assert (failure["status"], failure["code"]) == (412, "precondition_failed")
        assert failure["details"]["current"]["name"] == "first" and failure["details"]["etag"]


async def test_failures_are_errors_with_a_name(page_at: PageAt, start_server: StartServer) -> None:
    server = await start_server({"default": say()})
    async with page_at(f"{server.origin}/health") as page:
        seen = await run(
            page,
            CLIENT,
            "try { await c.api.get('/api/pipelines/none'); } catch (error) {"
            " return [error instanceof c.ApiFailure, error instanceof Error, error.name, error.status, error.code]; }",
        )
        assert seen == [True, True, "ApiFailure", 404, "not_found"]


async def test_a_server_that_is_gone_is_offline_and_an_abort_is_an_abort(page_at: PageAt, start_server: StartServer) -> None:
    server = await start_server({"default": say()})
    async with page_at(f"{server.origin}/health") as page:
        failure = await run(page, CLIENT, f"return await c.api.get('http://127.0.0.1:9/').catch({FAILURE})")
        assert (failure["status"], failure["code"]) == (0, "offline")
        name = await run(
            page, CLIENT, "return await c.api.get('/health', {signal: AbortSignal.abort()}).catch((error) => error.name)"
        )
        assert name == "AbortError"


@pytest.mark.parametrize(
    ("status", "text", "code", "message"),
    [
        (
            429,
            '{"error": {"message": "Slow down.", "type": "rate_limit_error", "code": null}}',
            "rate_limit_error",
            "Slow down.",
        ),
        (
            400,
            '{"type": "error", "error": {"type": "invalid_request_error", "message": "No."}}',
            "invalid_request_error",
            "No.",
        ),
        (502, "<html>nginx</html>", "bad_answer", "The server answered with status 502."),
        (500, "", "bad_answer", "The server answered with status 500."),
        (500, '{"error": "text"}', "bad_answer", "The server answered with status 500."),
    ],
)
async def test_every_shape_of_error_is_read(
    page_at: PageAt, start_server: StartServer, status: int, text: str, code: str, message: str
) -> None:
    server = await start_server({"default": say()})
    async with page_at(f"{server.origin}/health") as page:
        made = await run(page, CLIENT, f"return ({FAILURE})(c.failureOf(arg[0], arg[1]))", [status, text])
        assert (made["status"], made["code"], made["message"]) == (status, code, message)


async def test_the_token_is_asked_for_kept_and_sent(page_at: PageAt, start_server: StartServer) -> None:
    server = await start_server({"default": say()}, token=TOKEN)
    async with page_at(f"{server.origin}/health") as page:
        asked = await run(
            page,
            CLIENT,
            "const told = []; c.onUnauthorised((failure) => told.push(failure.code));"
            f"const failure = await c.api.get('/api/pipelines').catch({FAILURE}); return [told, failure.status, failure.code]",
        )
        assert asked == [["unauthorized"], 401, "unauthorized"]
        assert (await run(page, CLIENT, "c.setToken(arg); return (await c.api.get('/api/pipelines')).status", TOKEN)) == 200
        await page.reload()
        assert (await run(page, CLIENT, "return (await c.api.get('/api/pipelines')).status")) == 200
        assert (await run(page, CLIENT, "c.setToken(null); return sessionStorage.getItem('agentui.token')")) is None
        # What no header can hold is refused by the server, not by the browser.
        refused = await run(page, CLIENT, f"c.setToken('ключ'); return await c.api.get('/api/pipelines').catch({FAILURE})")
        assert refused["status"] == 401


async def test_the_token_stays_in_memory_where_the_browser_keeps_nothing(page_at: PageAt, start_server: StartServer) -> None:
    server = await start_server({"default": say()}, token=TOKEN)
    refuse = "Object.defineProperty(window, 'sessionStorage', {get() { throw new DOMException('no', 'SecurityError'); }});"
    async with page_at(f"{server.origin}/health", refuse) as page:
        assert (await run(page, CLIENT, "c.setToken(arg); return (await c.api.get('/api/pipelines')).status", TOKEN)) == 200


async def test_raw_answers_pass_untouched_and_a_providers_401_is_its_own(page_at: PageAt, start_server: StartServer) -> None:
    server = await start_server({"default": say()})
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hello!"}]}
    async with page_at(f"{server.origin}/health") as page:
        text = await run(
            page,
            CLIENT,
            "const reply = await c.api.raw('/v1/chat/completions', {method: 'POST', body: JSON.stringify(arg),"
            " headers: {'content-type': 'application/json'}}); return [reply.headers.get('x-agentui-run'), await reply.text()]",
            body,
        )
        assert text[0].startswith("run_") and text[1].startswith("data: ") and "[DONE]" in text[1]
        told = await run(
            page,
            CLIENT,
            "const told = []; c.onUnauthorised(() => told.push(1));"
            "window.fetch = async () => new Response('', {status: 401, headers: {'x-agentui-run': 'run_1'}});"
            "await c.api.raw('/v1/chat/completions'); return told",
        )
        assert told == []


# Event streams

READ_ALL = """
const body = new ReadableStream({start: (sink) => { for (const piece of arg) sink.enqueue(Uint8Array.from(piece)); sink.close(); }});
const heard = [];
let retry = null;
for await (const event of e.readEvents(body, {onRetry: (asked) => { retry = asked; }})) heard.push(event);
return [heard, retry];
"""
STREAM = (
    "\ufeff: comment\r\nid: 1\r\nevent: first\r\ndata: a\r\ndata:b\r\n\r\n"
    "data: одно 🙂\rid\r\revent: nothing\n\nretry: 700\nretry: x\nid: 3\n\nunknown: x\ndata\n\ndata: cut"
).encode()
READ = [
    {"id": "1", "event": "first", "text": "a\nb"},
    {"id": "", "event": "message", "text": "одно 🙂"},
    {"id": "3", "event": "message", "text": ""},
]


async def test_a_stream_reads_the_same_however_it_is_cut(page_at: PageAt, start_server: StartServer) -> None:
    server = await start_server({"default": say()})
    async with page_at(f"{server.origin}/health") as page:
        for size in (1, 2, 3, 7, len(STREAM)):
            pieces = [list(STREAM[start : start + size]) for start in range(0, len(STREAM), size)]
            heard, retry = await run(page, EVENTS, READ_ALL, pieces)
            assert heard == READ
            assert retry == 700


Act = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Script:
    """A server that answers each request for ``/stream`` with the next of its acts, and for ever with the last."""

    origin: str = ""
    acts: list[Act] = field(default_factory=list)
    asked: list[str | None] = field(default_factory=list)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.headers.get("Last-Event-ID"))
        act = self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]
        return await act(request)


@pytest_asyncio.fixture(loop_scope="session")
async def script() -> AsyncIterator[Script]:
    made = Script()
    app = web.Application()
    app.router.add_get("/stream", made.serve)
    app.router.add_get("/health", answer_with(200))
    app.router.add_static("/ui", Path(ROOT) / "static")
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.origin = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield made
    await runner.cleanup()


def answer_with(status: int, body: Json = None) -> Act:
    async def act(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status) if body is None else web.json_response(body, status=status)

    return act


def send(data: bytes, *, end: str = "clean") -> Act:
    """Send these bytes, then end, cut the connection, or stay silent."""

    async def act(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        await response.write(data)
        if end == "cut":
            await asyncio.sleep(0.05)
            assert request.transport is not None
            request.transport.abort()
        elif end == "silent":
            await asyncio.sleep(30)
        return response

    return act


def event(number: int) -> bytes:
    return f"id: {number}\nevent: tick\ndata: {number}\n\n".encode()


FOLLOW = """
const heard = [], states = [];
const options = {...arg, minDelay: 5, maxDelay: 20,
  onEvent: (event) => { heard.push([event.id, event.event, event.data]); return event.data === arg.last ? false : undefined; },
  onState: (state, failure) => states.push(failure ? `${state} ${failure.code}` : state)};
let failure = null;
try { await e.follow('/stream', options); } catch (error) { failure = error.code; }
return {heard, states, failure};
"""


async def test_following_goes_on_behind_the_last_event_until_204(page_at: PageAt, script: Script) -> None:
    script.acts = [send(event(1) + event(2), end="cut"), send(event(3) + b"data: 4"), answer_with(503), answer_with(204)]
    async with page_at(f"{script.origin}/health") as page:
        seen = await run(page, EVENTS, FOLLOW, {})
    assert [data for _, _, data in seen["heard"]] == [1, 2, 3]  # half an event is none
    assert script.asked == [None, "2", "3", "3"]
    assert seen["states"][-1] == "closed" and seen["states"].count("open") == 2
    assert "connecting offline" in seen["states"] and "connecting bad_answer" in seen["states"]
    assert seen["failure"] is None


async def test_following_begins_where_it_is_told_and_ends_when_a_handler_says_so(page_at: PageAt, script: Script) -> None:
    script.acts = [send(event(8) + event(9) + event(10), end="silent")]
    async with page_at(f"{script.origin}/health") as page:
        seen = await run(page, EVENTS, FOLLOW, {"lastEventId": "7", "last": 9})
    assert script.asked == ["7"]
    assert [data for _, _, data in seen["heard"]] == [8, 9]
    assert seen["states"] == ["connecting", "open", "closed"]


async def test_a_dead_silent_connection_is_made_anew(page_at: PageAt, script: Script) -> None:
    script.acts = [send(event(1), end="silent"), answer_with(204)]
    async with page_at(f"{script.origin}/health") as page:
        seen = await run(page, EVENTS, FOLLOW, {"idle": 2500})
    assert script.asked == [None, "1"]
    assert seen["states"] == ["connecting", "open", "connecting offline", "closed"]


async def test_a_refusal_is_not_tried_again(page_at: PageAt, script: Script) -> None:
    script.acts = [answer_with(404, {"error": {"code": "not_found", "message": "There is none.", "details": {}}})]
    async with page_at(f"{script.origin}/health") as page:
        seen = await run(page, EVENTS, FOLLOW, {})
    assert seen == {"heard": [], "states": ["connecting", "closed not_found"], "failure": "not_found"}
    assert len(script.asked) == 1


async def test_an_event_that_is_no_json_is_a_failure(page_at: PageAt, script: Script) -> None:
    script.acts = [send(b"data: {\n\n", end="silent")]
    async with page_at(f"{script.origin}/health") as page:
        seen = await run(page, EVENTS, FOLLOW, {})
    assert seen["failure"] == "bad_answer" and len(script.asked) == 1


async def test_a_signal_ends_the_following_in_every_state(page_at: PageAt, script: Script) -> None:
    script.acts = [send(event(1), end="silent")]
    body = """
    const control = new AbortController(), states = [];
    await e.follow(arg, {signal: control.signal, minDelay: 60000, maxDelay: 60000, onEvent: () => control.abort(),
      onState: (state, failure) => { states.push(state); if (failure) control.abort(); }});
    return states;
    """
    async with page_at(f"{script.origin}/health") as page:
        assert await run(page, EVENTS, body, "/stream") == ["connecting", "open", "closed"]
        waiting = """
        const control = new AbortController();
        setTimeout(() => control.abort(), 100);
        await e.follow('http://127.0.0.1:9/', {signal: control.signal, minDelay: 60000, maxDelay: 60000, onEvent: () => {}});
        return 'ended';
        """
        assert await run(page, EVENTS, waiting) == "ended"


async def test_the_servers_own_run_streams_end(page_at: PageAt, start_server: StartServer) -> None:
    server = await start_server({"default": say()})
    body = {"model": "m", "messages": [{"role": "user", "content": "Hello!"}]}
    async with page_at(f"{server.origin}/health") as page:
        heard = await run(
            page,
            CLIENT + EVENTS,
            "const reply = await c.api.raw('/v1/chat/completions', {method: 'POST', body: JSON.stringify(arg),"
            " headers: {'content-type': 'application/json'}}); const heard = [];"
            "await e.follow(`/api/runs/${reply.headers.get('x-agentui-run')}/events`,"
            " {onEvent: (event) => { heard.push(event.data.type); }, minDelay: 5}); return heard",
            body,
        )
    assert heard[0] == "run.started" and heard[-1] == "run.finished"


# Drafts

SAVE = "return await d.saveDraft(arg.key, {document: arg.document, base: null, etag: null, time: arg.time})"


async def test_drafts_outlive_the_page_and_old_ones_are_only_marked(page_at: PageAt, script: Script) -> None:
    async with page_at(f"{script.origin}/health") as page:
        now = await page.evaluate("Date.now()")
        old = now - 31 * 24 * 3600 * 1000
        assert await run(page, DRAFTS, SAVE, {"key": "old", "document": {"n": 1}, "time": old}) == "disk"
        assert await run(page, DRAFTS, SAVE, {"key": "new", "document": {"n": 2}, "time": now}) == "disk"
        assert await run(page, DRAFTS, SAVE, {"key": "new", "document": {"n": 3}, "time": now}) == "disk"
        await page.reload()
        drafts = await run(page, DRAFTS, "return await d.loadDrafts()")
        assert [(item["key"], item["document"]["n"], item["isOld"], item["kept"]) for item in drafts] == [
            ("new", 3, False, "disk"),
            ("old", 1, True, "disk"),
        ]
        await run(page, DRAFTS, "await d.removeDraft('old')")
        assert [item["key"] for item in await run(page, DRAFTS, "return await d.loadDrafts()")] == ["new"]
        assert await run(page, DRAFTS, "return await d.storage()") == {"place": "disk", "reason": None}


async def test_values_have_names(page_at: PageAt, script: Script) -> None:
    async with page_at(f"{script.origin}/health") as page:
        for name in ("sample.b", "sample.a", "other"):
            assert await run(page, DRAFTS, "return await d.saveValue(arg, {name: arg})", name) == "disk"
        assert await run(page, DRAFTS, "return await d.loadValues('oth')") == [{"name": "other", "value": {"name": "other"}}]
        listed = await run(page, DRAFTS, "return await d.loadValues('sample.')")
        assert [item["name"] for item in listed] == ["sample.a", "sample.b"]
        await run(page, DRAFTS, "await d.removeValue('other')")
        assert await run(page, DRAFTS, "return await d.loadValues('other')") == []


@pytest.mark.parametrize(
    "setup",
    [
        "Object.defineProperty(window, 'indexedDB', {value: undefined});",
        "IDBFactory.prototype.open = () => { throw new DOMException('no', 'SecurityError'); };",
        "IDBObjectStore.prototype.put = function () { this.transaction.abort(); return this.get(1); };",
    ],
    ids=["there is none", "it is blocked", "it is full"],
)
async def test_without_a_database_memory_keeps_and_says_so(page_at: PageAt, script: Script, setup: str) -> None:
    async with page_at(f"{script.origin}/health", setup) as page:
        assert await run(page, DRAFTS, SAVE, {"key": "k", "document": {"n": 1}, "time": 5}) == "memory"
        drafts = await run(page, DRAFTS, "return await d.loadDrafts()")
        assert [(item["key"], item["kept"]) for item in drafts] == [("k", "memory")]
        assert await run(page, DRAFTS, "return await d.saveValue('v', 1)") == "memory"
        assert await run(page, DRAFTS, "return await d.loadValues('v')") == [{"name": "v", "value": 1}]
        await run(page, DRAFTS, "await d.removeDraft('k'); await d.removeValue('v')")
        assert await run(page, DRAFTS, "return [await d.loadDrafts(), await d.loadValues()]") == [[], []]
        if "put" not in setup:
            kept = await run(page, DRAFTS, "return await d.storage()")
            assert kept["place"] == "memory" and kept["reason"]
