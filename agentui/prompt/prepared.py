"""What goes into the assembly of a prompt, and what comes out of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, Literal, Protocol, TypeAlias

from agentui.assets.bundle import PromptAssets
from agentui.assets.preset import PresetReading
from agentui.assets.script import BoundScript, ScriptPlacement
from agentui.chat.messages import Message, Part, Role
from agentui.jsonio import Json
from agentui.lore.given import Rolls
from agentui.lore.result import LoreResult
from agentui.prompt.history import NOTHING_UNREAD, HistoryEntry, HistoryNormalization, Unread
from agentui.prompt.memory import NO_PROMPT_MEMORY, PromptMemory
from agentui.prompt.policy import ResolvedPolicy
from agentui.prompt.tokens import UNCORRECTED, TokenEstimator
from agentui.regexes.scripts import ScriptTrace
from agentui.templating.sillytavern.run import MacroReport
from agentui.templating.sillytavern.scope import MacroScope, MacroTrace

DEFAULT_POLICY: Final = ResolvedPolicy()
"""What holds where nobody set anything."""
NO_ASSETS: Final = PromptAssets()
"""What a prompt is made of that has nothing but its session and its history."""
DEFAULT_WINDOW: Final = 8192
"""Tokens that prompt and answer share, where nobody says how many."""

PromptIntent: TypeAlias = Literal["normal", "continue", "impersonate", "swipe", "regenerate", "quiet"]
PublicSource: TypeAlias = Literal["history", "memory", "worldbook", "examples"]
"""The sources that a policy can switch off, as the API names them."""


class SessionFacts(Protocol):
    """What the assembly reads of a session. The snapshots are objects as the API takes them (``name``, ``description``...)."""

    @property
    def character_snapshot(self) -> Mapping[str, Json] | None:
        """The character; its ``name`` is ``{{char}}``."""

    @property
    def user_snapshot(self) -> Mapping[str, Json] | None:
        """The user; its ``name`` is ``{{user}}``."""

    @property
    def metadata(self) -> Mapping[str, Json]:
        """What the client keeps with the session; ``system_prompt`` is its system text."""

    @property
    def prompt_mode(self) -> str | None:
        """The session's prompt mode."""

    @property
    def model_name(self) -> str | None:
        """The session's model."""


@dataclass(frozen=True, slots=True)
class TurnMessage:
    """What the user says in this turn. ``parts`` are all that it holds, or nothing where ``text`` is all. ``floor_id`` is where
    it is kept; None where it is kept nowhere, as in a dry run."""

    text: str
    parts: tuple[Part, ...] = ()
    floor_id: str | None = None


@dataclass(frozen=True, slots=True)
class ExtraSection:
    """A text that somebody adds to the prompt, such as the director's advice. It is data: no macro in it is replaced.

    ``head`` stands before the history, ``tail`` behind the message.
    """

    name: str
    source: str
    text: str
    role: Role = "system"
    place: Literal["head", "tail"] = "head"


@dataclass(frozen=True, slots=True)
class PromptInput:
    """Everything that makes a prompt.

    ``history`` is oldest first, without the turn's own floor; ``is_cut``: there is more, which was not loaded, and of which
    ``unread`` messages count (None where nobody knows). ``message`` is None where a turn goes on without one. ``words`` are
    those of a stopped answer that this turn continues. ``scope`` is what macros read: the phase, the moment, stored variables
    and what names the chat; the texts of the session come on top. ``assets`` make the prompt SillyTavern's. ``window`` is the
    model's own setting, ``max_output_tokens`` what the request asks for, both in tokens. ``goes_on``: the model's answer goes
    on with the words that the prompt ends with. ``takes_prefill``: it may, where a prompt ends so; ``is_plain``: the turn is a
    plain client's, whose model gets the preset's beginning of answers only if it goes on with it.
    ``timed`` are the timed effects of lore that the chat has (``PreparedTurn.lore.timed`` of the turn before).
    ``memory`` is what the turn is reminded of. ``rolls`` is the chance of lore; without it, it is the same for the same turn
    of a chat.
    """

    session: SessionFacts
    scope: MacroScope
    history: tuple[HistoryEntry, ...] = ()
    message: TurnMessage | None = None
    intent: PromptIntent = "normal"
    policy: ResolvedPolicy = DEFAULT_POLICY
    extra: tuple[ExtraSection, ...] = ()
    words: str = ""
    run_kind: str = "respond"
    model: str | None = None
    window: int | None = None
    max_output_tokens: int | None = None
    estimator: TokenEstimator = UNCORRECTED
    is_cut: bool = False
    unread: Unread | None = NOTHING_UNREAD
    assets: PromptAssets = NO_ASSETS
    goes_on: bool = False
    takes_prefill: bool = True
    is_plain: bool = False
    timed: Mapping[str, Json] = field(default_factory=dict)
    memory: PromptMemory = NO_PROMPT_MEMORY
    rolls: Rolls | None = None


