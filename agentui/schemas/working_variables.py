"""The shapes of working variables over HTTP (seed 004)."""

from typing import Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from agentui.chats.working.editing import WorkingSort
from agentui.schemas.forms import BranchId, Form, Id, Line, ListQuery, Patch
from agentui.tools.vars.record import MAX_VALUE, VarType


class WorkingQuery(Form):
    """Of which branch."""

    branch_id: BranchId = Field("main", description="The branch, main if left out.")


class WorkingListQuery(ListQuery):
    """Which variables."""

    branch_id: BranchId = Field("main", description="The branch, main if left out.")
    type: VarType | None = Field(None, description="Only variables of this type.")
    tag: Id | None = Field(None, description="Only variables with this tag.")
    search: Line | None = Field(None, max_length=200, description="Part of a name or a description, in any case.")
    sort_by: WorkingSort = Field("name", description="name, created_at, updated_at or last_visited_at.")
    sort_order: Literal["asc", "desc"] = Field("asc", description="asc or desc.")


class WorkingPartQuery(WorkingQuery):
    """Which part of the value."""

    start: int = Field(0, ge=0, le=MAX_VALUE, description="The first character, counted from 0.")
    length: int | None = Field(None, ge=0, le=MAX_VALUE, description="How many characters; to the end if left out.")


class WorkingForm(Patch):
    """What is to be written of a variable; a new one needs a value. Tags and description are checked where they are kept."""

    value: Any = None
    desc: str | None = None
    tags: list[str] | None = None
    keep: bool | None = None


class WorkingFacts(TypedDict):
    """A working variable without its value. Times are milliseconds since 1970, lengths characters."""

    name: str
    type: VarType
    length: int
    desc: str
    tags: list[str]
    keep: bool
    is_literal: bool
    reference_count: int
    created_at: int
    updated_at: int
    last_visited_at: int


class WorkingPart(WorkingFacts):
    """A working variable with a part of its value, which begins at ``start``."""

    start: int
    value: str
