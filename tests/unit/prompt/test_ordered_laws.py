"""What holds of every ordered prompt, whatever the preset, the card and the chat are."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentui.assets.bundle import PromptAssets
from agentui.assets.character import Character
from agentui.assets.persona import Persona
from agentui.assets.preset import MARKERS, PromptPreset
from agentui.chat.messages import Media, ToolCall, ToolResult
from agentui.prompt.assembly import assemble
from agentui.prompt.prepared import PromptInput
from tests.unit.prompt.test_laws import TEXTS, inputs

NAMES = ("main", "jailbreak", "one", "two", *MARKERS)
PROMPTS = st.lists(
    st.fixed_dictionaries(
        {"identifier": st.sampled_from(NAMES)},
        optional={
            "content": TEXTS,
            "role": st.sampled_from(["system", "user", "assistant"]),
            "injection_position": st.sampled_from([0, 1]),
            "injection_depth": st.integers(0, 5),
            "injection_order": st.integers(99, 101),
            "injection_trigger": st.lists(st.sampled_from(["normal", "continue", "odd"]), max_size=2),
        },
    ),
    max_size=6,
)
TRACKS = st.lists(st.fixed_dictionaries({"identifier": st.sampled_from(NAMES), "enabled": st.booleans()}), max_size=10)
SETTINGS = {
    "names_behavior": st.sampled_from([-1, 0, 1, 2]),
    "send_if_empty": TEXTS,
    "assistant_prefill": TEXTS,
    "continue_prefill": st.booleans(),
    "squash_system_messages": st.booleans(),
    "new_chat_prompt": TEXTS,
}
CARDS = st.fixed_dictionaries({}, optional=dict.fromkeys(("name", "description", "system_prompt", "mes_example"), TEXTS))


@st.composite
def ordered_inputs(draw: Any) -> PromptInput:
    """Everything that makes an ordered prompt."""
    content = draw(st.fixed_dictionaries({"prompts": PROMPTS}, optional=SETTINGS))
    content["prompt_order"] = [{"character_id": 100001, "order": draw(TRACKS)}]
    preset = draw(st.none() | st.just(PromptPreset.of(content)))
    persona = Persona.of({"name": "Ann", "description": "a", "position": draw(st.sampled_from([0, 2, 3, 4, 9]))})
    assets = PromptAssets(Character.of(draw(CARDS)), persona, preset)
    return replace(draw(inputs()), assets=assets, goes_on=draw(st.booleans()))


@given(ordered_inputs())
def test_a_prompt_is_within_its_budget_unless_what_must_stay_is_over_it(given: PromptInput) -> None:
    turn = assemble(given)
    assert turn.token_estimate == sum(map(given.estimator.message, turn.messages))
    if not any(note.code == "prompt_over_budget" for note in turn.diagnostics):
        assert turn.token_estimate <= turn.input_limit
    assert bool(turn.trim_reasons) == any(
        section.why == "budget_exceeded" for section in turn.sections if section.group in GROUPS
    )


GROUPS = ("history", "section:dialogueExamples")
"""What the window takes from."""


@given(ordered_inputs())
def test_all_that_is_left_out_says_why_and_nothing_is_lost(given: PromptInput) -> None:
    turn = assemble(given)
    history = [section.message_id for section in turn.sections if section.group == "history"]
    assert sorted(filter(None, history)) == sorted(entry.message_id for entry in given.history)
    assert all(section.kept == (section.why is None) for section in turn.sections)
    assert all(
        section.text.strip() or section.message_id for section in turn.sections if section.kept and section.source != "message"
    )


@given(ordered_inputs())
def test_calls_and_results_are_never_parted(given: PromptInput) -> None:
    turn = assemble(given)
    out = {section.message_id for section in turn.sections if section.why in ("hidden_message", "visibility_filtered")}
    kept = {section.message_id for section in turn.sections if section.kept}
    waiting: dict[str | None, str] = {}
    for entry in given.history:
        for part in entry.parts if entry.message_id not in out else ():
            if isinstance(part, ToolCall):
                waiting[part.id] = entry.message_id
            elif isinstance(part, ToolResult) and (caller := waiting.pop(part.call_id, None)) is not None:
                assert (caller in kept) == (entry.message_id in kept)


@given(ordered_inputs())
def test_the_structure_is_what_the_policy_says(given: PromptInput) -> None:
    turn = assemble(given)
    roles = [message.role for message in turn.messages]
    if turn.structure.mode == "strict_alternating":
        spoken = [role for role in roles if role != "system"]
        assert spoken == [("user", "assistant")[number % 2] for number in range(len(spoken))]
    if turn.structure.mode in ("no_assistant", "flattened") or given.policy.delivery.no_assistant:
        assert "assistant" not in roles
    if turn.structure.mode == "flattened":
        assert roles.count("user") <= 1
    if given.policy.delivery.require_last_user and set(roles) - {"system"}:
        assert roles[-1] == "user"
    assert not (turn.delivery.prefill_applied and turn.delivery.degrade_reasons)


@given(ordered_inputs())
def test_pictures_of_what_is_kept_are_sent(given: PromptInput) -> None:
    turn = assemble(given)
    kept = {section.message_id for section in turn.sections if section.kept}
    pictures = [part for entry in given.history if entry.message_id in kept for part in entry.parts if isinstance(part, Media)]
    sent = [part for message in turn.messages for part in message.parts if isinstance(part, Media)]
    assert sent == pictures


@given(ordered_inputs())
def test_the_same_input_gives_the_same_prompt(given: PromptInput) -> None:
    assert assemble(given).messages == assemble(given).messages
