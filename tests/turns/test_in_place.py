"""An assembled prompt keeps its order at vendors that have one place for system texts and no names: what SillyTavern puts
within or behind the chat stands there at Claude and Gemini, too."""

import pytest

from tests.turns.house import House, Json
from tests.turns.test_live_assets import CARD, PRESET, PROMPTS, bound_talk, make
from tests.upstreams.step import Step

EXAMPLES = "<START>\n{{user}}: Who are you?\n{{char}}: The keeper."
CARD_TOLD = {**CARD, "mes_example": EXAMPLES, "post_history_instructions": "POST."}
NAMES = ("main", "charDescription", "personaDescription", "dialogueExamples", "chatHistory", "deep", "jailbreak")
PRESET_TOLD: Json = {
    **PRESET,
    "prompts": [
        *PROMPTS,
        {"identifier": "dialogueExamples", "marker": True},
        {"identifier": "deep", "role": "system", "content": "DEEP.", "injection_position": 1, "injection_depth": 1},
        {"identifier": "jailbreak", "role": "system", "content": "{{original}}"},
    ],
    "prompt_order": [{"character_id": 100001, "order": [{"identifier": name, "enabled": True} for name in NAMES]}],
}
LORE = {"uid": 1, "constant": True, "key": ["sea"], "content": "LORE.", "position": 4, "depth": 2, "role": 0}
METADATA = {
    "note_prompt": "NOTE.",
    "note_depth": 3,
    "note_interval": 1,
    "note_position": 1,
    "note_role": 0,
    "script_injects": {"told": {"value": "INJECT.", "position": 1, "depth": 0, "role": 0, "scan": False}},
}


def said(body: Json, vendor: str) -> tuple[str, list[str]]:
    """The system text of a request, and all that stands within its conversation, in order."""
    if vendor == "claude":
        system, turns = body["system"], body["messages"]
        parts = [
            part for turn in turns for part in (turn["content"] if isinstance(turn["content"], list) else [turn["content"]])
        ]
        texts = [part if isinstance(part, str) else part["text"] for part in parts]
        front = system if isinstance(system, str) else "\n".join(part["text"] for part in system)
        return front, texts
    front = "\n".join(part["text"] for part in body["systemInstruction"]["parts"])
    return front, [part["text"] for turn in body["contents"] for part in turn["parts"]]


@pytest.mark.parametrize("vendor", ["claude", "gemini"])
async def test_texts_within_and_behind_the_chat_arrive_in_place(house: House, vendor: str) -> None:
    card = await make(house, "/characters", snapshot=CARD_TOLD)
    preset = await make(house, "/presets", name="Deep", data=PRESET_TOLD)
    book = await make(house, "/worldbooks", name="World", data={"entries": {"1": LORE}})
    bound = {"character_id": card["id"], "preset_id": preset["id"], "worldbook_profile_id": book["id"], "metadata": METADATA}
    talk = await bound_talk(house, pipeline_id=vendor, **bound)
    house.mock.script([Step(text="Waves."), Step(text="Ships.")])
    await talk.respond("Where is the sea?")
    await talk.respond("What do you see?")
    front, spoken = said(house.mock.last.body, vendor)
    for text in ("Play Ada.", "Ben: Who are you?", "Ada: The keeper."):
        assert text in front, front
    assert "example_" not in str(house.mock.last.body)
    order = ["Hello, Ben.", "NOTE.", "Where is the sea?", "LORE.", "Waves.", "DEEP.", "What do you see?", "INJECT.", "POST."]
    whole = "\n".join(spoken)
    assert [whole.count(text) for text in order] == [1] * len(order), whole
    assert sorted(order, key=whole.index) == order, whole
    assert not any(text in front for text in order)
