"""What the server speaks of: chats, messages."""

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


class EditForm(TypedDict):
    """A message, said otherwise on a branch of its own."""

    config: NotRequired[TurnConfig]
    generation_params: NotRequired[GenerationParams]
    debug_options: NotRequired[DebugOptions]
    structure: NotRequired[StructureForm | None]
    delivery: NotRequired[DeliveryForm | None]
    session_state_writes: NotRequired[list[StateWriteForm]]
    confirmed_execution_ids: NotRequired[list[str]]
    confirmed_session_state_mutation_ids: NotRequired[list[str]]
    content: str
    branch_id: NotRequired[str | None]


class Message(TypedDict):
    """One message on a page. ``parts`` are all its parts where the content is not all there is (chats/parts.py)."""

    id: str
    page_id: str
    seq: int
    role: Literal["user", "assistant", "system", "narrator"]
    content: str
    content_format: Literal["text", "markdown", "json"]
    token_count: int
    is_hidden: bool
    source: str | None
    created_at: int
    parts: NotRequired[list[Json] | None]


class MessagePatch(TypedDict):
    """What to change of a message; at least one field."""

    seq: NotRequired[int]
    role: NotRequired[Literal["user", "assistant", "system", "narrator"]]
    content: NotRequired[str]
    content_format: NotRequired[Literal["text", "markdown", "json"]]
    token_count: NotRequired[int]
    is_hidden: NotRequired[bool]
    source: NotRequired[str | None]


class NewMessageForm(TypedDict):
    """A message to be written."""

    page_id: str
    seq: int
    role: Literal["user", "assistant", "system", "narrator"]
    content: str
    content_format: NotRequired[Literal["text", "markdown", "json"]]
    token_count: NotRequired[int]
    is_hidden: NotRequired[bool]
    source: NotRequired[str | None]


class VisibilityBatch(TypedDict):
    """Messages, and whether they shall be hidden."""

    ids: list[str]
    is_hidden: bool


class VisibilityMeta(TypedDict):
    """How a batch went."""

    total: int
    updated: int
    not_found: int
    is_hidden: bool


class VisibilityResult(TypedDict):
    """What became of one message; ``data`` is there of those that were found, as long as they are not too large
    together.
    """

    index: int
    id: str
    action: Literal["updated", "not_found"]
    data: NotRequired[Message]


class VisibilityResults(TypedDict):
    """What became of every message of a batch."""

    results: list[VisibilityResult]
    meta: VisibilityMeta
