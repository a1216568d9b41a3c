"""What the server speaks of: memories, common."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class GivenSource(TypedDict):
    """A page that an item was made of, and the words of it that say so."""

    page_id: str
    quote: NotRequired[str | None]


class QueuedJob(TypedDict):
    """What a request for a job came to; ``created`` is false where the job was there already."""

    job_id: str
    created: bool
    scope: Literal["global", "chat", "branch", "floor"]
    scope_id: str


class Source(TypedDict):
    """A page that something was made of, with its floor, and the words of it that say so."""

    page_id: str
    floor_id: str
    quote: NotRequired[str | None]
