"""The shapes of variables over HTTP (seed 000)."""

from typing import Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from agentui.schemas.forms import Form, Id, Line, ListQuery, QueryBool
from agentui.variables.records import SortBy
from agentui.variables.scopes import Scope


class VariableForm(Form):
    """A variable to write. ``scope_id`` names the host; a branch is named by session_id and branch_id, or by its scope_id."""

    scope: Scope
    scope_id: Line | None = None
    session_id: Line | None = None
    branch_id: Line | None = None
    key: Line = Field(min_length=1)
    value: Any


class BatchForm(Form):
    """Variables to write together: all of them, or none."""

    items: list[VariableForm] = Field(min_length=1, max_length=100)


class VariableQuery(ListQuery):
    """Which variables."""

    scope: Scope | None = Field(None, description="global, chat, branch, floor or page.")
    scope_id: Line | None = Field(None, description="The id of the host.")
    session_id: Line | None = Field(None, description="With scope=branch: variables of this session's branches.")
    branch_id: Line | None = Field(None, description="With scope=branch and session_id: variables of this branch.")
    key: Line | None = Field(None, description="Only variables of this name.")
    sort_by: SortBy = Field("updated_at", description="updated_at or key.")


class ResolveQuery(Form):
    """From where."""

    session_id: Id = Field(description="The session; required.")
    branch_id: Id | None = Field(None, description="The branch; a floor or a page names it too.")
    floor_id: Id | None = Field(None, description="The floor; a page names it too.")
    page_id: Id | None = Field(None, description="The page.")
    include_layers: QueryBool = Field(False, description="true adds the variables of every tier as they are.")


class BranchRef(TypedDict):
    """A branch by its names."""

    session_id: str
    branch_id: str


class VariableData(TypedDict):
    """A variable; ``scope_ref`` is there for branches only."""

    id: str
    scope: Scope
    scope_id: str
    scope_ref: NotRequired[BranchRef]
    key: str
    value: Any
    updated_at: int


class WrittenData(TypedDict):
    """What became of one item of a batch."""

    index: int
    action: Literal["created", "updated"]
    data: VariableData


class BatchMeta(TypedDict):
    """How many of each."""

    total: int
    created: int
    updated: int


class BatchData(TypedDict):
    """What became of a batch, in its order."""

    results: list[WrittenData]
    meta: BatchMeta


class ContextData(TypedDict):
    """The place from which was looked; what is not known is not there."""

    account_id: str
    session_id: str
    branch_id: NotRequired[str]
    floor_id: NotRequired[str]
    page_id: NotRequired[str]
    global_scope_id: str


class ResolvedData(TypedDict):
    """The winning value of one key, and where it comes from."""

    key: str
    value: Any
    source_scope: Scope
    source_scope_id: str
    source_scope_ref: NotRequired[BranchRef]
    updated_at: int


class LayerData(TypedDict):
    """The variables of one tier."""

    scope: Scope
    scope_id: str
    scope_ref: NotRequired[BranchRef]
    items: list[VariableData]


class ResolveData(TypedDict):
    """What is visible from a place, by key."""

    context: ContextData
    resolved: list[ResolvedData]
    layers: NotRequired[dict[Scope, LayerData]]


class Provenance(TypedDict):
    """Who made a write. ``source_json`` and ``evidence_json`` are ``source`` and ``evidence`` once more."""

    source_kind: Literal["tool"]
    actor_client_id: None
    source: dict[str, Any]
    source_json: dict[str, Any]
    evidence: dict[str, Any]
    evidence_json: dict[str, Any]
    rerouted_target: None
    decision_code: Literal["promotion_allowed"] | None
    decision_reason: str | None
    linked_session_state_mutation_id: None


class StagedData(Provenance):
    """One write of a run to its page or floor."""

    id: str
    key: str
    op: Literal["set"]
    value: Any
    intent: Literal["page_only", "promote_to_floor_on_accept", "promote_to_branch_on_accept"]
    conflict_policy: Literal["replace"]
    reason: str | None
    status: Literal["staged", "accepted_page_only", "promoted"]
    created_at: int
    resolved_at: int | None


class PromotionData(Provenance):
    """One variable that went from its page to its floor, or to the branch."""

    id: str
    staged_write_id: str
    key: str
    from_scope: Scope
    from_scope_id: str
    to_scope: Scope
    to_scope_id: str
    conflict_policy: Literal["replace"]
    source_variable_id: str
    target_variable_id: str
    value: Any
    created_at: int


class PageStaged(TypedDict):
    """The writes of a page's run."""

    page_id: str
    floor_id: str
    session_id: str
    branch_id: str
    items: list[StagedData]


class PagePromotions(TypedDict):
    """The promotions of a page's run."""

    page_id: str
    floor_id: str
    session_id: str
    branch_id: str
    items: list[PromotionData]


class ChangeData(TypedDict):
    """A variable that a turn changed, with its values before and after; one is missing where there was none."""

    scope: Literal["global", "chat", "branch"]
    scope_id: str
    key: str
    before: NotRequired[Any]
    after: NotRequired[Any]


class PageChanges(TypedDict):
    """What the turn of a page changed in the tiers that outlive it."""

    page_id: str
    floor_id: str
    session_id: str
    branch_id: str
    items: list[ChangeData]
