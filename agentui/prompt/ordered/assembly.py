"""``assemble_ordered``: the prompt of a turn with assets, in the order of its preset.

Without a preset the order is the one that SillyTavern comes with. Rules: its release 1.19, ``public/scripts/openai.js``.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import islice

from agentui.assets.preset import PromptPreset
from agentui.chat.messages import Message, Text
from agentui.lore.result import LoreResult
from agentui.prompt.budget import Budget
from agentui.prompt.drafts import (
    CONTINUE_NUDGE,
    ENDING,
    JOINED,
    Draft,
    expanded_draft,
    extra_drafts,
    message_draft,
    text_draft,
    words_draft,
)
from agentui.prompt.history import normalization
from agentui.prompt.macros import PromptMacros
from agentui.prompt.ordered.cast import Cast
from agentui.prompt.ordered.conversation import first_kept, named
from agentui.prompt.ordered.ending import Ending, ending_of
from agentui.prompt.ordered.examples import affordable, blocks_of, example_drafts
from agentui.prompt.ordered.frame import EXAMPLES, HISTORY, Frame, frame_of
from agentui.prompt.ordered.injections import Injection, injected
from agentui.prompt.ordered.injects import place_injects
from agentui.prompt.ordered.lore import PlacedLore, placed_lore
from agentui.prompt.ordered.note import note_of
from agentui.prompt.ordered.remembered import place_memory
from agentui.prompt.ordered.scripts import PromptScripts
from agentui.prompt.outcome import Choice, prepared_turn
from agentui.prompt.prepared import Note, PreparedTurn, PresetFacts, PromptInput, ScriptsReport, TrimReason
from agentui.prompt.seen import SeenHistory, entry_draft
from agentui.prompt.structure import PLACEHOLDER, Shape

NEW_CHAT = "newMainChat"
_SHOWN_NAMES, _SHOWN_NAME = 5, 60
"""How many scripts a diagnostic names, and how much of a name."""
_APART = (NEW_CHAT, "newExampleChat")
"""Messages that are never joined with their neighbours, by what their names begin with."""


def assemble_ordered(given: PromptInput) -> PreparedTurn:
    """The prompt of a turn in the order of its preset. Work is linear in what is given, but for sorting what stands within the
    chat by its depth."""
    preset = given.assets.preset or PromptPreset()
    budget, seen = Budget.of(given), SeenHistory(given)
    macros = PromptMacros(given, seen.visible, budget.window, budget.reserved)
    shape = Shape(given.policy.structure, given.policy.delivery.no_assistant)
    cast = Cast.of(given, macros)
    chat = _chat(given, seen, macros)
    scripts = PromptScripts(given.assets.scripts, macros)
    if given.assets.scripts:
        scripts.run_chat(chat, given.intent == "continue")
    lore = placed_lore(given, cast, chat, budget.limit, scripts, macros)
    frame = frame_of(given, preset, cast, {"before": lore.before, "after": lore.after}, macros)
    _place_others(given, cast, lore, frame, seen, macros)
    plan = _plan(given, preset, cast, lore, frame, chat, shape, macros)
    if given.policy.delivery.require_last_user and not shape.forbids_assistant:
        _let_user_end(plan)
    plan.measure(given, shape)
    start, kept_examples, fixed = _fitting(given, budget, seen, plan, shape)

    kept, blocks = plan.chat[start:], plan.examples[:kept_examples]
    sent = [draft for draft in plan.ordered(kept, blocks) if not draft.is_empty]
    if preset.squash_system_messages:
        sent = _squashed(sent)
    dropped = [draft for draft in plan.chat[:start] if draft.entry is not None]
    lost = [draft for block in plan.examples[kept_examples:] for draft in block]
    return prepared_turn(
        given,
        seen,
        macros,
        budget,
        Choice(
            messages=shape.joined((), sent),
            sections=(
                *seen.left_out(given.estimator.message),
                *(draft.section("budget_exceeded") for draft in (*plan.chat[:start], *lost)),
                *(draft.section("no_place") for draft in plan.unplaced),
                *(draft.section() for draft in plan.ordered(kept, blocks)),
            ),
            fixed=fixed,
            dropped=f"{len(dropped)} oldest message(s)" if dropped else "",
            trim_reasons=(
                *budget.reasons(len(dropped), "message", sum(draft.tokens for draft in dropped)),
                *_examples_trimmed(len(plan.examples) - kept_examples, sum(draft.tokens for draft in lost)),
            ),
            normalization=normalization(
                seen.visible,
                len(given.history),
                seen.selected,
                [draft.entry for draft in kept if draft.entry is not None],
                _is_said(given),
                given.message.floor_id if given.message is not None else None,
            ),
            structure=shape.result(sent, plan.ending.delivery.prefill_applied),
            delivery=plan.ending.delivery,
            preset=_facts(given, preset, frame),
            lore=lore.result,
            scripts=scripts.report,
            notes=(*_notes(plan), *_left_out(scripts.report, lore.result)),
            placed=plan.placed(kept, blocks),
        ),
    )


@dataclass(slots=True)
class _Plan:
    """Everything that may be sent. ``chat`` is what is said with what stands within it, oldest first; ``unplaced`` is what
    would be the chat, where the track has no place for it."""

    slots: dict[str, list[Draft]]
    chat: list[Draft]
    examples: list[list[Draft]]
    opening: list[Draft]
    tail: list[Draft]
    ending: Ending
    unplaced: list[Draft] = field(default_factory=list)

    def measure(self, given: PromptInput, shape: Shape) -> None:
        """Give each message the role that it may have, and count its tokens. System messages before the chat stay the
        system's, whatever the structure makes of others."""
        is_behind = False
        for identifier, drafts in self.slots.items():
            is_behind = is_behind or identifier == HISTORY
            examples = [draft for block in self.examples for draft in block] if identifier == EXAMPLES else []
            for draft in (*drafts, *examples):
                is_head = not is_behind and draft.message.role == "system"
                draft.shaped = draft.message if is_head else shape.rewritten(draft)
        for draft in self.opening:
            draft.shaped = draft.message
        for draft in (*self.chat, *self.tail):
            draft.shaped = shape.rewritten(draft)
        for draft in (*self.fixed(), *self.chat, *(draft for block in self.examples for draft in block)):
            draft.tokens = 0 if draft.is_empty else given.estimator.message(draft.shaped)

    def fixed(self) -> list[Draft]:
        """What stays whatever it takes, apart from what is said now."""
        return [*(draft for drafts in self.slots.values() for draft in drafts), *self.opening, *self.tail]

    def ordered(self, chat: Sequence[Draft], blocks: Sequence[list[Draft]]) -> list[Draft]:
        """Everything in its order, with this much of the chat and these example dialogues."""
        places = self._places(chat, blocks).values()
        return [*(draft for drafts in places for draft in drafts), *self._ending()]

    def placed(self, chat: Sequence[Draft], blocks: Sequence[list[Draft]]) -> dict[str, list[Draft]]:
        """The same by its places."""
        places = self._places(chat, blocks)
        return {**places, ENDING: [*places.get(ENDING, ()), *self._ending()]}

    def _places(self, chat: Sequence[Draft], blocks: Sequence[list[Draft]]) -> dict[str, list[Draft]]:
        filled = {HISTORY: [*self.opening, *chat], EXAMPLES: [draft for block in blocks for draft in block]}
        return {identifier: [*filled.get(identifier, ()), *its] for identifier, its in self.slots.items()}

    def _ending(self) -> list[Draft]:
        """What stands behind all places."""
        return [*([] if HISTORY in self.slots else self.opening), *self.tail]


