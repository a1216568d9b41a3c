"""A request with a session is a turn: a floor with the question, the answer and what it cost."""

import asyncio

import pytest

from tests.api.callers import DIALECTS, is_whole, streamed_text, text_of
from tests.faults.callers import Asked, ask, asking
from tests.turns.conftest import StartHouse, on_engines
from tests.turns.house import House, chain, sets, target, text
from tests.upstreams.step import Step, Tokens

ENDS = {
    "openai": b"data: [DONE]",
    "openai_responses": b"event: response.completed",
    "claude": b"event: message_stop",
    "gemini": b'"finishReason":"STOP"',
}
WAYS = [(dialect, stream) for dialect in DIALECTS for stream in (False, True)]
ANOTHER = {"openai": "claude", "openai_responses": "gemini", "claude": "openai", "gemini": "openai_responses"}


@on_engines(("dialect", "stream"), DIALECTS, (False, True))
async def test_a_turn_is_whole_in_every_dialect(house: House, dialect: str, stream: bool) -> None:
    # OpenAI's streams tell what they cost only to who asks for it.
    more = {"stream_options": {"include_usage": True}} if stream and dialect == "openai" else {}
    for number, pipeline in enumerate(("plain", ANOTHER[dialect], "raw")):
        house.mock.script(Step(text="It is sunny.", tokens=Tokens(12, 34)))
        got = await house.caller(dialect, pipeline, session="my chat").ask("How is it?", stream=stream, **more)
        assert got.status == 200, got.body
        words = streamed_text(dialect, got.events) if stream else text_of(dialect, got.json)
        assert words == "It is sunny.", pipeline
        assert not stream or is_whole(dialect, got.events), pipeline
        floor = await house.memory.get(f"/floors/{got.headers['x-agentui-floor']}")
        assert (floor["floor_no"], floor["branch_id"], floor["state"]) == (number, "main", "committed"), pipeline
        assert (floor["session_id"], floor["branch_id"]) == (got.headers["x-agentui-session"], got.headers["x-agentui-branch"])
        assert (floor["token_in"], floor["token_out"]) == (12, 34), pipeline
        said = [("input", "user", "How is it?"), ("output", "assistant", "It is sunny.")]
        assert await house.memory.said(floor["id"]) == said, pipeline
        assert (await house.memory.run(floor["id"]))["run"]["status"] == "completed"
    own = {name for request in house.mock.requests for name in request.headers if name.startswith("x-agentui")}
    assert own == {"x-agentui-hops"}


async def test_a_session_is_found_by_its_name_and_by_its_id(house: House) -> None:
    first = await house.turn("One", session="a name of mine")
    id = first.headers["x-agentui-session"]
    second = await house.turn("Two", session=id)
    third = await house.turn("Three", session="a name of mine")
    other = await house.turn("One", session="another name")
    assert {second.headers["x-agentui-session"], third.headers["x-agentui-session"]} == {id}
    assert other.headers["x-agentui-session"] != id
    floors = await house.memory.floors(id)
    assert [(await house.memory.said(floor["id"]))[0][2] for floor in floors] == ["One", "Two", "Three"]
    assert [floor["parent_floor_id"] for floor in floors] == [None, floors[0]["id"], floors[1]["id"]]
    assert (await house.memory.get(f"/sessions/{id}"))["title"] == "a name of mine"


async def test_a_new_branch_forks_from_the_head_of_main_with_its_variables(start_house: StartHouse) -> None:
    gold = sets(("branch", "gold", "json", "{{ gold|default(0)|add(1) }}"))
    house = await start_house({"gold": chain(gold, sets(text("{{ gold }}"), id="say"))})

    async def count(**where: str) -> str:
        return text_of("openai", (await house.turn(pipeline="gold", session="s", **where)).json)

    assert [await count() for _ in range(3)] == ["1", "2", "3"]
    assert [await count(branch="fork") for _ in range(2)] == ["4", "5"]
    assert [await count() for _ in range(2)] == ["4", "5"]
    assert await count(branch="late") == "6"
    assert await count(branch="fork") == "6"
    id = (await house.memory.get("/sessions"))[0]["id"]
    main, fork = await house.memory.floors(id), await house.memory.floors(id, "fork")
    assert [floor["floor_no"] for floor in fork] == [3, 4, 5]
    assert fork[0]["parent_floor_id"] == main[2]["id"]
    assert {floor["state"] for floor in (*main, *fork)} == {"committed"}


