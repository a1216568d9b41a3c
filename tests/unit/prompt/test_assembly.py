"""A session, its history and a message become messages."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.chat.messages import Media, Message, Text, Thinking, ToolCall, ToolResult
from agentui.prompt.drafts import CONTINUE_NUDGE
from agentui.prompt.explain import first_included_no
from agentui.prompt.history import Unread
from agentui.prompt.policy import (
    BudgetPolicy,
    DeliveryPolicy,
    FloorRange,
    HistorySelection,
    ResolvedPolicy,
    SourceSelection,
    SourceSwitch,
    StructurePolicy,
    VisibilityPolicy,
)
from agentui.prompt.prepared import ExtraSection, TurnMessage
from agentui.prompt.tokens import TokenEstimator, corrected
from tests.unit.prompt.parts import NOW, Facts, answer, entry, prepared, question, said, scope
from tests.unit.work import assert_doubling

CARD = Facts(
    character_snapshot={"name": "Mira", "description": "{{char}} keeps an inn.", "first_mes": "Welcome, {{user}}!"},
    user_snapshot={"name": "Ann", "description": "A traveller."},
    metadata={"system_prompt": "Play {{char}}. You talk with {{user}}."},
)
SYSTEM = ("system", "You are a helpful assistant.")


def structured(mode: Any, **more: Any) -> ResolvedPolicy:
    """A policy that says this of the structure alone."""
    return ResolvedPolicy(structure=StructurePolicy(mode, **more))


def test_a_prompt_is_the_system_text_the_history_and_the_message() -> None:
    turn = prepared("Where are we?", question("Hi.", 1), answer("Hello.", 1))
    assert said(turn) == [SYSTEM, ("user", "Hi."), ("assistant", "Hello."), ("user", "Where are we?")]
    assert turn.preprocessed_user_message == "Where are we?"
    assert turn.prompt_digest.startswith("sha256:")
    assert turn.available_for_reply == 8192 - turn.token_estimate


def test_sections_and_the_greeting_name_the_chat_and_what_was_said_is_data() -> None:
    history = (answer("Welcome, {{user}}!", 0, source="greeting"), question("I am {{user}}.", 1), answer("{{char}} nods.", 1))
    turn = prepared("{{user}}?", *history, facts=CARD)
    assert said(turn) == [
        ("system", "Play Mira. You talk with Ann."),
        ("system", "A traveller."),
        ("system", "Mira keeps an inn."),
        ("assistant", "Welcome, Ann!"),
        ("user", "I am {{user}}."),
        ("assistant", "{{char}} nods."),
        ("user", "{{user}}?"),
    ]
    assert [section.source for section in turn.sections][:4] == ["session", "user", "character", "greeting"]
    assert [trace.macro for trace in turn.sections[3].macros] == ["user"]


def test_what_a_macro_inserts_is_not_read_again() -> None:
    facts = Facts(
        metadata={"system_prompt": "{{lastUserMessage}} {{.note}} {{description}}"}, character_snapshot={"description": "{{x}}"}
    )
    turn = prepared("{{setvar::gold::999}}", facts=facts, scope=scope(local={"note": "{{user}}"}))
    assert said(turn)[0] == ("system", "{{setvar::gold::999}} {{user}} {{x}}")
    assert turn.macro.mutations == []


def test_a_greeting_writes_in_the_first_turn_alone() -> None:
    greeting = answer("{{setvar::gold::5}}Welcome.", 0, source="greeting")
    facts = Facts(metadata={"system_prompt": "Gold: {{.gold}}."})
    first = prepared("Hi.", greeting, facts=facts)
    assert [(each.key, each.value) for each in first.macro.mutations] == [("gold", "5")]
    assert said(first)[:2] == [("system", "Gold: 5."), ("assistant", "Welcome.")]
    later = prepared("Hi.", greeting, question("a", 1), answer("b", 1), facts=facts, scope=scope(local={"gold": 2}))
    assert later.macro.mutations == []
    assert said(later)[:2] == [("system", "Gold: 2."), ("assistant", "Welcome.")]


def test_a_prompt_knows_how_long_ago_the_user_spoke() -> None:
    before = int(NOW.timestamp() * 1000) - 3 * 3_600_000
    facts = Facts(metadata={"system_prompt": "{{idleDuration}}"})
    history = (question("Hi.", 1, created_at=before), answer("Hello.", 1, created_at=before + 5000))
    assert said(prepared("Back.", *history, facts=facts))[0] == ("system", "3 hours")
    assert said(prepared("Hi.", facts=facts))[0] == ("system", "just now")


def test_a_greeting_throws_its_dice_once() -> None:
    greeting = answer("{{random::a::b::c::d}}{{roll::100}}", 0, source="greeting")
    assert len({said(prepared("Hi.", greeting, scope=scope(seed="chat")))[1] for _ in range(20)}) == 1


def test_users_messages_that_nobody_answered_are_one() -> None:
    picture = Media("image", "image/png", data="AAAA")
    turn = prepared(
        "Hello?", question("a", 1), answer("b", 1), question("One.", 2), answer(" ", 2), question("", 3, Text("Two."), picture)
    )
    assert said(turn)[-1] == ("user", "One.\n\nTwo.\n\nHello?")
    assert turn.messages[-1].parts == (Text("One.\n\nTwo."), picture, Text("\n\nHello?"))
    told = turn.history_normalization
    assert (told.raw_entry_count, told.effective_turn_count, told.selected_turn_count) == (6, 3, 3)
    assert told.trailing_user_source_floor_ids == ("floor-2", "floor-3")
    assert [(group.source_floor_ids, group.includes_current_input) for group in told.merged_user_groups] == [
        (("floor-2", "floor-3"), True)
    ]
    assert told.violations == ()


def test_the_model_speaking_twice_is_told_of() -> None:
    turn = prepared("c", answer("a", 1), answer("b", 2))
    assert [(each.code, each.source_floor_ids) for each in turn.history_normalization.violations] == [
        ("adjacent_assistant_floors", ("floor-1", "floor-2"))
    ]
    assert said(turn)[1:] == [("assistant", "a"), ("assistant", "b"), ("user", "c")]


def test_the_oldest_turns_go_and_the_system_text_and_the_message_stay() -> None:
    history = [each for number in range(1, 5) for each in (question("x" * 40, number), answer("y" * 40, number))]
    turn = prepared("z" * 40, *history, policy=ResolvedPolicy(budget=BudgetPolicy(100, 30)))
    assert [(section.name, section.kept, section.why) for section in turn.sections if not section.kept] == [
        (f"history:message-{number}-{role}", False, "budget_exceeded") for number in (1, 2, 3) for role in ("user", "assistant")
    ]
    assert turn.token_estimate == 4 + 7 + 3 * 14
    assert turn.available_for_reply == 100 - turn.token_estimate
    assert [(reason.group, reason.pruned_token_count) for reason in turn.trim_reasons] == [("history", 6 * 14)]
    assert ("history", "budget_trimmed") in [(each.source, each.reason) for each in turn.excluded_sources]


def test_a_message_over_the_window_is_sent_and_told_of() -> None:
    turn = prepared("z" * 4000, question("a", 1), answer("b", 1), policy=ResolvedPolicy(budget=BudgetPolicy(100)))
    assert said(turn) == [SYSTEM, ("user", "z" * 4000)]
    assert [note.code for note in turn.diagnostics] == ["prompt_over_budget"]
    assert turn.available_for_reply == 0


@pytest.mark.parametrize(
    ("policy", "window", "asked", "expected"),
    [
        (BudgetPolicy(), None, None, (8192, 8192 - 1024)),
        (BudgetPolicy(), 2000, None, (2000, 1500)),
        (BudgetPolicy(), 2000, 300, (2000, 1700)),
        (BudgetPolicy(), None, 100_000, (8192, 4096)),
        (BudgetPolicy(1000), 2000, 300, (1000, 700)),
        (BudgetPolicy(1000, 900), 2000, 300, (1000, 100)),
        (BudgetPolicy(1000, 0), 2000, 300, (1000, 1000)),
        (BudgetPolicy(1000, 5000), 2000, 300, (1000, 0)),
    ],
)
def test_the_window_is_the_policys_else_the_models(
    policy: BudgetPolicy, window: int | None, asked: int | None, expected: tuple[int, int]
) -> None:
    turn = prepared("Hi.", policy=ResolvedPolicy(budget=policy), window=window, max_output_tokens=asked)
    assert (turn.window, turn.input_limit) == expected


@given(st.text(st.sampled_from("abc de, .你好é"), min_size=1), st.integers(16, 3000), st.sampled_from([0.25, 1.0, 4.0]))
def test_no_prompt_holds_more_than_the_history_that_is_read_for_it(text: str, window: int, factor: float) -> None:
    history = [question(text, number) if number % 2 else answer(text, number) for number in range(400)]
    turn = prepared("Hi.", *history, window=window, estimator=TokenEstimator(factor))
    kept = sum(len(section.text) for section in turn.sections if section.group == "history" and section.kept)
    assert kept <= TokenEstimator(factor).longest(window)


def test_a_call_whose_result_comes_now_stays_whatever_it_takes() -> None:
    call = answer("", 1, ToolCall("c1", "look", '{"at": "' + "x" * 900 + '"}'))
    result = (ToolResult("c1", (Text("a river"),), "look"),)
    history = (question("Look.", 1), call)
    policy = ResolvedPolicy(budget=BudgetPolicy(100), source_selection=SourceSelection(HistorySelection("windowed", 0)))
    turn = prepared(TurnMessage("", result), *history, policy=policy)
    assert [message.role for message in turn.messages] == ["system", "assistant", "user"]


def test_hidden_messages_and_floors_are_left_out_and_say_why() -> None:
    history = (question("a", 1), answer("b", 1), question("c", 2, is_hidden=True), answer("d", 3), question("e", 4))
    policy = ResolvedPolicy(visibility=VisibilityPolicy(hidden_floor_ranges=(FloorRange(1, 1),)))
    turn = prepared("f", *history, policy=policy)
    assert said(turn)[1:] == [("assistant", "d"), ("user", "e\n\nf")]
    assert turn.filtered_floor_nos == (1,)
    assert {(each.source, each.reason) for each in turn.excluded_sources} == {
        ("history", "visibility_filtered"),
        ("history", "hidden_message"),
    }
    assert [section.why for section in turn.sections[1:4]] == ["visibility_filtered", "visibility_filtered", "hidden_message"]


def test_only_the_newest_messages_where_the_policy_wants_a_window() -> None:
    history = (question("a", 1), answer("b", 1), question("c", 2), answer("d", 2))
    selection = SourceSelection(HistorySelection("windowed", 3), examples=SourceSwitch(False))
    turn = prepared("e", *history, policy=ResolvedPolicy(source_selection=selection))
    assert said(turn)[1:] == [("assistant", "b"), ("user", "c"), ("assistant", "d"), ("user", "e")]
    assert [(each.source, each.reason) for each in turn.excluded_sources] == [
        ("history", "window_limited"),
        ("examples", "disabled_by_policy"),
    ]


def test_a_history_that_is_not_whole_says_so() -> None:
    turn = prepared("a", question("b", 900), is_cut=True)
    assert [each.reason for each in turn.excluded_sources] == ["not_loaded"]


def test_what_was_not_loaded_counts_where_it_is_known() -> None:
    facts = Facts(metadata={"system_prompt": "{{lastMessageId}}"})
    for unread, number in ((Unread(7, 3), "8"), (None, "")):
        turn = prepared("a", question("b", 900), is_cut=True, unread=unread, facts=facts)
        assert turn.macro_scope.values["lastMessageId"] == number
        assert first_included_no(turn) == (None if unread is None else 7)
    note = Facts(metadata={"note_prompt": "Rain.", "note_interval": 5})
    turns = [prepared("a", question("b", 9), is_cut=True, unread=Unread(6, users), facts=note) for users in (2, 3)]
    assert [any("Rain." in text for _, text in said(turn)) for turn in turns] == [False, True]


HISTORY = (answer("Welcome.", 0), question("Hi.", 1), answer("Hello.", 1), entry("narrator", "Night falls.", 2))


def test_strict_alternation_merges_neighbours_and_begins_with_the_user() -> None:
    turn = prepared("Where?", question("Hm.", 3), *HISTORY, entry("user", "Wait.", 3), policy=structured("strict_alternating"))
    assert said(turn) == [
        SYSTEM,
        ("user", "Hm."),
        ("assistant", "Welcome."),
        ("user", "Hi."),
        ("assistant", "Hello."),
        ("system", "Night falls."),
        ("user", "Wait.\n\nWhere?"),
    ]
    first = prepared("Where?", *HISTORY, policy=structured("strict_alternating", preserve_system_messages=False))
    assert said(first)[1:3] == [("user", "[Start a new chat]"), ("assistant", "Welcome.")]
    assert said(first)[-1] == ("user", "Night falls.\n\nWhere?")


def test_without_the_model_its_words_are_the_systems_or_the_users() -> None:
    assert said(prepared("Where?", *HISTORY, policy=structured("no_assistant")))[1:] == [
        ("system", "Welcome."),
        ("user", "Hi."),
        ("system", "Hello."),
        ("system", "Night falls."),
        ("user", "Where?"),
    ]
    policy = structured("no_assistant", assistant_rewrite_strategy="to_user_transcript", merge_adjacent_same_role=True)
    turn = prepared("Where?", *HISTORY, policy=policy)
    assert said(turn)[1:] == [
        ("user", "Assistant: Welcome.\n\nHi.\n\nAssistant: Hello."),
        ("system", "Night falls."),
        ("user", "Where?"),
    ]
    assert turn.structure.assistant_rewrite_count == 2


def test_a_delivery_without_the_model_needs_no_structure_to_say_so() -> None:
    turn = prepared("Where?", *HISTORY, policy=ResolvedPolicy(delivery=DeliveryPolicy(no_assistant=True)))
    assert {message.role for message in turn.messages} == {"system", "user"}
    assert turn.structure.mode == "no_assistant"


def test_a_flattened_prompt_is_one_transcript() -> None:
    picture = Media("image", "image/png", data="AAAA")
    call, result = ToolCall("c", "look", '{"at": 1}'), ToolResult("c", (Text("a river"), picture), "look")
    history = (
        *HISTORY,
        question("Look.", 3),
        answer("", 3, Thinking("hm"), call),
        question("", 3, result),
        answer("A river.", 3),
    )
    facts = Facts(metadata={"assistant_prefill": "I see "})
    turn = prepared("And now?", *history, facts=facts, policy=structured("flattened"))
    assert said(turn) == [
        SYSTEM,
        ("system", "Night falls."),
        (
            "user",
            'Assistant: Welcome.\nUser: Hi.\nAssistant: Hello.\nUser: Look.\nAssistant: [called look: {"at": 1}]\n'
            "User: [look gave: a river]\nAssistant: A river.\nUser: And now?\nAssistant: I see",
        ),
    ]
    assert picture in turn.messages[-1].parts
    assert turn.structure.transcriptized and turn.structure.transcript_message_count == 9
    assert turn.structure.assistant_prefill_transcriptized
    assert turn.delivery.prefill_strategy == "transcript_append"


@pytest.mark.parametrize(
    ("intent", "more", "end"),
    [
        ("normal", {}, [("user", "Go on.")]),
        ("swipe", {}, [("user", "Go on.")]),
        ("regenerate", {}, [("user", "Go on.")]),
        ("quiet", {}, [("user", "Go on.")]),
        ("continue", {}, [("user", "Go on."), ("user", CONTINUE_NUDGE)]),
        ("continue", {"words": "Once upon "}, [("user", "Go on."), ("assistant", "Once upon"), ("user", CONTINUE_NUDGE)]),
        (
            "impersonate",
            {},
            [
                ("user", "Go on."),
                (
                    "user",
                    "[Write the next message as Ann, in the way in which Ann has written so far. "
                    "Do not write as Mira, and do not tell what Mira does.]",
                ),
            ],
        ),
    ],
)
def test_what_an_intent_does_to_the_end_of_a_prompt(intent: Any, more: Any, end: list[tuple[str, str]]) -> None:
    turn = prepared("Go on.", question("a", 1), answer("b", 1), intent=intent, facts=CARD, **more)
    assert said(turn)[-len(end) :] == end
    assert turn.delivery.last_message_role == "user"


def test_a_session_may_want_its_answers_begun() -> None:
    facts = Facts(metadata={"assistant_prefill": "{{char}}: ", "continue_prefill": True}, character_snapshot={"name": "Mira"})
    turn = prepared("Hi.", facts=facts)
    assert said(turn)[-1] == ("assistant", "Mira:")
    assert (turn.delivery.prefill_applied, turn.delivery.prefill_strategy) == (True, "assistant_message_fallback")
    going_on = prepared("Hi.", facts=facts, intent="continue", words="Once upon ")
    assert said(going_on)[-1] == ("assistant", "Once upon")
    assert going_on.delivery.nudge is None
    for intent in ("quiet", "impersonate"):
        assert said(prepared("Hi.", facts=facts, intent=intent))[-1][0] == "user"


@pytest.mark.parametrize(
    ("delivery", "reason"),
    [
        (DeliveryPolicy(allow_assistant_prefill=False), "assistant_prefill_disabled"),
        (DeliveryPolicy(require_last_user=True), "require_last_user"),
        (DeliveryPolicy(no_assistant=True), "no_assistant_override"),
    ],
)
def test_a_policy_that_refuses_a_begun_answer_says_why(delivery: DeliveryPolicy, reason: str) -> None:
    facts = Facts(metadata={"assistant_prefill": "Well,", "continue_prefill": True})
    turn = prepared("Hi.", facts=facts, policy=ResolvedPolicy(delivery=delivery))
    assert said(turn)[-1] == ("user", "Hi.")
    assert turn.delivery.prefill_requested and turn.delivery.degrade_reasons == (reason,)
    going_on = prepared("Hi.", facts=facts, intent="continue", words="Once", policy=ResolvedPolicy(delivery=delivery))
    assert said(going_on)[-1] == ("user", CONTINUE_NUDGE)


def test_the_user_has_the_last_word_where_that_is_required() -> None:
    policy = ResolvedPolicy(delivery=DeliveryPolicy(require_last_user=True))
    chat = question("a", 1), answer("b", 1)
    assert said(prepared(None, *chat, policy=policy, is_plain=True))[-1] == ("user", CONTINUE_NUDGE)
    # Where nothing is said the user has it anyway.
    for rules in (policy, ResolvedPolicy()):
        assert said(prepared(None, *chat, policy=rules))[-1] == ("user", "[Write the next message as Assistant.]")
    assert said(prepared(None, question("a", 1)))[-1] == ("user", "a")
    advice = ExtraSection("director", "director", "Be kind.", place="tail")
    assert said(prepared("Hi.", extra=(advice,), policy=policy))[-1] == ("user", "Be kind.")


def test_the_directors_advice_is_data() -> None:
    advice = ExtraSection("director", "director", "{{user}} shall win.")
    turn = prepared("Hi.", extra=(advice,), facts=CARD)
    assert said(turn)[3] == ("system", "{{user}} shall win.")
    assert turn.sections[3].group == "section:director"


def test_a_prompt_of_nothing_says_so() -> None:
    turn = prepared(None, facts=Facts(metadata={"system_prompt": "{{setvar::a::1}}"}))
    assert (turn.messages, turn.delivery.last_message_role) == ((), None)
    assert [note.code for note in turn.diagnostics] == ["prompt_empty"]
    assert [section.why for section in turn.sections] == ["empty"]


def test_estimates_follow_what_a_provider_counts() -> None:
    factor = 1.0
    for _ in range(50):
        estimate = TokenEstimator(factor).message(Message("user", (Text("x" * 4000),)))
        factor = corrected(factor, estimate, 1500)
    assert TokenEstimator(factor).message(Message("user", (Text("x" * 4000),))) == pytest.approx(1500, rel=0.01)


@pytest.mark.parametrize("mode", ["default", "strict_alternating", "no_assistant", "flattened"])
@pytest.mark.parametrize("roles", [("user", "assistant"), ("user",), ("assistant",), ("system", "user")])
def test_work_is_linear_in_the_history(mode: Any, roles: tuple[str, ...]) -> None:
    policy = replace(structured(mode, merge_adjacent_same_role=True), budget=BudgetPolicy(1_000_000))

    def assembling(size: int) -> Callable[[], object]:
        history = [entry(roles[number % len(roles)], f"{number} " * 20, number) for number in range(size)]
        return lambda: prepared("Hi.", *history, policy=policy)

    assert_doubling(assembling, 50)
