"""What vendors keep under a key, by which names requests and answers speak of it. Pure.

    request ─▶ ``named_in_path``, ``named_in_body`` ─▶ ids of things that are there already
    answer  ─▶ ``made_in``, ``listed_in``           ─▶ ids of things that it has made, or lists

The fields are those of the vendors' API references: OpenAI's responses, files, batches, conversations, containers and vector
stores, Anthropic's files, message batches and containers, Google's files and cached contents.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from agentui.jsonio import Json

Kind: TypeAlias = Literal["response", "conversation", "file", "batch", "cached_content", "container", "vector_store"]
"""What a vendor keeps. A kind is one name space of ids at a vendor."""


class Kept(NamedTuple):
    """Something that a vendor keeps, and the field that names it ("id" for a path)."""

    kind: Kind
    id: str
    field: str = "id"


_COLLECTIONS: Final[Mapping[str, Kind]] = {
    "responses": "response",
    "conversations": "conversation",
    "files": "file",
    "batches": "batch",
    "cachedContents": "cached_content",
    "containers": "container",
    "vector_stores": "vector_store",
}
_NO_IDS: Final = frozenset({"input_tokens", "compact"})
"""What stands behind ``/responses/`` and is a route of its own."""
_PATH: Final = re.compile(rf"/({'|'.join(_COLLECTIONS)})(?:/([^/]+))?(?:/|\Z)")

_FIELDS: Final[Mapping[str, Kind]] = {
    "previous_response_id": "response",
    "conversation": "conversation",
    "file_id": "file",
    "file_ids": "file",
    "input_file_id": "file",
    "fileUri": "file",
    "file_uri": "file",
    "container": "container",
    "vector_store_ids": "vector_store",
    "cachedContent": "cached_content",
    "cached_content": "cached_content",
}
_OPAQUE: Final = frozenset(
    {"arguments", "args", "functionCall", "functionResponse", "input_schema", "json_schema", "metadata", "parameters", "schema"}
)
"""What the caller and its model write in words of their own: a tool's argument may be called ``file_id``, too."""
_MARKS: Final = (b"_id", b"conversation", b"container", b"achedContent", b"ached_content", b"ile_uri", b"ileUri", b"\\u")
"""A body without these names nothing; the last is how JSON spells a letter of a name otherwise."""
_GEMINI_FILE: Final = re.compile(r"(?:\A|/)files/([^/:?#]+)")


def named_in_path(url: str) -> Kept | None:
    """What the path of an address names; an ``id`` of "" is all of a kind, None where it names neither."""
    if (found := _PATH.search(urlsplit(url).path)) is None or found[2] in _NO_IDS:
        return None
    return Kept(_COLLECTIONS[found[1]], found[2] or "")


def cursors_of(url: str, kind: Kind) -> list[Kept]:
    """The ids from which a list is to go on."""
    pairs = parse_qsl(urlsplit(url).query)
    return [Kept(kind, value, name) for name, value in pairs if name in ("after", "before", "after_id", "before_id") and value]


def may_name(body: bytes) -> bool:
    """Whether a body may name anything; nearly all of them do not, and are not walked through."""
    return any(mark in body for mark in _MARKS)


def named_in_body(body: Json) -> list[Kept]:
    """What a request's body names, in any dialect, each once. Takes time by the size of the body."""
    found: dict[tuple[Kind, str], Kept] = {}
    for name, value in _members(body):
        if (kind := _FIELDS.get(name)) is None:
            continue
        for id in _ids(name, value):
            found.setdefault((kind, id), Kept(kind, id, name))
    return list(found.values())


def _ids(name: str, value: Json) -> list[str]:
    """The ids in a field's value: one, several, or an object with its ``id``."""
    if isinstance(value, dict):
        value = value.get("id")
    values = value if isinstance(value, list) else [value]
    ids = [each for each in values if isinstance(each, str) and each]
    if name in ("fileUri", "file_uri"):  # other addresses are of pages and films, and not kept by the vendor
        return [match[1] for each in ids if (match := _GEMINI_FILE.search(each))]
    if name in ("cachedContent", "cached_content"):
        return [each.rsplit("/", 1)[-1] for each in ids]
    return ids


