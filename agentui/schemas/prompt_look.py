"""The shapes of previews and inspections: of what is asked of a prompt that is not sent, and of what is told of it."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from agentui.jsonio import Json
from agentui.prompt.explain import Diagnostic, PromptScope
from agentui.prompt.modes import ModeView
from agentui.prompt.policy import SECTIONS
from agentui.schemas.forms import NO_NUL, BranchId, Form, Id, Line
from agentui.schemas.live import Intent, LiveForm, Said
from agentui.schemas.prompt_runtime import PolicyFields


class LookFields(PolicyFields):
    """For which branch, and with which rules over those that are kept. A branch that does not exist is looked at as a turn
    would make it: forked behind the source floor, else from the head of main."""

    branch_id: BranchId | None = None
    source_floor_id: Id | None = None

    @property
    def override(self) -> dict[str, Json]:
        """The rules of this request."""
        given = self.given
        return {name: given[name] for name in SECTIONS if given.get(name) is not None}


class PreviewForm(LookFields):
    """A text whose macros are to be replaced."""

    text: Annotated[str, Field(min_length=1), NO_NUL]


@dataclass(frozen=True, slots=True)
class StateWrite:
    """One write to the session's state."""

    namespace: str
    slot: str
    operation: Literal["set", "delete"]


class InspectForm(LookFields, LiveForm):
    """A message whose prompt is to be made, and not sent; none is the prompt of an answer without words."""

    message: Said | None = None
    prompt_intent: Intent = "normal"

    @property
    def told_writes(self) -> list[StateWrite]:
        """What the turn would write to the Session State."""
        return [StateWrite(each.namespace, each.slot, "delete" if each.delete else "set") for each in self.session_state_writes]


@dataclass(frozen=True, slots=True)
class PreviewedText:
    """A text with its macros replaced. ``runtime_trace`` has ``macro``, ``source_selection``, ``visibility`` and
    ``history_normalization``."""

    scope: PromptScope
    policy: dict[str, Json]
    source_map: dict[str, Json]
    text: str
    runtime_trace: dict[str, Json]
    memory: dict[str, Json]
    diagnostics: list[Diagnostic]
    limitations: list[str]


@dataclass(frozen=True, slots=True)
class StateWrites:
    """What the turn would write to the session's state."""

    total: int = 0
    writes: list[StateWrite] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PreparePhase:
    """A step of the way to the prompt."""

    phase: Literal["conversation_resolve", "source_resolve", "assemble", "materialize", "inspect"]
    detail: dict[str, Json]


@dataclass(frozen=True, slots=True)
class InspectedTurn:
    """A prompt that was made and not sent."""

    messages: list[dict[str, Json]]
    token_estimate: int
    available_for_reply: int
    preprocessed_user_message: str | None
    prompt_snapshot: dict[str, Json]
    runtime_trace: dict[str, Json]
    sections: list[dict[str, Json]]
    memory: dict[str, Json]
    memory_summary: str | None
    generation_params: dict[str, Json]
    requested_turn_config: dict[str, Json] | None
    turn_config: dict[str, Json]
    session_state_writes: StateWrites
    contributors: list[Json]
    prepare_phase_trace: list[PreparePhase]


@dataclass(frozen=True, slots=True)
class Inspection:
    """The prompt that a message would make, and all that led to it."""

    scope: PromptScope
    mode: ModeView
    policy: dict[str, Json]
    source_map: dict[str, Json]
    history_normalization: dict[str, Json]
    diagnostics: list[Diagnostic]
    trim_reasons: list[dict[str, Json]]
    excluded_sources: list[dict[str, Json]]
    section_stats: list[Json]
    limitations: list[str]
    prepared_turn: InspectedTurn
    governance: dict[str, Json]


class PresetTestForm(Form):
    """A prompt preset as what it holds, and what the user would say. With a session its chat, its character and its lore are in
    the prompt, as on the branch; else nothing but the preset, and ``macros`` are values by name."""

    preset: dict[str, Json]
    message: Annotated[str, Field(max_length=262_144), NO_NUL] = ""
    session_id: Id | None = None
    branch_id: BranchId | None = None
    prompt_intent: Intent = "normal"
    macros: dict[str, Line] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TriedPreset:
    """The prompt that a preset makes: its messages, and each of its texts with its tokens. ``is_used`` is false where the
    session makes its prompts without presets (mode ``native``)."""

    is_used: bool
    messages: list[dict[str, Json]]
    sections: list[dict[str, Json]]
    token_estimate: int
    window: int
    available_for_reply: int
    trigger_filtered_entry_ids: list[str]
    warnings: list[str]
