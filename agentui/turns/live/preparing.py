"""From what is known of a chat to the input of ``assemble``: the same for a turn, a dry run and whoever only looks."""

from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar, cast

from agentui.assets.bundle import PromptAssets
from agentui.assets.chat_settings import injects_in
from agentui.chats.records import SessionMemory
from agentui.jsonio import Json
from agentui.library.bundles import Bundle
from agentui.memories.reading import Spot
from agentui.pipeline.assets import AssembledPrompt
from agentui.pipeline.macros import LOCAL
from agentui.prompt.assembly import assemble
from agentui.prompt.budget import window_of
from agentui.prompt.history import NOTHING_UNREAD, HistoryEntry, Unread
from agentui.prompt.memory import NO_PROMPT_MEMORY, PromptMemory
from agentui.prompt.policy import ResolvedPolicy, sees_all
from agentui.prompt.prepared import NO_ASSETS, ExtraSection, Note, PreparedTurn, PromptInput, PromptIntent, TurnMessage
from agentui.prompt.tokens import LEAST, UNCORRECTED, TokenEstimator, corrected
from agentui.regexes.scripts import ScriptTrace
from agentui.templating.core.paths import MISSING
from agentui.templating.sillytavern.scope import MacroScope, Phase
from agentui.threads import apart, in_search_thread
from agentui.turns.history import Past
from agentui.turns.live.generation import NO_PARAMS, merged_params
from agentui.turns.reminding import Asked
from agentui.turns.request import ChatFacts, Reach, TurnKind
from agentui.turns.rules import resolved
from agentui.variables.staging import Staged
from agentui.vendors.claude.models import goes_on, takes_prefill

T = TypeVar("T")
MOST_HISTORY = 2_000_000
"""Characters of a chat's past that a turn reads at most."""
TIMED_EFFECTS = "agentui_lore"
"""The variable of a branch in which the timed effects of its lore are kept: so they are taken back with a turn, and forked with
a branch."""
_MACRO = 256
"""Characters that take as long as a macro does; a condition may look through a long variable."""
_ENTRY = 128
"""Characters that take as long as a message does apart from its text."""


def work_of(given: PromptInput) -> int:
    """How much a prompt is to assemble, in characters: very many short messages take long, too, and so do the session's texts
    with macros. Assets may take long whatever the chat is."""
    if not given.assets.is_empty:
        return MOST_HISTORY
    session, greetings = given.session, (entry.text for entry in given.history if entry.source == "greeting")
    told = (*(session.character_snapshot or {}).values(), *(session.user_snapshot or {}).values(), *session.metadata.values())
    injects = (inject.value for inject in injects_in(session.metadata))
    macros = sum(macro_work(each) for each in (*told, *injects, *greetings) if isinstance(each, str))
    return macros + sum([len(entry.text) for entry in given.history]) + _ENTRY * len(given.history)


def macro_work(text: str) -> int:
    """How much it is to replace the macros of a text, in characters; one that nobody closes counts as well."""
    return len(text) + _MACRO * text.count("{{")


async def in_its_thread(given: PromptInput, work: Callable[[], T], more: int = 0) -> T:
    """What work gives with a prompt's input, and with ``more`` characters beside: done in a thread where that is long, and in
    one of those for searches where regular expressions of people take part."""
    if given.assets.scripts or given.assets.lorebooks:
        return await in_search_thread(work, given.scope.seed)
    return await apart(work_of(given) + more, work)


