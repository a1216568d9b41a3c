"""What is asked of who saves, renames or removes a document: to say what it replaces (RFC 9110, 13.1)."""

from collections.abc import Mapping
from typing import Protocol

from agentui.errors import BadRequest, PreconditionFailed, PreconditionRequired
from agentui.jsonio import Json


class Kept(Protocol):
    """A document as it is kept, in a file or in a row."""

    @property
    def id(self) -> str:
        """What it is called."""

    @property
    def etag(self) -> str:
        """Its version, as HTTP quotes it."""

    @property
    def document(self) -> Mapping[str, Json] | None:
        """What stands in it."""


def check_condition(noun: str, kept: Kept | None, if_match: str | None, if_none_match: str | None) -> None:
    """Hold ``If-Match`` and ``If-None-Match`` against what is kept, None where nothing is. ``noun`` is what people call it.

    Raises PreconditionRequired for neither header, PreconditionFailed with what is kept where it is not what was meant,
    BadRequest for an ``If-None-Match`` other than ``*``.
    """
    if if_none_match is not None:
        if if_none_match.strip() != "*":
            raise BadRequest("If-None-Match can only be * here: create, but replace nothing.")
        if kept is not None:
            raise _failed(f"The {noun} {kept.id!r} exists already.", kept)
        return
    if if_match is None:
        raise PreconditionRequired("Say what you replace: If-Match with the ETag you read, If-None-Match: * for something new.")
    if if_match.strip() == "*":
        return
    if kept is None:
        raise _failed(f"This {noun} was removed in the meantime.", None)
    if kept.etag not in [tag.strip().removeprefix("W/") for tag in if_match.split(",")]:
        raise _failed(f"The {noun} {kept.id!r} was changed in the meantime.", kept)


def _failed(message: str, kept: Kept | None) -> PreconditionFailed:
    if kept is None:
        return PreconditionFailed(message, current=None, etag=None)
    return PreconditionFailed(message, current=kept.document, etag=kept.etag)
