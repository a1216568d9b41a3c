"""Prompt Blocks that stand for the library: characters and lorebooks by name, and the prompt that a session makes."""

import pytest

from tests.api.callers import DIALECTS
from tests.turns.conftest import StartHouse
from tests.turns.house import House, Json, chain, target
from tests.turns.test_live_assets import bound_talk, make, sent
from tests.upstreams.server import Mock

CARD: Json = {
    "name": "Mara",
    "description": "{{char}} sails with {{user}}.",
    "personality": "Calm.",
    "scenario": "",
    "first_mes": "Ahoy, {{user}}.",
    "system_prompt": "Be {{char}}.",
    "mes_example": "<START>\n{{char}}: Aye.",
    "post_history_instructions": "Stay at sea.",
    "extensions": {},
}
BOOK: Json = {
    "0": {"uid": 0, "key": ["sea"], "content": "The sea of {{char}} is deep.", "position": 0, "order": 20},
    "1": {"uid": 1, "key": ["sea"], "content": "Salt.", "position": 1},
    "2": {"uid": 2, "key": ["sea"], "content": "Storms.", "position": 4, "depth": 1, "role": 1},
    "3": {"uid": 3, "key": ["land"], "content": "Dry."},
    "4": {"uid": 4, "key": [], "constant": True, "content": "Outlet.", "position": 7, "outletName": "o"},
}
CHARACTER: Json = {"kind": "character", "asset": "mara"}
LORE: Json = {"kind": "lorebook", "asset": "The  World"}
TALK: Json = {"kind": "history"}


def pipeline(mock: Mock, *blocks: Json, provider: str = "caller") -> Json:
    """A pipeline of one call with these blocks."""
    return chain(target(provider, mock.origin, blocks=list(blocks), capabilities='{"system": "anywhere"}'))


async def fill(house: House) -> tuple[Json, Json]:
    """A character and a worldbook of the library."""
    card = await make(house, "/characters", snapshot=CARD)
    return card, await make(house, "/worldbooks", name="The World", data={"entries": BOOK})


async def test_a_stateless_pipeline_names_a_character_and_a_lorebook(start_house: StartHouse, mock: Mock) -> None:
    house = await start_house({"b": pipeline(mock, CHARACTER, LORE, TALK)})
    await fill(house)
    await house.turn("At sea", pipeline="b")
    assert sent(house) == [
        ("system", "Mara sails with User.\n\nCalm."),
        ("system", "The sea of Mara is deep.\nSalt.\nStorms."),
        ("user", "At sea"),
    ]
    await house.turn("At home", pipeline="b")
    assert sent(house)[1:] == [("user", "At home")]


async def test_fields_positions_and_roles_are_chosen(start_house: StartHouse, mock: Mock) -> None:
    fields = ["system_prompt", "examples", "post_history"]
    blocks = [
        {**CHARACTER, "fields": fields},
        {**CHARACTER, "fields": ["first_message"], "role": "assistant"},
        {**CHARACTER, "fields": ["scenario"]},
        TALK,
        {**LORE, "apart": True, "positions": ["at_depth", "before", "outlet"]},
    ]
    house = await start_house({"b": pipeline(mock, *blocks)})
    await fill(house)
    await house.turn("sea", pipeline="b")
    assert sent(house) == [
        ("system", "Be Mara.\n\n<START>\nMara: Aye.\n\nStay at sea."),
        ("assistant", "Ahoy, User."),
        ("user", "sea"),
        ("user", "Storms."),
        ("system", "The sea of Mara is deep."),
        ("system", "Outlet."),
    ]


async def test_a_lorebook_looks_as_deep_and_takes_as_much_as_its_block_says(start_house: StartHouse, mock: Mock) -> None:
    house = await start_house(
        {"b": pipeline(mock, {**LORE, "depth": 1}, TALK), "c": pipeline(mock, {**LORE, "budget": 2}, TALK)}
    )
    await fill(house)
    said = [{"role": "user", "content": "At sea"}, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "Hm."}]
    got = await house.caller(pipeline="b").post("/v1/chat/completions", {"model": "text", "messages": said})
    assert (got.status, len(sent(house))) == (200, 3)
    await house.turn("At sea", pipeline="c")
    assert "deep" not in str(sent(house))


