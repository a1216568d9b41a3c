"""Prompt presets: whatever a file holds, a reading of it is made, and what is well formed is read as SillyTavern reads it."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.assets.bundle import PromptAssets
from agentui.assets.preset import FACTORY_PROMPTS, INTENTS, PromptPreset
from agentui.jsonio import Json
from tests.unit.assets.test_character import ANYTHING

TRACK = st.fixed_dictionaries({"character_id": ANYTHING, "order": ANYTHING})
PRESETS = st.dictionaries(
    st.sampled_from(["temperature", "top_k", "openai_max_context", "names_behavior", "extensions", "wi_format", "top_a"]),
    ANYTHING,
) | st.fixed_dictionaries({"prompts": st.lists(ANYTHING), "prompt_order": st.lists(ANYTHING | TRACK)})


def track(number: int, *identifiers: str, off: tuple[str, ...] = ()) -> dict[str, Json]:
    """A track with these prompts switched on, and ``off`` behind them switched off."""
    order = [{"identifier": each, "enabled": True} for each in identifiers]
    return {"character_id": number, "order": [*order, *({"identifier": each, "enabled": False} for each in off)]}


def order_of(*tracks: Json, **more: Json) -> list[str]:
    """The identifiers that are sent."""
    return [each.identifier for each in PromptPreset.of({"prompt_order": list(tracks), **more}).order]


@given(PRESETS)
def test_a_preset_is_made_of_whatever_a_file_holds(content: Mapping[str, Json]) -> None:
    made = PromptPreset.of(content)
    assert made.main.identifier == "main"
    assert not {each.identifier for each in made.order} & made.off


def test_a_preset_that_says_nothing_is_the_factorys() -> None:
    made = PromptPreset.of({})
    assert made == PromptPreset()
    assert [each.identifier for each in made.order] == [
        each.identifier for each in FACTORY_PROMPTS if each.identifier != "enhanceDefinitions"
    ]


@pytest.mark.parametrize(
    ("tracks", "selected", "ignored"),
    [
        ((track(100000, "main"), track(100001, "nsfw")), 100001, (100000,)),
        ((track(200001, "nsfw"), track(100000, "main")), 100000, (200001,)),
        ((track(7, "main"), track(8, "nsfw")), 7, (8,)),
        ((track(100001), track(100000, "main")), 100000, ()),
        ((), None, ()),
    ],
)
def test_one_track_counts(tracks: tuple[Json, ...], selected: int | None, ignored: tuple[int, ...]) -> None:
    reading = PromptPreset.of({"prompt_order": list(tracks)}).reading
    assert (reading.selected_track, reading.ignored_tracks) == (selected, ignored)
    assert any("tracks" in warning for warning in reading.warnings) == bool(ignored)


def test_a_track_can_be_chosen() -> None:
    content = {"prompt_order": [track(100001, "main"), track(100000, "nsfw")]}
    assert PromptPreset.of(content, track=100000).reading.selected_track == 100000
    assert PromptPreset.of(content, track=5).reading.selected_track == 100001


def test_the_track_says_what_is_on() -> None:
    prompts: Json = [
        {"identifier": "mine", "content": "Hello.", "enabled": False},
        {"identifier": "stray"},
    ]
    assert order_of(track(100001, "mine", "gone", "main", off=("nsfw",)), prompts=prompts) == ["mine", "main"]


def test_the_prompt_managers_export_has_one_track() -> None:
    assert order_of({"identifier": "jailbreak", "enabled": True}, {"identifier": "main", "enabled": False}) == ["jailbreak"]


def test_a_prompt_is_read() -> None:
    content: Json = [
        {
            "identifier": "note",
            "name": "Note",
            "role": "assistant",
            "content": "Slowly.\r\nNow.",
            "injection_position": 1,
            "injection_depth": 2,
            "injection_order": "50",
            "injection_trigger": ["continue", "sometimes"],
            "forbid_overrides": True,
        }
    ]
    made = PromptPreset.of({"prompts": content, "prompt_order": [track(100001, "note", "chatHistory")]})
    (note, _) = made.order
    assert (note.role, note.content, note.is_in_chat, note.depth, note.order) == ("assistant", "Slowly.\nNow.", True, 2, 50)
    assert [intent for intent in INTENTS if note.is_for(intent)] == ["continue"] and note.forbids_overrides
    assert "'sometimes'" in made.reading.warnings[0]


def test_sampling_has_the_apis_names() -> None:
    content: dict[str, Json] = {
        "temperature": 0.9,
        "top_k": 0,
        "top_p": 1,
        "openai_max_context": 32000,
        "openai_max_tokens": "500",
        "reasoning_effort": "max",
        "repetition_penalty": 1.05,
        "min_p": 0.1,
        "top_a": 0.2,
        "show_thoughts": True,
    }
    made = PromptPreset.of(content)
    assert made.params == {
        "temperature": 0.9,
        "top_p": 1,
        "min_p": 0.1,
        "repetition_penalty": 1.05,
        "max_context_tokens": 32000,
        "max_output_tokens": 500,
        "reasoning_effort": "high",
    }
    assert made.reading.unsupported == ("top_level.top_a",)
    assert made.reading.ignored == ("top_level.show_thoughts",)


@pytest.mark.parametrize(
    ("seed", "sent"), [(-1, {}), (None, {}), ("x", {}), (0, {"seed": 0}), (42, {"seed": 42}), ("7", {"seed": 7})]
)
def test_a_seed_of_minus_one_is_none(seed: Json, sent: dict[str, Json]) -> None:
    made = PromptPreset.of({"seed": seed, "n": 1})
    assert made.params == sent
    assert made.reading.unsupported == made.reading.ignored == ()


def test_n_is_how_many_swipes_come_at_once() -> None:
    assert [PromptPreset.of({"n": each}).params.get("n") for each in (1, 0, -2, "x", None, 3, "4", 500)] == [
        *[None] * 5,
        3,
        4,
        32,
    ]


def test_texts_may_be_empty() -> None:
    made = PromptPreset.of({"new_chat_prompt": "", "wi_format": "[{0}]", "names_behavior": 2, "continue_postfix": "\n"})
    assert (made.new_chat, made.wi_format, made.names_behavior, made.continue_postfix) == ("", "[{0}]", "content", "\n")


def test_what_nothing_fills_is_named() -> None:
    prompts: Json = [{"identifier": "weather", "marker": True}]
    made = PromptPreset.of({"prompts": prompts, "prompt_order": [track(1, "weather")]})
    assert made.reading.markers == ("weather",)
    assert any("chatHistory" in warning for warning in made.reading.warnings)


def test_assets_may_be_none() -> None:
    assert PromptAssets().is_empty
    assert not PromptAssets(preset=PromptPreset()).is_empty
