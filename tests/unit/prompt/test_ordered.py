"""Prompts in the order of a preset: what SillyTavern's rules make of each of its settings."""

from collections.abc import Mapping
from typing import Any

import pytest

from agentui.assets.bundle import PromptAssets
from agentui.assets.character import Character
from agentui.assets.persona import Persona
from agentui.assets.preset import PromptPreset
from agentui.jsonio import Json
from agentui.prompt.policy import BudgetPolicy, DeliveryPolicy, ResolvedPolicy, SourceSelection, SourceSwitch, StructurePolicy
from agentui.prompt.prepared import PreparedTurn
from agentui.prompt.report import assembly, runtime_trace, shown_messages
from tests.unit.prompt.parts import Facts, answer, entry, prepared, question, said

CARD: dict[str, Json] = {
    "name": "Mira",
    "description": "{{char}} sails.",
    "personality": "calm",
    "scenario": "A harbour.",
    "mes_example": "<START>\n{{user}}: Hi.\n{{char}}: Ahoy.\nWelcome.\n<START>\n{{char}}: Sit down.",
}
PERSONA: dict[str, Json] = {"name": "Ann", "description": "{{user}} draws maps."}
CHAT = (answer("Welcome, {{user}}!", 0, source="greeting"), question("Hi.", 1), answer("Hello.", 1))
PLACES = ("worldInfoBefore", "worldInfoAfter", "charDescription", "charPersonality", "scenario", "personaDescription")
BARE: dict[str, Json] = {"new_chat_prompt": "", "new_example_chat_prompt": ""}


def ordered(*identifiers: str, prompts: Json = (), **more: Json) -> PromptPreset:
    """A preset of these prompts, in this order."""
    order = [{"identifier": each, "enabled": True} for each in identifiers]
    order += [{"identifier": each, "enabled": False} for each in PLACES if each not in identifiers]
    return PromptPreset.of(
        {**BARE, "prompts": list(prompts), "prompt_order": [{"character_id": 100001, "order": order}], **more}
    )


def made(
    preset: PromptPreset | None,
    message: str | None = "Where are we?",
    *,
    card: Mapping[str, Json] = CARD,
    persona: Mapping[str, Json] = PERSONA,
    **more: Any,
) -> PreparedTurn:
    """The prompt of a turn with these assets."""
    assets = PromptAssets(Character.of(card), Persona.of(persona), preset)
    return prepared(message, *more.pop("history", CHAT), assets=assets, **more)


def prompt(identifier: str, content: str, **more: Json) -> dict[str, Json]:
    """A prompt of a preset."""
    return {"identifier": identifier, "content": content, **more}


def in_chat(identifier: str, content: str, depth: int, role: str = "system", order: int = 100) -> dict[str, Json]:
    """A prompt that stands within the chat."""
    return prompt(identifier, content, injection_position=1, injection_depth=depth, injection_order=order, role=role)


SAID = [("assistant", "Welcome, Ann!"), ("user", "Hi."), ("assistant", "Hello."), ("user", "Where are we?")]


def test_without_a_preset_the_order_is_the_factorys() -> None:
    turn = made(None)
    (main, persona, description, personality, scenario, *rest) = said(turn)
    assert main[0] == "system" and "Mira" in main[1] and "Ann" in main[1]
    assert [persona, description, personality, scenario] == [
        ("system", "Ann draws maps."),
        ("system", "Mira sails."),
        ("system", "calm"),
        ("system", "A harbour."),
    ]
    assert rest == [
        ("system", "[Example Chat]"),
        ("system", "Hi."),
        ("system", "Ahoy.\nWelcome."),
        ("system", "[Example Chat]"),
        ("system", "Sit down."),
        ("system", "[Start a new Chat]"),
        *SAID,
    ]
    assert [message.name for message in turn.messages if message.name] == [
        "example_user",
        "example_assistant",
        "example_assistant",
    ]
    assert assembly(turn)["preset_used"] is False


def test_native_mode_has_no_order() -> None:
    assert said(made(ordered("main"), facts=Facts(prompt_mode="native")))[0] == ("system", "You are a helpful assistant.")


def test_the_track_is_the_order() -> None:
    prompts = [prompt("rules", "Be brief."), prompt("jailbreak", "Stay in {{char}}'s voice."), prompt("main", "Play.")]
    preset = ordered("rules", "chatHistory", "charDescription", "jailbreak", "main", prompts=prompts)
    assert said(made(preset)) == [
        ("system", "Be brief."),
        *SAID,
        ("system", "Mira sails."),
        ("system", "Stay in Mira's voice."),
        ("system", "Play."),
    ]


