"""The worst that a caller can send is worked on without holding up everybody else; a watchdog names what does."""

import asyncio
import io
import time

import pytest

from agentui.http.limits import LIMITS
from agentui.jsonio import Json, dumps
from tests.faults.callers import Asked, ask
from tests.faults.conftest import StartHouse, until
from tests.faults.speech import says
from tests.faults.watchdog import watching
from tests.turns.house import chain, sets, text
from tests.unit.upstream.conftest import Bytes, Visit

HELD_SECONDS = 0.15
"""Processor time of the loop in one piece. Aimed at is 0.05; caches and collectors of a busy machine take their part."""
JSON_TYPE = {"content-type": "application/json"}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}

WORST: dict[str, list[Json]] = {
    "messages of one role that are not plain": [{"role": "user", "content": [{"type": "text", "text": "x"}, PICTURE]}] * 8000,
    "plain messages": [{"role": "user" if number % 2 == 0 else "assistant", "content": "x"} for number in range(15_000)],
    "open calls": [
        {"role": "user", "content": "x"},
        *(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "same", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            }
            for _ in range(5000)
        ),
        {"role": "user", "content": "x"},
    ],
}


@pytest.mark.parametrize("what", WORST)
@pytest.mark.parametrize("pipeline", ["claude", "gemini", "openai_responses"])
async def test_a_long_conversation_holds_nobody_up(start_house: StartHouse, wild: Bytes, what: str, pipeline: str) -> None:
    says(wild, "Hi.")
    house = await start_house(wild.url)
    asked = ask("openai")
    body = dumps({**asked.body, "messages": WORST[what]})
    async with watching() as dog:
        at = Asked(f"/p/{pipeline}{asked.path}", asked.headers, {})
        heard = await house.send(at, data=io.BytesIO(body), headers=JSON_TYPE)
        assert heard.status != 500, heard.body[:500]
        [summary] = house.server.state.history.list()
        for path in ("", "/request", "/events/0", "/events/3"):
            async with house.session.get(f"{house.origin}/api/runs/{summary.id}{path}") as shown:
                await shown.read()
    assert dog.longest < HELD_SECONDS, dog.report


@pytest.mark.parametrize(("count", "status"), [(95_001, 200), (124_001, 413)])
async def test_a_turn_of_as_many_messages_as_there_may_be_holds_nobody_up(
    start_house: StartHouse, wild: Bytes, count: int, status: int
) -> None:
    says(wild, "Hi.")
    house = await start_house(wild.url)
    asked = ask("openai")
    many = [{"role": "user" if number % 2 == 0 else "assistant", "content": "x"} for number in range(count)]
    body = dumps({**asked.body, "messages": many})
    at = Asked(f"/p/claude{asked.path}", {**asked.headers, "x-agentui-session": "s"}, {})
    async with watching() as dog:
        heard = await house.send(at, data=io.BytesIO(body), headers=JSON_TYPE)
    assert heard.status == status, heard.body[:500]
    assert dog.longest < HELD_SECONDS, dog.report


async def test_templates_over_megabytes_hold_nobody_up(start_house: StartHouse) -> None:
    loud = "{{ incoming.json|json|upper|replace('A', 'aa')|lower|upper|truncate(9) }}[[NOBODY]]"
    document = chain(*(sets(text(loud), id=f"loud{number}") for number in range(3)), sets(text("Done."), id="says"))
    house = await start_house("http://127.0.0.1:9", {"loud": document})
    asked = ask("openai")
    sent = {**asked.body, "messages": [{"role": "user", "content": "a word, " * 250_000}]}
    sample = {"path": asked.path, "headers": asked.headers, "body": sent}
    body, previewed = dumps(sent), dumps({"pipeline": "loud", "node": "loud2", "request": sample})
    async with watching() as dog:
        heard = await house.send(Asked("/p/loud" + asked.path, asked.headers, {}), data=io.BytesIO(body), headers=JSON_TYPE)
        async with house.session.post(f"{house.origin}/api/preview", data=io.BytesIO(previewed), headers=JSON_TYPE) as shown:
            preview = await shown.json()
    assert heard.status == 200, heard.body[:500]
    assert any("NOBODY" in warning for warning in preview["warnings"]), preview
    assert dog.longest < HELD_SECONDS, dog.report


async def test_the_watchdog_names_what_holds_the_loop() -> None:
    def hold_everybody_up() -> None:
        until = time.thread_time() + 0.3
        while time.thread_time() < until:
            pass

    async with watching() as dog:
        await asyncio.sleep(0.01)
        hold_everybody_up()
        await asyncio.sleep(0.01)
    assert dog.longest >= 0.3
    assert "hold_everybody_up" in dog.report


async def test_a_body_of_more_values_than_a_model_reads_is_refused(start_house: StartHouse) -> None:
    house = await start_house("http://127.0.0.1:9", {"quiet": chain(sets(text("Done."), id="says"))})
    asked = ask("openai")
    async with watching() as dog:
        data = b'{"model": "m", "messages": [' + b"{}," * 4_000_000 + b"{}]}"
        heard = await house.send(Asked("/p/quiet" + asked.path, asked.headers, {}), data=io.BytesIO(data), headers=JSON_TYPE)
    assert heard.status == 400
    assert b"250000 objects" in heard.body
    assert dog.longest < HELD_SECONDS, dog.report


