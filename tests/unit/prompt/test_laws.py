"""What holds of every prompt, whatever the history and the policy are."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentui.chat.estimates import message_tokens
from agentui.chat.messages import Media, Message, Part, Text, ToolCall, ToolResult
from agentui.prompt.assembly import assemble
from agentui.prompt.history import HistoryEntry, turns_of
from agentui.prompt.policy import (
    BudgetPolicy,
    DeliveryPolicy,
    FloorRange,
    HistorySelection,
    ResolvedPolicy,
    SourceSelection,
    StructurePolicy,
    VisibilityPolicy,
)
from agentui.prompt.prepared import PreparedTurn, PromptInput, TurnMessage
from agentui.prompt.tokens import TokenEstimator
from tests.unit.prompt.parts import Facts, scope

TEXTS = st.text(st.sampled_from("ab c\n你好{{user}}."), max_size=30)
BUDGETS = st.builds(BudgetPolicy, st.none() | st.integers(1, 300), st.none() | st.integers(0, 100))
STRUCTURES = st.builds(
    StructurePolicy,
    st.sampled_from(["default", "strict_alternating", "no_assistant", "flattened"]),
    st.booleans(),
    st.sampled_from(["to_system", "to_user_transcript"]),
    st.booleans(),
)
RANGES = st.lists(st.builds(FloorRange, st.integers(0, 12), st.integers(0, 12)), max_size=2).map(tuple)
POLICIES = st.builds(
    ResolvedPolicy,
    STRUCTURES,
    st.builds(DeliveryPolicy, st.booleans(), st.booleans(), st.booleans()),
    BUDGETS,
    st.builds(
        SourceSelection, st.builds(HistorySelection, st.sampled_from(["full", "windowed"]), st.none() | st.integers(0, 9))
    ),
    st.builds(VisibilityPolicy, st.sampled_from(["allow_all_except_hidden", "deny_all_except_visible"]), RANGES, RANGES),
)


@st.composite
def histories(draw: Any) -> tuple[HistoryEntry, ...]:
    """Chats with pictures, calls of tools whose results come later or never, greetings, hidden messages and odd neighbours."""
    entries: list[HistoryEntry] = []
    open_calls: list[str] = []
    for number in range(draw(st.integers(0, 12))):
        role = draw(st.sampled_from(["user", "assistant", "user", "assistant", "system", "narrator"]))
        text = draw(TEXTS)
        parts: list[Part] = [Text(text)] if text else []
        if role == "assistant" and draw(st.booleans()):
            open_calls.append(draw(st.sampled_from(["call_1", f"call-{number}"])))
            parts.append(ToolCall(open_calls[-1], "look", '{"at": "map"}'))
        if role == "user" and open_calls and draw(st.booleans()):
            parts.insert(0, ToolResult(open_calls.pop(), (Text("a river"),), "look"))
        if role == "user" and draw(st.integers(0, 4)) == 0:
            parts.append(Media("image", "image/png", data="AAAA"))
        is_plain = draw(st.booleans()) and all(isinstance(part, Text) for part in parts)
        source = "greeting" if number == 0 and role == "assistant" and is_plain else None
        entries.append(
            HistoryEntry(
                f"floor-{number // 2}",
                number // 2,
                f"m{number}",
                f"p{number}",
                role,
                text,
                () if is_plain else tuple(parts),
                draw(st.integers(0, 9)) == 0,
                source,
            )
        )
    return tuple(entries)


@st.composite
def inputs(draw: Any, policies: st.SearchStrategy[ResolvedPolicy] = POLICIES) -> PromptInput:
    """Everything that makes a prompt."""
    metadata = draw(st.fixed_dictionaries({}, optional={"assistant_prefill": TEXTS, "continue_prefill": st.booleans()}))
    character = draw(st.none() | st.fixed_dictionaries({"name": TEXTS, "description": TEXTS}))
    return PromptInput(
        Facts(character_snapshot=character, metadata=metadata),
        scope(seed="chat"),
        draw(histories()),
        draw(st.none() | st.builds(TurnMessage, TEXTS)),
        draw(st.sampled_from(["normal", "continue", "impersonate", "swipe", "regenerate", "quiet"])),
        draw(policies),
        words=draw(TEXTS),
        estimator=TokenEstimator(draw(st.sampled_from([0.25, 1.0, 1.3, 4.0]))),
    )


def fixed(turn: PreparedTurn) -> list[str]:
    """The names of what is no history."""
    return [section.name for section in turn.sections if section.group != "history" and section.kept]


@given(inputs())
def test_a_prompt_is_within_its_budget_unless_what_must_stay_is_over_it_alone(given: PromptInput) -> None:
    turn = assemble(given)
    assert turn.token_estimate == sum(map(given.estimator.message, turn.messages))
    assert turn.available_for_reply == max(0, turn.window - turn.token_estimate)
    is_over = any(note.code == "prompt_over_budget" for note in turn.diagnostics)
    history = [section for section in turn.sections if section.group == "history"]
    if is_over:
        assert not any(section.kept for section in history)
    else:
        assert turn.token_estimate <= turn.input_limit


@given(inputs())
def test_whole_turns_go_and_the_oldest_first(given: PromptInput) -> None:
    turn = assemble(given)
    seen = [section for section in turn.sections if section.group == "history" and section.why in (None, "budget_exceeded")]
    kept = [section.kept for section in seen]
    assert kept == sorted(kept), "what is kept is the end of the history"
    entries = {entry.message_id: entry for entry in given.history}
    turns, _ = turns_of([entries[section.message_id or ""] for section in seen])
    starts = {turn[0].message_id for turn in turns}
    if False in kept and True in kept:
        assert seen[kept.index(True)].message_id in starts
    assert bool(turn.trim_reasons) == (False in kept)
    assert sum(reason.pruned_token_count for reason in turn.trim_reasons) == sum(each.tokens for each in seen if not each.kept)


@given(inputs())
def test_calls_and_results_are_never_parted(given: PromptInput) -> None:
    kept = {section.message_id for section in assemble(given).sections if section.kept}
    waiting: dict[str | None, HistoryEntry] = {}
    hidden = {
        section.message_id for section in assemble(given).sections if section.why in ("hidden_message", "visibility_filtered")
    }
    for entry in given.history:
        if entry.message_id in hidden:
            continue
        for part in entry.parts:
            if isinstance(part, ToolCall):
                waiting[part.id] = entry
            elif isinstance(part, ToolResult) and part.call_id in waiting:
                caller = waiting.pop(part.call_id)
                assert (caller.message_id in kept) == (entry.message_id in kept)


@given(inputs())
def test_all_that_is_left_out_says_why_and_nothing_is_lost(given: PromptInput) -> None:
    turn = assemble(given)
    history = [section.message_id for section in turn.sections if section.group == "history"]
    assert sorted(filter(None, history)) == sorted(entry.message_id for entry in given.history)
    assert all(section.kept == (section.why is None) for section in turn.sections)
    if turn.policy.structure.mode == "default" and not turn.policy.delivery.no_assistant:
        kept = {section.message_id for section in turn.sections if section.kept}
        parts = [part for entry in given.history if entry.message_id in kept for part in entry.parts]
        sent = [part for message in turn.messages for part in message.parts]
        assert all(part in sent for part in parts if not isinstance(part, Text))


@given(inputs())
def test_strict_alternation_alternates_and_begins_with_the_user(given: PromptInput) -> None:
    turn = assemble(given)
    if turn.structure.mode != "strict_alternating":
        return
    spoken = [message.role for message in turn.messages if message.role != "system"]
    assert spoken == [("user", "assistant")[number % 2] for number in range(len(spoken))]
    if spoken:
        assert turn.messages[-1].role != "system"


@given(inputs())
def test_no_words_of_the_model_where_none_may_be_sent(given: PromptInput) -> None:
    turn = assemble(given)
    if turn.structure.mode in ("no_assistant", "flattened"):
        assert all(message.role in ("system", "user") for message in turn.messages)
        parts = [part for message in turn.messages for part in message.parts]
        assert not any(isinstance(part, ToolCall | ToolResult) for part in parts)
        pictures = sum(isinstance(part, Media) for part in parts)
        kept = {section.message_id for section in turn.sections if section.kept}
        assert pictures == sum(
            isinstance(part, Media) for entry in given.history if entry.message_id in kept for part in entry.parts
        )
    if given.policy.delivery.no_assistant:
        assert all(message.role != "assistant" for message in turn.messages)
    if turn.structure.mode == "flattened":
        assert sum(message.role == "user" for message in turn.messages) <= 1


@given(inputs())
def test_a_prompt_ends_with_the_user_where_that_is_required(given: PromptInput) -> None:
    turn = assemble(given)
    if given.policy.delivery.require_last_user and any(message.role != "system" for message in turn.messages):
        assert turn.messages[-1].role == "user"
    assert turn.delivery.last_message_role == (turn.messages[-1].role if turn.messages else None)
    assert not (turn.delivery.prefill_applied and turn.delivery.degrade_reasons)


@given(inputs())
def test_the_same_input_gives_the_same_prompt(given: PromptInput) -> None:
    assert assemble(given).messages == assemble(given).messages
    assert assemble(given).prompt_digest == assemble(given).prompt_digest


@given(TEXTS, TEXTS)
def test_two_texts_joined_take_no_more_than_both_apart(one: str, other: str) -> None:
    apart = message_tokens(Message("user", (Text(one),))) + message_tokens(Message("user", (Text(other),)))
    assert message_tokens(Message("user", (Text(f"{one}\n\n{other}"),))) <= apart
