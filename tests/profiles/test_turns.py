"""What profiles and instance configs do in live turns: which model is asked, with what, and what is told of it."""

import pytest
from sqlalchemy import update

from agentui.jsonio import Json, loads
from agentui.store.tables import llm_profiles
from tests.conftest import ROOT
from tests.profiles.test_routes import Api
from tests.turns.conftest import StartHouse
from tests.turns.house import House, chain
from tests.turns.test_live_choice import bring_chat, preset
from tests.upstreams.server import API_KEY


class Chats(Api):
    """A caller who says something and looks at what the model was asked."""

    async def bound(self, name: str, slot: str = "*", session: str | None = None, params: Json = None, **fields: Json) -> Json:
        """A profile of the mock, bound."""
        given = {"api_key": API_KEY, "base_url": self.house.mock.origin, **fields}
        made = await self.profile(name, **given)
        place = {} if session is None else {"scope": "session", "session_id": session}
        asked = {"instance_slot": slot, "params": params, **place}
        status, _ = await self.ask("POST", f"/llm-profiles/{made['id']}/activate", asked)
        assert status == 200
        return made

    async def says(self, session: str, **more: Json) -> tuple[int, Json]:
        return await self.ask("POST", f"/sessions/{session}/respond", {"message": "Hi", **more})

    async def warnings(self) -> str:
        """What the newest run was told of."""
        status, runs = await self.house.memory.call("GET", "/api/runs")
        assert status == 200
        events = await self.house.memory.call("GET", f"/api/runs/{runs[0]['id']}")
        return str(events[1])


@pytest.fixture
async def chats(house: House) -> Chats:
    bring_chat(house)
    return Chats(house)


def path_and_model(house: House) -> tuple[str, str]:
    return house.mock.last.path, house.mock.last.body["model"]


async def test_the_profile_that_is_bound_answers_with_its_own_key(chats: Chats) -> None:
    session, house = await chats.session(), chats.house
    everywhere = await chats.bound("everywhere", model_id="usage")
    assert (await chats.says(session))[0] == 200
    assert path_and_model(house) == ("/v1/chat/completions", "usage")
    assert house.mock.last.headers["authorization"] == f"Bearer {API_KEY}"
    told = await chats.warnings()
    assert "everywhere is bound to all slots for all sessions." in told and API_KEY not in told
    shown = (await house.memory.call("GET", f"/sessions/{session}/effective-config"))[1]
    assert shown["llmProfile"] == {"source": "workspace", "profileId": everywhere["id"], "override": None}
    assert {each["model"] for each in shown["slots"]} == {"usage"}
    kept = (await chats.ask("GET", f"/llm-profiles/{everywhere['id']}"))[1]
    assert kept["last_used_at"] is not None
    # A slot's own comes before what is for all, and a session's before that.
    await chats.bound("narrates", "narrator", provider="anthropic", model_id="text")
    assert (await chats.says(session))[0] == 200
    assert path_and_model(house) == ("/v1/messages", "text")
    here = await chats.bound("here", "narrator", session, model_id="unicode")
    assert (await chats.says(session))[0] == 200
    assert path_and_model(house) == ("/v1/chat/completions", "unicode")
    other = await chats.session()
    assert (await chats.says(other))[0] == 200
    assert path_and_model(house) == ("/v1/messages", "text")
    # What cannot serve is passed over, and told.
    damage = update(llm_profiles).where(llm_profiles.c.id == here["id"]).values(sealed_key="broken")
    await house.server.state.store.write(lambda db: db.execute(damage).rowcount)
    assert (await chats.says(session))[0] == 200
    assert path_and_model(house) == ("/v1/messages", "text")
    told = await chats.warnings()
    assert "'here' cannot be opened" in told and "passed over for the slot narrator" in told
    # What tells of the session says the same, in the same words.
    narrator = (await house.memory.call("GET", f"/sessions/{session}/effective-config"))[1]["slots"][1]
    assert (narrator["slot"], narrator["provider"], narrator["model"]) == ("narrator", "anthropic", "text")
    (skipped,) = narrator["skipped"]
    assert (skipped["profileId"], skipped["reason"]) == (here["id"], "secret_invalid_format")
    assert narrator["reason"] in told and skipped["message"] in told