def made_in(answer: Json) -> list[Kept]:
    """What an answer, or an event of a stream, says that it has made beside itself: containers, files that a vendor's own tools
    wrote, and what became of a batch. Nothing that only repeats what the caller wrote."""
    found: list[Kept] = []
    for place in _objects(answer):
        kind = place.get("type")
        match place:
            case {"container": {"id": str(id), "expires_at": _}}:  # Anthropic's; of a request there is no time
                found.append(Kept("container", id))
            case {"container_id": str(id)} if kind == "code_interpreter_call":
                found.append(Kept("container", id))
            case {"file_id": str(id)} if isinstance(kind, str) and kind.endswith("code_execution_output"):
                found.append(Kept("file", id))
            case {"object": "batch"}:
                ids = (place.get("output_file_id"), place.get("error_file_id"))
                found += [Kept("file", id) for id in ids if isinstance(id, str)]
    return found


def own_id(kind: Kind, entry: Json) -> str | None:
    """The id of something that is kept, as the vendor shows it; Google writes it behind the name of its collection."""
    if not isinstance(entry, dict):
        return None
    if isinstance(id := entry.get("id"), str):
        return id
    name = entry.get("name")
    return name.rsplit("/", 1)[-1] if isinstance(name, str) and kind in ("file", "cached_content") else None


def response_of(event: Json) -> str | None:
    """The id of the response whose stream an event belongs to, where it tells one."""
    match event:
        case {"response": {"id": str(id)}}:
            return id
    return None


@dataclass(frozen=True, slots=True)
class Page:
    """A list as a vendor answers it: the ids in it, and where it goes on (None: it is over)."""

    body: Mapping[str, Json]
    member: str
    entries: Sequence[Json]
    next: Mapping[str, str] | None

    def with_entries(self, entries: Sequence[Json], *, is_over: bool) -> dict[str, Json]:
        """The same list with other entries. What leads on, where it is not over, is the last of them."""
        body = {**self.body, self.member: list(entries)}
        if "has_more" in body:
            body["has_more"] = not is_over
        for name, place in (("first_id", 0), ("last_id", -1)):
            if name in body:
                body[name] = own_id("file", entries[place]) if entries else None
        if is_over:
            body.pop("nextPageToken", None)
        return body


_LIST_MEMBERS: Final = ("data", "files", "cachedContents")


def listed_in(answer: Json) -> Page | None:
    """A list as it was answered; None for what is none that is understood."""
    if not isinstance(answer, dict):
        return None
    if not answer:  # Google leaves out what is empty
        return Page(answer, "data", (), None)
    member = next((name for name in _LIST_MEMBERS if isinstance(answer.get(name), list)), None)
    if member is None:
        return None
    entries: list[Json] = answer[member]
    token, last = answer.get("nextPageToken"), own_id("file", entries[-1]) if entries else None
    further: Mapping[str, str] | None = None
    if isinstance(token, str) and token:
        further = {"pageToken": token}
    elif answer.get("has_more") is True and last is not None:
        further = {"after_id" if "first_id" in answer and "object" not in answer else "after": last}
    return Page(answer, member, entries, further)


def without(page: Page, kind: Kind, owned: Collection[str]) -> list[Json]:
    """The entries of a page whose ids are among those that are owned."""
    return [entry for entry in page.entries if own_id(kind, entry) in owned]


def _objects(document: Json) -> Iterator[dict[str, Json]]:
    """Every object of a document but what stands in words of the caller's own."""
    left: list[Json] = [document]
    while left:
        place = left.pop()
        if isinstance(place, list):
            left.extend(place)
        elif isinstance(place, dict):
            yield place
            # Claude's calls of tools have their arguments in ``input``, where OpenAI's responses have the conversation.
            left.extend(
                value
                for name, value in place.items()
                if name not in _OPAQUE and isinstance(value, dict | list) and not (name == "input" and isinstance(value, dict))
            )


def _members(document: Json) -> Iterator[tuple[str, Json]]:
    for place in _objects(document):
        yield from place.items()
