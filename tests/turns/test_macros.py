"""SillyTavern's macros in the fields of a pipeline: what they read and write of a chat's variables."""

from tests.api.callers import text_of
from tests.turns.conftest import StartHouse
from tests.turns.house import House, Json, chain, target
from tests.turns.talk import Talk
from tests.upstreams.server import Mock


def macros(*texts: str) -> Json:
    """A node that sets variables to texts with macros; the last one is its answer."""
    rows = [{"name": f"V{number}", "value": text, "language": "sillytavern"} for number, text in enumerate(texts)]
    return {"id": "macros", "type": "SetVars", "config": {"variables": rows}}


async def heard(house: House, pipeline: str, said: str = "Hello", **headers: str) -> str:
    """What a pipeline answers."""
    return text_of("openai", (await house.turn(said, pipeline=pipeline, **headers)).json)


async def test_a_counter_counts_the_turns_of_its_branch(start_house: StartHouse) -> None:
    house = await start_house({"count": chain(macros("{{.turns++}}"))})
    assert [await heard(house, "count", session="s") for _ in range(3)] == ["1", "2", "3"]
    assert await heard(house, "count", session="other") == "1"
    session = (await house.turn(pipeline="count", session="s")).headers["x-agentui-session"]
    assert await house.memory.variables("branch", f"branch:{session}:main") == {"turns": "4"}
    assert await house.memory.variables("chat", session) == {}


async def test_the_local_view_is_the_chat_and_the_global_one_is_not(start_house: StartHouse) -> None:
    house = await start_house({"see": chain(macros("{{.who}}/{{$who}}/{{getvar::rich.gold}}"))})
    session = (await house.turn(pipeline="see", session="s")).headers["x-agentui-session"]
    await house.memory.put("global", "who", "global")
    assert await heard(house, "see", session="s") == "/global/"
    await house.memory.put("chat", "who", "chat", scope_id=session)
    await house.memory.put("branch", "rich", {"gold": 3}, session_id=session, branch_id="main")
    assert await heard(house, "see", session="s") == "chat/global/3"
    await house.memory.put("branch", "who", "branch", session_id=session, branch_id="main")
    assert await heard(house, "see", session="s") == "branch/global/3"


async def test_what_one_text_writes_the_next_ones_read_in_every_language(start_house: StartHouse) -> None:
    plain = {"id": "plain", "type": "SetVars", "config": {"variables": [{"name": "SEEN", "value": "{{ gold }}"}]}}
    house = await start_house({"p": chain(macros("{{setvar::gold::5}}{{setglobalvar::all::7}}", "{{.gold}}{{$all}}"), plain)})
    assert await heard(house, "p", session="s") == "5"
    assert await house.memory.variables("global", "global") == {"all": "7"}


async def test_a_variable_is_deleted_and_a_member_is_taken_out(start_house: StartHouse) -> None:
    house = await start_house({"drop": chain(macros("{{deletevar::gold}}{{deletevar::bag.coins}}|{{.gold}}|{{.bag}}"))})
    session = (await house.turn(pipeline="drop", session="s")).headers["x-agentui-session"]
    for key, value in (("gold", 3), ("bag", {"coins": 1, "rope": 2}), ("other", 1)):
        await house.memory.put("branch", key, value, session_id=session, branch_id="main")
    assert await heard(house, "drop", session="s") == '||{"rope":2}'
    assert await house.memory.variables("branch", f"branch:{session}:main") == {"bag": {"rope": 2}, "other": 1}
    assert await heard(house, "drop", session="s") == '||{"rope":2}'


async def test_without_a_session_what_is_written_lasts_as_long_as_the_run(start_house: StartHouse) -> None:
    house = await start_house({"p": chain(macros("{{.a=1}}{{deletevar::b}}", "{{.a}}{{.b}}{{hasvar::a}}"))})
    assert await heard(house, "p") == "1true"
    assert await heard(house, "p") == "1true"


async def test_a_failed_turn_writes_nothing(start_house: StartHouse) -> None:
    house = await start_house(
        {
            "fails": chain(macros("{{.turns++}}"), target("openai", "http://127.0.0.1:9", retries=0)),
            "see": chain(macros("{{.turns}}")),
        }
    )
    assert (await house.ask(pipeline="fails", session="s")).status == 502
    assert await heard(house, "see", session="s") == ""


async def test_a_block_of_a_call_is_written_in_macros(start_house: StartHouse, mock: Mock) -> None:
    blocks = [
        {"kind": "text", "role": "system", "text": "You are {{char}}.{{.calls++}}", "language": "sillytavern"},
        {"kind": "text", "role": "user", "text": "{{if {{.calls}} > 1}}Again{{else}}First{{/if}}", "language": "sillytavern"},
    ]
    house = await start_house({"call": chain(target("openai", mock.origin, blocks=blocks))})
    for number, word in enumerate(("First", "Again"), 1):
        await house.turn(pipeline="call", session="s")
        sent = [message["content"] for message in mock.last.body["messages"]]
        assert sent == [f"You are Assistant.{number}", word]


