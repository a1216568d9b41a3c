"""Which pipeline and which model answer a turn."""

from agentui.jsonio import dumps, loads
from tests.conftest import ROOT
from tests.turns.conftest import StartHouse
from tests.turns.house import House, Json, chain, sets, text
from tests.turns.talk import Talk, begin_talk
from tests.upstreams.server import API_KEY


def says(words: str) -> Json:
    """A pipeline that answers so."""
    return chain(sets(text(words), id="say"))


async def said(talk: Talk, path: str = "", **headers: str) -> str:
    """What a turn is answered."""
    status, answer = await talk.post(f"{path}/sessions/{talk.session}/respond", {"message": "Hi"}, **headers)
    assert status == 200, answer
    return str(answer["data"]["generated_text"])


def preset(house: House, id: str, **fields: Json) -> None:
    """Drop a preset into the folder, and see that it is in use."""
    document = {"format": 1, "name": id, "provider": "openai", "base_url": house.mock.origin, **fields}
    (house.server.presets / f"{id}.json").write_bytes(dumps(document))
    house.server.state.presets.refresh()


def bring_chat(house: House) -> None:
    """The gallery's pipeline for chats."""
    house.server.put("chat", loads((ROOT / "pipelines" / "chat.json").read_bytes()))


async def test_the_request_comes_before_the_session_before_chat_before_the_active_one(start_house: StartHouse) -> None:
    house = await start_house({"own": says("own"), "other": says("other"), "third": says("third")})
    talk, plain = await begin_talk(house, pipeline_id="own"), await begin_talk(house)
    assert await said(talk) == "own"
    assert await said(talk, **{"x-agentui-pipeline": "other"}) == "other"
    assert await said(talk, "/p/third", **{"x-agentui-pipeline": "other"}) == "third"
    assert await said(plain) == "Hello from the mock."  # the active one
    house.server.put("chat", says("chat"))
    assert (await said(plain), await said(talk)) == ("chat", "own")
    patched = await house.memory.call("PATCH", f"/sessions/{talk.session}", {"pipeline_id": None})
    assert (patched[0], patched[1]["data"]["pipeline_id"]) == (200, None)
    assert await said(talk) == "chat"


async def test_a_session_names_no_pipeline_that_there_is_none_of(house: House) -> None:
    for name in ("pipeline_id", "director_pipeline_id", "verifier_pipeline_id"):
        status, body = await house.memory.call("POST", "/sessions", {name: "nothing"})
        assert (status, body["error"]["code"]) == (404, "not_found")
        talk = await begin_talk(house)
        status, body = await house.memory.call("PATCH", f"/sessions/{talk.session}", {name: "nothing"})
        assert (status, body["error"]["code"]) == (404, "not_found")


async def test_chat_asks_the_preset_that_the_session_names(start_house: StartHouse) -> None:
    key = {"AGENTUI_SECRET_MINE": API_KEY}
    house = await start_house(secret_env=key)
    bring_chat(house)
    preset(house, "mine", headers={"Authorization": "Bearer [[SECRET:mine]]"}, model="text")
    preset(house, "claudes", provider="claude", headers={"x-api-key": "[[SECRET:mine]]"}, model="text")
    for name, path in (("mine", "/v1/chat/completions"), ("claudes", "/v1/messages")):
        talk = await begin_talk(house, model_provider=name, model_name=None)
        status, answer = await house.memory.call("POST", f"/sessions/{talk.session}/respond", {"message": "Hi"})
        assert status == 200, answer
        assert (house.mock.last.path, house.mock.last.body["model"]) == (path, "text")
        await house.memory.call("PATCH", f"/sessions/{talk.session}", {"model_name": "unicode"})
        status, answer = await house.memory.call("POST", f"/sessions/{talk.session}/respond", {"message": "Hi"})
        assert (status, house.mock.last.body["model"]) == (200, "unicode")
    preset(house, "mine", headers={"Authorization": "Bearer [[SECRET:mine]]"}, model="usage")
    talk = await begin_talk(house, model_provider="mine", model_name=None)
    assert await said(talk) == "Hello from the mock."
    assert house.mock.last.body["model"] == "usage"


async def test_nodes_that_call_the_callers_vendor_call_the_sessions(start_house: StartHouse) -> None:
    house = await start_house(secret_env={"AGENTUI_SECRET_MINE": API_KEY}, chat_preset="mine")
    for name, model in (("mine", "usage"), ("claudes", "text")):
        header, provider = ("Authorization", "openai") if name == "mine" else ("x-api-key", "claude")
        value = "Bearer [[SECRET:mine]]" if name == "mine" else "[[SECRET:mine]]"
        preset(house, name, provider=provider, headers={header: value}, model=model)
    house.server.put("two-models-merge", loads((ROOT / "pipelines" / "two-models-merge.json").read_bytes()))
    own = {"id": "own", "type": "ProviderCall", "config": {"model": "unicode"}}
    house.server.put("own", chain(own))
    house.server.put("sub", chain({"id": "sub", "type": "SubPipeline", "config": {"pipeline": "own"}}))
    for bound, models, path in (
        ({"model_name": None}, ["usage"] * 3 + ["unicode"] * 2, "/v1/chat/completions"),
        ({"model_name": None, "model_provider": "claudes"}, ["text"] * 3 + ["unicode"] * 2, "/v1/messages"),
        ({"model_name": "extras"}, ["extras"] * 3 + ["unicode"] * 2, "/v1/chat/completions"),
    ):
        talk = await begin_talk(house, **bound)
        house.mock.requests.clear()
        for pipeline in ("two-models-merge", "own", "sub"):
            status, answer = await house.memory.call(
                "POST", f"/p/{pipeline}/sessions/{talk.session}/respond", {"message": "Hi"}
            )
            assert status == 200, answer
        assert [(asked.path, asked.body["model"]) for asked in house.mock.requests] == [(path, model) for model in models]


async def test_a_provider_that_is_no_good_preset_is_passed_over(start_house: StartHouse) -> None:
    house = await start_house(secret_env={"AGENTUI_SECRET_MINE": API_KEY}, chat_preset="mine")
    bring_chat(house)
    preset(house, "mine", headers={"Authorization": "Bearer [[SECRET:mine]]"}, model="text")
    preset(house, "odd", headers={"authorization": "{{ unclosed"})
    for provider in ("nobody", "odd"):
        assert await said(await begin_talk(house, model_provider=provider, model_name=None)) == "Hello from the mock."


async def test_sessions_without_a_provider_are_answered_by_the_settings_own(start_house: StartHouse) -> None:
    house = await start_house(chat_preset="mine")
    bring_chat(house)
    preset(house, "mine", model="text")
    talk = await begin_talk(house, model_name=None, model_params={"max_context_tokens": 9000, "max_output_tokens": 1000})
    assert await said(talk) == "Hello from the mock."
    status, shown = await talk.post(f"/sessions/{talk.session}/prompt-runtime/preview", {"text": "{{model}} {{maxPrompt}}"})
    assert (status, shown["data"]["text"]) == (200, "text 8000")


async def test_a_sessions_parameters_are_checked_when_they_are_set(house: House) -> None:
    status, body = await house.memory.call("POST", "/sessions", {"model_params": {"temperature": 3}})
    assert (status, body["error"]["code"], body["error"]["details"][0]["path"]) == (400, "validation_error", "/model_params")
    made = await begin_talk(house, model_params={"temperature": "0.5", "of my own": [1]})
    session = await house.memory.get(f"/sessions/{made.session}")
    assert session["model_params"] == {"temperature": 0.5, "of my own": [1]}
