"""What becomes of a prompt once its messages are chosen: the prepared turn, with all that is told of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Final

from agentui.chat.messages import Message
from agentui.jsonio import dumps
from agentui.lore.result import LoreResult
from agentui.prompt.budget import Budget
from agentui.prompt.drafts import Draft
from agentui.prompt.history import HistoryNormalization
from agentui.prompt.macros import PromptMacros
from agentui.prompt.modes import resolve_mode
from agentui.prompt.policy import ResolvedPolicy
from agentui.prompt.prepared import (
    DeliveryResult,
    Note,
    PreparedTurn,
    PresetFacts,
    PromptInput,
    PromptSection,
    PublicSource,
    ScriptsReport,
    SourceExclusion,
    StructureResult,
    TrimReason,
)
from agentui.prompt.seen import SeenHistory

_SWITCHED: Final[tuple[PublicSource, ...]] = ("memory", "worldbook", "examples")


@dataclass(frozen=True, slots=True)
class Choice:
    """The messages that are sent, and why these. ``fixed`` are the tokens of what cannot be left out, ``dropped`` says what
    went of the history (``3 oldest turn(s)``), nothing where all of it stayed."""

    messages: list[Message]
    sections: tuple[PromptSection, ...]
    fixed: int
    dropped: str
    trim_reasons: tuple[TrimReason, ...]
    normalization: HistoryNormalization
    structure: StructureResult
    delivery: DeliveryResult
    preset: PresetFacts | None = None
    lore: LoreResult | None = None
    scripts: ScriptsReport = field(default_factory=ScriptsReport)
    notes: tuple[Note, ...] = ()
    placed: Mapping[str, Sequence[Draft]] = field(default_factory=dict)


def prepared_turn(given: PromptInput, seen: SeenHistory, macros: PromptMacros, budget: Budget, choice: Choice) -> PreparedTurn:
    """The prompt that was chosen."""
    sent = choice.messages
    if given.policy.delivery.require_last_user and sent and sent[-1].role == "system":
        sent[-1] = Message("user", sent[-1].parts)
    estimate = sum(map(given.estimator.message, sent))
    return PreparedTurn(
        messages=tuple(sent),
        sections=choice.sections,
        intent=given.intent,
        policy=given.policy,
        token_estimate=estimate,
        window=budget.window,
        input_limit=budget.limit,
        available_for_reply=max(0, budget.window - estimate),
        preprocessed_user_message=_user_message(given, choice.scripts),
        prompt_digest=digest_of(sent),
        prompt_mode=resolve_mode(given.session.prompt_mode, given.session.metadata).effective_prompt_mode,
        macro_scope=macros.settled_scope,
        trim_reasons=choice.trim_reasons,
        excluded_sources=(*seen.exclusions, *_exclusions(given.policy, choice.dropped)),
        filtered_floor_nos=seen.filtered_floor_nos,
        history_normalization=choice.normalization,
        macro=macros.report,
        structure=choice.structure,
        delivery=replace(choice.delivery, last_message_role=sent[-1].role if sent else None),
        diagnostics=(*_notes(given, choice.fixed, budget, bool(sent)), *choice.notes),
        preset=choice.preset,
        lore=choice.lore,
        scripts=choice.scripts,
        memory=given.memory,
        placed={
            place: tuple(draft.shaped for draft in drafts if not draft.is_empty) for place, drafts in choice.placed.items()
        },
    )


def _user_message(given: PromptInput, scripts: ScriptsReport) -> str:
    """What the user says now, as it is sent."""
    said = given.message.text if given.message is not None else ""
    return said if scripts.user_message is None else scripts.user_message


def _exclusions(policy: ResolvedPolicy, dropped: str) -> Iterator[SourceExclusion]:
    """Why else something is not in the prompt: the budget, and sources that are switched off."""
    if dropped:
        yield SourceExclusion("history", "budget_trimmed", f"The budget has no room for the {dropped}.")
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
    for name in given.assets.missing_books:
        message = f"The library has no active worldbook {name[:100]!r}, which the chat, its user or its character names."
        notes.append(Note("worldbook_missing", message, "worldbook"))
    return notes


def digest_of(messages: Sequence[Message]) -> str:
    """What names these messages."""
    hash = sha256()
    for message in messages:
        hash.update(dumps([message.role, message.name, message.parts]))
    return f"sha256:{hash.hexdigest()}"
