"""What the server speaks of: chats, working variables."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.endpoints import Json


class WorkingFacts(TypedDict):
    """A working variable without its value. Times are milliseconds since 1970, lengths characters."""

    name: str
    type: Literal["RULE", "ToolCallResult", "ToolCallArgs", "MessageCache", "LLMAdd", "USER_ADD"]
    length: int
    desc: str
    tags: list[str]
    keep: bool
    is_literal: bool
    reference_count: int
    created_at: int
    updated_at: int
    last_visited_at: int


class WorkingForm(TypedDict):
    """What is to be written of a variable; a new one needs a value. Tags and description are checked where they are
    kept.
    """

    value: NotRequired[Json]
    desc: NotRequired[str | None]
    tags: NotRequired[list[str] | None]
    keep: NotRequired[bool | None]


class WorkingPart(TypedDict):
    """A working variable with a part of its value, which begins at ``start``."""

    name: str
    type: Literal["RULE", "ToolCallResult", "ToolCallArgs", "MessageCache", "LLMAdd", "USER_ADD"]
    length: int
    desc: str
    tags: list[str]
    keep: bool
    is_literal: bool
    reference_count: int
    created_at: int
    updated_at: int
    last_visited_at: int
    start: int
    value: str
