"""What the server speaks of: chats, variables."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json


class BatchData(TypedDict):
    """What became of a batch, in its order."""

    results: list[WrittenData]
    meta: BatchMeta


class BatchForm(TypedDict):
    """Variables to write together: all of them, or none."""

    items: list[VariableForm]


class BatchMeta(TypedDict):
    """How many of each."""

    total: int
    created: int
    updated: int


class BranchRef(TypedDict):
    """A branch by its names."""

    session_id: str
    branch_id: str


class ChangeData(TypedDict):
    """A variable that a turn changed, with its values before and after; one is missing where there was none."""

    scope: Literal["global", "chat", "branch"]
    scope_id: str
    key: str
    before: NotRequired[Json]
    after: NotRequired[Json]


class ContextData(TypedDict):
    """The place from which was looked; what is not known is not there."""

    account_id: str
    session_id: str
    branch_id: NotRequired[str]
    floor_id: NotRequired[str]
    page_id: NotRequired[str]
    global_scope_id: str


class LayerData(TypedDict):
    """The variables of one tier."""

    scope: Literal["global", "chat", "branch", "floor", "page"]
    scope_id: str
    scope_ref: NotRequired[BranchRef]
    items: list[VariableData]


class PageChanges(TypedDict):
    """What the turn of a page changed in the tiers that outlive it."""

    page_id: str
    floor_id: str
    session_id: str
    branch_id: str
    items: list[ChangeData]


class PagePromotions(TypedDict):
    """The promotions of a page's run."""

    page_id: str
    floor_id: str
    session_id: str
    branch_id: str
    items: list[PromotionData]


class PageStaged(TypedDict):
    """The writes of a page's run."""

    page_id: str
    floor_id: str
    session_id: str
    branch_id: str
    items: list[StagedData]


class PromotionData(TypedDict):
    """One variable that went from its page to its floor, or to the branch."""

    source_kind: Literal["tool"]
    actor_client_id: None
    source: dict[str, Json]
    source_json: dict[str, Json]
    evidence: dict[str, Json]
    evidence_json: dict[str, Json]
    rerouted_target: None
    decision_code: Literal["promotion_allowed"] | None
    decision_reason: str | None
    linked_session_state_mutation_id: None
    id: str
    staged_write_id: str
    key: str
    from_scope: Literal["global", "chat", "branch", "floor", "page"]
    from_scope_id: str
    to_scope: Literal["global", "chat", "branch", "floor", "page"]
    to_scope_id: str
    conflict_policy: Literal["replace"]
    source_variable_id: str
    target_variable_id: str
    value: Json
    created_at: int


class ResolveData(TypedDict):
    """What is visible from a place, by key."""

    context: ContextData
    resolved: list[ResolvedData]
    layers: NotRequired[dict[str, LayerData]]


class ResolvedData(TypedDict):
    """The winning value of one key, and where it comes from."""

    key: str
    value: Json
    source_scope: Literal["global", "chat", "branch", "floor", "page"]
    source_scope_id: str
    source_scope_ref: NotRequired[BranchRef]
    updated_at: int


class StagedData(TypedDict):
    """One write of a run to its page or floor."""

    source_kind: Literal["tool"]
    actor_client_id: None
    source: dict[str, Json]
    source_json: dict[str, Json]
    evidence: dict[str, Json]
    evidence_json: dict[str, Json]
    rerouted_target: None
    decision_code: Literal["promotion_allowed"] | None
    decision_reason: str | None
    linked_session_state_mutation_id: None
    id: str
    key: str
    op: Literal["set"]
    value: Json
    intent: Literal["page_only", "promote_to_floor_on_accept", "promote_to_branch_on_accept"]
    conflict_policy: Literal["replace"]
    reason: str | None
    status: Literal["staged", "accepted_page_only", "promoted"]
    created_at: int
    resolved_at: int | None


class VariableData(TypedDict):
    """A variable; ``scope_ref`` is there for branches only."""

    id: str
    scope: Literal["global", "chat", "branch", "floor", "page"]
    scope_id: str
    scope_ref: NotRequired[BranchRef]
    key: str
    value: Json
    updated_at: int


class VariableForm(TypedDict):
    """A variable to write. ``scope_id`` names the host; a branch is named by session_id and branch_id, or by its
    scope_id.
    """

    scope: Literal["global", "chat", "branch", "floor", "page"]
    scope_id: NotRequired[str | None]
    session_id: NotRequired[str | None]
    branch_id: NotRequired[str | None]
    key: str
    value: Json


class WrittenData(TypedDict):
    """What became of one item of a batch."""

    index: int
    action: Literal["created", "updated"]
    data: VariableData