async def test_an_answer_of_tool_calls_alone_is_a_turn(house: House) -> None:
    name, schema = "weather", {"type": "object", "properties": {"city": {"type": "string"}}}
    tools = {
        "openai": {"type": "function", "function": {"name": name, "parameters": schema}},
        "openai_responses": {"type": "function", "name": name, "parameters": schema, "strict": False},
        "claude": {"name": name, "input_schema": schema},
        "gemini": {"functionDeclarations": [{"name": name, "parameters": schema}]},
    }
    for dialect, stream in WAYS:
        for pipeline in ("plain", ANOTHER[dialect], "raw"):
            caller = house.caller(dialect, pipeline, session="tools")
            got = await caller.ask("Weather?", "tool", stream=stream, tools=[tools[dialect]])
            assert got.status == 200, (dialect, pipeline, got.body)
            said = [("input", "user", "Weather?"), ("output", "assistant", "")]
            assert await house.memory.said(got.headers["x-agentui-floor"]) == said, (dialect, pipeline)


async def test_a_question_without_words_is_a_message_if_it_shows_something(house: House) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    for content, asked in (([picture], [("input", "user", "")]), ("", []), ([{"type": "text", "text": ""}], [])):
        body = {"model": "text", "messages": [{"role": "user", "content": content}]}
        got = await house.caller(session="s").post("/v1/chat/completions", body)
        assert got.status == 200, got.body
        said = [*asked, ("output", "assistant", "Hello from the mock.")]
        assert await house.memory.said(got.headers["x-agentui-floor"]) == said


async def test_a_node_that_calls_no_model_answers_a_turn(start_house: StartHouse) -> None:
    house = await start_house({"echo": chain(sets(text("You said {{ chat.last_user }}")))})
    for dialect, stream in WAYS:
        got = await house.turn("Hey", dialect=dialect, pipeline="echo", stream=stream, session="s")
        words = streamed_text(dialect, got.events) if stream else text_of(dialect, got.json)
        assert words == "You said Hey", dialect
        said = [("input", "user", "Hey"), ("output", "assistant", "You said Hey")]
        assert await house.memory.said(got.headers["x-agentui-floor"]) == said, dialect


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_who_has_read_the_end_marker_finds_the_floor_committed(house: House, dialect: str) -> None:
    for way, pause in [(way, pause) for way in ("plain", ANOTHER[dialect], "raw") for pause in (0.05, 0, 0)]:
        house.mock.script(Step(text="Sun.", pause=pause))
        asked = ask(dialect, stream=True)
        there = Asked(f"/p/{way}{asked.path}", {**asked.headers, "x-agentui-session": "s"}, asked.body)
        async with asyncio.timeout(60), asking(house.server.origin, there) as (reader, _):
            heard = await reader.readuntil(b"\r\n\r\n")
            floor = next(line[17:] for line in heard.decode().split("\r\n") if line.lower().startswith("x-agentui-floor: "))
            await reader.readuntil(ENDS[dialect])
            assert (await house.memory.get(f"/floors/{floor}"))["state"] == "committed", way


@pytest.mark.parametrize("named", [{}, {"session": "s"}], ids=["alone", "in a session"])
async def test_what_passes_through_writes_no_variable(start_house: StartHouse, named: dict[str, str]) -> None:
    counted = sets(("global", "calls", "json", "{{ calls|default(0)|add(1) }}"))
    house = await start_house()
    house.server.put("pass", chain(counted, target("caller", house.mock.origin, headers={"x-request-id": "{{ calls }}"})))
    got = await house.caller("openai", "pass", **named).post("/v1/moderations", {"input": "x"})
    assert got.status == 404 and house.mock.last.path == "/v1/moderations"
    assert house.mock.last.headers["x-request-id"] == "1" and "x-agentui-floor" not in got.headers
    assert await house.memory.variables("global", "global") == {}
    assert await house.memory.get("/sessions") == []


async def test_a_token_count_sees_the_chat_and_is_no_turn_of_it(start_house: StartHouse) -> None:
    counted = sets(
        ("branch", "gold", "json", "{{ gold|default(0)|add(1) }}"),
        ("global", "calls", "json", "{{ calls|default(0)|add(1) }}"),
    )
    blocks = [{"kind": "text", "role": "system", "text": "Gold: {{ gold }}"}, {"kind": "history"}]
    house = await start_house()
    house.server.put("count", chain(counted, target("caller", house.mock.origin, blocks=blocks)))
    await house.turn(pipeline="count", session="s", dialect="claude")
    body = {"model": "text", "messages": [{"role": "user", "content": "Hello"}]}
    for session, gold in (("s", "Gold: 2"), ("new", "Gold: 1")):
        got = await house.caller("claude", "count", session=session).post("/v1/messages/count_tokens", body)
        assert got.status == 200, got.body
        assert gold in str(house.mock.last.body["system"])
        assert "x-agentui-floor" not in got.headers
    sessions = await house.memory.get("/sessions")
    assert [session["title"] for session in sessions] == ["s"]
    assert await house.memory.states(sessions[0]["id"]) == ["committed"]
    assert await house.memory.variables("global", "global") == {"calls": 1}
    assert await house.memory.seen(sessions[0]["id"]) == {"calls": 1, "gold": 1}
