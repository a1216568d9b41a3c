"""The shapes of the prompt runtime over HTTP: policies, what they come to, and what is asked of a prompt."""

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from agentui.chats.policies import PolicyEnvelope
from agentui.chats.records import MAIN, PromptMode
from agentui.jsonio import Json
from agentui.prompt.explain import Diagnostic, PromptScope
from agentui.prompt.modes import ModeView
from agentui.prompt.policy import HistoryMode, RewriteStrategy, StructureMode, VisibilityMode
from agentui.schemas.forms import BranchId, Count, Form, Id, Patch

MAX_RANGES = 1000


class StructureForm(Form):
    """Which shape the messages get; names its mode."""

    mode: StructureMode
    merge_adjacent_same_role: bool | None = None
    assistant_rewrite_strategy: RewriteStrategy | None = None
    preserve_system_messages: bool | None = None


class DeliveryForm(Form):
    """What must hold of the messages that are sent."""

    allow_assistant_prefill: bool | None = None
    require_last_user: bool | None = None
    no_assistant: bool | None = None


Tokens = Annotated[int, Field(ge=1, le=2**31 - 1)]


class BudgetForm(Form):
    """The context window, and what of it is kept free for the reply, in tokens."""

    max_input_tokens: Tokens | None = None
    reserved_completion_tokens: Count | None = None


class HistoryForm(Form):
    """How much of the history may come in."""

    mode: HistoryMode | None = None
    max_messages: Count | None = None


class SwitchForm(Form):
    """Whether a source may come in."""

    enabled: bool | None = None


class SelectionForm(Form):
    """Which sources may come in."""

    history: HistoryForm | None = None
    memory: SwitchForm | None = None
    worldbook: SwitchForm | None = None
    examples: SwitchForm | None = None


class RangeForm(Form):
    """Floors by their numbers, in either order."""

    start_floor_no: Count
    end_floor_no: Count


Ranges = Annotated[list[RangeForm], Field(max_length=MAX_RANGES)]


class VisibilityForm(Form):
    """Which floors of the history are seen."""

    mode: VisibilityMode | None = None
    hidden_floor_ranges: Ranges | None = None
    visible_floor_ranges: Ranges | None = None
    hidden_floor_ids: Annotated[list[Id], Field(max_length=MAX_RANGES)] | None = None


class PolicyFields(Form):
    """A policy of which any section may be missing."""

    structure: StructureForm | None = None
    delivery: DeliveryForm | None = None
    budget: BudgetForm | None = None
    source_selection: SelectionForm | None = None
    visibility: VisibilityForm | None = None


class PolicyPatch(Patch, PolicyFields):
    """What to change of a policy: objects are merged into what is there, null takes away. At least one section."""


class ModePatch(Form):
    """A session's own prompt mode; null takes it away."""

    prompt_mode: PromptMode | None


class RuntimeQuery(Form):
    """Of which branch."""

    branch_id: BranchId = Field(MAIN, description="A branch that exists; main unless said otherwise.")


@dataclass(frozen=True, slots=True)
class PolicyView:
    """What a session or a branch keeps, and what it comes to together with what lies below."""

    persistent_policy: dict[str, Json]
    persistent_policy_envelope: PolicyEnvelope | None
    resolved_policy: dict[str, Json]
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class AssetSummary:
    """Something that a prompt is made of; a character that was given with its session may have no id."""

    id: str | None
    name: str | None


@dataclass(frozen=True, slots=True)
class VersionedAsset:
    """Something that a prompt is made of, in the version that counts."""

    id: str
    name: str
    version_id: str
    version_no: int
    content_hash: str


@dataclass(frozen=True, slots=True)
class AssetsView:
    """What a session's prompts are made of."""

    preset: VersionedAsset | None
    character_card: AssetSummary | None
    worldbook: VersionedAsset | None
    regex_profile: VersionedAsset | None


@dataclass(frozen=True, slots=True)
class RuntimeState:
    """By which rules the next prompt of a branch is assembled."""

    scope: PromptScope
    mode: ModeView
    policy: dict[str, Json]
    persistent_policy: dict[str, Json]
    persistent_policy_envelope: PolicyEnvelope | None
    branch_persistent_policy: dict[str, Json] | None
    branch_persistent_policy_envelope: PolicyEnvelope | None
    assets: AssetsView
    source_map: dict[str, Json]
    warnings: list[str]
    diagnostics: list[Diagnostic]
    limitations: list[str] = field(default_factory=list)