def history_reach(
    request: Mapping[str, Json],
    bundle: Bundle,
    params: Mapping[str, Json],
    estimator: Callable[[ChatFacts], TokenEstimator] | None,
    chat: ChatFacts,
    slot_params: Callable[[ChatFacts], Mapping[str, Json]] | None = None,
) -> Reach:
    """How much of its past a turn may need, by what the ``request``'s policy and its session's let it see, and by the window
    that they, its own ``params``, its slot's, its model's or those of its prompt preset give it.

    With an ``estimator`` no more is read than its tokens can hold, where nothing but their number keeps a message out: lore
    looks through more than is sent, scripts shorten what they find, and what a policy hides is not counted.
    """
    of_slot = NO_PARAMS if slot_params is None else slot_params(chat)
    merged = merged_params(chat.bindings.get("model_params"), params, bundle.params, of_slot)
    policy = resolved(chat.policies, request).policy
    window = window_of(policy.budget.max_input_tokens, merged.get("max_context_tokens"))
    most = min(MOST_HISTORY, LEAST.longest(window))
    # Others may have been bound to the chat since they were loaded.
    is_plain = bundle.is_of(chat.bindings) and not bundle.assets.lorebooks and not bundle.assets.scripts
    is_seen = policy.visibility.sight()
    fits = estimator(chat).longest(window) if estimator is not None and is_plain and is_seen is sees_all else None
    return Reach(most, is_seen, fits)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a turn sees of its chat: the session, what was said before (oldest first; ``is_cut``: not all of it), and the stored
    variables. ``unread``: which messages count that are not among the history (``PromptInput``)."""

    chat: ChatFacts
    history: tuple[HistoryEntry, ...]
    is_cut: bool
    staged: Staged
    unread: Unread | None = NOTHING_UNREAD


@dataclass(frozen=True, slots=True)
class Preparation:
    """How a prompt is to be made. ``params`` are those of the turn (``merged_params``); ``notes`` say what its checks left
    out. ``model`` is the one that is asked, where that is not the session's."""

    seen: Seen
    message: TurnMessage | None
    intent: PromptIntent = "normal"
    run_kind: str = "respond"
    phase: Phase = "assemble"
    policy: ResolvedPolicy = field(default_factory=ResolvedPolicy)
    params: Mapping[str, Json] = field(default_factory=dict)
    extra: tuple[ExtraSection, ...] = ()
    words: str = ""
    recalled: Mapping[str, str] = field(default_factory=dict)
    """The macros of ``past_macros`` and ``swipe_macros``."""
    notes: tuple[Note, ...] = ()
    estimator: TokenEstimator = UNCORRECTED
    assets: PromptAssets = NO_ASSETS
    memory: PromptMemory = NO_PROMPT_MEMORY
    model: str | None = None
    rewrites: tuple[ScriptTrace, ...] = ()
    """What became of the scripts when the message was kept."""
    is_plain: bool = False
    """Whether a client's own request is put together (``turns.thin``)."""

    async def prepared(self) -> PreparedTurn:
        """The prompt; a long one is made in a thread, and one that searches by regular expressions in a thread for those."""
        given = self.input()
        prepared = await in_its_thread(given, lambda: assemble(given))
        if not (self.assets.scripts or self.rewrites or self.notes):
            return prepared  # as nearly all are: there are two dozen fields to copy
        scripts = replace(prepared.scripts, scripts=self.assets.scripts).with_kept(self.rewrites)
        return replace(prepared, diagnostics=(*prepared.diagnostics, *self.notes), scripts=scripts)

    def input(self) -> PromptInput:
        """What ``assemble`` takes."""
        session = self.seen.chat
        model = self.model or session.model_name
        return PromptInput(
            session=session,
            scope=self._scope(),
            history=self.seen.history,
            message=self.message,
            intent=self.intent,
            policy=self.policy,
            extra=self.extra,
            words=self.words,
            run_kind=self.run_kind,
            model=model,
            window=self.params.get("max_context_tokens"),
            max_output_tokens=self.params.get("max_output_tokens"),
            estimator=self.estimator,
            is_cut=self.seen.is_cut,
            unread=self.seen.unread,
            goes_on=goes_on(model),
            takes_prefill=takes_prefill(model),
            is_plain=self.is_plain,
            assets=self.assets,
            timed=timed_effects(self.seen.staged),
            memory=self.memory,
        )

    def _scope(self) -> MacroScope:
        tiers: Mapping[Any, Mapping[str, Json]] = self.seen.staged.view()[1]
        local = cast(Mapping[str, Json], ChainMap(*cast(Any, [tiers[tier] for tier in LOCAL])))
        return MacroScope(
            self.phase,
            datetime.now().astimezone(),
            local=local,
            globals=tiers["global"],
            seed=self.seen.chat.id,
            values={**self.recalled, **self.memory.macros()},
        )


