"""A chat as it is exchanged: floors with the versions of what was said on them, and variables.

    ChatRecord 1-n ChatFloor 1-n ChatPage 1-n ChatMessage
    ChatRecord 1-n ChatBranch 1-n ChatFloor

A floor is a question (a page of kind ``input``) and its answer (pages of kind ``output``, one of them active); one without a
question is a greeting, or somebody who speaks on.
"""

from collections.abc import Iterable, Mapping
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
MAIN: Final = "main"
"""The branch that a chat's own floors are."""
MAX_BRANCHES: Final = 1000
_MAX_BRANCH: Final = 100
"""The characters of a branch's name."""
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
class ChatBranch:
    """Another line of a chat: the first ``shared`` floors of its source (the chat itself, ``main``, or a branch that stands
    before it), and then its own ``floors``."""

    branch_id: str
    source_branch_id: str
    shared: int
    floors: tuple[ChatFloor, ...]


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
    branches: tuple[ChatBranch, ...] = ()

    def all_floors(self) -> tuple[ChatFloor, ...]:
        """The floors of all branches, each once."""
        return (*self.floors, *(floor for branch in self.branches for floor in branch.floors))


@dataclass(frozen=True, slots=True)
class ChatFile:
    """A chat that was read."""

    record: ChatRecord
    report: ImportReport


def write_thchat(record: ChatRecord) -> bytes:
    """A chat as one JSON document: ``{"spec": "thchat", "spec_version", "title", "user_name", "character_name", "metadata",
    "header", "floors": [{"pages": [{"page_no", "page_kind", "version", "is_active", "messages": [...]}]}], "branches":
    [{"branch_id", "source_branch_id", "shared_floor_count", "floors"}], "variables"}``."""
    branches = [
        _object(
            {
                "branch_id": dumps(branch.branch_id),
                "source_branch_id": dumps(branch.source_branch_id),
                "shared_floor_count": dumps(branch.shared),
                "floors": _floors_json(branch.floors),
            }
        )
        for branch in record.branches
    ]
    return _object(
        {
            "spec": dumps(SPEC),
            "spec_version": dumps(VERSION),
            "title": dumps(record.title),
            "user_name": dumps(record.user_name),
            "character_name": dumps(record.character_name),
            "metadata": dumps(record.metadata),
            "header": dumps(record.header),
            "floors": _floors_json(record.floors),
            "branches": _array(branches),
            "variables": dumps(record.variables),
        }
    )


def _object(written: Mapping[str, bytes]) -> bytes:
    return b"{" + b",".join(dumps(name) + b":" + value for name, value in written.items()) + b"}"


def _array(written: Iterable[bytes]) -> bytes:
    return b"[" + b",".join(written) + b"]"


def _floors_json(floors: Iterable[ChatFloor]) -> bytes:
    """Floor by floor: the writer of JSON lets no other thread run before it has written all that it was given."""
    return _array(dumps(_floor_json(floor)) for floor in floors)


def _floor_json(floor: ChatFloor) -> dict[str, Json]:
    return {"pages": [_page_json(page) for page in floor.pages]}


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
    floors = _floors(document.get("floors"), "floors")
    record = ChatRecord(
        floors,
        title=text(document.get("title")),
        user_name=text(document.get("user_name")),
        character_name=text(document.get("character_name")),
        variables=members(document.get("variables")),
        metadata=members(document.get("metadata")),
        header=members(document.get("header")),
        branches=_branches(document.get("branches", []), len(floors)),
    )
    limits.check_metadata(record.metadata, "metadata")
    limits.check_metadata(record.header, "header")
    pages = [page for floor in record.all_floors() for page in floor.pages]
    limits.check_messages(sum(max(len(page.messages), 1) for page in pages))
    return ChatFile(record, told_of(record, ImportReport(SPEC)))


def told_of(record: ChatRecord, report: ImportReport) -> ImportReport:
    """The report with the numbers of what was read."""
    floors = record.all_floors()
    pages = [page for floor in floors for page in floor.pages]
    report.read |= {
        "floors": len(floors),
        "pages": len(pages),
        "messages": sum(len(page.messages) for page in pages),
        "variables": len(record.variables),
    }
    if swipes := sum(page.version > 1 for page in pages):
        report.read["swipes"] = swipes
    return report


def _floors(given: Json, where: str) -> tuple[ChatFloor, ...]:
    if not isinstance(given, list):
        raise InvalidFile("A chat and each of its branches have a list of floors.", where)
    return tuple(_floor(floor, f"{where}[{number}]") for number, floor in enumerate(given))


def _branches(given: Json, main: int) -> tuple[ChatBranch, ...]:
    """The branches beside main, which has so many floors."""
    if not isinstance(given, list) or len(given) > MAX_BRANCHES:
        raise InvalidFile(f"A chat has a list of at most {MAX_BRANCHES} branches.", "branches")
    lengths = {MAIN: main}
    found = []
    for number, branch in enumerate(given):
        made = _branch(members(branch), lengths, f"branches[{number}]")
        lengths[made.branch_id] = made.shared + len(made.floors)
        found.append(made)
    return tuple(found)


def _branch(given: Mapping[str, Json], lengths: Mapping[str, int], where: str) -> ChatBranch:
    """A branch; ``lengths`` are those of the branches before it."""
    id, source = given.get("branch_id"), given.get("source_branch_id")
    if not isinstance(id, str) or not 0 < len(id) <= _MAX_BRANCH or "\0" in id or id in lengths:
        message = f"A branch has a name of its own, of 1 to {_MAX_BRANCH} characters without NUL."
        raise InvalidFile(message, f"{where}.branch_id")
    if not isinstance(source, str) or source not in lengths:
        raise InvalidFile("This is main, or a branch that stands before this one.", f"{where}.source_branch_id")
    shared = whole(given.get("shared_floor_count"), -1)
    if not 0 <= shared <= lengths[source]:
        raise InvalidFile(f"This is a number from 0 to {lengths[source]}.", f"{where}.shared_floor_count")
    return ChatBranch(id, source, shared, _floors(given.get("floors"), f"{where}.floors"))


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
