"""Trying a prompt preset: ``POST /presets/test``."""

from tests.api.chats.conftest import Reader

PRESET = {
    "new_chat_prompt": "",
    "openai_max_context": 2000,
    "prompts": [
        {"identifier": "main", "content": "Play {{char}}."},
        {"identifier": "charDescription", "marker": True},
        {"identifier": "chatHistory", "marker": True},
        {"identifier": "later", "content": "Go on.", "injection_trigger": ["continue"]},
    ],
    "prompt_order": [
        {
            "character_id": 100001,
            "order": [{"identifier": name, "enabled": True} for name in ("main", "charDescription", "chatHistory", "later")],
        }
    ],
}


async def test_a_preset_that_is_not_kept_shows_its_prompt(reader: Reader) -> None:
    got = await reader.post("/presets/test", {"preset": PRESET, "message": "Hi.", "macros": {"char": "Ada"}})
    assert got.status == 200, got.text
    told = got.body["data"]
    assert [(each["role"], each["content"]) for each in told["messages"]] == [("system", "Play Ada."), ("user", "Hi.")]
    assert (told["is_used"], told["window"], told["trigger_filtered_entry_ids"]) == (True, 2000, ["later"])
    tokens = {each["name"]: each["tokens"] for each in told["sections"] if each["kept"]}
    assert set(tokens) == {"main", "message"} and sum(tokens.values()) == told["token_estimate"]
    again = await reader.post("/presets/test", {"preset": PRESET, "prompt_intent": "continue"})
    assert "Go on." in [each["content"] for each in again.body["data"]["messages"]]
    assert (await reader.post("/presets/test", {"preset": []})).status == 400
    assert (await reader.post("/presets/test", {"preset": {}, "session_id": "nobody"})).status == 404


async def test_a_preset_is_tried_on_the_chat_of_a_session(reader: Reader) -> None:
    card = {"name": "Ada", "description": "{{char}} sails.", "first_mes": "Ahoy."}
    character = await reader.make("/characters", snapshot=card)
    id = await reader.session_id(character_id=character["id"])
    body = {"preset": PRESET, "message": "Hi.", "session_id": id}
    told = (await reader.post("/presets/test", body)).body["data"]
    assert [each["content"] for each in told["messages"]] == ["Play Ada.", "Ada sails.", "Ahoy.", "Hi."]
    await reader.patch(f"/sessions/{id}", {"prompt_mode": "native"})
    told = (await reader.post("/presets/test", body)).body["data"]
    assert (told["is_used"], told["warnings"]) == (False, [])
