"""The shapes of what is told of Session State to those who look for a fault in it."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from agentui.chats.state.observing import MutationFilter
from agentui.chats.state.records import MutationStatus, ReplaySafety, WriteMode
from agentui.schemas.forms import BranchId, Form, Id, ListQuery, QueryBool
from agentui.schemas.state import StateDiffSides

Moment = Annotated[int, Field(ge=0, le=2**53)]


class MutationQuery(ListQuery):
    """Which mutations."""

    limit: int = Field(20, ge=1, le=100, description="Most items in the answer, at most 100.")
    branch_id: BranchId | None = Field(None, description="Only those of this branch.")
    status: MutationStatus | None = Field(None, description="applied or discarded.")
    source_floor_id: Id | None = Field(None, description="Only those of this floor's turns.")
    run_id: Id | None = Field(None, description="Only those of this run.")
    target_slot: Id | None = Field(None, description="Only those of slots of this name.")
    state_namespace: Id | None = Field(None, description="Only those of this namespace.")
    write_mode: WriteMode | None = Field(None, description="direct or commit_bound.")
    replay_safety: ReplaySafety | None = Field(None, description="Only those of this safety.")
    created_after: Moment | None = Field(None, description="Milliseconds since 1970.")
    created_before: Moment | None = Field(None, description="Milliseconds since 1970.")

    @property
    def wanted(self) -> MutationFilter:
        """The filter."""
        return MutationFilter(**{name: getattr(self, name) for name in MutationFilter.__slots__})


class LiveQuery(Form):
    """Which of what holds."""

    branch_id: BranchId | None = Field(None, description="Only this branch.")
    state_namespace: Id | None = Field(None, description="Only this namespace.")


class LiveValueQuery(Form):
    """Where one looks."""

    branch_id: BranchId = Field(description="The branch.")
    source_floor_id: Id | None = Field(None, description="Show what held when this floor was committed.")


class KeptQuery(Form):
    """Which of what held."""

    state_namespace: Id | None = Field(None, description="Only this namespace.")


class ReplayQuery(Form):
    """What would be confirmed."""

    confirmed_mutation_ids: Annotated[str, Field(max_length=100_000)] = Field("", description="Ids with commas between them.")


class FloorDiffQuery(StateDiffSides):
    """Another side."""

    state_namespace: Id | None = Field(None, description="Only this namespace.")
    include_values: QueryBool = Field(False, description="true shows the values.")


class MutationData(TypedDict):
    """A write, with the beginning of its value."""

    id: str
    state_namespace: str
    target_slot: str
    session_id: str
    branch_id: str
    source_floor_id: str | None
    visibility_mode: Literal["fork_on_branch"]
    write_mode: WriteMode
    status: MutationStatus
    replay_safety: ReplaySafety
    run_id: str | None
    payload_size_bytes: int
    payload_present: bool
    payload_preview: str
    created_at: int
    updated_at: int


class PageMutation(MutationData):
    """A write of a page's turn. ``actor_client_id``, ``request_id``, ``discard_reason``, ``blocked_reason``, the reason and the
    code of the decision and ``linked_variable_stage_id`` are null: nothing here knows them."""

    page_id: str
    floor_id: str
    source_kind: Literal["turn"]
    actor_client_id: None
    source_page_id: str
    source_branch_id: str
    commit_mode: WriteMode
    request_id: None
    live_head_key: str
    discard_reason: None
    blocked_reason: None
    decision_status: Literal["accepted", "discarded"]
    decision_reason: None
    decision_code: None
    linked_variable_stage_id: None
    applied_at: int | None


class PageMutations(TypedDict):
    """What a page's turn wrote."""

    page_id: str
    floor_id: str
    session_id: str
    branch_id: str
    items: list[PageMutation]


class StateBinding(TypedDict):
    """A namespace of a session, as TavernHeadless tells of it, where each is a domain of client data. ``domain_id`` names
    it."""

    domain_id: str
    account_id: str
    manager_kind: Literal["session_state"]
    host_type: Literal["session"]
    host_id: str
    state_namespace: str
    require_caller_owner: Literal[True]
    allow_auto_create_collection: Literal[False]
    created_at: int
    updated_at: int


class Payload(TypedDict):
    """What a mutation wrote."""

    present: bool
    value: Any


class WholeMutation(MutationData):
    """A write with its value."""

    payload: Payload


class LiveHead(TypedDict):
    """A slot that holds something on a branch, without its value."""

    state_namespace: str
    slot: str
    branch_id: str
    visibility_mode: Literal["fork_on_branch"]
    schema_version: int
    present: bool
    source_floor_id: str | None
    last_mutation_id: str
    updated_at: int
    payload_size_bytes: int


class KeptHead(TypedDict):
    """A slot that held something when a floor was committed, without its value."""

    state_namespace: str
    slot: str
    visibility_mode: Literal["fork_on_branch"]
    schema_version: int
    present: bool
    session_id: str
    branch_id: str
    floor_id: str
    source_mutation_ids: list[str]
    committed_at: int
    payload_size_bytes: int


class ReplayBlocker(TypedDict):
    """A write that stands in the way of making an answer anew."""

    mutation_id: str
    state_namespace: str
    target_slot: str
    replay_safety: ReplaySafety
    status: MutationStatus
    reason: Literal["confirmation_required", "never_auto_replay"]


class ReplaySafetyData(TypedDict):
    """Whether a floor's answer may be made anew."""

    allowed: bool
    blockers: list[ReplayBlocker]


class ObservedDifference(TypedDict):
    """A slot on two sides; the values stand there where they were asked for."""

    state_namespace: str
    slot: str
    change_type: Literal["added", "removed", "changed", "unchanged"]
    left_floor_id: str | None
    right_floor_id: str | None
    left_present: bool
    right_present: bool
    left_value: NotRequired[Any]
    right_value: NotRequired[Any]
