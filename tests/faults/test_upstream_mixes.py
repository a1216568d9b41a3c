"""Faults that need every dialect, streamed and not, or two things at once (U3, U6, U8, U12, U18-U20)."""

import asyncio
import json
import ssl
from pathlib import Path

import pytest

from agentui.jsonio import Json
from tests.campaigns.answers import Telling, telling
from tests.campaigns.shapes import read_stream
from tests.certificates import self_signed
from tests.conftest import call
from tests.faults.callers import DIALECTS, Asked, Heard, Route, ask, check_error, check_whole, error_of, routes
from tests.faults.conftest import KINDS, House, StartHouse, forward
from tests.unit.upstream.conftest import Bytes, Visit, serving
from tests.upstreams.server import Mock, Step

PIECES = ("naïve ", "words ", "that end")
REFUSAL = b'{"error": {"message": "No such model.", "type": "x", "param": null, "code": null}}'
WAYS = [(dialect, stream) for dialect in DIALECTS for stream in (False, True)]


def told_to(visit: Visit) -> Telling:
    """The answer in the dialect and the manner in which it was asked for."""
    path = visit.head.split(b" ", 2)[1]
    paths = {b"/v1/chat/completions": "openai", b"/v1/responses": "openai_responses", b"/v1/messages": "claude"}
    stream = b'"stream":true' in visit.body.replace(b" ", b"") or b":stream" in path
    return telling(paths.get(path, "gemini"), PIECES, stream=stream)


def kind_of(told: Telling) -> bytes:
    """How an answer is announced."""
    return b"text/event-stream" if told.is_stream else b"application/json"


@pytest.mark.parametrize("kind", KINDS)
async def test_a_certificate_that_nobody_signed_is_told_to_everybody(
    start_house: StartHouse, tmp_path: Path, kind: str
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(self_signed(tmp_path / "server.pem"))
    async for secure in serving(context):
        house = await start_house(secure.url)
        for route in routes(kind):
            heard = await house.ask(route)
            assert heard.status == 502, route
            assert "certificate" in error_of(route.caller, heard)["message"]
        assert secure.visits == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", ["said", "unsaid", "old"])
async def test_a_connection_that_ends_after_every_answer_is_no_fault_for_anybody(
    wild_house: House, wild: Bytes, kind: str, ending: str
) -> None:
    async def script(visit: Visit) -> None:
        told = told_to(visit)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: " + kind_of(told)
        match ending:
            case "said":
                await visit.say(head + b"\r\nConnection: close\r\n\r\n" + told.body)
            case "unsaid":
                await visit.say(head + b"\r\nContent-Length: %d\r\n\r\n" % len(told.body) + told.body)
            case "old":
                await visit.say(head.replace(b"1.1", b"1.0") + b"\r\n\r\n" + told.body)
        visit.writer.close()

    wild.script = script
    for route in routes(kind) * 2:
        check_whole(route.caller, await wild_house.ask(route), "".join(PIECES), stream=route.stream)
    assert len(wild.visits) == len(routes(kind)) * 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 13])
async def test_tiny_chunks_are_put_together_for_everybody(wild_house: House, wild: Bytes, kind: str, size: int) -> None:
    async def script(visit: Visit) -> None:
        told = told_to(visit)
        pieces = [told.body[at : at + size] for at in range(0, len(told.body), size)]
        chunks = b"".join(b"%x;of=%d\r\n%b\r\n" % (len(piece), size, piece) for piece in pieces)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: " + kind_of(told) + b"\r\nTransfer-Encoding: chunked\r\n\r\n"
        await visit.say(head, chunks + b"0\r\nX-Trailer: late\r\n\r\n")

    wild.script = script
    for route in routes(kind):
        check_whole(route.caller, await wild_house.ask(route), "".join(PIECES), stream=route.stream)


def two(first: Json, base_url: str) -> Json:
    """A pipeline that answers with its first node, and goes on."""
    after = call("openai", base_url)["nodes"][0]
    nodes = [{**first["nodes"][0], "id": "answers"}, {**after, "id": "fails"}]
    edges = [{"from": "answers", "to": "fails"}]
    return {"format": 1, "name": "two", "nodes": nodes, "edges": edges, "answer": "answers"}


