"""The same turn asked twice with one Idempotency-Key: one turn, one call of the model, the same answer."""

import asyncio
import json
from dataclasses import replace

import aiohttp
import httpx
import pytest
from sqlalchemy import Connection, func, select, update

from agentui.api.proxy import targets
from agentui.store.tables import claims, generations
from agentui.turns import repeats
from tests.api.callers import DIALECTS, Got, error_of, is_whole, text_of
from tests.conftest import StartServer
from tests.faults.callers import Asked, ask, asking
from tests.faults.conftest import until
from tests.turns.conftest import StartHouse, on_engines
from tests.turns.house import House, Json, chain, sets, target, text
from tests.turns.locks import locked
from tests.upstreams.server import API_KEY
from tests.upstreams.step import Step

pytestmark = pytest.mark.timeout(300)
"""Seconds after which something hangs, on a machine that may be busy."""

COUNT = sets(("branch", "gold", "json", "{{ gold|default(0)|add(1) }}"))
KEPT = ("x-agentui-session", "x-agentui-branch", "x-agentui-floor", "x-agentui-run", "x-agentui-pipeline", "content-type")


@pytest.fixture
async def adventure(start_house: StartHouse) -> House:
    """Pipelines that count: ``count`` in the caller's dialect, ``count-claude``, and one that answers by itself."""
    house = await start_house()
    origin = house.mock.origin
    house.server.put("count", chain(COUNT, target("caller", origin)))
    house.server.put("count-claude", chain(COUNT, target("claude", origin)))
    house.server.put("own", chain(sets(text("You said: {{ chat.last_user }}"), id="say")))
    return house


async def keyed(house: House, key: str, text: str = "Hello", *, stream: bool = False, **more: str) -> Got:
    """Ask in the session ``s`` with a key."""
    headers = {name: more.pop(name) for name in ("session", "branch") if name in more}
    dialect, pipeline, model = (more.pop(name, default) for name, default in _ASKED)
    caller = house.caller(dialect, pipeline, **{"session": "s", **headers})
    return await replace(caller, headers={**caller.headers, "Idempotency-Key": key}).ask(text, model, stream=stream)


_ASKED = (("dialect", "openai"), ("pipeline", "count"), ("model", "text"))


def code_of(got: Got) -> str:
    """OpenAI's shape has the code."""
    return str(got.json["error"]["code"])


@on_engines(("dialect", "stream"), DIALECTS, (False, True))
async def test_the_same_request_again_gets_the_same_answer(adventure: House, dialect: str, stream: bool) -> None:
    for number, pipeline in enumerate(("count", "count-claude", "raw", "own")):
        calls = len(adventure.mock.requests)
        first, second, third = [
            await keyed(adventure, f"k{number}", dialect=dialect, pipeline=pipeline, stream=stream) for _ in range(3)
        ]
        assert (first.status, first.headers.get("idempotent-replayed")) == (200, None), first.body
        assert len(adventure.mock.requests) - calls == (pipeline != "own")
        assert not stream or is_whole(dialect, first.events)
        for again in (second, third):
            assert (again.status, again.body) == (200, first.body)
            assert again.headers["idempotent-replayed"] == "true"
            assert {name: again.headers[name] for name in KEPT} == {name: first.headers[name] for name in KEPT}
            assert again.headers["x-request-id"] != first.headers["x-request-id"]
    session = first.headers["x-agentui-session"]
    assert await adventure.memory.states(session) == ["committed"] * 4
    assert (await adventure.memory.seen(session))["gold"] == 2


async def test_another_key_is_another_turn_and_no_key_is_none(adventure: House) -> None:
    got = [await keyed(adventure, "a"), await keyed(adventure, "b"), await adventure.turn(pipeline="count", session="s")]
    assert len({one.headers["x-agentui-floor"] for one in got}) == 3
    assert len(adventure.mock.requests) == 3


async def test_the_key_goes_to_the_provider_as_well(adventure: House) -> None:
    await keyed(adventure, "mine", pipeline="raw")
    assert adventure.mock.requests[0].headers["idempotency-key"] == "mine"


