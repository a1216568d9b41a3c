"""The entries of a worldbook. An entry's id is its name among the book's ``entries``, which no other version changes.

The functions that change a content take it as it was parsed, and change it in place.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agentui.assets.lorebook import DEFAULT_DEPTH, DEFAULT_ORDER
from agentui.assets.values import flag, number, text, texts, whole
from agentui.chats.listing import Listed, Paging
from agentui.jsonio import Json, dumps_text
from agentui.library.content import Content
from agentui.library.entries import check_length, part_missing
from agentui.library.records import Asset
from agentui.store.paging import MAX_PART_BYTES

_NAMES: Final[Mapping[str, str]] = {
    "keys": "key",
    "keys_secondary": "keysecondary",
    "content": "content",
    "comment": "comment",
    "selective": "selective",
    "selective_logic": "selectiveLogic",
    "constant": "constant",
    "position": "position",
    "order": "order",
    "depth": "depth",
    "role": "role",
    "disable": "disable",
    "scan_depth": "scanDepth",
    "case_sensitive": "caseSensitive",
    "match_whole_words": "matchWholeWords",
    "exclude_recursion": "excludeRecursion",
    "prevent_recursion": "preventRecursion",
    "delay_until_recursion": "delayUntilRecursion",
    "outlet_name": "outletName",
}
"""Fields of an entry with the members of SillyTavern's that hold them."""
MEMBERS: Final = frozenset({"uid", *_NAMES.values()})
"""Members of SillyTavern's entry that are fields here; whatever else it has is ``extra``."""
_NEW: Final[Mapping[str, Json]] = {
    "keysecondary": [],
    "comment": "",
    "constant": False,
    "selective": True,
    "selectiveLogic": 0,
    "position": 0,
    "order": DEFAULT_ORDER,
    "depth": DEFAULT_DEPTH,
    "role": 0,
    "disable": False,
    "scanDepth": None,
    "caseSensitive": None,
    "matchWholeWords": None,
    "excludeRecursion": False,
    "preventRecursion": False,
    "delayUntilRecursion": False,
    "outletName": "",
}
"""What an entry is made with, beside its keys and its content."""
_MOST: Final = 10**9
"""Numbers from here on are names for JavaScript, and no uid is counted on from them."""


