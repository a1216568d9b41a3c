"""``assemble``: a session, its history and a message become what a model is sent."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Final

from agentui.chat.messages import Message, Text
from agentui.jsonio import dumps
from agentui.prompt.budget import Budget
from agentui.prompt.drafts import Draft, head_drafts, tail_drafts
from agentui.prompt.history import HistoryEntry, normalization, turns_of, why_hidden, window_start
from agentui.prompt.macros import PromptMacros
from agentui.prompt.modes import resolve_mode
from agentui.prompt.policy import ResolvedPolicy
from agentui.prompt.prepared import Note, PreparedTurn, PromptInput, PromptSection, PublicSource, SourceExclusion
from agentui.prompt.structure import PLACEHOLDER, Shape


def assemble(given: PromptInput) -> PreparedTurn:
    """The prompt of a turn. Work is linear in what is given."""
    policy, count = given.policy, given.estimator.message
    current = given.message.parts if given.message is not None else ()
    budget = Budget.of(given)
    history = _Seen(given)
    macros = PromptMacros(given, history.visible, budget.window, budget.reserved)
    shape = Shape(policy.structure, policy.delivery.no_assistant)

    # A greeting comes first, for it was there before all else.
    talk = [_draft_of(entry, macros) for entry in history.selected]
    head = head_drafts(given, macros)
    tail, delivery = tail_drafts(given, macros, shape.forbids_assistant)
    for draft in (*talk, *tail):
        draft.shaped = shape.rewritten(draft)
    for draft in (*head, *talk, *tail):
        draft.tokens = 0 if draft.is_empty else count(draft.shaped)

    turns, is_needed = turns_of(history.selected, current)
    drafts = iter(talk)
    sizes = [sum(next(drafts).tokens for _ in turn) for turn in turns]
    placeholder = count(PLACEHOLDER) if shape.mode == "strict_alternating" else 0
    fixed = sum(draft.tokens for draft in (*head, *tail)) + placeholder
    dropped = budget.dropped(sizes, fixed, is_needed)
    cut = sum(len(turn) for turn in turns[:dropped])

    said = [draft for draft in (*talk[cut:], *tail) if not draft.is_empty]
    sent = shape.joined([draft for draft in head if not draft.is_empty], said)
    if policy.delivery.require_last_user and said and sent[-1].role == "system":
        sent[-1] = Message("user", sent[-1].parts)
    estimate = sum(map(count, sent))
    return PreparedTurn(
        messages=tuple(sent),
        sections=(
            *(draft.section() for draft in head),
            *history.left_out(count),
            *(draft.section("budget_exceeded") for draft in talk[:cut]),
            *(draft.section() for draft in (*talk[cut:], *tail)),
        ),
        intent=given.intent,
        policy=policy,
        token_estimate=estimate,
        window=budget.window,
        input_limit=budget.limit,
        available_for_reply=max(0, budget.window - estimate),
        preprocessed_user_message=given.message.text if given.message is not None else "",
        prompt_digest=digest_of(sent),
        prompt_mode=resolve_mode(given.session.prompt_mode, given.session.metadata).effective_prompt_mode,
        macro_scope=macros.scope,
        trim_reasons=budget.reasons(dropped, sum(sizes[:dropped])),
        excluded_sources=(*history.exclusions, *_exclusions(policy, dropped)),
        filtered_floor_nos=history.filtered_floor_nos,
        history_normalization=normalization(
            history.visible, len(given.history), len(turns), len(turns) - dropped, any(draft.is_talk for draft in tail)
        ),
        macro=macros.report,
        structure=shape.result(said, delivery.prefill_applied),
        delivery=replace(delivery, last_message_role=sent[-1].role if sent else None),
        diagnostics=tuple(_notes(given, fixed, budget, bool(sent))),
    )


class _Seen:
    """The history as the prompt may see it: ``visible`` entries say something and are not hidden, ``selected`` are those of
    them that the policy wants."""

    def __init__(self, given: PromptInput) -> None:
        is_seen, selection = given.policy.visibility.sight(), given.policy.source_selection.history
        self._left_out: list[tuple[HistoryEntry, str]] = []
        self.visible: list[HistoryEntry] = []
        for entry in given.history:
            why = why_hidden(entry, is_seen) or (None if entry.says_something else "empty")
            if why is None:
                self.visible.append(entry)
            else:
                self._left_out.append((entry, why))
        start = window_start(self.visible, selection, given.message.parts if given.message is not None else ())
        self.selected: Sequence[HistoryEntry] = self.visible[start:]
        self._left_out += [(entry, "window_limited") for entry in self.visible[:start]]
        self._is_cut = given.is_cut

    @property
    def filtered_floor_nos(self) -> tuple[int, ...]:
        """The floors that the visibility policy hides."""
        return tuple(sorted({entry.floor_no for entry, why in self._left_out if why == "visibility_filtered"}))

    @property
    def exclusions(self) -> tuple[SourceExclusion, ...]:
        """Why not all of the history is in the prompt, but for the budget."""
        counts = Counter(why for _, why in self._left_out)
        found = [SourceExclusion("history", why, _TOLD[why].format(counts[why])) for why in _TOLD if counts[why]]
        if self._is_cut:
            found.append(SourceExclusion("history", "not_loaded", "Older messages than a prompt can hold were not loaded."))
        return tuple(found)

    def left_out(self, count: Callable[[Message], int]) -> list[PromptSection]:
        """The entries that the prompt may not hold, oldest first."""
        sections = []
        for entry, why in sorted(self._left_out, key=lambda each: each[0].floor_no):
            draft = Draft(_name(entry), "history", "history", _message_of(entry, entry.text), entry)
            draft.tokens = count(draft.message)
            sections.append(draft.section(why))
        return sections


_SWITCHED: Final[tuple[PublicSource, ...]] = ("memory", "worldbook", "examples")
_TOLD: Final = {
    "visibility_filtered": "The visibility policy hides {} message(s).",
    "hidden_message": "{} message(s) are hidden.",
    "window_limited": "Only the newest messages are wanted, which leaves {} out.",
}
"""Why entries are left out that somebody might look for."""


def _draft_of(entry: HistoryEntry, macros: PromptMacros) -> Draft:
    """An entry on its way into the prompt. Only a greeting's macros are replaced: all else was said."""
    text, traces = macros.greet(entry) if entry.source == "greeting" else (entry.text, ())
    source = "greeting" if entry.source == "greeting" else "history"
    return Draft(_name(entry), "history", source, _message_of(entry, text), entry, traces, entry.role == "user")