async def test_another_request_with_the_key_is_refused(adventure: House) -> None:
    await keyed(adventure, "k")
    others = [
        await keyed(adventure, "k", "Other words"),
        await keyed(adventure, "k", model="other"),
        await keyed(adventure, "k", stream=True),
        await keyed(adventure, "k", session="t"),
        await keyed(adventure, "k", branch="alt"),
        await keyed(adventure, "k", pipeline="plain"),
    ]
    assert {(got.status, code_of(got)) for got in others} == {(422, "idempotency_key_reused")}
    for dialect in DIALECTS:
        got = await keyed(adventure, "k", dialect=dialect, model="other")
        assert got.status == 422
        assert "new key" in error_of(dialect, got.json)
    assert len(adventure.mock.requests) == 1
    assert len(await adventure.memory.get("/sessions")) == 1


@on_engines(("dialect", "stream"), DIALECTS, (False, True))
async def test_a_caller_with_another_provider_key_or_none_gets_no_answer_of_before(
    adventure: House, dialect: str, stream: bool
) -> None:
    await keyed(adventure, "k", dialect=dialect, stream=stream)
    caller = adventure.caller(dialect, "count", session="s")
    strangers: list[tuple[str, dict[str, str]]] = [
        ("", {}),
        ("sk-of-somebody-else", {}),
        ("", {"Authorization": "Basic Zm9yZWlnbg=="}),
        (API_KEY, {"api-key": "sk-of-somebody-else"}),
    ]
    for key, headers in strangers:
        stranger = replace(caller, key=key, headers={**caller.headers, **headers, "Idempotency-Key": "k"})
        got = await stranger.ask("Hello", "text", stream=stream)
        assert got.status == 422 and "provider key" in error_of(dialect, got.json)
    assert (await keyed(adventure, "k", dialect=dialect, stream=stream)).status == 200
    assert len(adventure.mock.requests) == 1


async def test_what_is_no_key_is_refused(adventure: House) -> None:
    for key in ("", "x" * 256, "a\tb", "ä"):
        got = await keyed(adventure, key)
        assert (got.status, code_of(got)) == (400, "validation_error"), key
        assert "255 printable" in error_of("openai", got.json)
    assert adventure.mock.requests == []
    assert (await keyed(adventure, "x" * 255)).status == 200


async def test_while_it_is_answered_the_same_request_waits_outside(adventure: House) -> None:
    adventure.mock.script(Step(hold="headers"))
    async with asyncio.TaskGroup() as group:
        first = group.create_task(keyed(adventure, "k"))
        await adventure.mock.was_asked()
        for dialect in DIALECTS:
            got = await keyed(adventure, "other", dialect=dialect)
            assert got.status == 409
        again = await keyed(adventure, "k")
        assert (again.status, code_of(again), again.headers["retry-after"]) == (409, "idempotency_in_progress", "1")
        adventure.mock.release()
    assert (await keyed(adventure, "k")).body == first.result().body
    assert len(adventure.mock.requests) == 1


async def test_two_at_once_are_one_turn(adventure: House) -> None:
    for number in range(25):
        sent = [keyed(adventure, f"k{number}", session=f"s{number}", stream=bool(number % 2)) for _ in range(4)]
        got = await asyncio.gather(*sent)
        assert {one.status for one in got} <= {200, 409}
        assert {code_of(one) for one in got if one.status == 409} <= {"idempotency_in_progress"}
        assert [one.headers.get("idempotent-replayed") for one in got if one.status == 200].count(None) == 1
        assert len({one.body for one in got if one.status == 200}) == 1
        assert len(adventure.mock.requests) == number + 1


