"""The five tiers in pipelines: what a template sees, what SetVars writes, and who sees it when."""

import asyncio
import json

from tests.api.callers import DIALECTS, error_of, text_of
from tests.turns.conftest import StartHouse
from tests.turns.house import House, Json, chain, sets, target, text


def say(template: str, *rows: tuple[str, str, str, str]) -> Json:
    """A pipeline that sets what the rows say, and then answers with a template."""
    return chain(sets(*rows, id="write"), sets(text(template), id="say")) if rows else chain(sets(text(template), id="say"))


async def heard(house: House, pipeline: str, said: str = "Hello", **headers: str) -> str:
    """What a pipeline answers."""
    return text_of("openai", (await house.turn(said, pipeline=pipeline, **headers)).json)


async def begun(house: House, session: str = "s") -> str:
    """A session of one turn; its id."""
    return (await house.turn(session=session)).headers["x-agentui-session"]


async def test_the_nearest_tier_wins(start_house: StartHouse) -> None:
    tiers = "{{ who }} [[who]] [[VAR:who]]"
    near = {
        "far": say(tiers),
        "floor": say(tiers, ("floor", "who", "string", "floor")),
        "page": say(tiers, ("floor", "who", "string", "floor"), ("page", "who", "string", "page")),
        "run": say(tiers, ("page", "who", "string", "page"), ("run", "who", "string", "run")),
    }
    house = await start_house(near)
    session = await begun(house)
    expected = ""
    for scope, where in (
        ("global", {}),
        ("chat", {"scope_id": session}),
        ("branch", {"session_id": session, "branch_id": "main"}),
    ):
        await house.memory.put(scope, "who", scope, **where)
        expected = " ".join([scope] * 3)
        assert await heard(house, "far", session=session) == expected
    for tier in ("floor", "page", "run"):
        assert await heard(house, tier, session=session) == " ".join([tier] * 3)
    assert await heard(house, "far", session=session) == expected


async def test_a_stored_variable_hides_a_name_of_the_context_whatever_else_a_template_names(start_house: StartHouse) -> None:
    names = ("model", "vendor_format", "system", "params", "chat")
    bare = {name: say(f"{{{{ {name} }}}} [[{name}]]") for name in names}
    beside = {f"{name}-beside": say(f"{{{{ {name} }}}} [[{name}]]{{{{ mood|default('') }}}}") for name in names}
    context = {f"{name}-asked": say(f"[[VAR:{name}]] {{{{ incoming.path }}}}") for name in names}
    dotted = {"dotted": say("{{ params.temperature }}")}
    house = await start_house({**bare, **beside, **context, **dotted})
    before = {name: await heard(house, f"{name}-asked") for name in names}
    assert await heard(house, "model") == "text text"
    for name in names:
        await house.memory.put("global", name, f"stored {name}" if name != "params" else {"temperature": 42})
    for where in ({}, {"session": "s"}):
        for name in names:
            stored = f"stored {name}" if name != "params" else '{"temperature":42}'
            assert await heard(house, name, **where) == await heard(house, f"{name}-beside", **where) == f"{stored} {stored}"
            assert await heard(house, f"{name}-asked", **where) == before[name]
        assert await heard(house, "dotted", **where) == "42"


async def test_a_tier_is_read_by_its_name_past_nearer_ones(start_house: StartHouse) -> None:
    names = "/".join(f"{{{{ vars.{tier}.who }}}}" for tier in ("global", "chat", "branch", "floor", "page", "run"))
    rows = [(tier, "who", "string", tier[0]) for tier in ("global", "chat", "branch", "floor", "page", "run")]
    house = await start_house({"names": say(names + " {{ vars.chat.nobody|default('-') }}", *rows)})
    assert await heard(house, "names", session="s") == "g/c/b/f/p/r -"