@dataclass(slots=True, unsafe_hash=True)
class PromptSection:
    """One text of the prompt, and what became of it.

    ``name`` tells it from all others, ``group`` is what a budget counts together (``section:main``, ``history``), ``source``
    is where it came from. ``tokens`` is an estimate. Where it was not ``kept``, ``why`` says so (``budget_exceeded``,
    ``window_limited``, ``visibility_filtered``, ``hidden_message``, ``empty``). ``macros`` tell what became of its macros.
    ``title`` is what a person called it, where somebody did: the ``name`` of a preset's prompt is its identifier.

    A value: nobody changes one. It is not frozen, for the reason for which ``Message`` is not.
    """

    name: str
    group: str
    source: str
    role: Role
    text: str
    tokens: int
    kept: bool = True
    why: str | None = None
    floor_id: str | None = None
    floor_no: int | None = None
    message_id: str | None = None
    macros: tuple[MacroTrace, ...] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class TrimReason:
    """What a budget took away of a group."""

    group: str
    reason: str
    pruned_token_count: int
    detail: str


@dataclass(frozen=True, slots=True)
class SourceExclusion:
    """Why something of a source is not in the prompt."""

    source: PublicSource
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class StructureResult:
    """What the structure mode did to the conversation."""

    mode: str = "default"
    assistant_rewrite_count: int = 0
    tail_assistant_detected: bool = False
    transcriptized: bool = False
    transcript_message_count: int = 0
    assistant_prefill_transcriptized: bool = False


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """How the prompt ends. ``prefill_strategy``: none, assistant_message_fallback or transcript_append."""

    prefill_requested: bool = False
    prefill_applied: bool = False
    prefill_strategy: str = "none"
    degrade_reasons: tuple[str, ...] = ()
    last_message_role: Role | None = None
    nudge: str | None = None


@dataclass(frozen=True, slots=True)
class PresetFacts:
    """What a prompt preset did. ``trigger_filtered`` are the identifiers of prompts that are not for the turn's intent,
    ``in_chat`` those of prompts that stand within the chat. ``shows_names``: the messages tell who speaks."""

    reading: PresetReading = field(default_factory=PresetReading)
    shows_names: bool = False
    trigger_filtered: tuple[str, ...] = ()
    in_chat: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScriptsReport:
    """What the scripts of a turn did. ``traces`` are one for each script, channel, placement and fate, with all their
    ``matches``, and with the number of texts. ``user_message`` is what the user says now, as it is sent."""

    scripts: tuple[BoundScript, ...] = ()
    traces: tuple[tuple[ScriptTrace, int], ...] = ()
    user_message: str | None = None

    def with_kept(self, question: Iterable[ScriptTrace] = (), answer: Iterable[ScriptTrace] = ()) -> "ScriptsReport":
        """The same, with what became of the scripts before it when the question was kept, and behind it when the answer was."""
        before, behind = (tuple((trace, 1) for trace in traces) for traces in (question, answer))
        return replace(self, traces=(*before, *self.traces, *behind))

    def rules(self, placement: ScriptPlacement, most: int | None = None) -> list[str]:
        """The names of the scripts that are switched on for texts of a placement, whether they matched or not; with ``most``
        no more than the first."""
        names = (
            bound.script.name
            for bound in self.scripts
            if bound.is_allowed and not bound.script.is_disabled and placement in bound.script.placements
        )
        return list(islice(names, most))


@dataclass(frozen=True, slots=True)
class Note:
    """Something that a person should know about a prepared turn; ``source`` is what it is about."""

    code: str
    message: str
    source: str = "budget"


@dataclass(frozen=True, slots=True)
class PreparedTurn:
    """A prompt, ready to be sent, and how it came to be.

    ``placed`` are the messages by the places of the prompt (``main``, ``chatHistory``), before neighbours were joined; what an
    intent adds behind all is the ``ending``. ``token_estimate`` counts ``messages``; ``input_limit`` is what they may take of
    ``window``, and ``available_for_reply`` what is left of it. ``prompt_digest`` names the messages (``sha256:...``).
    ``macro_scope`` is what its macros read.
    """

    messages: tuple[Message, ...]
    sections: tuple[PromptSection, ...]
    intent: PromptIntent
    policy: ResolvedPolicy
    token_estimate: int
    window: int
    input_limit: int
    available_for_reply: int
    preprocessed_user_message: str
    prompt_digest: str
    prompt_mode: str
    macro_scope: MacroScope
    trim_reasons: tuple[TrimReason, ...] = ()
    excluded_sources: tuple[SourceExclusion, ...] = ()
    filtered_floor_nos: tuple[int, ...] = ()
    history_normalization: HistoryNormalization = field(default_factory=HistoryNormalization)
    macro: MacroReport = field(default_factory=MacroReport)
    structure: StructureResult = StructureResult()
    delivery: DeliveryResult = DeliveryResult()
    diagnostics: tuple[Note, ...] = ()
    preset: PresetFacts | None = None
    lore: LoreResult | None = None
    scripts: ScriptsReport = field(default_factory=ScriptsReport)
    placed: Mapping[str, tuple[Message, ...]] = field(default_factory=dict)
    memory: PromptMemory = NO_PROMPT_MEMORY