@pytest.mark.parametrize("form", [b'--cut\r\nContent-Disposition: form-data; name=file; x="' + b";" * 2_000_000, None])
async def test_headers_of_semicolons_hold_nobody_up(start_house: StartHouse, form: bytes | None) -> None:
    house = await start_house("http://127.0.0.1:9", {})
    semicolons = 'application/json; x="' + ";" * 7_000
    body, kind = (b"{}", semicolons) if form is None else (form + b"\r\n\r\nx\r\n--cut--", "multipart/form-data; boundary=cut")
    async with watching() as dog:
        for path in ("/import/character", "/import/chat") * 4:
            headers = {"content-type": kind}
            async with house.session.post(house.origin + path, data=io.BytesIO(body), headers=headers) as refused:
                assert refused.status == 400, await refused.text()
    assert dog.longest < HELD_SECONDS, dog.report


DENSE = {
    "short texts": b'{"model": "m", "messages": [' + b'"ab",' * 6_000_000 + b"1]}",
    "halves of characters": b'{"model": "m", "messages": [{"role": "user", "content": "' + rb"\ud83d" * 5_000_000 + b'"}]}',
    "as many values as there may be": b'{"model": "m", "messages": [' + b'"ab",' * 490_000 + b"1]}",
    "a short body of very many messages": b'{"model": "m", "messages": [' + b'{"role":"user","content":1},' * 4_500 + b"1]}",
}


@pytest.mark.parametrize("what", DENSE)
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/api/validate"])
async def test_bodies_that_are_more_than_their_bytes_hold_nobody_up(start_house: StartHouse, what: str, path: str) -> None:
    house = await start_house("http://127.0.0.1:9", {"quiet": chain(sets(text("Done."), id="says"))})
    asked = ask("openai")
    async with watching() as dog:
        at = Asked(path if path.startswith("/api") else f"/p/quiet{path}", asked.headers, {})
        heard = await house.send(at, data=io.BytesIO(DENSE[what]), headers=JSON_TYPE)
    assert heard.status in (200, 400, 413), heard.body[:300]
    if what == "short texts":
        assert heard.status == 413, heard.body[:300]
    assert dog.longest < HELD_SECONDS, dog.report
    assert house.server.app[LIMITS].body_bytes == 0


async def test_what_a_body_is_when_parsed_counts_among_the_bodies(start_house: StartHouse, wild: Bytes) -> None:
    go_on = asyncio.Event()

    async def wait(visit: Visit) -> None:
        await go_on.wait()
        await visit.answer(200, b"{}", Content_Type="application/json")

    wild.script = wait
    house = await start_house(wild.url, max_bodies=30_000_000)
    asked = ask("openai")
    at = Asked("/p/raw" + asked.path, asked.headers, {})
    dense = dumps({**asked.body, "stop": ["a"] * 400_000})
    assert len(dense) < 2_000_000
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        first = group.create_task(house.send(at, data=io.BytesIO(dense), headers=JSON_TYPE))
        await until(lambda: len(wild.visits) == 1)
        second = await house.send(at, data=io.BytesIO(dense), headers=JSON_TYPE)
        go_on.set()
    assert (first.result().status, second.status) == (200, 503)
    assert house.server.app[LIMITS].body_bytes == 0


def called(number: int) -> Json:
    return {"index": number, "id": f"c{number}", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def event(**delta: Json) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    return (
        b"data: "
        + dumps({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})
        + b"\n\n"
    )


def completion(choices: list[Json]) -> bytes:
    return dumps({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": choices})


def said(**message: Json) -> Json:
    return {"finish_reason": "stop", "message": {"role": "assistant", "content": None, **message}}


LARGE: dict[str, bytes] = {
    "calls": completion([{"index": 0, **said(tool_calls=[called(number) for number in range(80_000)])}]),
    "choices": completion([{"index": number, **said(content="x")} for number in range(120_000)]),
    "calls in a stream": b"".join(event(tool_calls=[called(number)]) for number in range(60_000)),
    "calls in an event": event(tool_calls=[called(number) for number in range(60_000)]),
    "as many calls as there may be": completion([{"index": 0, **said(tool_calls=[called(number) for number in range(9_900)])}]),
}


@pytest.mark.parametrize("what", LARGE)
@pytest.mark.parametrize("dialect", ["openai", "claude", "gemini"])
async def test_an_answer_of_very_many_parts_holds_nobody_up(
    start_house: StartHouse, wild: Bytes, what: str, dialect: str
) -> None:
    kind = "text/event-stream" if LARGE[what].startswith(b"data") else "application/json"

    async def answer(visit: Visit) -> None:
        await visit.answer(200, LARGE[what], Content_Type=kind)

    wild.script = answer
    house = await start_house(wild.url)
    asked = ask(dialect, stream="stream" in kind)
    async with watching() as dog:
        heard = await house.send(Asked(f"/p/openai{asked.path}", asked.headers, asked.body))
    assert (b"more than 10000 choices and parts" in heard.body) == (what != "as many calls as there may be"), heard.body[-500:]
    assert dog.longest < HELD_SECONDS, dog.report
