"""The shapes of tags over HTTP."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field, JsonValue

from agentui.chats.listing import Paging
from agentui.jsonio import Json, dumps
from agentui.library.tags import TargetType
from agentui.schemas.forms import NO_NUL, Form, Id, LongListQuery

MAX_METADATA: Final = 16 * 1024
"""Bytes of a tag's metadata as JSON."""


def _fits(value: Json) -> Json:
    if value is not None and len(dumps(value)) > MAX_METADATA:
        raise ValueError(f"metadata may have {MAX_METADATA} bytes as JSON")
    return value


class NewTag(Form):
    """A name for a turn or a version of an asset."""

    name: Annotated[str, Field(min_length=1, max_length=120), NO_NUL]
    target_type: TargetType
    target_id: Id
    session_id: Id | None = None
    metadata: Annotated[JsonValue, AfterValidator(_fits)] = None


class TagQuery(LongListQuery):
    """Which tags."""

    target_type: TargetType | None = Field(None, description="floor or asset_version: only those of such.")
    target_id: Id | None = Field(None, description="Only those of this floor or version.")
    session_id: Id | None = Field(None, description="Only those given in this session.")

    @property
    def paging(self) -> Paging:
        """The part of the list, by the time when tags were given."""
        return Paging(self.limit, self.offset, "created_at", self.sort_order)