async def test_pairs_of_one_session_count_once(start_house: StartHouse) -> None:
    house = await start_house(generation_queue=60)
    house.server.put("count", chain(COUNT, target("caller", house.mock.origin)))

    async def pair(number: int) -> None:
        async def insist() -> Got:
            while True:
                got = await keyed(house, f"k{number}", f"Words {number}", session=f"s{number % 8}", stream=bool(number % 3))
                if got.status != 409:
                    return got
                assert code_of(got) == "idempotency_in_progress"
                # Eighty who ask again at once have all connections of the store in use, and the turns wait for them.
                await asyncio.sleep(0.25)

        one, other = await asyncio.gather(insist(), insist())
        assert (one.status, one.body) == (200, other.body)
        assert sorted(("idempotent-replayed" in one.headers, "idempotent-replayed" in other.headers)) == [False, True]

    for start in range(0, 80, 40):
        async with asyncio.TaskGroup() as group:
            for number in range(start, start + 40):
                group.create_task(pair(number))
    assert len(house.mock.requests) == 80
    sessions = await house.memory.get("/sessions")
    assert [(await house.memory.seen(session["id"]))["gold"] for session in sessions] == [10] * 8
    for session in sessions:
        assert await house.memory.states(session["id"]) == ["committed"] * 10


@on_engines(("dialect", "stream"), DIALECTS, (False, True))
async def test_who_leaves_and_asks_again_gets_the_whole_answer(adventure: House, dialect: str, stream: bool) -> None:
    for number, pipeline in enumerate(("count", "count-claude", "raw")):
        adventure.mock.hold_again()
        adventure.mock.script(Step(text="Some words and some more.", hold=2 if stream else "headers"))
        question = _question(dialect, pipeline, f"k{number}", stream=stream)
        async with asyncio.timeout(60), asking(adventure.server.origin, question) as (reader, _):
            await adventure.mock.was_asked(number + 1)
            if stream and pipeline != "count-claude":  # of another dialect's first events some callers hear nothing
                await reader.readuntil(b"data: ")
        await asyncio.sleep(0.1)
        assert adventure.server.state.in_flight == 1
        adventure.mock.release()
        await until(lambda: adventure.server.state.in_flight == 0)
        got = await _ask_plainly(adventure, question)
        assert (got.status, got.headers["idempotent-replayed"]) == (200, "true")
        assert b"more." in got.body
        assert is_whole(dialect, got.events) if stream else text_of(dialect, got.json) == "Some words and some more."
        assert len(adventure.mock.requests) == number + 1
    session = got.headers["x-agentui-session"]
    assert await adventure.memory.states(session) == ["committed"] * 3
    floor = got.headers["x-agentui-floor"]
    assert (await adventure.memory.run(floor))["run"]["status"] == "completed"
    assert {run.state for run in adventure.server.state.history.list()} == {"finished"}


def _question(dialect: str, pipeline: str, key: str, *, stream: bool, model: str = "text") -> Asked:
    plain = ask(dialect, model, stream=stream)
    headers = {**plain.headers, "x-agentui-session": "s", "idempotency-key": key}
    return Asked(f"/p/{pipeline}{plain.path}", headers, plain.body)


async def _ask_plainly(house: House, question: Asked) -> Got:
    async with house.memory.http.post(
        house.server.origin + question.path,
        data=json.dumps(question.body),
        headers={"content-type": "application/json", **question.headers},
    ) as answer:
        return Got(answer.status, {name.lower(): value for name, value in answer.headers.items()}, await answer.read())


async def test_who_leaves_before_the_turn_has_begun_is_not_waited_for(adventure: House) -> None:
    await adventure.turn(pipeline="count", session="s")
    async with asyncio.timeout(60), locked(adventure):
        async with asking(adventure.server.origin, _question("openai", "count", "k", stream=False)):
            await until(lambda: adventure.server.state.in_flight)
            await asyncio.sleep(0.1)
        await asyncio.sleep(0.1)
    await until(lambda: adventure.server.state.in_flight == 0)
    assert len(adventure.mock.requests) == 1
    await until_free(adventure)
    assert (await keyed(adventure, "k")).headers.get("idempotent-replayed") is None


def generating(db: Connection) -> int:
    """How many turns generate."""
    return db.scalar(select(func.count()).select_from(generations)) or 0


async def until_free(house: House) -> None:
    """Until nothing generates."""
    async with asyncio.timeout(60):
        while await house.server.state.store.read(generating):  # noqa: ASYNC110  # the store tells nobody
            await asyncio.sleep(0.02)


