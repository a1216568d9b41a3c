"""The dry run of seed 002, field by field, on what is really bound to a session."""

from tests.turns.house import House, Json
from tests.turns.talk import begin_talk
from tests.turns.test_live_assets import make, script

PROMPTS = [
    {"identifier": "main", "role": "system", "content": "Stay in character and keep the tone warm."},
    {"identifier": "worldInfoBefore", "marker": True},
    {"identifier": "chatHistory", "marker": True},
    {"identifier": "quietPrompt", "role": "system", "content": "Quiet.", "injection_trigger": ["quiet"]},
    {"identifier": "continueHint", "role": "system", "content": "Go on.", "injection_position": 1, "injection_depth": 1},
]
PRESET: Json = {
    "prompts": PROMPTS,
    "names_behavior": 2,
    "continue_prefill": False,
    "prompt_order": [
        {"character_id": number, "order": [{"identifier": one["identifier"], "enabled": True} for one in PROMPTS]}
        for number in (100000, 200001)
    ],
}
ENTRY: Json = {"uid": 7, "key": ["campfire"], "content": "The northern pass is watched.", "comment": "Campfire Lore"}
MESSAGE = "  Please continue the campfire scene.  "
ASKED: Json = {"message": MESSAGE, "prompt_intent": "continue", "debug_options": {"include_worldbook_matches": True}}


async def test_every_field_of_a_dry_run_tells_of_what_is_bound(house: House) -> None:
    preset = await make(house, "/presets", name="Warm", data=PRESET)
    book = await make(house, "/worldbooks", name="Campfire Worldbook", data={"entries": {"7": ENTRY}})
    rules = [script(r"/^\s+|\s+$/g", "", 1) | {"scriptName": "trim_whitespace"}]
    regex = await make(house, "/regex-profiles", name="Rules", data=rules)
    talk = await begin_talk(
        house,
        preset_id=preset["id"],
        worldbook_profile_id=book["id"],
        regex_profile_id=regex["id"],
        prompt_mode="compat_strict",
    )
    await talk.respond("We sit down.")
    asked = len(house.mock.requests)
    status, answer = await talk.post(f"/sessions/{talk.session}/respond/dry-run", ASKED)
    assert status == 200, answer
    assert len(house.mock.requests) == asked
    told = answer["data"]
    assert {"role": "system", "content": PROMPTS[0]["content"]} in told["messages"]
    assert "User: Please continue the campfire scene." in [message["content"] for message in told["messages"]]
    assert told["token_estimate"] > 0
    assert told["available_for_reply"] > 0
    assert told["memory_summary"] is None
    snapshot = told["prompt_snapshot"]
    for word, made in (("preset", preset), ("worldbook", book), ("regex_profile", regex)):
        assert [snapshot[f"{word}_{name}"] for name in ("id", "updated_at", "version")] == [
            made["id"],
            made["updated_at"],
            made["version"],
        ]
    assert snapshot["worldbook_activated_entry_uids"] == [7]
    assert (snapshot["regex_pre_rule_names"], snapshot["regex_post_rule_names"]) == (["trim_whitespace"], [])
    assert snapshot["prompt_mode"] == "compat_strict"
    assert snapshot["prompt_digest"].startswith("sha256:")
    assert snapshot["token_estimate"] == told["token_estimate"]
    done = await talk.respond(MESSAGE, prompt_intent="continue")
    kept = await house.memory.get(f"/floors/{done['floor_id']}/prompt-runtime/explain")
    assert kept["assembly"] == told["assembly"]
    assert kept["prompt_snapshot"] == snapshot
    assert kept["runtime_trace"]["regex"]["phases"] == told["runtime_trace"]["regex"]["phases"]
    assert kept["runtime_trace"]["budgets"]["available_for_reply"] == told["available_for_reply"]
    assembly = told["assembly"]
    match = assembly.pop("worldbook_matches")[0]
    warnings = assembly.pop("preset_warnings")
    assert any("200001" in warning or "100000" in warning for warning in warnings), warnings
    expected = {
        "mode": "preset",
        "prompt_intent": "continue",
        "assistant_prefill_applied": False,
        "assistant_prefill_strategy": "none",
        "preset_used": True,
        "selected_prompt_order_character_id": 100000,
        "ignored_prompt_order_character_ids": [200001],
        "continue_nudge_applied": True,
        "names_behavior_applied": "always",
        "trigger_filtered_entry_ids": ["quietPrompt"],
        "in_chat_inserted_entry_ids": ["continueHint"],
        "worldbook_hits": 1,
        "regex_pre_rules": ["trim_whitespace"],
        "regex_post_rules": [],
        "memory_summary_injected": False,
        "reserved_variable_collisions": [],
        "unsupported_preset_fields": [],
        "unresolved_preset_markers": [],
        "preprocessed_user_message": "Please continue the campfire scene.",
    }
    assert {name: assembly.get(name) for name in expected} == expected
    assert assembly["continue_nudge_text"]
    assert isinstance(assembly["ignored_preset_fields"], list)
    first, scope_id = match["activation"].pop("first_match"), f"worldbook:{book['id']}:1"
    assert match == {
        "uid": 7,
        "comment": "Campfire Lore",
        "content_preview": "The northern pass is watched.",
        "order": 100,
        "activation_key": f"worldbook:{book['id']}:1:entry:7",
        "asset_scope_id": scope_id,
        "source": {
            "kind": "session_worldbook",
            "worldbook_id": book["id"],
            "worldbook_name": "Campfire Worldbook",
            "asset_scope_id": scope_id,
        },
        "insertion": {"position": "before"},
        "activation": {"mode": "triggered", "recursion_level": 0},
    }
    assert first == {
        "source_kind": "message",
        "message_index_from_latest": 0,
        "matched_key": "campfire",
        "matched_key_scope": "primary",
        "matched_key_type": "plain",
        "char_start": 20,
        "char_end": 28,
        "excerpt": "Please continue the campfire scene.",
    }