def _name(entry: HistoryEntry) -> str:
    return f"history:{entry.message_id}"


def _message_of(entry: HistoryEntry, text: str) -> Message:
    """What an entry says; ``text`` is its own, or what macros made of it."""
    parts = entry.parts if entry.parts and text == entry.text else (Text(text),)
    return Message("system" if entry.role == "narrator" else entry.role, parts)


def _exclusions(policy: ResolvedPolicy, dropped: int) -> Iterator[SourceExclusion]:
    """Why else something is not in the prompt: the budget, and sources that are switched off."""
    if dropped:
        yield SourceExclusion("history", "budget_trimmed", f"The budget has no room for the {dropped} oldest turn(s).")
    for source in _SWITCHED:
        if not getattr(policy.source_selection, source).enabled:
            yield SourceExclusion(source, "disabled_by_policy", f"The policy switches {source} off.")


def _notes(given: PromptInput, fixed: int, budget: Budget, is_anything: bool) -> list[Note]:
    notes = []
    if not is_anything:
        notes.append(Note("prompt_empty", "There is nothing to send: the system text is empty, and nobody says anything."))
    if fixed > budget.limit:
        notes.append(
            Note(
                "prompt_over_budget",
                f"What cannot be left out takes about {fixed} tokens, and the prompt has {budget.limit}. Raise the window "
                "(budget.max_input_tokens), or shorten the system text or the message.",
            )
        )
    if given.words and given.intent != "continue":
        notes.append(Note("words_ignored", "The words of a stopped answer count for the intent continue only."))
    return notes


def digest_of(messages: Sequence[Message]) -> str:
    """What names these messages."""
    hash = sha256()
    for message in messages:
        hash.update(dumps([message.role, message.name, message.parts]))
    return f"sha256:{hash.hexdigest()}"