def asked_of(
    preparation: Preparation, account: str, spot: Spot, memory: SessionMemory | None, *, is_anew: bool = False
) -> Asked:
    """For what a turn is to be reminded. ``memory`` is what its session says of that."""
    params, policy = preparation.params, preparation.policy.budget
    said = "" if preparation.message is None else preparation.message.text
    limit = window_of(policy.max_input_tokens, params.get("max_context_tokens"))
    return Asked(account, spot, preparation.seen.history, said, preparation.policy, limit, memory, is_anew)


def assembled_prompt(prepared: PreparedTurn) -> AssembledPrompt:
    """A prompt as the nodes of a run have it."""
    return AssembledPrompt(prepared.messages, prepared.placed)


def past_macros(past: Past) -> dict[str, str]:
    """``{{summary}}`` and ``{{firstIncludedMessageId}}``: what the turns before kept."""
    first_no = past.first_included_no
    return {"summary": past.summary, "firstIncludedMessageId": "" if first_no is None else str(first_no)}


def swipe_macros(kind: TurnKind, intent: PromptIntent, past: Past) -> dict[str, str]:
    """``{{lastSwipeId}}`` and ``{{currentSwipeId}}`` as SillyTavern counts them, from 1: of the answer that is made anew on its
    floor, the newest version there is and the one that is being made. A turn that ends with what the user says has none."""
    if kind != "retry_turn" or not past.versions:
        return {}
    current = past.version if intent == "continue" and past.version else past.versions + 1
    return {"lastSwipeId": str(past.versions), "currentSwipeId": str(current)}


def timed_effects(staged: Staged) -> Mapping[str, Json]:
    """The timed effects of lore that a branch has."""
    kept = staged.view()[1]["branch"].get(TIMED_EFFECTS)
    return kept if isinstance(kept, Mapping) else {}


def stage_mutations(prepared: PreparedTurn, staged: Staged) -> None:
    """Stage what the prompt's macros wrote, so that the turn's nodes see it, and the timed effects of its lore. Raises
    CannotStage."""
    before, timed = timed_effects(staged), {} if prepared.lore is None else prepared.lore.timed
    if timed != before and any((*before.values(), *timed.values())):
        staged.stage("branch", TIMED_EFFECTS, dict(timed), reason="lore")
    for mutation in prepared.macro.mutations:
        if mutation.value is MISSING:
            staged.delete(mutation.scope, mutation.key)
        else:
            staged.stage(mutation.scope, mutation.key, mutation.value, reason="macro:prompt")


MOST_MODELS = 256
"""Models whose counts are remembered."""


class Estimators:
    """What providers' counts taught about the estimates, by model; forgotten with the process."""

    def __init__(self) -> None:
        self._factors: dict[str, float] = {}

    def of(self, model: str | None) -> TokenEstimator:
        """The estimator for a model."""
        factor = self._factors.get(model or "")
        return UNCORRECTED if factor is None else TokenEstimator(factor)

    def learn(self, model: str | None, estimated: int, reported: int | None) -> None:
        """A provider counted ``reported`` tokens where ``estimated`` were expected."""
        if not reported:
            return
        name = model or ""
        factor = corrected(self._factors.pop(name, UNCORRECTED.factor), estimated, reported)
        self._factors[name] = factor
        if len(self._factors) > MOST_MODELS:
            del self._factors[next(iter(self._factors))]
