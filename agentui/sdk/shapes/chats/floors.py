"""What the server speaks of: chats, floors."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json
from agentui.sdk.shapes.chats.common import (
    DebugOptions,
    DeliveryForm,
    GenerationParams,
    StateWriteForm,
    StructureForm,
    TurnConfig,
)


class Floor(TypedDict):
    """One turn: what came in and what went out."""

    id: str
    session_id: str
    floor_no: int
    branch_id: str
    parent_floor_id: str | None
    state: Literal["draft", "generating", "committed", "failed"]
    token_in: int
    token_out: int
    created_at: int
    superseded_at: int | None
    superseded_by_floor_id: str | None
    updated_at: int


class FloorPatch(TypedDict):
    """Where a floor shall stand; at least one field."""

    floor_no: NotRequired[int]
    branch_id: NotRequired[str]
    parent_floor_id: NotRequired[str | None]


class FloorRun(TypedDict):
    """A floor's state and its run; floors made by hand have none."""

    floor_id: str
    state: Literal["draft", "generating", "committed", "failed"]
    run: Run | None


class NewFloorForm(TypedDict):
    """A floor to be made."""

    session_id: str
    floor_no: int
    branch_id: NotRequired[str]
    parent_floor_id: NotRequired[str | None]
    state: NotRequired[Literal["draft", "generating", "committed", "failed"]]
    token_in: NotRequired[int]
    token_out: NotRequired[int]


class RetryForm(TypedDict):
    """A floor, once more."""

    config: NotRequired[TurnConfig]
    generation_params: NotRequired[GenerationParams]
    debug_options: NotRequired[DebugOptions]
    structure: NotRequired[StructureForm | None]
    delivery: NotRequired[DeliveryForm | None]
    session_state_writes: NotRequired[list[StateWriteForm]]
    confirmed_execution_ids: NotRequired[list[str]]
    confirmed_session_state_mutation_ids: NotRequired[list[str]]
    prompt_intent: NotRequired[Literal["normal", "continue", "swipe", "regenerate", "quiet"]]


class Run(TypedDict):
    """What the model call of a floor is doing, or how it ended."""

    floor_id: str
    run_id: str
    run_type: str
    status: Literal["running", "completed", "failed", "cancelled"]
    phase: str
    public_phase: str
    phase_seq: int
    started_at: int
    updated_at: int
    completed_at: int | None
    error: NotRequired[Json]
    attempt_no: NotRequired[int]
    pending_output: NotRequired[Json]
    verifier: NotRequired[Json]