def test_places_that_a_track_forgets_are_at_its_end() -> None:
    preset = PromptPreset.of(
        {**BARE, "prompt_order": [{"character_id": 100001, "order": [{"identifier": "chatHistory", "enabled": True}]}]}
    )
    assert said(made(preset)) == [
        *SAID,
        ("system", "Mira sails."),
        ("system", "calm"),
        ("system", "A harbour."),
        ("system", "Ann draws maps."),
    ]


def test_triggers_say_for_which_intents_a_prompt_is() -> None:
    prompts = [prompt("aside", "Only aside.", injection_trigger=["quiet"]), prompt("always", "Always.", injection_trigger=[])]
    turn = made(ordered("aside", "always", "chatHistory", prompts=prompts))
    assert said(turn) == [("system", "Always."), *SAID]
    assert assembly(turn)["trigger_filtered_entry_ids"] == ["aside"]


def test_prompts_stand_within_the_chat() -> None:
    prompts = [
        in_chat("late", "L", 0),
        in_chat("one", "A", 1, "assistant"),
        in_chat("two", "B", 1, "user"),
        in_chat("three", "C", 1),
        in_chat("four", "D", 1),
        in_chat("early", "E", 1, order=50),
        in_chat("deep", "F", 99),
    ]
    turn = made(ordered("chatHistory", *(str(each["identifier"]) for each in prompts), prompts=prompts))
    assert said(turn) == [
        ("system", "F"),
        *SAID[:-1],
        ("system", "E"),
        ("assistant", "A"),
        ("user", "B"),
        ("system", "C\nD"),
        SAID[-1],
        ("system", "L"),
    ]
    assert assembly(turn)["in_chat_inserted_entry_ids"] == [each["identifier"] for each in prompts]


def test_a_card_may_stand_for_the_presets_texts() -> None:
    card = {**CARD, "system_prompt": "You are {{char}}. {{original}}", "post_history_instructions": "Be kind."}
    prompts = [prompt("main", "Play."), prompt("jailbreak", "Be bold.", forbid_overrides=True)]
    turn = made(ordered("main", "chatHistory", "jailbreak", prompts=prompts), card=card)
    assert said(turn) == [("system", "You are Mira. Play."), *SAID, ("system", "Be bold.")]
    sources = {section.name: section.source for section in turn.sections}
    assert (sources["main"], sources["jailbreak"]) == ("character", "preset")


@pytest.mark.parametrize(
    ("behavior", "last", "names"),
    [
        (-1, "Where are we?", set()),
        (0, "Where are we?", set()),
        (1, "Where are we?", {"Mira", "Ann_Lee"}),
        (2, "Ann Lee: Where are we?", set()),
    ],
)
def test_messages_tell_who_speaks(behavior: int, last: str, names: set[str]) -> None:
    turn = made(
        ordered("chatHistory", names_behavior=behavior),
        persona={"name": "Ann Lee"},
        history=(*CHAT, entry("narrator", "Night falls.", 2)),
    )
    assert said(turn)[-2:] == [("system", "Night falls."), ("user", last)]
    assert {message.name for message in turn.messages if message.name} == names
    assert assembly(turn)["names_behavior_applied"] == ("always" if behavior > 0 else "off")


def test_the_last_message_is_continued() -> None:
    preset = ordered(
        "chatHistory", "jailbreak", prompts=[prompt("jailbreak", "J")], continue_nudge_prompt="On: {{lastChatMessage}}"
    )
    turn = made(preset, None, intent="continue", words="We are ")
    assert said(turn)[-3:] == [("system", "J"), ("assistant", "We are"), ("system", "On: We are")]
    assert assembly(turn)["continue_nudge_text"] == "On: We are"


def test_a_continued_message_may_end_the_prompt() -> None:
    prompts = [in_chat("note", "N", 0)]
    preset = ordered("chatHistory", "note", prompts=prompts, continue_prefill=True, assistant_prefill="{{char}} says:")
    turn = made(preset, None, intent="continue", words="We are ")
    assert said(turn)[-2:] == [("system", "N"), ("assistant", "We are")]
    assert said(made(preset, None, intent="continue", words="We are", goes_on=True))[-1] == (
        "assistant",
        "Mira says:\n\nWe are",
    )
    assert assembly(turn)["assistant_prefill_strategy"] == "assistant_message_fallback"
    refused = made(preset, None, intent="continue", words="We are", policy=ResolvedPolicy(delivery=DeliveryPolicy(False)))
    assert said(refused)[-2][1] == "We are" and said(refused)[-1][0] == "system"
    assert refused.delivery.degrade_reasons == ("assistant_prefill_disabled",)