async def test_the_answering_node_is_served_unless_it_keeps_to_its_own(start_house: StartHouse) -> None:

    house = await start_house()
    chats = Chats(house)
    config = {
        "provider": "openai",
        "base_url": house.mock.origin,
        "headers": {"Authorization": f"Bearer {API_KEY}"},
        "model": "text",
    }
    first = {"id": "first", "type": "ProviderCall", "config": {**config, "model": "extras"}}
    house.server.put("two", chain(first, {"id": "last", "type": "ProviderCall", "config": config}))
    keeps = {"id": "last", "type": "ProviderCall", "config": {**config, "ignore_profiles": True}}
    house.server.put("keeps", chain(keeps))
    await chats.bound("mine", provider="anthropic", model_id="usage")
    session = await chats.session()
    for pipeline, asked in (("two", ["extras", "usage"]), ("keeps", ["text"])):
        house.mock.requests.clear()
        status, said = await chats.ask("POST", f"/p/{pipeline}/sessions/{session}/respond", {"message": "Hi"})
        assert status == 200, said
        assert [each.body["model"] for each in house.mock.requests] == asked


async def test_parameters_are_merged_and_the_request_wins(chats: Chats) -> None:
    session = await chats.session()
    await chats.bound(
        "mine", params={"temperature": 0.1, "top_p": 0.2, "max_output_tokens": 100, "stream": False}, model_id="text"
    )
    await chats.ask("PUT", "/llm-instances/narrator", {"params": {"top_p": 0.3, "max_output_tokens": 200}})
    assert (await chats.says(session, generation_params={"max_output_tokens": 300}))[0] == 200
    body = chats.house.mock.last.body
    limit = body.get("max_tokens", body.get("max_completion_tokens"))
    assert (body["temperature"], body["top_p"], limit) == (0.1, 0.3, 300)
    assert not body.get("stream")


async def test_a_disabled_narrator_refuses_turns_before_anything_is_opened(chats: Chats) -> None:
    session = await chats.session()
    await chats.ask("PUT", "/llm-instances/narrator", {"enabled": False})
    assert await chats.says(session) == (409, "instance_slot_disabled_required")
    assert (await chats.ask("GET", f"/floors?session_id={session}"))[1] == []
    await chats.ask("PUT", "/llm-instances/narrator", {"scope": "session", "session_id": session})
    await chats.bound("mine")
    assert (await chats.says(session))[0] == 200


async def test_the_narrators_preset_takes_the_place_of_the_sessions(chats: Chats) -> None:
    prompts = [
        {"identifier": "main", "name": "Main", "role": "system", "content": "Speak of lighthouses.", "system_prompt": True}
    ]
    order = [{"character_id": 100001, "order": [{"identifier": "main", "enabled": True}]}]
    status, made = await chats.ask(
        "POST", "/presets", {"name": "own", "data": {"prompts": prompts, "prompt_order": order, "temperature": 0.7}}
    )
    assert status == 201, made
    session, house = await chats.session(), chats.house
    await chats.bound("mine")
    await chats.ask("PUT", "/llm-instances/narrator", {"preset_id": made["id"]})
    assert (await chats.says(session))[0] == 200
    assert "Speak of lighthouses." in str(chats.house.mock.last.body)
    async with house.memory.http.delete(f"{house.server.origin}/presets/{made['id']}") as gone:
        assert gone.status == 204
    assert (await chats.says(session))[0] == 200
    assert "Speak of lighthouses." not in str(chats.house.mock.last.body)


@pytest.mark.parametrize("slot", ["director", "verifier"])
async def test_director_and_verifier_use_their_own_slots(start_house: StartHouse, slot: str) -> None:
    house = await start_house(**{f"{slot}_pipeline": slot})
    bring_chat(house)
    house.server.put(slot, loads((ROOT / "pipelines" / f"{slot}.json").read_bytes()))
    chats = Chats(house)
    session = await chats.session()
    await chats.bound("answers", model_id="text")
    await chats.bound("advises", slot, model_id="usage", params={"temperature": 0.4})
    config = {"config": {f"enable{slot.title()}": True}}
    assert (await chats.says(session, **config))[0] == 200
    asked = {each.body["model"]: each.body for each in house.mock.requests}
    assert asked.keys() == {"text", "usage"} and asked["usage"]["temperature"] == 0.4 and "temperature" not in asked["text"]
    house.mock.requests.clear()
    await chats.ask("PUT", f"/llm-instances/{slot}", {"enabled": False})
    assert (await chats.says(session, **config))[0] == 200
    assert [each.body["model"] for each in house.mock.requests] == ["text"]


async def test_a_model_provider_that_is_no_preset_is_passed_over(start_house: StartHouse) -> None:
    house = await start_house(chat_preset="mine")
    bring_chat(house)
    preset(house, "mine", model="usage", headers={"Authorization": f"Bearer {API_KEY}"})
    chats = Chats(house)
    status, made = await chats.ask("POST", "/sessions", {"model_provider": "nobody"})
    assert status == 201
    assert (await chats.says(made["id"]))[0] == 200
    assert house.mock.last.body["model"] == "usage"
    assert "There is no provider preset 'nobody'" in await chats.warnings()