async def test_what_a_turn_does_not_name_is_there_when_a_tier_is_read_whole(start_house: StartHouse) -> None:
    named = say("{{ gold }}", ("chat", "gold", "json", "{{ gold|add(1) }}"))
    whole = say("{{ vars.chat|json }}", ("chat", "mood", "string", "{{ vars.chat.gold }}"))
    house = await start_house({"named": named, "whole": whole, "no": say("{{ vars.chat.nobody|default('-') }}")})
    session = await begun(house)
    for key, value in (("gold", 1), ("other", 2)):
        await house.memory.put("chat", key, value, scope_id=session)
    assert await heard(house, "named", session="s") == "2"
    assert json.loads(await heard(house, "whole", session="s")) == {"gold": 2, "mood": "2", "other": 2}
    assert await heard(house, "no", session="s") == "-"
    assert await house.memory.variables("chat", session) == {"gold": 2, "mood": "2", "other": 2}


async def test_a_stored_variable_shadows_the_contexts_own_name(start_house: StartHouse) -> None:
    house = await start_house({"model": say("{{ model }} [[VAR:model]]")})
    session = await begun(house)
    assert await heard(house, "model", session="s") == "text text"
    await house.memory.put("chat", "model", "mine", scope_id=session)
    assert await heard(house, "model", session="s") == "mine text"


async def test_every_mode_writes_to_every_tier(start_house: StartHouse) -> None:
    tiers = ("page", "floor", "branch", "chat", "global")
    modes = {"string": ("Hi {{ chat.last_user }}", "Hi You"), "expr": ("[1 + 2, True, {'a': None}]", [3, True, {"a": None}])}
    modes["json"] = ('{"n": {{ missing|default(0)|add(1) }}, "to": "{{ chat.last_user }}"}', {"n": 1, "to": "You"})
    rows = [(tier, f"{tier}_{mode}", mode, value) for tier in tiers for mode, (value, _) in modes.items()]
    house = await start_house({"all": say("ok", *rows)})
    got = await house.turn("You", pipeline="all", session="s")
    session, floor = got.headers["x-agentui-session"], got.headers["x-agentui-floor"]
    places = {"page": await house.memory.page(floor), "floor": floor, "branch": f"branch:{session}:main", "chat": session}
    expected = {tier: {f"{tier}_{mode}": value for mode, (_, value) in modes.items()} for tier in tiers}
    for tier in tiers:
        kept = await house.memory.variables(tier, places.get(tier, "global"))
        # What is written to a floor is written to its page, and promoted from there.
        assert kept == (expected["page"] | expected["floor"] if tier == "page" else expected[tier])


async def test_a_write_is_seen_by_later_nodes_and_not_within_its_own(start_house: StartHouse) -> None:
    first = sets(("branch", "gold", "expr", "5"), ("run", "inside", "json", "{{ gold|default('none') }}"), id="first")
    second = sets(("branch", "gold", "json", "{{ gold|add(1) }}"), ("run", "then", "json", "{{ gold }}"), id="second")
    last = sets(text("{{ inside }} {{ then }} {{ gold }} {{ OUT.first.stored.branch.gold }}"), id="last")
    house = await start_house({"steps": chain(first, second, last)})
    assert await heard(house, "steps", session="s") == "none 5 6 5"
    assert await heard(house, "steps", session="s") == "6 5 6 5"


async def test_nobody_else_sees_a_write_before_the_turn_is_over(start_house: StartHouse, house: House) -> None:
    rows = (("global", "gold", "expr", "7"), ("chat", "gold", "expr", "8"))
    house.server.put("slow", chain(sets(*rows), target("openai", house.mock.origin)))
    house.server.put("look", say("{{ gold|default('none') }}"))
    session = await begun(house)
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        turn = group.create_task(house.turn(pipeline="slow", model="hang", session="s"))
        await house.mock.was_asked(2)
        assert await heard(house, "look") == "none"
        assert await heard(house, "look", session="s", branch="b") == "none"
        assert await house.memory.seen(session) == {}
        house.mock.release()
        await turn
    assert await heard(house, "look") == "7"
    assert await heard(house, "look", session="s", branch="b") == "8"
    assert await house.memory.seen(session) == {"gold": 8}