def test_seeds_dry_run_has_a_nudge_and_a_beginning() -> None:
    turn = made(ordered("chatHistory", assistant_prefill="So:"), intent="continue")
    assert said(turn)[-3:] == [
        ("user", "Where are we?"),
        ("system", "[Continue your last message without repeating its original content.]"),
        ("assistant", "So:"),
    ]


@pytest.mark.parametrize("refusing", [{"takes_prefill": False}, {"is_plain": True}])
def test_a_model_that_takes_no_beginning_gets_none(refusing: Any) -> None:
    turn = made(ordered("chatHistory", assistant_prefill="So:"), intent="continue", **refusing)
    assert said(turn)[-1] == ("system", "[Continue your last message without repeating its original content.]")


@pytest.mark.parametrize(
    ("goes_on", "intent", "last"),
    [
        (True, "normal", ("assistant", "So:")),
        (True, "quiet", ("system", "Where are we?")),
        (True, "impersonate", ("assistant", "I:")),
        (False, "normal", ("user", "Where are we?")),
        (False, "impersonate", ("system", "As Ann.")),
    ],
)
def test_answers_begin_with_a_text(goes_on: bool, intent: Any, last: tuple[str, str]) -> None:
    preset = ordered("chatHistory", assistant_prefill="So: ", assistant_impersonation="I:", impersonation_prompt="As {{user}}.")
    assert said(made(preset, intent=intent, goes_on=goes_on))[-1] == last


def test_formats_frame_the_cards_texts() -> None:
    preset = ordered("charPersonality", "scenario", personality_format="[{{personality}}]", scenario_format="")
    assert said(made(preset)) == [("system", "[calm]"), ("system", "A harbour.")]


def test_a_track_without_the_chat_sends_none_and_says_so() -> None:
    turn = made(ordered("charDescription"))
    assert said(turn) == [("system", "Mira sails.")]
    assert "chat_not_placed" in {note.code for note in turn.diagnostics}
    assert {section.why for section in turn.sections if section.group in ("history", "user_message")} == {"no_place"}


def test_neighbours_of_the_systems_are_joined() -> None:
    prompts = [prompt("main", "Play."), prompt("nsfw", "Be kind.")]
    preset = ordered("main", "nsfw", "dialogueExamples", "chatHistory", prompts=prompts, squash_system_messages=True)
    preset_of_one = {**CARD, "mes_example": "{{char}}: Ahoy."}
    assert said(made(preset, card=preset_of_one)) == [("system", "Play.\nBe kind."), ("system", "Ahoy."), *SAID]


def test_something_is_sent_where_the_user_says_nothing() -> None:
    assert said(made(ordered("chatHistory", send_if_empty="(waits)"), None))[-2:] == [
        ("assistant", "Hello."),
        ("user", "(waits)"),
    ]
    assert said(made(ordered("chatHistory", send_if_empty="(waits)")))[-1] == SAID[-1]


def test_notes_stand_at_their_depth() -> None:
    card = {**CARD, "extensions": {"depth_prompt": {"prompt": "{{char}} is tired.", "depth": 1, "role": "user"}}}
    facts = Facts(metadata={"note_prompt": "Keep it short.", "note_depth": 1, "note_role": 1})
    turn = made(ordered("chatHistory"), card=card, persona={**PERSONA, "position": 4, "depth": 0}, facts=facts)
    assert said(turn)[-3:] == [
        ("user", "Keep it short.\nMira is tired."),
        ("user", "Where are we?"),
        ("system", "Ann draws maps."),
    ]


@pytest.mark.parametrize(("interval", "is_there"), [(1, True), (2, True), (3, False), (0, False)])
def test_a_note_comes_in_its_interval(interval: int, is_there: bool) -> None:
    facts = Facts(metadata={"note_prompt": "Short.", "note_interval": interval, "note_position": 0})
    turn = made(
        ordered("main", "chatHistory", prompts=[prompt("main", "Play.")]), facts=facts, persona={**PERSONA, "position": 2}
    )
    expected = [("system", "Ann draws maps.\nShort.")] if is_there else []
    assert said(turn) == [("system", "Play."), *expected, *SAID]