async def test_nobody_waits_for_ever_for_a_turn_without_a_caller(start_house: StartHouse) -> None:
    house = await start_house(run_timeout=4)
    assert await house.memory.get("/sessions") == []  # the database is open

    async def leave(model: str, *, stream: bool) -> None:
        question = _question("openai", "plain", model, stream=stream, model=model)
        headers = {**question.headers, "x-agentui-session": model}
        async with asking(house.server.origin, replace(question, headers=headers)) as (reader, _):
            await house.mock.was_asked(3)
            if stream:
                await reader.readuntil(b"data: ")

    async with asyncio.timeout(60):
        await asyncio.gather(leave("hang", stream=False), leave("hang-mid", stream=True), leave("forever", stream=True))
    await until(lambda: house.server.state.in_flight == 0)
    await until_free(house)
    sessions = await house.memory.get("/sessions")
    assert [await house.memory.states(session["id"]) for session in sessions] == [["failed"]] * 3


async def test_a_turn_that_failed_may_be_tried_again(adventure: House) -> None:
    for pipeline, stream in [(pipeline, stream) for pipeline in ("count", "raw") for stream in (False, True)]:
        key = f"{pipeline}-{stream}"
        adventure.mock.script([Step(status=500)] * 3)
        assert (await keyed(adventure, key, pipeline=pipeline, stream=stream)).status == 500
        adventure.mock.forget_steps()
        got = await keyed(adventure, key, pipeline=pipeline, stream=stream)
        assert (got.status, got.headers.get("idempotent-replayed")) == (200, None)
        assert (await keyed(adventure, key, pipeline=pipeline, stream=stream)).body == got.body
    session = got.headers["x-agentui-session"]
    assert await adventure.memory.states(session) == ["failed", "committed"] * 4


async def test_a_commit_that_fails_is_told_in_the_stream_and_may_be_tried_again(adventure: House) -> None:
    shared = sets(("chat", "gold", "json", "{{ gold|default(0)|add(1) }}"))
    adventure.server.put("shared", chain(shared, target("caller", adventure.mock.origin)))
    adventure.server.put("shared-claude", chain(shared, target("claude", adventure.mock.origin)))
    session = (await adventure.turn(session="s")).headers["x-agentui-session"]
    for number, (dialect, pipeline) in enumerate(
        [(dialect, pipeline) for dialect in DIALECTS for pipeline in ("shared", "shared-claude")]
    ):
        asked = len(adventure.mock.requests)
        adventure.mock.hold_again()
        adventure.mock.script(Step(hold=2))
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            turn = group.create_task(keyed(adventure, f"k{number}", dialect=dialect, pipeline=pipeline, stream=True))
            await adventure.mock.was_asked(asked + 1)
            await adventure.memory.put("chat", "gold", number * 10, scope_id=session)
            adventure.mock.release()
        assert b"Send the request again" in turn.result().body
        assert not is_whole(dialect, turn.result().events)
        got = await keyed(adventure, f"k{number}", dialect=dialect, pipeline=pipeline, stream=True)
        assert is_whole(dialect, got.events)
        assert (await adventure.memory.seen(session))["gold"] == number * 10 + 1


