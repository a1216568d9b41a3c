"""A chat as it is exchanged: floors with the versions of what was said on them, and variables.

    ChatRecord 1-n ChatFloor 1-n ChatPage 1-n ChatMessage

A floor is a question (a page of kind ``input``) and its answer (pages of kind ``output``, one of them active); one without a
question is a greeting, or somebody who speaks on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, cast, get_args

from agentui.assets.files.limits import FileLimits, InvalidFile
from agentui.assets.files.report import ImportReport
from agentui.assets.values import flag, members, text, whole
from agentui.jsonio import Json, dumps

ChatRole: TypeAlias = Literal["user", "assistant", "system", "narrator"]
PageKind: TypeAlias = Literal["input", "output", "mixed"]
ContentFormat: TypeAlias = Literal["text", "markdown", "json"]

SPEC: Final = "thchat"
VERSION: Final = "1.0"
LATEST: Final = 253_402_300_799_000
"""The end of the year 9999 in milliseconds: no later date is taken."""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """What somebody said; ``said_at`` in milliseconds since 1970, None where nobody knows. ``name`` is the speaker's where the
    chat's own names do not tell. ``beside`` holds the members of its line in SillyTavern's file that nothing here reads, the
    object ``extra`` among them."""

    role: ChatRole
    content: str
    name: str = ""
    is_hidden: bool = False
    said_at: int | None = None
    content_format: ContentFormat = "text"
    beside: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChatPage:
    """One version of the question or the answer of a floor; of those of one ``page_no`` one is active."""

    page_no: int
    kind: PageKind
    messages: tuple[ChatMessage, ...]
    version: int = 1
    is_active: bool = True


@dataclass(frozen=True, slots=True)
class ChatFloor:
    """A round of a chat."""

    pages: tuple[ChatPage, ...]


@dataclass(frozen=True, slots=True)
class ChatRecord:
    """A whole chat. ``variables`` are those of the chat's own tier, ``metadata`` whatever else its file told of it in
    ``chat_metadata``, and ``header`` what stood beside that in its first line."""

    floors: tuple[ChatFloor, ...]
    title: str = ""
    user_name: str = ""
    character_name: str = ""
    variables: Mapping[str, Json] = field(default_factory=dict)
    metadata: Mapping[str, Json] = field(default_factory=dict)
    header: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChatFile:
    """A chat that was read."""

    record: ChatRecord
    report: ImportReport


def write_thchat(record: ChatRecord) -> bytes:
    """A chat as one JSON document: ``{"spec": "thchat", "spec_version", "title", "user_name", "character_name", "metadata",
    "header", "floors": [{"pages": [{"page_no", "page_kind", "version", "is_active", "messages": [...]}]}], "variables"}``."""
    floors = [{"pages": [_page_json(page) for page in floor.pages]} for floor in record.floors]
    return dumps(
        {
            "spec": SPEC,
            "spec_version": VERSION,
            "title": record.title,
            "user_name": record.user_name,
            "character_name": record.character_name,
            "metadata": record.metadata,
            "header": record.header,
            "floors": floors,
            "variables": record.variables,
        }
    )


def _page_json(page: ChatPage) -> dict[str, Json]:
    said = [
        {
            "role": message.role,
            "content": message.content,
            "content_format": message.content_format,
            "name": message.name,
            "is_hidden": message.is_hidden,
            "created_at": message.said_at,
            "beside": message.beside,
        }
        for message in page.messages
    ]
    place = {"page_no": page.page_no, "page_kind": page.kind, "version": page.version, "is_active": page.is_active}
    return {**place, "messages": said}


def read_thchat(document: Json, limits: FileLimits) -> ChatFile:
    """The chat of a document that ``write_thchat`` wrote. Raises InvalidFile that names what is wrong."""
    limits.check(document)
    if not isinstance(document, dict) or document.get("spec") != SPEC:
        raise InvalidFile(f"A chat has the spec {SPEC!r}.", "spec")
    given = document.get("floors")
    if not isinstance(given, list):
        raise InvalidFile("A chat has a list of floors.", "floors")
    floors = tuple(_floor(floor, f"floors[{number}]") for number, floor in enumerate(given))
    record = ChatRecord(
        floors,
        title=text(document.get("title")),
        user_name=text(document.get("user_name")),
        character_name=text(document.get("character_name")),
        variables=members(document.get("variables")),
        metadata=members(document.get("metadata")),
        header=members(document.get("header")),
    )
    limits.check_metadata(record.metadata, "metadata")
    limits.check_metadata(record.header, "header")
    pages = [page for floor in floors for page in floor.pages]
    limits.check_messages(sum(max(len(page.messages), 1) for page in pages))
    return ChatFile(record, told_of(record, ImportReport(SPEC)))


def told_of(record: ChatRecord, report: ImportReport) -> ImportReport:
    """The report with the numbers of what was read."""
    pages = [page for floor in record.floors for page in floor.pages]
    report.read |= {
        "floors": len(record.floors),
        "pages": len(pages),
        "messages": sum(len(page.messages) for page in pages),
        "variables": len(record.variables),
    }
    return report


def _floor(floor: Json, where: str) -> ChatFloor:
    """A floor, of which each page_no has its versions once and one active one."""
    given = members(floor).get("pages")
    if not isinstance(given, list) or not given:
        raise InvalidFile("A floor has a list of pages.", f"{where}.pages")
    pages = tuple(_page(page, f"{where}.pages[{number}]") for number, page in enumerate(given))
    if len({(page.page_no, page.version) for page in pages}) < len(pages):
        raise InvalidFile("Two pages have the same page_no and version.", f"{where}.pages")
    active = [page.page_no for page in pages if page.is_active]
    if sorted(active) != sorted({page.page_no for page in pages}):
        raise InvalidFile("Of the pages of one page_no just one is active.", f"{where}.pages")
    return ChatFloor(pages)


def _page(page: Json, where: str) -> ChatPage:
    given = members(page)
    said = given.get("messages")
    if not isinstance(said, list):
        raise InvalidFile("A page has a list of messages.", f"{where}.messages")
    kind = given.get("page_kind")
    if kind not in get_args(PageKind):
        raise InvalidFile(f"This is one of {', '.join(get_args(PageKind))}.", f"{where}.page_kind")
    page_no, version = whole(given.get("page_no"), -1), whole(given.get("version"), 1)
    if not 0 <= page_no < 2**31 or not 1 <= version < 2**31:
        raise InvalidFile("A page has a page_no from 0 and a version from 1.", where)
    messages = tuple(_message(message, f"{where}.messages[{number}]") for number, message in enumerate(said))
    return ChatPage(page_no, cast(PageKind, kind), messages, version, flag(given.get("is_active"), True))


def _message(message: Json, where: str) -> ChatMessage:
    given = members(message)
    role, content, form = given.get("role"), given.get("content"), given.get("content_format", "text")
    if role not in get_args(ChatRole):
        raise InvalidFile(f"This is one of {', '.join(get_args(ChatRole))}.", f"{where}.role")
    if not isinstance(content, str) or not content:
        raise InvalidFile("A message has a text.", f"{where}.content")
    if form not in get_args(ContentFormat):
        raise InvalidFile(f"This is one of {', '.join(get_args(ContentFormat))}.", f"{where}.content_format")
    said_at = whole(given.get("created_at"), -1)
    return ChatMessage(
        cast(ChatRole, role),
        content,
        text(given.get("name")),
        flag(given.get("is_hidden")),
        said_at if 0 <= said_at <= LATEST else None,
        cast(ContentFormat, form),
        members(given.get("beside")),
    )
