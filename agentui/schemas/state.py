"""The shapes of Session State over HTTP: namespaces, writes, and what slots hold."""

from typing import Annotated, Any, Literal, NotRequired, Self

from pydantic import BeforeValidator, Field, model_validator
from typing_extensions import TypedDict

from agentui.chats.state.limits import MAX_WRITES
from agentui.chats.state.records import ReplaySafety, Wanted, WriteMode
from agentui.jsonio import Json
from agentui.schemas.forms import NO_NUL, BranchId, Form, Id

NAME_PATTERN = r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$"
OWNER_PATTERN = r"^[a-z0-9._:@/-]+$"


def _trimmed(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


TRIMMED = BeforeValidator(_trimmed)
NamespaceName = Annotated[str, Field(min_length=1, max_length=128, pattern=NAME_PATTERN)]
SlotName = Annotated[str, Field(min_length=1, max_length=256), NO_NUL]


class NamespaceForm(Form):
    """A namespace to be registered; blanks around its words do not count. ``default_replay_safety`` says whether a turn that
    wrote here may be generated anew."""

    namespace: Annotated[NamespaceName, TRIMMED]
    logical_owner_type: Annotated[NamespaceName, TRIMMED]
    logical_owner_id: Annotated[str, Field(min_length=1, max_length=256, pattern=OWNER_PATTERN), TRIMMED]
    default_replay_safety: ReplaySafety = "safe"


class SlotForm(Form):
    """A slot of a branch."""

    branch_id: BranchId
    namespace: NamespaceName
    slot: SlotName


class ValueForm(SlotForm):
    """A slot of a branch, and what it is to hold; null is a value."""

    value: Json


class StateWriteForm(Form):
    """One write of a turn: a value, or ``delete``."""

    namespace: NamespaceName
    slot: SlotName
    value: Json = None
    delete: Literal[True] | None = None

    @model_validator(mode="after")
    def _is_one_of_both(self) -> Self:
        if ("value" in self.model_fields_set) == (self.delete is True):
            raise ValueError("give either value or delete: true")
        return self


StateWrites = Annotated[list[StateWriteForm], Field(max_length=MAX_WRITES)]


class WantedQuery(Form):
    """Which slots are asked for."""

    namespace: Id | None = Field(None, description="Only the slots of this namespace.")
    slot: Id | None = Field(None, description="Only this slot; goes with namespace.")

    @model_validator(mode="after")
    def _names_the_slots_namespace(self) -> Self:
        if self.slot is not None and self.namespace is None:
            raise ValueError("slot needs namespace beside it")
        return self

    @property
    def wanted(self) -> Wanted:
        """The slots that are asked for."""
        return Wanted(self.namespace, self.slot)


class StateResolveQuery(WantedQuery):
    """Where one looks."""

    branch_id: BranchId = Field(description="The branch.")
    source_floor_id: Id | None = Field(None, description="Show what held when this floor was committed.")


class StateDiffSides(Form):
    """What a floor is compared with."""

    against: Annotated[str, Field(min_length=1, max_length=210), NO_NUL] = Field(description="live, or floor:<id>.")
    branch_id: BranchId | None = Field(None, description="The branch of against=live.")

    @model_validator(mode="after")
    def _has_a_left_side(self) -> Self:
        if self.against == "live":
            if self.branch_id is None:
                raise ValueError("against=live needs branch_id")
        elif not self.against.startswith("floor:") or self.against == "floor:":
            raise ValueError("against must be live or floor:<id>")
        return self

    @property
    def against_floor_id(self) -> str | None:
        """The floor on the left side; None for a branch."""
        return None if self.against == "live" else self.against.removeprefix("floor:")


class StateDiffQuery(StateDiffSides, WantedQuery):
    """Two sides."""

    floor_id: Id = Field(description="The floor on the right side.")


class SlotCapabilities(TypedDict):
    """What may be done with a slot."""

    client_readable: bool
    client_writable: bool
    allowed_write_modes: list[WriteMode]
    supports_snapshot: bool
    supports_diff: bool


class SlotData(TypedDict):
    """A slot, as it is defined."""

    slot: str
    exposure_lifecycle: Literal["public_stable"]
    visibility_mode: Literal["fork_on_branch"]
    default_write_mode: WriteMode
    default_replay_safety: ReplaySafety
    schema_version: int
    size_budget_bytes: int
    capabilities: SlotCapabilities


class SlotTemplate(TypedDict):
    """What new slots of a namespace are like."""

    default_visibility_mode: Literal["fork_on_branch"]
    default_write_mode: WriteMode
    default_replay_safety: ReplaySafety
    client_writable: bool
    allowed_write_modes: list[WriteMode]
    supports_snapshot: bool
    supports_diff: bool
    replay_policy_source: Literal["system_default", "namespace"]


class NamespaceData(TypedDict):
    """A namespace with its slots; the members about owner and template are those of registered ones."""

    namespace: str
    owner_kind: Literal["built_in", "custom"]
    logical_owner_type: NotRequired[str]
    logical_owner_id: NotRequired[str]
    default_slot_template: NotRequired[SlotTemplate]
    slots: list[SlotData]


class HeldData(TypedDict):
    """What a slot holds; null where it holds nothing."""

    namespace: str
    slot: str
    visibility_mode: Literal["fork_on_branch"]
    schema_version: int
    present: bool
    value: Any
    session_id: str
    branch_id: str
    floor_id: str | None
    source_mutation_ids: list[str]


class ResolvedState(HeldData):
    """What a slot holds on a branch."""

    source: Literal["live_head", "source_floor_snapshot", "none"]
    updated_at: int | None


class SnapshotState(HeldData):
    """What a slot held when a floor was committed."""

    committed_at: int | None


class StateDifference(TypedDict):
    """A slot on two sides."""

    namespace: str
    slot: str
    change_type: Literal["added", "removed", "changed", "unchanged"]
    left_floor_id: str | None
    right_floor_id: str | None
    left_present: bool
    right_present: bool
    left_value: Any
    right_value: Any