def _is_said(given: PromptInput) -> bool:
    """Whether the turn's message is part of the chat."""
    return given.message is not None and given.intent != "quiet"


def _place_others(
    given: PromptInput, cast: Cast, lore: PlacedLore, frame: Frame, seen: SeenHistory, macros: PromptMacros
) -> None:
    """Put into the frame what no prompt of the preset names: the author's note, the card's depth prompt, the persona, and
    what was put into the chat."""
    unread = 0 if given.unread is None else given.unread.users
    said = unread + sum(entry.role == "user" for entry in seen.visible) + _is_said(given)
    note = note_of(given.session.metadata, said, cast, lore.note_top, lore.note_bottom, macros)
    if note is not None and note.place == "in_chat":
        frame.injections.append(Injection("authorsNote", "authors_note", note.text, note.role, note.depth))
    elif note is not None and "main" in frame.slots:
        draft = text_draft("authorsNote", "authors_note", note.role, note.text)
        frame.slots["main"].insert(0 if note.place == "before_main" else len(frame.slots["main"]), draft)
    depth, persona = cast.depth_prompt, cast.persona
    if depth is not None:
        frame.injections.append(Injection("depthPrompt", "character", depth.prompt, depth.role, depth.depth))
    if persona.place == "at_depth":
        frame.injections.append(Injection("personaDescription", "user", cast.persona_text, persona.role, persona.depth))
    frame.injections += lore.injections
    place_injects(given.session.metadata, frame, macros)
    place_memory(given.memory, frame, macros)


