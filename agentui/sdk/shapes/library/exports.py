"""What the server speaks of: library, exports."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class ChatExportForm(TypedDict):
    """How a chat is written."""

    format: NotRequired[Literal["thchat", "st_jsonl"]]
    """thchat (JSON) or st_jsonl (SillyTavern's lines)."""
    branch_id: NotRequired[str | None]
    """The branch that is written alone; else all of them, and in SillyTavern's lines main."""
    include_variables: NotRequired[bool]
    """Whether the variables of the chat's own tier go out too."""
