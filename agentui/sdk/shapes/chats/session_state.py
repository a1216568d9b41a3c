"""What the server speaks of: chats, session state."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json


class NamespaceData(TypedDict):
    """A namespace with its slots; the members about owner and template are those of registered ones."""

    namespace: str
    owner_kind: Literal["built_in", "custom"]
    logical_owner_type: NotRequired[str]
    logical_owner_id: NotRequired[str]
    default_slot_template: NotRequired[SlotTemplate]
    slots: list[SlotData]


class NamespaceForm(TypedDict):
    """A namespace to be registered; blanks around its words do not count. ``default_replay_safety`` says whether a
    turn that wrote here may be generated anew.
    """

    namespace: str
    logical_owner_type: str
    logical_owner_id: str
    default_replay_safety: NotRequired[Literal["safe", "confirm_on_replay", "never_auto_replay", "uncertain"]]


class ResolvedState(TypedDict):
    """What a slot holds on a branch."""

    namespace: str
    slot: str
    visibility_mode: Literal["fork_on_branch"]
    schema_version: int
    present: bool
    value: Json
    session_id: str
    branch_id: str
    floor_id: str | None
    source_mutation_ids: list[str]
    source: Literal["live_head", "source_floor_snapshot", "none"]
    updated_at: int | None


class SlotCapabilities(TypedDict):
    """What may be done with a slot."""

    client_readable: bool
    client_writable: bool
    allowed_write_modes: list[Literal["direct", "commit_bound"]]
    supports_snapshot: bool
    supports_diff: bool


class SlotData(TypedDict):
    """A slot, as it is defined."""

    slot: str
    exposure_lifecycle: Literal["public_stable"]
    visibility_mode: Literal["fork_on_branch"]
    default_write_mode: Literal["direct", "commit_bound"]
    default_replay_safety: Literal["safe", "confirm_on_replay", "never_auto_replay", "uncertain"]
    schema_version: int
    size_budget_bytes: int
    capabilities: SlotCapabilities


class SlotForm(TypedDict):
    """A slot of a branch."""

    branch_id: str
    namespace: str
    slot: str


class SlotTemplate(TypedDict):
    """What new slots of a namespace are like."""

    default_visibility_mode: Literal["fork_on_branch"]
    default_write_mode: Literal["direct", "commit_bound"]
    default_replay_safety: Literal["safe", "confirm_on_replay", "never_auto_replay", "uncertain"]
    client_writable: bool
    allowed_write_modes: list[Literal["direct", "commit_bound"]]
    supports_snapshot: bool
    supports_diff: bool
    replay_policy_source: Literal["system_default", "namespace"]


class SnapshotState(TypedDict):
    """What a slot held when a floor was committed."""

    namespace: str
    slot: str
    visibility_mode: Literal["fork_on_branch"]
    schema_version: int
    present: bool
    value: Json
    session_id: str
    branch_id: str
    floor_id: str | None
    source_mutation_ids: list[str]
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
    left_value: Json
    right_value: Json


class ValueForm(TypedDict):
    """A slot of a branch, and what it is to hold; null is a value."""

    branch_id: str
    namespace: str
    slot: str
    value: Json