@pytest.mark.parametrize(("dialect", "stream"), WAYS)
@pytest.mark.parametrize("kind", ["same", "raw"])
async def test_an_answer_whose_pipeline_fails_afterwards_never_looks_finished(
    start_house: StartHouse, mock: Mock, wild: Bytes, dialect: str, stream: bool, kind: str
) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(404, REFUSAL, Content_Type="application/json")

    wild.script = script
    answering = call("caller", mock.origin) if kind == "same" else forward(mock.origin)
    house = await start_house(mock.origin, {"two": two(answering, wild.url)})
    asked = ask(dialect, stream=stream)
    heard = await house.send(Asked(f"/p/two{asked.path}", asked.headers, asked.body))
    if kind == "same" and not stream:
        assert heard.status == 404
        error_of(dialect, heard)
        return
    assert heard.status == 200
    assert heard.broken == (kind == "raw")
    if stream:
        read = read_stream(dialect, heard.body, cut=heard.broken)
        assert not read.finished
        assert kind == "raw" or read.error is not None


@pytest.mark.parametrize("at", range(1, len(b'"finishReason"')))
async def test_geminis_finish_that_is_cut_in_two_is_held_back_whole(start_house: StartHouse, wild: Bytes, at: int) -> None:
    told = telling("gemini", PIECES, stream=True)
    cut = told.body.rindex(b'"finishReason"') + at

    async def script(visit: Visit) -> None:
        if not visit.head.startswith(b"POST /v1beta"):
            await visit.answer(404, REFUSAL, Content_Type="application/json")
            return
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(told.body)
        await visit.say(head + told.body[:cut])
        await asyncio.sleep(0.02)
        await visit.say(told.body[cut:])

    wild.script = script
    house = await start_house(wild.url, {"two": two(forward(wild.url), wild.url)})
    asked = ask("gemini", stream=True)
    heard = await house.send(Asked(f"/p/two{asked.path}", asked.headers, asked.body))
    assert heard.broken
    assert not read_stream("gemini", heard.body, cut=True).finished
    alone = await house.ask(Route("gemini", "raw", stream=True))
    assert alone.body == told.body


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"message": "No.", "type": "x", "param": null, "code": null}}',
        b'{"type": "error", "error": {"message": "No."}}',
        b'{"type": "error", "error": {"message": {"deep": 1}, "type": "x"}}',
        b'{"error": {"code": 400, "message": "No.", "status": "X"}}',
    ],
)
async def test_an_error_that_is_not_claudes_is_told_to_claudes_callers_in_claudes_shape(
    wild_house: House, wild: Bytes, body: bytes
) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(400, body, Content_Type="application/json")

    wild.script = script
    heard = await wild_house.ask(Route("claude", "same", stream=False))
    assert heard.status == 400
    assert error_of("claude", heard)["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    "body", [b'{"error": "just a text"}', b'{"detail": "just a text"}', b'{"error": {"message": "just a text"}}']
)
async def test_an_error_after_an_answer_began_has_a_message_whatever_the_upstream_made_of_it(
    start_house: StartHouse, mock: Mock, wild: Bytes, body: bytes
) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(400, body, Content_Type="application/json")

    wild.script = script
    house = await start_house(mock.origin, {"two": two(call("caller", mock.origin), wild.url)})
    asked = ask("openai", stream=True)
    heard = await house.send(Asked(f"/p/two{asked.path}", asked.headers, asked.body))
    last = json.loads(heard.body.rstrip().rpartition(b"data: ")[2])
    assert last["error"]["message"] == "just a text"


@pytest.mark.parametrize("kind", ["same", "translated"])
async def test_a_page_with_an_error_status_whose_chunks_are_garbage_is_told_in_json(
    wild_house: House, wild: Bytes, kind: str
) -> None:
    async def script(visit: Visit) -> None:
        head = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
        await visit.say(head + b"6\r\n<html>\r\nzz\r\n")
        visit.writer.close()

    wild.script = script
    for route in routes(kind):
        heard: Heard = await wild_house.ask(route)
        assert heard.status == 502, route
        check_error(route.caller, heard.json, heard.status)
        assert b"<html>" not in heard.body


async def test_an_error_in_the_middle_is_followed_by_nothing(house: House, mock: Mock) -> None:
    for dialect in DIALECTS:
        mock.script(Step(text="one two three four five", fail_after=3))
        heard = await house.ask(Route(dialect, "same", stream=True))
        assert read_stream(dialect, heard.body).error is not None