async def test_a_path_writes_into_the_variable_unless_a_flat_one_is_called_so(start_house: StartHouse) -> None:
    rows = (
        ("chat", "assets.gold", "json", "{{ vars.chat.assets.gold|default(0)|add(1) }}"),
        ("chat", 'gear["a.b"]', "expr", "1"),
    )
    house = await start_house({"path": say("{{ assets.gold }}", *rows)})
    first = await house.turn(pipeline="path", session="s")
    session = first.headers["x-agentui-session"]
    assert await heard(house, "path", session="s") == "2"
    assert await house.memory.variables("chat", session) == {"assets": {"gold": 2}, "gear": {"a.b": 1}}
    await house.memory.put("chat", "assets.gold", "flat", scope_id=session)
    await house.turn(pipeline="path", session="s")
    assert await house.memory.variables("chat", session) == {"assets": {"gold": 2}, "assets.gold": 3, "gear": {"a.b": 1}}


async def test_a_page_and_a_floor_keep_theirs_to_themselves(start_house: StartHouse) -> None:
    rows = (("page", "p", "string", "{{ chat.last_user }}"), ("floor", "f", "string", "{{ chat.last_user }}"))
    house = await start_house({"note": say("ok", *rows), "look": say("{{ p|default('-') }}{{ f|default('-') }}")})
    floors = [(await house.turn(said, pipeline="note", session="s")).headers["x-agentui-floor"] for said in ("one", "two")]
    assert await heard(house, "look", session="s") == "--"
    session = (await house.memory.get("/sessions"))[0]["id"]
    assert await house.memory.seen(session) == {}
    for floor, said in zip(floors, ("one", "two"), strict=True):
        page = await house.memory.page(floor)
        assert await house.memory.seen(session, floor_id=floor) == {"f": said}
        assert await house.memory.seen(session, page_id=page) == {"p": said, "f": said}
        assert await house.memory.seen(session, page_id=await house.memory.page(floor, "input")) == {"f": said}


async def test_the_page_tells_what_was_staged_and_promoted(start_house: StartHouse) -> None:
    rows = [(tier, f"in_{tier}", "expr", "[1]") for tier in ("page", "floor", "branch", "chat", "global")]
    house = await start_house({"note": say("ok", *rows)})
    got = await house.turn(pipeline="note", session="s")
    floor = got.headers["x-agentui-floor"]
    page = await house.memory.page(floor)
    staged = await house.memory.get(f"/pages/{page}/variables/staged")
    place = {"page_id": page, "floor_id": floor, "session_id": got.headers["x-agentui-session"], "branch_id": "main"}
    assert {name: staged[name] for name in place} == place
    told = [(row["key"], row["op"], row["value"], row["status"], row["intent"]) for row in staged["items"]]
    assert told == [
        ("in_page", "set", [1], "accepted_page_only", "page_only"),
        ("in_floor", "set", [1], "promoted", "promote_to_floor_on_accept"),
    ]
    assert {row["source"]["toolName"] for row in staged["items"]} == {"SetVars"}
    assert {row["evidence"]["runId"] for row in staged["items"]} == {got.headers["x-agentui-run"]}
    promoted = (await house.memory.get(f"/pages/{page}/variables/promotions"))["items"]
    assert [(row["key"], row["from_scope"], row["from_scope_id"], row["to_scope"], row["to_scope_id"]) for row in promoted] == [
        ("in_floor", "page", page, "floor", floor)
    ]
    assert promoted[0]["staged_write_id"] == staged["items"][1]["id"]
    other = await house.memory.page(floor, "input")
    assert (await house.memory.get(f"/pages/{other}/variables/staged"))["items"] == []
    assert (await house.memory.get(f"/pages/{other}/variables/promotions"))["items"] == []


HOSTILE = "{{ gold }} [[gold]] [[VAR:incoming.api_key]] [[OUT1]] {{ incoming.headers.authorization }} %s $x"


