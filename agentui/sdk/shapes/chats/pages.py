"""What the server speaks of: chats, pages."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class NewPageForm(TypedDict):
    """A page to be made; the first version of a page number is the active one."""

    floor_id: str
    page_no: int
    page_kind: Literal["input", "output", "mixed"]
    version: NotRequired[int]
    checksum: NotRequired[str | None]


class Page(TypedDict):
    """One version of one page of a floor; of each page number at most one version is active."""

    id: str
    floor_id: str
    page_no: int
    page_kind: Literal["input", "output", "mixed"]
    is_active: bool
    is_partial: bool
    version: int
    checksum: str | None
    created_at: int
    updated_at: int


class PagePatch(TypedDict):
    """What to change of a page; at least one field."""

    page_no: NotRequired[int]
    page_kind: NotRequired[Literal["input", "output", "mixed"]]
    version: NotRequired[int]
    checksum: NotRequired[str | None]
