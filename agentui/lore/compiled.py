"""Bound books in the order in which their entries are gone through, with all their plain keys in one table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from threading import Lock
from typing import Final, TypeAlias

from agentui.assets.lorebook import BoundBook, LoreEntry, LoreScope
from agentui.lore.given import LoreSettings, LoreStrategy
from agentui.lore.keys import Key, KeyReader, KeyRules
from agentui.lore.plain_keys import Needle, NeedleTable

_PRECEDENCE: Final[tuple[LoreScope, ...]] = ("global", "chat", "persona", "character")
"""Which binding of a book counts where it has several."""
MOST_KEPT: Final = 500_000
"""Characters of plain keys whose tables are kept; each takes some three hundred bytes."""


@dataclass(frozen=True, slots=True)
class CompiledEntry:
    """An entry at its place among all. ``name`` tells it from the entries of all books, and is that of its timed effects."""

    index: int
    name: str
    bound: BoundBook
    entry: LoreEntry
    rules: KeyRules
    keys: tuple[Key, ...]
    secondary_keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class CompiledLore:
    """All entries.

    ``tables`` are of the plain keys, and ``needles`` those by their numbers; ``by_needle`` has the entries that have a needle
    as a key, of either kind. ``patterned`` are entries that have a regular expression among them; ``open`` have macros in
    keys. ``left_out`` are expressions that were too many.
    """

    entries: tuple[CompiledEntry, ...]
    tables: tuple[NeedleTable, ...]
    needles: tuple[Needle, ...]
    by_needle: Mapping[int, tuple[int, ...]]
    patterned: frozenset[int]
    open: tuple[int, ...]
    left_out: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """About how much memory it takes, in characters of keys: each of them has a state in a table."""
        return sum(len(needle.text) for needle in self.needles) + len(self.entries)

    def opened(self, expand: Callable[[str], str]) -> "CompiledLore":
        """The same with the macros in keys replaced."""
        if not self.open:
            return self
        reader = KeyReader(len(self.needles))
        entries = list(self.entries)
        for index in self.open:
            one = entries[index]
            keys, secondary = (reader.opened(keys, one.rules, expand) for keys in (one.keys, one.secondary_keys))
            entries[index] = replace(one, keys=keys, secondary_keys=secondary)
        added = tuple(reader.needles)
        return CompiledLore(
            tuple(entries),
            (*self.tables, NeedleTable(added, len(self.needles))),
            self.needles + added,
            _entries_by_needle(entries),
            _patterned(entries),
            (),
            (*self.left_out, *reader.left_out),
        )


_Asked: TypeAlias = tuple[tuple[BoundBook, ...], tuple[str, ...], LoreStrategy, bool, bool]
_KEPT: Final[dict[_Asked, tuple[CompiledLore, int]]] = {}
"""What was compiled with its size, in the order of its last use."""
_LOCK: Final = Lock()


def compile_lore(books: Sequence[BoundBook], settings: LoreSettings) -> CompiledLore:
    """The books' entries for these settings; kept for the next time, of at most MOST_KEPT characters of keys what was used
    last."""
    # Books are equal whatever they are called, and traces tell their names.
    names = tuple(bound.book.name for bound in books)
    asked = tuple(books), names, settings.strategy, settings.is_case_sensitive, settings.is_whole_words
    with _LOCK:
        kept = _KEPT.pop(asked, None)
    if kept is None:
        made = _compiled(asked[0], *asked[2:])
        kept = made, made.size
    with _LOCK:
        _KEPT[asked] = kept
        size = sum(each for _, each in _KEPT.values())
        while size > MOST_KEPT and len(_KEPT) > 1:
            size -= _KEPT.pop(next(iter(_KEPT)))[1]
    return kept[0]


def _compiled(books: tuple[BoundBook, ...], strategy: LoreStrategy, is_cased: bool, is_whole: bool) -> CompiledLore:
    reader = KeyReader()
    entries = [
        _compiled_entry(index, bound, entry, reader, KeyRules(is_cased, is_whole))
        for index, (bound, entry) in enumerate(_in_order(books, strategy))
    ]
    opened = tuple(one.index for one in entries if any(key.is_open for key in chain(one.keys, one.secondary_keys)))
    needles = tuple(reader.needles)
    return CompiledLore(
        tuple(entries),
        (NeedleTable(needles),),
        needles,
        _entries_by_needle(entries),
        _patterned(entries),
        opened,
        tuple(reader.left_out),
    )


def _compiled_entry(index: int, bound: BoundBook, entry: LoreEntry, reader: KeyReader, settings: KeyRules) -> CompiledEntry:
    rules = KeyRules(
        settings.is_cased if entry.is_case_sensitive is None else entry.is_case_sensitive,
        settings.is_whole if entry.is_whole_words is None else entry.is_whole_words,
    )
    keys, secondary = reader.read_all(entry.keys, rules), reader.read_all(entry.secondary_keys, rules)
    return CompiledEntry(index, f"{bound.key}.{entry.uid}", bound, entry, rules, keys, secondary)


def _in_order(books: Sequence[BoundBook], strategy: LoreStrategy) -> list[tuple[BoundBook, LoreEntry]]:
    """All entries, each part by descending order: the chat's, the persona's, then the others as the strategy says."""
    by_scope: dict[LoreScope, list[tuple[BoundBook, LoreEntry]]] = {scope: [] for scope in _PRECEDENCE}
    seen: set[str] = set()
    for scope in _PRECEDENCE:
        for bound in books:
            if bound.scope == scope and bound.key not in seen:
                seen.add(bound.key)
                by_scope[scope] += [(bound, entry) for entry in bound.book.entries]
    in_global, of_character = by_scope["global"], by_scope["character"]
    match strategy:
        case "character_first":
            others = [of_character, in_global]
        case "global_first":
            others = [in_global, of_character]
        case _:
            others = [[*in_global, *of_character]]
    parts = [by_scope["chat"], by_scope["persona"], *others]
    return [pair for part in parts for pair in sorted(part, key=lambda pair: -pair[1].order)]


def _entries_by_needle(entries: Sequence[CompiledEntry]) -> dict[int, tuple[int, ...]]:
    by_needle: dict[int, list[int]] = {}
    for one in entries:
        for key in chain(one.keys, one.secondary_keys):
            if key.needle is not None:
                by_needle.setdefault(key.needle, []).append(one.index)
    return {needle: tuple(indexes) for needle, indexes in by_needle.items()}


def _patterned(entries: Sequence[CompiledEntry]) -> frozenset[int]:
    return frozenset(
        one.index for one in entries if any(key.pattern is not None for key in chain(one.keys, one.secondary_keys))
    )
