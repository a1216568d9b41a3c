"""The shapes of live turns over HTTP: what is asked for, and what comes back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, AliasChoices, Field

from agentui.assets.preset import MOST_ANSWERS
from agentui.jsonio import Json
from agentui.prompt.policy import SECTIONS
from agentui.schemas.forms import MAX_INTEGER, NO_NUL, BranchId, Form, Id
from agentui.schemas.prompt_runtime import DeliveryForm, PolicyFields, StructureForm
from agentui.schemas.state import StateWrites
from agentui.turns.request import Confirmed

Intent = Literal["normal", "continue", "impersonate", "swipe", "regenerate", "quiet"]
AnswerIntent = Literal["normal", "continue", "swipe", "regenerate", "quiet"]
"""Why an answer is made anew: words for the person to say are no version of one."""
Said = Annotated[str, Field(min_length=1), NO_NUL]
"""What the user says; a caller who leaves it out says nothing."""
Tokens = Annotated[int, Field(ge=1, le=MAX_INTEGER)]
MAX_SEED = 2**31 - 1
"""Vendors' largest: Gemini's is an int32."""
Stop = Annotated[str, Field(min_length=1, max_length=1000), NO_NUL]


def _finite(value: float) -> float:
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError("must be a finite number")
    return value


Penalty = Annotated[float, Field(ge=-2, le=2), AfterValidator(_finite)]
Bias = Annotated[float, Field(ge=-100, le=100), AfterValidator(_finite)]
Token = Annotated[str, Field(pattern=r"^[0-9]{1,9}$")]
"""A token's number, as OpenAI has it in ``logit_bias``."""


class GenerationParams(Form):
    """How the model is asked; what is not said here is the session's, then the model's own."""

    temperature: float | None = Field(None, ge=0, le=2)
    max_output_tokens: Tokens | None = None
    top_p: float | None = Field(None, ge=0, le=1)
    top_k: int | None = Field(None, ge=1, le=MAX_INTEGER)
    min_p: float | None = Field(None, ge=0, le=1)
    repetition_penalty: float | None = Field(None, ge=0, le=100)
    frequency_penalty: Penalty | None = None
    presence_penalty: Penalty | None = None
    seed: int | None = Field(None, ge=0, le=MAX_SEED)
    n: int | None = Field(None, ge=1, le=MOST_ANSWERS)
    logit_bias: dict[Token, Bias] | None = Field(None, max_length=1024)
    banned_strings: list[Stop] | None = Field(None, max_length=256)
    stop_sequences: list[Stop] | None = Field(None, max_length=64)
    stream: bool | None = None
    reasoning_effort: Literal["low", "medium", "high"] | None = None


class SessionParams(GenerationParams):
    """A session's ``model_params``, as far as a turn understands them."""

    max_context_tokens: Tokens | None = None


class TurnConfig(Form):
    """Which parts of a turn are on."""

    enableTools: bool | None = None
    enableDirector: bool | None = None
    enableVerifier: bool | None = None
    enableMemoryConsolidation: bool | None = None
    toolMode: Literal["inline", "standalone", "both"] | None = Field(
        None, validation_alias=AliasChoices("toolMode", "tool_mode")
    )
    verifierFailStrategy: Literal["warn", "block", "retry"] | None = None
    maxRetries: int | None = Field(None, ge=0, le=5)


class DebugOptions(Form):
    """What a turn tells of its prompt, beside its answer."""

    include_prompt_snapshot: bool = False
    include_runtime_trace: bool = False
    include_worldbook_matches: bool = False


class LiveForm(Form):
    """What every live turn may be told."""

    config: TurnConfig = Field(default_factory=TurnConfig.model_construct)
    generation_params: GenerationParams = Field(default_factory=GenerationParams.model_construct)
    debug_options: DebugOptions = Field(default_factory=DebugOptions.model_construct)
    structure: StructureForm | None = None
    delivery: DeliveryForm | None = None
    session_state_writes: StateWrites = Field(default_factory=list)

    @property
    def policy(self) -> dict[str, Json]:
        """What it says of the prompt."""
        return {name: self.given[name] for name in ("structure", "delivery") if self.given.get(name) is not None}


class ReplayForm(LiveForm):
    """What a turn may be told that makes an answer anew."""

    confirmed_execution_ids: list[Id] = Field(default_factory=list, max_length=10_000)
    confirmed_session_state_mutation_ids: list[Id] = Field(default_factory=list, max_length=1000)

    @property
    def confirmed(self) -> Confirmed:
        """What may be done once more."""
        executions, mutations = self.confirmed_execution_ids, self.confirmed_session_state_mutation_ids
        return Confirmed(frozenset(executions), frozenset(mutations))


class RespondForm(LiveForm):
    """What the user says, and where. Without a ``message`` the character speaks again."""

    message: Said | None = None
    branch_id: BranchId | None = None
    source_floor_id: Id | None = None
    prompt_intent: Intent = "normal"


class RegenerateForm(ReplayForm):
    """The newest floor of a branch, once more."""

    branch_id: BranchId | None = None


class RetryForm(ReplayForm):
    """A floor, once more."""

    prompt_intent: AnswerIntent = "swipe"


class EditForm(ReplayForm):
    """A message, said otherwise on a branch of its own."""

    content: Said
    branch_id: BranchId | None = None


class DryRunForm(PolicyFields):
    """What the user would say; nothing without a ``message``."""

    message: Said | None = None
    branch_id: BranchId | None = None
    source_floor_id: Id | None = None
    prompt_intent: Intent = "normal"
    debug_options: DebugOptions = Field(default_factory=DebugOptions.model_construct)

    @property
    def policy(self) -> dict[str, Json]:
        """What it says of the prompt."""
        return {name: self.given[name] for name in SECTIONS if self.given.get(name) is not None}


class CancelForm(Form):
    """Which of the session's turns to stop; all without a branch."""

    branch_id: BranchId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Respond:
    """A turn that was committed, or a ``draft`` of what the user may say next (``prompt_intent`` ``impersonate``), which has no
    floor. ``branch_id`` and the members behind ``final_state`` stand there where a route says so."""

    floor_id: str = ""
    floor_no: int = 0
    branch_id: str
    generated_text: str
    summaries: list[str]
    total_usage: Mapping[str, int]
    final_state: Literal["committed", "draft"]
    verifier: Json = None
    previous_floor_id: str | None = None
    source_floor_id: str | None = None
    source_message_id: str | None = None
    prompt_snapshot: Json = None
    runtime_trace: Json = None


@dataclass(frozen=True, slots=True)
class StoppedRun:
    """A turn that was told to stop."""

    branch_id: str
    floor_id: str
    run_id: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The turns of a session that were told to stop."""

    session_id: str
    stopped: list[StoppedRun]


@dataclass(frozen=True, slots=True)
class DryRun:
    """The prompt that would be sent, and how it came about (agentui/prompt/report.py)."""

    messages: list[Json]
    token_estimate: int
    available_for_reply: int
    memory: Json
    memory_summary: str | None
    prompt_snapshot: Json
    assembly: Json
    runtime_trace: Json