def _chat(given: PromptInput, seen: SeenHistory, macros: PromptMacros) -> list[Draft]:
    """What is said, oldest first: the history, the turn's message, and the words that it continues."""
    talk = [entry_draft(entry, macros) for entry in seen.selected]
    now = (message_draft(given) if _is_said(given) else None, words_draft(given))
    return [*talk, *(each for each in now if each is not None)]


def _plan(
    given: PromptInput,
    preset: PromptPreset,
    cast: Cast,
    lore: PlacedLore,
    frame: Frame,
    chat: list[Draft],
    shape: Shape,
    macros: PromptMacros,
) -> _Plan:
    """All that may be sent, before anything is counted."""
    for draft in chat:
        named(draft, preset.names_behavior, cast.char, cast.user)
    opening = extra_drafts(given, "head")
    is_placed = HISTORY in frame.slots
    ending = ending_of(given, preset, chat[-1] if chat and is_placed else None, shape.forbids_assistant, macros)
    examples = _examples(given, preset, cast, lore, frame, macros)
    tail = [*extra_drafts(given, "tail"), *ending.drafts]
    if not is_placed:
        return _Plan(frame.slots, [], examples, opening, tail, ending, chat)
    if ending.is_open:
        chat = injected(chat[:-1], frame.injections)
    else:
        chat = [draft for draft in injected(chat, frame.injections) if draft is not ending.moved]
    opening.append(expanded_draft(NEW_CHAT, "preset", "system", preset.new_chat, macros))
    if preset.send_if_empty and chat and chat[-1].message.role == "assistant":
        frame.slots[HISTORY].append(text_draft("sendIfEmpty", "preset", "user", preset.send_if_empty))
    return _Plan(frame.slots, chat, examples, opening, tail, ending)


def _let_user_end(plan: _Plan) -> None:
    """Give the user the last word where the model has it. System messages are not counted: some structures move them."""
    drafts = [draft for draft in plan.ordered(plan.chat, plan.examples) if not draft.is_empty]
    spoken = [draft for draft in drafts if draft.message.role != "system"]
    if not spoken or spoken[-1].message.role != "assistant":
        return
    if plan.tail and drafts[-1] is plan.tail[-1] and drafts[-1].message.role == "system":
        drafts[-1].message = Message("user", drafts[-1].message.parts)
    else:
        plan.tail.append(text_draft("continueNudge", "intent", "user", CONTINUE_NUDGE))


def _examples(
    given: PromptInput, preset: PromptPreset, cast: Cast, lore: PlacedLore, frame: Frame, macros: PromptMacros
) -> list[list[Draft]]:
    """The example dialogues, where the track has a place for them and the policy wants them: the card's, between those of
    lorebooks."""
    texts = (*lore.examples_top, cast.examples, *lore.examples_bottom)
    blocks = [block for text in texts for block in blocks_of(text)]
    if EXAMPLES not in frame.slots or not blocks or not given.policy.source_selection.examples.enabled:
        return []
    header, _ = macros.expand(preset.new_example_chat)
    return [example_drafts(block, number, header, cast.user, cast.char) for number, block in enumerate(blocks)]