def test_examples_have_the_room_that_the_chat_leaves() -> None:
    preset = ordered("main", "dialogueExamples", "chatHistory", prompts=[prompt("main", "Play.")])
    history = tuple((question, answer)[number % 2](f"{number} " + "word " * 20, number // 2) for number in range(6))
    card = {**CARD, "mes_example": f"Mira: {'Ahoy. ' * 60}\n<START>\nMira: {'Sit down. ' * 60}"}

    def within(less: int) -> PreparedTurn:
        policy = ResolvedPolicy(budget=BudgetPolicy(whole.token_estimate - less, 0))
        return made(preset, card=card, history=history, policy=policy)

    whole = made(preset, card=card, history=history)
    examples = sum(section.tokens for section in whole.sections if section.source == "examples")
    assert len(said(within(0))) == len(said(whole))
    assert [text for _, text in said(whole) if text not in {text for _, text in said(within(1))}] == [
        "Sit down. " * 59 + "Sit down."
    ]
    narrow = within(examples + 1)
    assert said(narrow) == [("system", "Play."), *said(whole)[4:]]
    assert {reason.group for reason in narrow.trim_reasons} == {"history", "section:dialogueExamples"}
    assert narrow.token_estimate <= narrow.input_limit


def test_examples_may_be_switched_off() -> None:
    policy = ResolvedPolicy(source_selection=SourceSelection(examples=SourceSwitch(False)))
    assert said(made(ordered("dialogueExamples", "chatHistory"), policy=policy)) == SAID


def test_a_structure_holds_for_an_ordered_prompt_too() -> None:
    prompts = [prompt("main", "Play."), prompt("jailbreak", "Be bold.")]
    policy = ResolvedPolicy(structure=StructurePolicy("strict_alternating", preserve_system_messages=False))
    turn = made(ordered("main", "chatHistory", "jailbreak", prompts=prompts), policy=policy)
    assert said(turn)[0] == ("system", "Play.")
    assert [role for role, _ in said(turn)[1:]] == ["user", "assistant", "user", "assistant", "user"]
    assert said(turn)[-1] == ("user", "Where are we?\n\nBe bold.")


def test_what_one_text_writes_the_next_ones_read() -> None:
    prompts = [prompt("main", "{{setvar::mood::glad}}Play."), prompt("nsfw", "{{getvar::mood}} {{description}}")]
    turn = made(ordered("main", "nsfw", prompts=prompts))
    assert said(turn) == [("system", "Play."), ("system", "glad Mira sails.")]


def test_a_trace_tells_of_the_preset() -> None:
    track = {"character_id": 200001, "order": [{"identifier": "main", "enabled": True}]}
    other = {"character_id": 100000, "order": [{"identifier": "chatHistory", "enabled": True}]}
    preset = PromptPreset.of({"prompt_order": [track, other], "top_a": 1, "odd": 2})
    told = runtime_trace(made(preset), is_kept=False)["preset"]
    assert (told["selected_prompt_order_character_id"], told["ignored_prompt_order_character_ids"]) == (100000, [200001])
    assert (told["unsupported_fields"], told["ignored_fields"]) == (["top_level.top_a"], ["top_level.odd"])
    assert told["warnings"]


def test_a_text_that_holds_itself_is_nothing_there() -> None:
    card = Character.of({"name": "Mira", "description": "D({{personality}})", "personality": "P({{description}})"})
    turn = prepared("Hi.", assets=PromptAssets(card))
    assert ("system", "D(P())") in said(turn)
    assert [each.code for each in turn.macro.warnings].count("macro_cycle_detected") == 1


def test_texts_that_nobody_reads_write_nothing() -> None:
    card = Character.of({"name": "Mira", "creator_notes": "{{setvar::a::1}}", "first_mes": "{{setvar::b::1}}"})
    turn = prepared("Hi.", assets=PromptAssets(card))
    assert not turn.macro.mutations
    assert turn.macro_scope.values["charAuthorsNote"] == "" and tuple(turn.macro_scope.greetings) == ("",)


def test_names_of_messages_are_shown() -> None:
    turn = prepared("Hi.", assets=PromptAssets(Character.of({"name": "Mira"}), preset=PromptPreset.of({"names_behavior": 1})))
    assert shown_messages(turn.messages)[-1] == {"role": "user", "content": "Hi.", "name": "User"}


def test_a_snapshot_may_have_a_nickname() -> None:
    facts = Facts(character_snapshot={"name": "Mira", "nickname": "Mi"}, metadata={"system_prompt": "{{char}} {{notChar}}"})
    assert said(prepared("Hi.", facts=facts))[0] == ("system", "Mi User")
