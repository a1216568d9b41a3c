"""The formats that a chat comes in and goes out in, and what its file is called."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from agentui.assets.files.chat_lines import read_lines, write_lines
from agentui.assets.files.chats import MAIN, SPEC, ChatFile, ChatRecord, read_thchat, write_thchat
from agentui.assets.files.limits import FileLimits
from agentui.assets.values import members
from agentui.jsonio import InvalidJson, loads

ChatFormat: TypeAlias = Literal["thchat", "st_jsonl"]


@dataclass(frozen=True, slots=True)
class Media:
    """What a file of a format ends with, and its media type."""

    ending: str
    content_type: str


MEDIA: Final[dict[ChatFormat, Media]] = {
    "thchat": Media("thchat", "application/json"),
    "st_jsonl": Media("jsonl", "application/jsonl"),
}


def read_chat(data: bytes, limits: FileLimits) -> ChatFile:
    """The chat of a file, whose format is told from what is in it. Raises InvalidFile."""
    limits.check_size(data)
    limits.check_values(data)
    try:
        document = loads(data.removeprefix(b"\xef\xbb\xbf"))
    except InvalidJson:
        return read_lines(data, limits)
    return read_thchat(document, limits) if members(document).get("spec") == SPEC else read_lines(data, limits)


def write_chat(record: ChatRecord, format: ChatFormat) -> bytes:
    """A chat as a file."""
    return write_lines(record) if format == "st_jsonl" else write_thchat(record)


def write_and_drop(record: list[ChatRecord], format: ChatFormat) -> tuple[bytes, str]:
    """A chat as a file, and what it is called. The chat is taken out of the list, so that this thread ends it, and not the one
    that waits: that has to free every object of a long chat at once."""
    chat = record.pop()
    return write_chat(chat, format), name_of_chat(chat)


def branch_to_write(branch_id: str | None, format: ChatFormat) -> str | None:
    """The branch that a file holds alone; None for all of them, which SillyTavern's lines have no place for."""
    return MAIN if branch_id is None and format == "st_jsonl" else branch_id


def name_of_chat(record: ChatRecord) -> str:
    """What a chat's file is called, without its ending."""
    return record.title or record.character_name or "chat"
