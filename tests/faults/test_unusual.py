"""What lasts longer, ends earlier or is spelled otherwise than usual: streams, connections behind a whole answer, and keys."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import web
from yarl import URL

from agentui.jsonio import Json, dumps
from tests.conftest import StartServer, call

ASKED = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hello"}]}


def chunk(delta: Json, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return (
        b"data: "
        + dumps({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})
        + b"\n\n"
    )


async def speak_slowly(request: web.Request) -> web.StreamResponse:
    """Eight words in two seconds."""
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    for number in range(8):
        await response.write(chunk({"role": "assistant", "content": f"w{number} "}))
        await asyncio.sleep(0.25)
    await response.write(chunk({}, "stop") + b"data: [DONE]\n\n")
    return response


async def break_off_behind_the_end(request: web.Request) -> web.StreamResponse:
    """A whole answer, and then no end of the body."""
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    await response.write(chunk({"role": "assistant", "content": "Hi"}) + chunk({}, "stop") + b"data: [DONE]\n\n")
    assert request.transport is not None
    request.transport.close()
    return response


@pytest.fixture
async def upstream() -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_post("/slow/v1/chat/completions", speak_slowly)
    app.router.add_post("/broken/v1/chat/completions", break_off_behind_the_end)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


def forward(base_url: str) -> Json:
    node = {"id": "n1", "type": "RawForward", "config": {"base_url": base_url}}
    return {"format": 1, "name": "raw", "nodes": [node], "edges": []}


@pytest.mark.parametrize("pipeline", ["call", "raw"])
async def test_an_answer_that_streams_outlasts_the_runs_deadline(
    start_server: StartServer, upstream: str, pipeline: str
) -> None:
    base_url = f"{upstream}/slow"
    server = await start_server({"call": call("openai", base_url), "raw": forward(base_url)}, run_timeout=1.0)
    async with (
        aiohttp.ClientSession() as http,
        http.post(f"{server.origin}/p/{pipeline}/v1/chat/completions", json=ASKED) as answer,
    ):
        said = (await answer.read()).decode()
    assert [f"w{number} " in said for number in range(8)] == [True] * 8
    assert "[DONE]" in said


async def test_a_connection_that_breaks_behind_a_whole_answer_opens_no_circuit(
    start_server: StartServer, upstream: str
) -> None:
    server = await start_server({"call": call("openai", f"{upstream}/broken")})
    async with aiohttp.ClientSession() as http:
        for _ in range(30):
            async with http.post(f"{server.origin}/p/call/v1/chat/completions", json=ASKED) as answer:
                assert answer.status == 200
                assert "[DONE]" in await answer.text()


async def test_a_key_that_is_no_text_lists_the_pipelines_all_the_same(start_server: StartServer, upstream: str) -> None:
    server = await start_server({"call": call("openai", upstream)})
    reader, writer = await asyncio.open_connection("127.0.0.1", URL(server.origin).port)
    writer.write(
        b"GET /p/call/v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \xff\r\nConnection: close\r\n\r\n"
    )
    answer = await reader.read()
    writer.close()
    assert answer.startswith(b"HTTP/1.1 200")


TOKEN = "own-token-0123456789"


@pytest.mark.parametrize("pipeline", ["call", "raw"])
async def test_the_servers_own_token_goes_nowhere_however_its_name_is_spelled(start_server: StartServer, pipeline: str) -> None:
    heard: list[str] = []

    async def listen(request: web.Request) -> web.Response:
        heard.append(f"{request.raw_path} {dict(request.headers)}")
        return web.json_response({"object": "list", "data": []})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", listen)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    base_url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    documents = {"call": call("openai", base_url), "raw": forward(base_url)}
    server = await start_server(documents, token=TOKEN)
    async with aiohttp.ClientSession() as http:
        whole = {**ASKED, "stream": False}
        async with http.post(
            URL(f"{server.origin}/p/{pipeline}/v1/chat/completions?%6bey={TOKEN}", encoded=True), json=whole
        ) as answer:
            await answer.read()
        for headers in ({"x-api-key": f"Bearer {TOKEN}"}, {"x-goog-api-key": f"Bearer {TOKEN}"}):
            async with http.get(f"{server.origin}/p/{pipeline}/v1/models", headers=headers) as answer:
                assert answer.status == 200
    await runner.cleanup()
    assert heard
    assert TOKEN not in "".join(heard)
