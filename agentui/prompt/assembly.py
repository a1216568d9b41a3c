"""``assemble``: a session, its history and a message become what a model is sent."""

from collections.abc import Sequence

from agentui.assets.chat_settings import has_settings
from agentui.chat.messages import Message, Text, ToolResult
from agentui.prompt.budget import Budget
from agentui.prompt.drafts import ENDING, Draft, head_drafts, tail_drafts
from agentui.prompt.history import normalization, turns_of
from agentui.prompt.macros import PromptMacros
from agentui.prompt.memory import MACROS, MEMORY
from agentui.prompt.modes import resolve_mode
from agentui.prompt.ordered.assembly import assemble_ordered
from agentui.prompt.ordered.frame import HISTORY
from agentui.prompt.outcome import Choice, prepared_turn
from agentui.prompt.prepared import PreparedTurn, PromptInput
from agentui.prompt.seen import SeenHistory, entry_draft
from agentui.prompt.structure import PLACEHOLDER, Shape


def assemble(given: PromptInput) -> PreparedTurn:
    """The prompt of a turn. Work is linear in what is given.

    Where the turn has assets, or its chat says what only SillyTavern's prompts have a place for, and its mode is not
    ``native``, the prompt is SillyTavern's; else this server's own.
    """
    mode = resolve_mode(given.session.prompt_mode, given.session.metadata).effective_prompt_mode
    is_taverns = not given.assets.is_empty or has_settings(given.session.metadata)
    if is_taverns and mode != "native":
        return assemble_ordered(given)
    return _assemble_native(given)


def _assemble_native(given: PromptInput) -> PreparedTurn:
    """The system text, who takes part, the history by whole turns, the message."""
    policy, count = given.policy, given.estimator.message
    current = given.message.parts if given.message is not None else ()
    budget = Budget.of(given)
    seen = SeenHistory(given)
    macros = PromptMacros(given, seen.visible, budget.window, budget.reserved)
    shape = Shape(policy.structure, policy.delivery.no_assistant)

    # A greeting comes first, for it was there before all else.
    talk = [entry_draft(entry, macros) for entry in seen.selected]
    head = head_drafts(given, macros)
    recalled = _remember(given, head, macros)
    tail, delivery = tail_drafts(given, macros, shape.forbids_assistant)
    for draft in (*talk, *recalled, *tail):
        draft.shaped = shape.rewritten(draft)
    for draft in (*head, *talk, *recalled, *tail):
        draft.tokens = 0 if draft.is_empty else count(draft.shaped)

    turns, is_needed = turns_of(seen.selected, current)
    drafts = iter(talk)
    sizes = [sum(next(drafts).tokens for _ in turn) for turn in turns]
    placeholder = count(PLACEHOLDER) if shape.mode == "strict_alternating" else 0
    fixed = sum(draft.tokens for draft in (*head, *recalled, *tail)) + placeholder
    dropped = budget.dropped(sizes, fixed, is_needed)
    cut = sum(len(turn) for turn in turns[:dropped])

    ordered = _within(talk[cut:], tail, recalled, given.memory.depth)
    said = [draft for draft in ordered if not draft.is_empty]
    sent = shape.joined([draft for draft in head if not draft.is_empty], said)
    return prepared_turn(
        given,
        seen,
        macros,
        budget,
        Choice(
            messages=sent,
            sections=(
                *(draft.section() for draft in head),
                *seen.left_out(count),
                *(draft.section("budget_exceeded") for draft in talk[:cut]),
                *(draft.section() for draft in ordered),
            ),
            fixed=fixed,
            dropped=f"{dropped} oldest turn(s)" if dropped else "",
            trim_reasons=budget.reasons(dropped, "turn", sum(sizes[:dropped])),
            normalization=normalization(
                seen.visible,
                len(given.history),
                seen.selected,
                seen.selected[cut:],
                any(draft.is_talk for draft in tail),
                given.message.floor_id if given.message is not None else None,
            ),
            structure=shape.result(said, delivery.prefill_applied),
            delivery=delivery,
            placed=_placed(head, [*talk[cut:], *recalled], tail),
        ),
    )


def _remember(given: PromptInput, head: list[Draft], macros: PromptMacros) -> list[Draft]:
    """Put into the head what a person pinned, unless a text has one of the macros, and give what stands within the chat.

    At the contract's places all of it is in the head: behind the first text, or, where a preset is bound, at its end."""
    memory = given.memory
    if not memory.text or not MACROS.isdisjoint(macros.report.used):
        return []
    if memory.place == "system":
        if given.assets.preset is None:
            head.insert(1, Draft(MEMORY, MEMORY, MEMORY, Message("system", (Text(memory.text),))))
        else:
            head[0].message = Message("system", (Text(f"{head[0].message.text}\n\n[Memory Summary]\n{memory.text}"),))
            head[0].shaped = head[0].message
        return []
    if memory.pinned:
        at = len(head) - sum(extra.place == "head" for extra in given.extra)
        head.insert(at, Draft("memoryPinned", MEMORY, MEMORY, Message("system", (Text(memory.pinned_text),))))
    # The user's: vendors that know one system text would move a system message to the top, before all that they have cached.
    text = memory.recalled_text
    return [Draft(MEMORY, MEMORY, MEMORY, Message("user", (Text(text),)))] if text else []


def _within(talk: Sequence[Draft], tail: Sequence[Draft], recalled: Sequence[Draft], depth: int) -> list[Draft]:
    """The chat and what ends it, with what was recalled at its depth; a call of a tool is not parted from its result."""
    said = [*talk, *tail]
    if not recalled:
        return said
    is_said = bool(tail) and tail[0].is_talk
    at = max(len(talk) + is_said - depth, 0)
    while 0 < at < len(said) and any(isinstance(part, ToolResult) for part in said[at].message.parts):
        at -= 1
    return [*said[:at], *recalled, *said[at:]]


def _placed(head: Sequence[Draft], talk: Sequence[Draft], tail: Sequence[Draft]) -> dict[str, list[Draft]]:
    """The texts by their places, as SillyTavern's prompt manager names them."""
    said = [draft for draft in tail if draft.is_talk]
    ending = [draft for draft in tail if not draft.is_talk]
    return {**{draft.name: [draft] for draft in head}, HISTORY: [*talk, *said], ENDING: ending}