async def test_an_id_names_an_asset_and_a_deleted_one_is_gone(house: House, mock: Mock) -> None:
    card, book = await fill(house)
    document = pipeline(mock, {**CHARACTER, "asset": card["id"]}, {**LORE, "asset": book["id"]}, TALK)
    status, answer = await house.memory.call("PUT", "/api/pipelines/named", document, **{"if-none-match": "*"})
    assert status == 201, answer
    await house.turn("At sea", pipeline="named")
    assert len(sent(house)) == 3
    # What is changed is sent at once.
    status, _ = await house.memory.call(
        "POST", f"/characters/{card['id']}/versions", {"snapshot": {**CARD, "description": "New."}}
    )
    assert status == 201
    await house.turn("At sea", pipeline="named")
    assert sent(house)[0] == ("system", "New.\n\nCalm.")
    status, _ = await house.memory.call("DELETE", f"/characters/{card['id']}")
    assert status == 200
    assert (await house.ask("At sea", pipeline="named")).status == 422


async def test_an_unknown_asset_fails_in_the_callers_dialect(start_house: StartHouse, mock: Mock) -> None:
    house = await start_house({"a": pipeline(mock, CHARACTER, TALK), "b": pipeline(mock, LORE, TALK)})
    for word, id in (("character 'mara'", "a"), ("lorebook 'The  World'", "b")):
        for dialect in DIALECTS:
            got = await house.ask("Hi", dialect=dialect, pipeline=id)
            assert got.status == 422, got.body
            assert f"The library has no active {word}" in got.json["error"]["message"]


async def test_a_check_warns_of_assets_that_are_not_there(house: House, mock: Mock) -> None:
    await fill(house)
    blocks = [
        CHARACTER,
        LORE,
        {**LORE, "asset": "Nowhere"},
        {**CHARACTER, "asset": "A\0b"},
        {**LORE, "asset": "X", "enabled": False},
    ]
    status, told = await house.memory.call("POST", "/api/validate", {"document": pipeline(mock, *blocks, TALK)})
    assert status == 200
    found = [(each["code"], each["severity"], each["node"], each["field"]) for each in told["problems"]]
    assert found == [("asset.unknown", "warning", "call", f"blocks.{number}.asset") for number in (2, 3)]
    assert told["valid"] is True
    status, told = await house.memory.call("POST", "/api/validate", {"document": pipeline(mock, {"kind": "lorebook"}, TALK)})
    assert [(each["code"], each["field"]) for each in told["problems"]] == [("blocks.asset", "blocks.0.asset")]
    assert told["valid"] is False


async def test_a_session_is_assembled_where_a_pipeline_places_it(start_house: StartHouse, mock: Mock) -> None:
    sections = [{"kind": "assembled", "section": name} for name in ("charDescription", "main", "nothing", "chatHistory")]
    text = {"role": "system", "text": "Between."}
    house = await start_house({"whole": pipeline(mock, {"kind": "assembled"}, text), "parts": pipeline(mock, *sections, text)})
    talk = await bound_talk(house)
    main, card = ("system", "Play Ada."), ("system", "Ada builds engines for Ben.")
    user, greeting = ("system", "Ben is a sailor."), ("assistant", "Hello, Ben.")
    for id, head in (("whole", [main, card, user, greeting]), ("parts", [card, main, greeting])):
        for number, wish in enumerate(({}, {"assemble": "off"}, {"assemble": "session"})):
            got = await house.turn(f"Hi {number} {id}", pipeline=id, session=talk.session, **wish)
            assert ("x-agentui-assemble" in got.headers) is (wish.get("assemble") == "session")
            assert sent(house)[: len(head)] == head
            assert sent(house)[-2:] == [("user", f"Hi {number} {id}"), ("system", "Between.")]
    status, _ = await house.memory.call("PATCH", f"/sessions/{talk.session}", {"pipeline_id": "parts"})
    assert status == 200
    await talk.respond("Now")
    assert sent(house)[:3] == [card, main, greeting]
    assert sent(house)[-2:] == [("user", "Now"), ("system", "Between.")]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_request_that_is_no_turn_is_sent_its_own_conversation(
    start_house: StartHouse, mock: Mock, dialect: str
) -> None:
    house = await start_house(
        {"b": pipeline(mock, {"kind": "assembled"}, {"kind": "assembled", "section": "main"}, provider="openai")}
    )
    got = await house.turn("Hi", pipeline="b", dialect=dialect)
    assert sent(house) == [("user", "Hi")]
    events = (await house.memory.call("GET", f"/api/runs/{got.headers['x-agentui-run']}"))[1]
    assert "is no turn of a session" in str(events)
