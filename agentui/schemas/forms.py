"""What every shape of the memory's API is made of: forms, parts of lists, and answers in ``{"data": ...}``.

Fields that nobody knows are dropped; numbers and words are taken for each other where that is clear.
"""

from dataclasses import dataclass
from typing import Annotated, Generic, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from agentui.chats.conversations import BatchResult
from agentui.chats.listing import Paging
from agentui.jsonio import Json

MAX_INTEGER = 2**31 - 1

T = TypeVar("T")


class Form(BaseModel):
    """A body or a query."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True, frozen=True, defer_build=True)

    @property
    def given(self) -> dict[str, Json]:
        """The fields that the caller named, null ones too."""
        return self.model_dump(exclude_unset=True)


class Patch(Form):
    """What to change of something: at least one field."""

    @model_validator(mode="after")
    def _is_not_empty(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("name at least one field to change")
        return self


def _without_nul(value: str) -> str:
    if "\0" in value:
        raise ValueError("a text may not hold a NUL character")
    return value


def _only_words(value: object) -> object:
    if value not in ("true", "false"):
        raise ValueError("must be true or false")
    return value == "true"


def _all_different(values: list[str]) -> list[str]:
    if len(set(values)) != len(values):
        raise ValueError("the same id stands twice")
    return values


NO_NUL = AfterValidator(_without_nul)
"""Stands behind the limits of a length: those of an annotation that ends with it would be told as limits of a list."""

Line = Annotated[str, NO_NUL]
Id = Annotated[str, Field(min_length=1, max_length=200), NO_NUL]
Ids = Annotated[list[Id], Field(min_length=1, max_length=100), AfterValidator(_all_different)]
BranchId = Annotated[str, Field(min_length=1, max_length=100), NO_NUL]
Count = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
QueryBool = Annotated[bool, BeforeValidator(_only_words, json_schema_input_type=Literal["true", "false"])]


class IdBatch(Form):
    """What a batch is about."""

    ids: Ids


class ListQuery(Form):
    """Which part of a list; each list adds ``sort_by``."""

    limit: int = Field(50, ge=1, le=100, description="Most items in the answer, at most 100.")
    offset: int = Field(0, ge=0, le=10**12, description="How many items to pass over.")
    sort_order: Literal["asc", "desc"] = Field("desc", description="asc or desc.")

    @property
    def paging(self) -> Paging:
        """The part of the list; lists without a choice of ``sort_by`` have their own."""
        return Paging(self.limit, self.offset, getattr(self, "sort_by", ""), self.sort_order)


class LongListQuery(ListQuery):
    """Which part of a list that may give more at once."""

    limit: int = Field(50, ge=1, le=200, description="Most items in the answer, at most 200.")


@dataclass(frozen=True, slots=True)
class Data(Generic[T]):
    """An answer."""

    data: T


@dataclass(frozen=True, slots=True)
class ListMeta:
    """Which part of a list this is."""

    total: int
    limit: int
    offset: int
    has_more: bool
    sort_by: str
    sort_order: Literal["asc", "desc"]


@dataclass(frozen=True, slots=True)
class ListData(Generic[T]):
    """An answer that is a part of a list."""

    data: T
    meta: ListMeta


@dataclass(frozen=True, slots=True)
class Deleted:
    """What is gone."""

    id: str
    deleted: Literal[True] = True


@dataclass(frozen=True, slots=True)
class DeleteMeta:
    """How a batch went."""

    total: int
    deleted: int
    not_found: int
    conflicts: int


@dataclass(frozen=True, slots=True)
class DeleteResults:
    """What became of every item of a batch."""

    results: list[BatchResult]
    meta: DeleteMeta