async def test_an_answer_that_is_too_large_is_not_made_twice(adventure: House, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 64 * 1024
    for module in (repeats, targets):
        monkeypatch.setattr(module, "MAX_ANSWER", most)
    for stream in (False, True):
        adventure.mock.script(Step(text="x" * (most + 1)))
        first = await keyed(adventure, f"{stream}", stream=stream)
        assert first.status == 200
        again = await keyed(adventure, f"{stream}", stream=stream)
        assert (again.status, code_of(again)) == (410, "idempotency_answer_gone")
    for dialect in ("claude", "gemini"):
        adventure.mock.script(Step(text="x" * (most + 1)))
        await keyed(adventure, dialect, dialect=dialect)
        again = await keyed(adventure, dialect, dialect=dialect)
        assert again.status == 410
        assert "too large to be kept" in error_of(dialect, again.json)


async def test_a_chat_that_is_removed_takes_its_answers_along(adventure: House) -> None:
    first = await keyed(adventure, "k")
    await adventure.memory.call("DELETE", f"/sessions/{first.headers['x-agentui-session']}")
    assert await adventure.server.state.store.read(lambda db: db.scalar(select(func.count()).select_from(claims))) == 0
    again = await keyed(adventure, "k")
    assert "idempotent-replayed" not in again.headers


async def test_a_key_that_an_upstream_repeats_is_not_kept(adventure: House) -> None:
    adventure.mock.script(Step(text=f"The key is {API_KEY}."))
    await keyed(adventure, "k")
    again = await keyed(adventure, "k")
    assert API_KEY.encode() not in again.body
    assert text_of("openai", again.json).startswith("The key is ***")


@pytest.mark.parametrize("pipeline", ["count", "count-claude", "raw"])
async def test_a_stream_that_repeats_a_key_in_pieces_is_not_kept(adventure: House, pipeline: str) -> None:
    adventure.mock.script(Step(chunks=("The key is ", API_KEY[:7], API_KEY[7:], ".")))
    first = await keyed(adventure, "k", pipeline=pipeline, stream=True)
    assert first.status == 200 and len(adventure.mock.requests) == 1
    assert await adventure.server.state.store.read(lambda db: db.scalar(select(claims.c.body))) is None
    again = await keyed(adventure, "k", pipeline=pipeline, stream=True)
    assert (again.status, code_of(again)) == (410, "idempotency_answer_gone")
    assert len(adventure.mock.requests) == 1


async def test_items_of_a_stream_with_a_key_can_be_referred_to(adventure: House) -> None:
    """As without one: OpenAI keeps the items of its answers, and here they are kept of another vendor's."""
    adventure.mock.script(Step(text="Once upon a time."))
    streamed = await keyed(adventure, "k", dialect="openai_responses", pipeline="count-claude", stream=True)
    [item] = [event["response"]["output"][0] for event in streamed.events if event.get("type") == "response.completed"]
    asked = [{"type": "item_reference", "id": item["id"]}, {"role": "user", "content": "Go on."}]
    async with aiohttp.ClientSession() as http:
        headers = {"authorization": f"Bearer {API_KEY}", "x-agentui-session": "s"}
        url = f"{adventure.server.origin}/p/count-claude/v1/responses"
        async with http.post(url, headers=headers, json={"model": "text", "input": asked}) as answer:
            assert answer.status == 200, await answer.text()
    assert "Once upon a time." in str(adventure.mock.requests[-1].body["messages"])


async def test_a_turn_of_a_dead_process_frees_its_key(adventure: House) -> None:
    adventure.mock.script(Step(hold="headers"))
    async with asyncio.TaskGroup() as group:
        first = group.create_task(keyed(adventure, "k"))
        await adventure.mock.was_asked()
        dead = update(generations).values(owner="server_dead", expires_at=1)
        await adventure.server.state.store.write(lambda db: db.execute(dead) and None)
        adventure.mock.forget_steps()
        again = await keyed(adventure, "k")
        assert (again.status, again.headers.get("idempotent-replayed")) == (200, None)
        adventure.mock.release()
    assert (first.result().status, code_of(first.result())) == (409, "commit_conflict")
    assert (await keyed(adventure, "k")).body == again.body
    session = again.headers["x-agentui-session"]
    assert await adventure.memory.states(session) == ["failed", "committed"]


async def test_without_a_session_the_key_is_the_providers_alone(adventure: House) -> None:
    for _ in range(2):
        caller = replace(adventure.caller("openai", "plain"), headers={"Idempotency-Key": "k"})
        assert "idempotent-replayed" not in (await caller.ask()).headers
    assert len(adventure.mock.requests) == 2
    assert not adventure.server.state.store.status["open"]


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_two_servers_on_one_postgresql_share_the_keys(
    start_house: StartHouse, start_server: StartServer, store_settings: Json
) -> None:
    one = await start_house()
    server = await start_server({"count": chain(COUNT, target("caller", one.mock.origin))}, **store_settings)
    one.server.put("count", chain(COUNT, target("caller", one.mock.origin)))
    other = replace(one, server=server)
    one.mock.script(Step(hold="headers"))
    async with asyncio.TaskGroup() as group:
        first = group.create_task(keyed(one, "k"))
        await one.mock.was_asked()
        again = await keyed(other, "k")
        assert (again.status, code_of(again)) == (409, "idempotency_in_progress")
        one.mock.release()
    assert (await keyed(other, "k")).body == first.result().body
    for number in range(20):
        got = await asyncio.gather(*(keyed(each, f"k{number}", session=f"t{number}") for each in (one, other, one, other)))
        assert [got.status for got in got].count(200) >= 1
        assert {code_of(got) for got in got if got.status != 200} <= {"idempotency_in_progress"}
        assert len(one.mock.requests) == number + 2


async def test_an_sdk_that_tries_again_by_itself_is_one_turn(adventure: House) -> None:
    from openai import AsyncOpenAI

    base = f"{adventure.server.origin}/p/count/v1"
    headers = {"x-agentui-session": "s", "Idempotency-Key": "sdk"}
    sent: list[str] = []
    came_again = asyncio.Event()

    async def count(request: httpx.Request) -> None:
        sent.append(request.headers.get("idempotency-key", ""))
        if sent.count("sdk") == 2:
            came_again.set()

    http = httpx.AsyncClient(event_hooks={"request": [count]})
    async with AsyncOpenAI(base_url=base, api_key=API_KEY, max_retries=20, http_client=http) as client:
        said: list[Json] = [{"role": "user", "content": "Hi"}]
        # The first turn of all opens the memory, which may take longer than this client waits.
        await client.chat.completions.create(model="text", messages=said, extra_headers={"x-agentui-session": "other"})
        adventure.mock.script(Step(text="Slow words.", hold="headers"))
        turn = asyncio.ensure_future(
            client.chat.completions.with_raw_response.create(model="text", messages=said, extra_headers=headers, timeout=2)
        )
        await adventure.mock.was_asked(2)
        await came_again.wait()
        adventure.mock.release()
        got = await turn
    assert got.headers["idempotent-replayed"] == "true"
    assert json.loads(got.content)["choices"][0]["message"]["content"] == "Slow words."
    assert len(adventure.mock.requests) == 2
    # On a slow machine a try may end before its turn was opened for the key: that one failed, and kept nothing.
    states = await adventure.memory.states(got.headers["x-agentui-session"])
    assert states.count("committed") == 1 and set(states) <= {"committed", "failed"}


async def test_an_sdk_reads_a_stream_that_is_given_again(adventure: House) -> None:
    from anthropic import AsyncAnthropic
    from openai import AsyncOpenAI

    origin = adventure.server.origin
    headers = {"x-agentui-session": "s", "Idempotency-Key": "openai"}
    heard = []
    async with AsyncOpenAI(base_url=f"{origin}/p/count/v1", api_key=API_KEY) as client:
        for _ in range(2):
            chunks = await client.chat.completions.create(
                model="text", messages=[{"role": "user", "content": "Hi"}], stream=True, extra_headers=headers
            )
            heard.append("".join([chunk.choices[0].delta.content or "" async for chunk in chunks if chunk.choices]))
    headers = {"x-agentui-session": "s", "Idempotency-Key": "anthropic"}
    async with AsyncAnthropic(base_url=f"{origin}/p/count", api_key=API_KEY) as claude:
        for _ in range(2):
            async with claude.messages.stream(
                model="text", max_tokens=64, messages=[{"role": "user", "content": "Hi"}], extra_headers=headers
            ) as stream:
                heard.append(await stream.get_final_text())
    assert heard == ["Hello from the mock."] * 4
    assert len(adventure.mock.requests) == 2


async def test_a_turn_without_a_caller_can_be_stopped(start_house: StartHouse) -> None:
    house = await start_house()
    question = _question("openai", "plain", "k", stream=False, model="hang")
    async with asyncio.timeout(60), asking(house.server.origin, question):
        await house.mock.was_asked()
    await until(lambda: house.server.state.in_flight == 1)
    [run] = house.server.state.history.running
    async with aiohttp.ClientSession() as http, http.post(f"{house.server.origin}/api/runs/{run.id}/cancel", json={}) as answer:
        assert answer.status == 202
    await until(lambda: house.server.state.in_flight == 0)
    await until_free(house)
