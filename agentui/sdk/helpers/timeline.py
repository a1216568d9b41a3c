"""The messages of a timeline, as a chat shows them one below the other."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, TypedDict, TypeGuard

from agentui.sdk.helpers.fields import number, records, text

TimelineRole = Literal["user", "assistant", "narrator", "system"]
TimelineFormat = Literal["text", "markdown", "json"]


class TimelineMessageView(TypedDict):
    """One message and the floor that it stands on. ``at`` is when the floor was made, in milliseconds since 1970."""

    id: str
    role: TimelineRole
    content: str
    content_format: TimelineFormat
    floor_id: str
    floor_no: int
    floor_state: str
    page_id: str
    seq: int
    token_in: int
    token_out: int
    at: int


def build_timeline_messages(floors: Iterable[Mapping[str, object]]) -> list[TimelineMessageView]:
    """The messages of some floors (of ``GET /sessions/{id}/timeline``) in their order: those of the active pages.

    Roles other than user, assistant, narrator and system are left out; a content format that nobody knows is text.
    """
    return [view for floor in floors for page in _shown(floor) for view in _views(floor, page)]


def _shown(floor: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The active pages of a floor; servers that know one of them only say it otherwise."""
    return list(records(floor.get("active_pages"))) or list(records([floor.get("active_page")]))


def _views(floor: Mapping[str, object], page: Mapping[str, object]) -> Iterator[TimelineMessageView]:
    for message in records(page.get("messages")):
        role, form = message.get("role"), message.get("content_format")
        if _is_shown(role):
            yield {
                "id": text(message.get("id")) or "",
                "role": role,
                "content": text(message.get("content")) or "",
                "content_format": form if _is_known(form) else "text",
                "floor_id": text(floor.get("id")) or "",
                "floor_no": number(floor.get("floor_no")) or 0,
                "floor_state": text(floor.get("state")) or "",
                "page_id": text(page.get("id")) or "",
                "seq": number(message.get("seq")) or 0,
                "token_in": number(floor.get("token_in")) or 0,
                "token_out": number(floor.get("token_out")) or 0,
                "at": number(floor.get("created_at")) or 0,
            }


def _is_shown(role: object) -> TypeGuard[TimelineRole]:
    return role in ("user", "assistant", "narrator", "system")


def _is_known(form: object) -> TypeGuard[TimelineFormat]:
    return form in ("text", "markdown", "json")