def _fitting(given: PromptInput, budget: Budget, seen: SeenHistory, plan: _Plan, shape: Shape) -> tuple[int, int, int]:
    """Where the part of the chat begins that fits into the window, how many example dialogues fit then, and what cannot be
    left out, in tokens."""
    needed = next((number for number, draft in enumerate(plan.chat) if draft.name == "message"), len(plan.chat))
    placeholder = given.estimator.message(PLACEHOLDER) if shape.mode == "strict_alternating" else 0
    fixed = sum(draft.tokens for draft in (*plan.fixed(), *plan.chat[needed:])) + placeholder
    left = budget.limit - fixed
    current = given.message.parts if given.message is not None else ()
    entries = [draft.entry for draft in plan.chat if draft.entry is not None]
    start = first_kept(plan.chat, left, needed, entries, current)
    left -= sum(draft.tokens for draft in plan.chat[start:needed])
    return start, affordable(plan.examples, left), fixed


def _squashed(drafts: Sequence[Draft]) -> list[Draft]:
    """Neighbours of the system's as one message, but for those that have a name or open a chat."""
    done: list[Draft] = []
    for draft in drafts:
        if done and _may_join(done[-1]) and _may_join(draft):
            last = done[-1]
            text = f"{last.shaped.text}\n{draft.shaped.text}"
            title = JOINED.join(each.title or each.name for each in (last, draft)) if last.title or draft.title else ""
            done[-1] = Draft(last.name, last.group, last.source, Message("system", (Text(text),)), title=title)
        else:
            done.append(draft)
    return done


def _may_join(draft: Draft) -> bool:
    return draft.shaped.role == "system" and draft.shaped.name is None and not draft.name.startswith(_APART)


def _examples_trimmed(count: int, tokens: int) -> tuple[TrimReason, ...]:
    if not count:
        return ()
    detail = f"The last {count} example dialogue(s), about {tokens} tokens, do not fit into what the chat leaves."
    return (TrimReason("section:dialogueExamples", "budget_exceeded", tokens, detail),)


def _facts(given: PromptInput, preset: PromptPreset, frame: Frame) -> PresetFacts | None:
    """What is told of the preset; nothing where the order is only the usual one."""
    if given.assets.preset is None:
        return None
    shows_names = preset.names_behavior in ("completion", "content")
    return PresetFacts(preset.reading, shows_names, tuple(frame.trigger_filtered), tuple(frame.in_chat))


def _left_out(report: ScriptsReport, lore: LoreResult | None) -> list[Note]:
    """What searching took too long for."""
    notes = []
    if lore is not None and lore.left_out:
        message = (
            f"Searching takes too long: the regular expression(s) {_named(lore.left_out)} among the keys of lorebooks were not "
            "looked for everywhere. Write them simpler, or as words."
        )
        notes.append(Note("lore_left_out", message, "worldbook"))
    late = Counter[str]()
    for trace, texts in report.traces:
        if trace.skipped == "timed_out":
            late[trace.name] += texts
    if late:
        message = (
            f"Searching takes too long: the regex script(s) {_named(late)} left {max(late.values())} text(s) as they were. "
            "Write their expressions simpler, or switch off what is not needed."
        )
        notes.append(Note("scripts_left_out", message, "regex"))
    return notes


def _named(names: Collection[str]) -> str:
    """Some of these names."""
    shown = ", ".join(repr(name[:_SHOWN_NAME]) for name in islice(names, _SHOWN_NAMES))
    return f"{shown} and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else shown


def _notes(plan: _Plan) -> list[Note]:
    if not plan.unplaced:
        return []
    return [Note("chat_not_placed", "The preset's order does not hold chatHistory: nothing that was said is sent.", "preset")]