@dataclass(frozen=True, slots=True)
class WorldbookEntry:
    """One entry. Positions, logics and roles are SillyTavern's numbers. The times are those of its book: an entry has none of
    its own."""

    id: str
    worldbook_id: str
    uid: Json
    comment: str
    content: str
    keys: Sequence[str]
    keys_secondary: Sequence[str]
    selective: bool
    selective_logic: int
    constant: bool
    position: int
    order: int
    depth: int
    role: int
    disable: bool
    scan_depth: int | None
    case_sensitive: bool | None
    match_whole_words: bool | None
    exclude_recursion: bool
    prevent_recursion: bool
    delay_until_recursion: int | None
    outlet_name: str
    extra: Mapping[str, Json]
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Which entries: all of these that are not None. ``words`` are a part of a key, the comment or the content, in any
    case."""

    disable: bool | None = None
    constant: bool | None = None
    position: int | None = None
    words: str | None = None


def list_entries(content: Content, book: Asset, paging: Paging, wanted: EntryFilter) -> Listed[WorldbookEntry]:
    """A part of the entries, sorted by ``order``, ``uid`` or ``updated_at`` and then by uid; it ends where they are too large
    together."""
    named = [(id, entry) for id, entry in _entries(content).items() if _is_wanted(entry, wanted)]
    named.sort(key=lambda pair: _sorting(pair[0], pair[1], paging.sort_by), reverse=paging.sort_order == "desc")
    found: list[WorldbookEntry] = []
    left = MAX_PART_BYTES
    for id, entry in named[paging.offset : paging.offset + paging.limit]:
        left -= len(dumps_text(entry))
        if left < 0 and found:
            break
        found.append(_shown(id, entry, book))
    return Listed(found, len(named))


def find_entry(content: Content, book: Asset, id: str) -> WorldbookEntry:
    """One entry. Raises 404."""
    entry = _entries(content).get(id)
    if entry is None:
        raise part_missing("worldbook", id)
    return _shown(id, entry, book)


def show_entries(book: Asset, entries: Sequence[tuple[str, Content | None]]) -> list[WorldbookEntry | None]:
    """Entries that were changed, of the book as it is then; None for those that are not there."""
    return [None if entry is None else _shown(id, entry, book) for id, entry in entries]


def create_entry(content: Content, fields: Mapping[str, Json]) -> list[tuple[str, Content | None]]:
    """Add an entry with the next free uid."""
    entries = content.setdefault("entries", {})
    numbers = (number(value, None) for id, entry in entries.items() for value in (id, entry.get("uid")))
    uid = max((int(each) for each in numbers if each is not None and 0 <= each < _MOST), default=-1) + 1
    while str(uid) in entries:
        uid += 1
    entries[str(uid)] = {"uid": uid, **_NEW, "displayIndex": len(entries)}
    return change_entries(content, {str(uid): fields})


def change_entry(content: Content, id: str, fields: Mapping[str, Json]) -> list[tuple[str, Content | None]]:
    """Change fields of an entry. Raises 404 and 413."""
    changed = change_entries(content, {id: fields})
    if changed[0][1] is None:
        raise part_missing("worldbook", id)
    return changed


def change_entries(content: Content, fields: Mapping[str, Mapping[str, Json]]) -> list[tuple[str, Content | None]]:
    """Change several entries, by their ids; None for those that are not there. ``extra`` takes the place of all that is extra.
    Raises 413."""
    entries = _entries(content)
    found = {id: given for id, given in fields.items() if id in entries}
    check_length("worldbook", sum(len(dumps_text(dict(given))) for given in found.values()))
    for id, given in found.items():
        _write(entries[id], given)
    return [(id, entries.get(id)) for id in fields]


def delete_entry(content: Content, id: str) -> None:
    """Remove an entry. Raises 404."""
    if not delete_entries(content, [id])[0]:
        raise part_missing("worldbook", id)


def delete_entries(content: Content, ids: Sequence[str]) -> list[bool]:
    """Remove entries; False for those that are not there."""
    entries = _entries(content)
    return [entries.pop(id, None) is not None for id in ids]


def _entries(content: Content) -> dict[str, Content]:
    found: dict[str, Content] = content.get("entries", {})
    return found


def _write(entry: Content, fields: Mapping[str, Json]) -> None:
    for name, value in fields.items():
        if name == "extra":
            for other in [other for other in entry if other not in MEMBERS]:
                del entry[other]
            entry.update(value)
        else:
            entry[_NAMES[name]] = False if name == "delay_until_recursion" and value is None else value


def _shown(id: str, entry: Content, book: Asset) -> WorldbookEntry:
    scan_depth = number(entry.get("scanDepth"), None)
    delay = entry.get("delayUntilRecursion")
    level = 1 if delay is True else whole(delay, 0)
    return WorldbookEntry(
        id=id,
        worldbook_id=book.id,
        uid=_uid(id, entry),
        comment=text(entry.get("comment")),
        content=text(entry.get("content")),
        keys=texts(entry.get("key")),
        keys_secondary=texts(entry.get("keysecondary")),
        selective=flag(entry.get("selective"), True),
        selective_logic=whole(entry.get("selectiveLogic"), 0),
        constant=flag(entry.get("constant")),
        position=whole(entry.get("position"), 0),
        order=_order(entry),
        depth=whole(entry.get("depth"), DEFAULT_DEPTH),
        role=whole(entry.get("role"), 0),
        disable=flag(entry.get("disable")),
        scan_depth=None if scan_depth is None else int(scan_depth),
        case_sensitive=_switch(entry.get("caseSensitive")),
        match_whole_words=_switch(entry.get("matchWholeWords")),
        exclude_recursion=flag(entry.get("excludeRecursion")),
        prevent_recursion=flag(entry.get("preventRecursion")),
        delay_until_recursion=level if level > 0 else None,
        outlet_name=text(entry.get("outletName")),
        extra={name: value for name, value in entry.items() if name not in MEMBERS},
        created_at=book.created_at,
        updated_at=book.updated_at,
    )


def _uid(id: str, entry: Content) -> Json:
    """The number of an entry, or its id where it has none."""
    return next((int(each) for value in (entry.get("uid"), id) if (each := number(value, None)) is not None), id)


def _order(entry: Content) -> int:
    return whole(entry.get("order"), DEFAULT_ORDER)


def _switch(value: Json) -> bool | None:
    return None if value is None or value == "" else flag(value)


def _sorting(id: str, entry: Content, by: str) -> tuple[int, bool, float, str]:
    """By the order where it is asked for; then numbers before words, and those by what they are."""
    uid = _uid(id, entry)
    is_word = isinstance(uid, str)
    return (_order(entry) if by == "order" else 0, is_word, 0 if is_word else uid, id)


def _is_wanted(entry: Content, wanted: EntryFilter) -> bool:
    if wanted.disable is not None and flag(entry.get("disable")) != wanted.disable:
        return False
    if wanted.constant is not None and flag(entry.get("constant")) != wanted.constant:
        return False
    if wanted.position is not None and whole(entry.get("position"), 0) != wanted.position:
        return False
    return wanted.words is None or any(wanted.words.casefold() in said.casefold() for said in _said(entry))


def _said(entry: Content) -> Iterator[str]:
    yield from texts(entry.get("key"))
    yield from texts(entry.get("keysecondary"))
    yield text(entry.get("comment"))
    yield text(entry.get("content"))