async def test_a_stored_value_is_never_read_as_a_template(start_house: StartHouse) -> None:
    rows = (("chat", "said", "string", "{{ chat.last_user }}"), ("chat", "as_json", "json", '{"said": "{{ chat.last_user }}"}'))
    again = (("branch", "copy", "string", "{{ said }}"), ("branch", "more", "json", "{{ as_json }}"))
    house = await start_house({"keep": say("{{ said }}", *rows), "again": say("{{ copy }}|{{ more.said }}", *again)})
    assert await heard(house, "keep", HOSTILE, session="s") == HOSTILE
    assert await heard(house, "again", session="s") == f"{HOSTILE}|{HOSTILE}"
    session = (await house.memory.get("/sessions"))[0]["id"]
    seen = await house.memory.seen(session)
    assert seen == {"said": HOSTILE, "as_json": {"said": HOSTILE}, "copy": HOSTILE, "more": {"said": HOSTILE}}
    blocks = [{"kind": "text", "role": "system", "text": "{{ said }}"}, {"kind": "history"}]
    house.server.put("send", chain(target("openai", house.mock.origin, blocks=blocks)))
    await house.turn(pipeline="send", session="s")
    assert house.mock.last.body["messages"][0]["content"] == HOSTILE


async def test_without_a_session_only_global_can_be_written(start_house: StartHouse) -> None:
    house = await start_house()
    for tier in ("page", "floor", "branch", "chat"):
        house.server.put("note", say("ok", ("global", "kept", "expr", "1"), (tier, "gold", "expr", "1")))
        for dialect, stream in [(dialect, stream) for dialect in DIALECTS for stream in (False, True)]:
            got = await house.ask(dialect=dialect, pipeline="note", stream=stream)
            assert got.status == 422
            message = error_of(dialect, got.json)
            assert all(word in message for word in ("'gold'", f"'{tier}'", "'write'")), message
            assert "x-agentui-floor" not in got.headers
    assert await house.memory.variables("global", "global") == {}
    assert await house.memory.get("/sessions") == []


async def test_without_a_session_global_is_read_and_written_for_good(start_house: StartHouse) -> None:
    count = say("{{ calls }}", ("global", "calls", "json", "{{ calls|default(0)|add(1) }}"))
    house = await start_house({"count": count, "look": say("{{ calls }} {{ vars.global.calls }} {{ vars.chat.calls }}")})
    assert [await heard(house, "count") for _ in range(3)] == ["1", "2", "3"]
    assert await heard(house, "look") == "3 3 "
    await house.memory.put("global", "calls", 10)
    assert await heard(house, "look") == "10 10 "
    assert await heard(house, "count", session="s") == "11"
    assert await house.memory.variables("global", "global") == {"calls": 11}


async def test_a_variable_of_the_run_that_is_set_later_does_not_hide_a_stored_one(start_house: StartHouse) -> None:
    house = await start_house(
        {"same": chain(sets(("run", "gold", "json", "{{ gold|default(0)|add(1) }}"), text("{{ gold }}")))}
    )
    await house.memory.put("global", "gold", 4)
    assert await heard(house, "same") == "4"
    assert await heard(house, "same", session="s") == "4"


async def test_a_memory_node_keeps_what_it_writes_with_the_turn(start_house: StartHouse) -> None:
    rows: list[Json] = [
        {"action": "increment", "tier": "chat", "path": "assets.gold", "value": "2"},
        {"action": "append", "tier": "branch", "path": "facts", "value": "{{ chat.last_user }}"},
        {"action": "delete", "tier": "global", "path": "old"},
        {"action": "read", "path": "facts", "name": "FACTS"},
    ]
    memory = {"id": "keep", "type": "Memory", "config": {"rows": rows}}
    house = await start_house({"keep": chain(memory, sets(text("{{ FACTS|json }} {{ assets.gold }}"), id="say"))})
    await house.memory.put("global", "old", 1)
    assert await heard(house, "keep", "One", session="s") == '["One"] 2'
    got = await house.turn("Two", pipeline="keep", session="s")
    assert text_of("openai", got.json) == '["One","Two"] 4'
    session = got.headers["x-agentui-session"]
    assert await house.memory.variables("chat", session) == {"assets": {"gold": 4}}
    assert await house.memory.variables("branch", f"branch:{session}:main") == {"facts": ["One", "Two"]}
    assert await house.memory.variables("global", "global") == {}
    refused = await house.ask("Alone", pipeline="keep")
    assert "variable_not_writable" in refused.body.decode()