async def test_values_of_the_request_and_of_the_run(start_house: StartHouse) -> None:
    names = {"id": "names", "type": "SetVars", "config": {"variables": [{"name": "char", "value": "Mira"}]}}
    names["config"]["variables"].append({"name": "description", "value": "A {{ chat.last_user }}"})
    text = "{{user}}, {{char}}, {{lastUserMessage}}, {{model}}, {{MOOD}}{{description}}"
    house = await start_house({"p": chain(names, macros(text))})
    assert await heard(house, "p", said="{{char}} [[model]]") == (
        "User, Mira, {{char}} [[model]], text, {{MOOD}}A {{char}} [[model]]"
    )


async def test_a_key_is_not_stored_and_its_reverse_is_masked(start_house: StartHouse) -> None:
    key = {"id": "key", "type": "SetVars", "config": {"variables": [{"name": "KEY", "value": "[[VAR:incoming.api_key]]"}]}}
    house = await start_house({"p": chain(key, macros("{{.k={{KEY}}}}", "{{reverse::{{KEY}}}}"))})
    got = await house.turn(pipeline="p", session="s")
    (backwards,) = {text_of("openai", got.json)}
    kept = await house.memory.variables("branch", f"branch:{got.headers['x-agentui-session']}:main")
    assert backwards[::-1] not in str(kept) and "***" in kept["k"]
    run = await house.memory.call("GET", f"/api/runs/{got.headers['x-agentui-run']}")
    assert run[0] == 200 and backwards not in str(run[1])


async def test_a_row_is_a_macros_text_by_any_of_its_names(start_house: StartHouse) -> None:
    names = {"userName": "Ann", "CHAR": "Bob", "charDescription": "alias", "description": "own"}
    rows = {"id": "card", "type": "SetVars", "config": {"variables": [{"name": n, "value": v} for n, v in names.items()]}}
    said = macros("{{user}} {{userName}} {{char}} {{group}} {{description}} {{charDescription}}")
    house = await start_house({"p": chain(rows, said)})
    assert await heard(house, "p") == "Ann Ann Bob Bob own own"


async def test_a_counter_that_grows_too_large_is_left_as_it_is(start_house: StartHouse) -> None:
    house = await start_house({"p": chain(macros("{{.a=1e308}}", "{{.a += 1e308}}|{{.a}}"))})
    assert await heard(house, "p", session="s") == "{{.a += 1e308}}|1e308"


async def test_a_session_names_who_speaks_in_it(start_house: StartHouse) -> None:
    house = await start_house({"names": chain(macros("{{char}}/{{user}}/{{group}}/{{description}}/{{charFirstMessage}}"))})
    assert await heard(house, "names", session="unknown") == "Assistant/User/Assistant//"
    ada = {"name": "Ada", "description": "{{char}} counts.", "greeting": "Hello!"}
    body = {"title": "t", "character_snapshot": ada, "user_snapshot": {"name": "Ann"}}
    _, made = await house.memory.call("POST", "/sessions", body)
    assert await heard(house, "names", session=made["data"]["id"]) == "Ada/Ann/Ada/{{char}} counts./Hello!"


async def test_a_variable_names_the_character_before_the_session_does(start_house: StartHouse) -> None:
    named = {"id": "named", "type": "SetVars", "config": {"variables": [{"name": "char", "value": "Mira"}]}}
    house = await start_house({"names": chain(named, macros("{{char}}/{{group}}"))})
    _, made = await house.memory.call("POST", "/sessions", {"character_snapshot": {"name": "Ada"}})
    assert await heard(house, "names", session=made["data"]["id"]) == "Mira/Mira"


async def test_a_client_says_why_it_generates_and_the_chat_how_long_ago_it_was(start_house: StartHouse) -> None:
    house = await start_house({"why": chain(macros("{{lastGenerationType}}/{{idleDuration}}"))})
    assert await heard(house, "why", session="s") == "normal/just now"
    assert await heard(house, "why", session="s", intent=" Swipe ") == "swipe/a few seconds"
    assert await heard(house, "why", session="s", intent="{{setvar::a::1}}") == "normal/a few seconds"


async def test_a_pipelines_macros_tell_what_those_of_the_prompt_tell(start_house: StartHouse) -> None:
    both = "{{char}}/{{user}}/{{lastGenerationType}}/{{lastMessage}}/{{maxContext}}/{{idleDuration}}"
    house = await start_house({"told": chain(macros(both))})
    body = {
        "character_snapshot": {"name": "Ada"},
        "user_snapshot": {"name": "Ann"},
        "model_params": {"max_context_tokens": 4000},
        "pipeline_id": "told",
    }
    _, made = await house.memory.call("POST", "/sessions", body)
    talk = Talk(house, made["data"]["id"])
    assert (await talk.respond("Hi."))["generated_text"] == "Ada/Ann/normal/Hi./4000/just now"
    answer = await talk.respond("Go on.", prompt_intent="continue")
    assert answer["generated_text"] == "Ada/Ann/continue/Go on./4000/a few seconds"
