"""A lorebook: texts that join a prompt when something in the chat calls for them.

Content is SillyTavern's world info, ``{"name", "entries": {"<uid>": {...}}}``, with all its members and its numbers. Entries as
a list are read as well, and so are defaults for all entries beside them (``scanDepth``, ``caseSensitive``, ``matchWholeWords``)
and ``recursive`` and ``maxRecursionSteps``.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain
from typing import Final, Literal, Self, TypeAlias, TypeVar

from agentui.assets.values import Role, flag, members, number, role, text, texts, whole
from agentui.jsonio import Json, dumps

LorePosition: TypeAlias = Literal[
    "before", "after", "note_top", "note_bottom", "at_depth", "examples_top", "examples_bottom", "outlet"
]
LoreLogic: TypeAlias = Literal["and_any", "not_all", "not_any", "and_all"]
LoreSource: TypeAlias = Literal[
    "persona_description",
    "character_description",
    "character_personality",
    "character_depth_prompt",
    "scenario",
    "creator_notes",
]
"""Texts beside the chat that an entry may be looked for in."""

LoreScope: TypeAlias = Literal["chat", "persona", "character", "global"]
"""What a book is bound to."""

DEFAULT_DEPTH: Final = 4
"""Messages from the end of the chat at which an entry stands that names no depth."""
DEFAULT_ORDER: Final = 100
DEFAULT_WEIGHT: Final = 100
_POSITIONS: Final[tuple[LorePosition, ...]] = (
    "before",
    "after",
    "note_top",
    "note_bottom",
    "at_depth",
    "examples_top",
    "examples_bottom",
    "outlet",
)
"""At SillyTavern's numbers, as the logics are."""
_LOGICS: Final[tuple[LoreLogic, ...]] = ("and_any", "not_all", "not_any", "and_all")
_SOURCES: Final[tuple[tuple[str, LoreSource], ...]] = (
    ("matchPersonaDescription", "persona_description"),
    ("matchCharacterDescription", "character_description"),
    ("matchCharacterPersonality", "character_personality"),
    ("matchCharacterDepthPrompt", "character_depth_prompt"),
    ("matchScenario", "scenario"),
    ("matchCreatorNotes", "creator_notes"),
)
"""By the member that switches them on, in the order in which they are looked through."""
_DECORATORS: Final = ("@@activate", "@@dont_activate")

_Name = TypeVar("_Name", bound=str)


@dataclass(frozen=True, slots=True)
class CharacterFilter:
    """The characters that an entry is for, or, where ``is_exclude``, is not for: by name and by tag."""

    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    is_exclude: bool = False


@dataclass(frozen=True, slots=True)
class LoreEntry:
    """One entry, read.

    ``content`` is without its decorators. ``scan_depth`` (in messages), ``is_case_sensitive``, ``is_whole_words`` and
    ``is_group_scored`` are None where the settings decide. ``recursion_delay`` is the level of recursion that it waits for, 0
    for none. ``sticky``, ``cooldown`` and ``delay`` count messages, 0 is none. ``probability`` is in percent, None where
    nothing is rolled. ``digest`` changes with anything in the entry.
    """

    uid: int | str = 0
    comment: str = ""
    content: str = ""
    decorators: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    secondary_keys: tuple[str, ...] = ()
    logic: LoreLogic = "and_any"
    is_constant: bool = False
    is_disabled: bool = False
    order: float = DEFAULT_ORDER
    position: LorePosition = "before"
    depth: int = DEFAULT_DEPTH
    role: Role = "system"
    outlet: str = ""
    scan_depth: int | None = None
    is_case_sensitive: bool | None = None
    is_whole_words: bool | None = None
    sources: tuple[LoreSource, ...] = ()
    is_excluded_from_recursion: bool = False
    is_preventing_recursion: bool = False
    recursion_delay: float = 0
    probability: float | None = None
    groups: tuple[str, ...] = ()
    group: str = ""
    is_group_override: bool = False
    group_weight: float = DEFAULT_WEIGHT
    is_group_scored: bool | None = None
    is_ignoring_budget: bool = False
    sticky: int = 0
    cooldown: int = 0
    delay: int = 0
    characters: CharacterFilter = CharacterFilter()
    triggers: tuple[str, ...] = ()
    automation_id: str = ""
    digest: str = ""

    @classmethod
    def of(cls, content: Mapping[str, Json], uid: int | str, book: Mapping[str, Json]) -> Self:
        """The entry that a member of ``entries`` tells of; ``uid`` is its name there, ``book`` holds the defaults."""
        decorators, said = _decorated(text(content.get("content")))
        group = text(content.get("group"))
        return cls(
            uid=_uid(content.get("uid"), uid),
            comment=text(content.get("comment")),
            content=said,
            decorators=decorators,
            keys=texts(content.get("key")),
            secondary_keys=texts(content.get("keysecondary")) if flag(content.get("selective"), True) else (),
            logic=_one_of(_LOGICS, content.get("selectiveLogic")),
            is_constant=flag(content.get("constant")),
            is_disabled=flag(content.get("disable")),
            order=_number(content.get("order"), DEFAULT_ORDER),
            position=_one_of(_POSITIONS, content.get("position")),
            depth=max(whole(content.get("depth"), DEFAULT_DEPTH), 0),
            role=role(content.get("role")),
            outlet=text(content.get("outletName")).strip(),
            scan_depth=_scan_depth(content.get("scanDepth"), book.get("scanDepth")),
            is_case_sensitive=_switch(content.get("caseSensitive"), book.get("caseSensitive")),
            is_whole_words=_switch(content.get("matchWholeWords"), book.get("matchWholeWords")),
            sources=tuple(source for member, source in _SOURCES if flag(content.get(member))),
            is_excluded_from_recursion=flag(content.get("excludeRecursion")),
            is_preventing_recursion=flag(content.get("preventRecursion")),
            recursion_delay=_recursion_delay(content.get("delayUntilRecursion")),
            probability=_probability(content),
            groups=tuple(name for name in (part.strip() for part in group.split(",")) if name),
            group=group,
            is_group_override=flag(content.get("groupOverride")),
            group_weight=max(_number(content.get("groupWeight"), DEFAULT_WEIGHT), 0),
            is_group_scored=_switch(content.get("useGroupScoring")),
            is_ignoring_budget=flag(content.get("ignoreBudget")),
            sticky=max(whole(content.get("sticky"), 0), 0),
            cooldown=max(whole(content.get("cooldown"), 0), 0),
            delay=max(whole(content.get("delay"), 0), 0),
            characters=_characters(members(content.get("characterFilter"))),
            triggers=texts(content.get("triggers")),
            automation_id=text(content.get("automationId")),
            digest=_digest(content),
        )


@dataclass(frozen=True, slots=True)
class Lorebook:
    """A lorebook, read. Entries stand in the order in which SillyTavern goes through them: by uid where it is a whole number,
    then the others as they came. Two books are equal when their ``digest`` is, which is of all their content.

    ``is_recursive`` and ``max_recursion_steps`` are None where the settings decide.
    """

    name: str = field(default="", compare=False)
    entries: tuple[LoreEntry, ...] = field(default=(), compare=False, repr=False)
    is_recursive: bool | None = field(default=None, compare=False)
    max_recursion_steps: int | None = field(default=None, compare=False)
    digest: str = ""

    @classmethod
    def of(cls, content: Mapping[str, Json]) -> Self:
        """The book that the content tells of. What is no entry is left out."""
        steps = number(content.get("maxRecursionSteps"), None)
        return cls(
            name=text(content.get("name")),
            entries=tuple(LoreEntry.of(entry, uid, content) for uid, entry in _numbered(content.get("entries"))),
            is_recursive=_switch(content.get("recursive")),
            max_recursion_steps=None if steps is None else max(int(steps), 0),
            digest=_digest(content),
        )


@dataclass(frozen=True, slots=True)
class BoundBook:
    """A book, and what it is bound to. ``id`` and ``version`` are its asset's; None and 1 for one that is no asset, such as a
    card's own."""

    book: Lorebook
    scope: LoreScope = "global"
    id: str | None = None
    version: int = 1

    @property
    def key(self) -> str:
        """What tells it from other books: two bindings of one book are one."""
        return self.id or self.book.name or self.book.digest


def _numbered(entries: Json) -> Iterator[tuple[int | str, Mapping[str, Json]]]:
    """The entries with their names, in the order of an object's members in JavaScript: whole numbers first and ascending."""
    if isinstance(entries, list | tuple):
        yield from ((uid, entry) for uid, entry in enumerate(entries) if isinstance(entry, Mapping))
        return
    named = [(name, entry) for name, entry in members(entries).items() if isinstance(entry, Mapping)]
    yield from sorted(((int(name), entry) for name, entry in named if _is_number(name)), key=lambda pair: pair[0])
    yield from ((name, entry) for name, entry in named if not _is_number(name))


def _is_number(name: str) -> bool:
    """True for a name that JavaScript takes for a whole number and puts before others."""
    return name.isascii() and name.isdigit() and len(name) < 10 and (name == "0" or not name.startswith("0"))


def _uid(value: Json, name: int | str) -> int | str:
    """The entry's own uid, or its name in the book."""
    if isinstance(value, str) and value and not _is_number(value):
        return value
    found = number(value, None)
    return name if found is None else int(found)


def _decorated(content: str) -> tuple[tuple[str, ...], str]:
    """The decorators at the front of a text that count, and the text without such lines.

    A line that begins with three signs is the second choice for an unknown one before it.
    """
    lines = content.split("\n")
    count = next((at for at, line in enumerate(lines) if not line.startswith("@@")), len(lines))
    known, is_second_choice = [], False
    for line in lines[:count]:
        if line.startswith("@@@") and not is_second_choice:
            continue
        decorator = line[1:] if line.startswith("@@@") else line
        is_second_choice = not decorator.startswith(_DECORATORS)
        if not is_second_choice:
            known.append(decorator)
    return tuple(known), "\n".join(lines[count:])


def _characters(content: Mapping[str, Json]) -> CharacterFilter:
    """The filter by characters; one that names nobody lets everybody through."""
    return CharacterFilter(texts(content.get("names")), texts(content.get("tags")), flag(content.get("isExclude")))


def _one_of(names: tuple[_Name, ...], value: Json) -> _Name:
    """The name at a number, else the first."""
    at = whole(value, 0)
    return names[at] if 0 <= at < len(names) else names[0]


def _number(value: Json, default: float) -> float:
    """A number, or the default."""
    found = number(value, None)
    return default if found is None else found


def _switch(*values: Json) -> bool | None:
    """The first that is true or false; None where none is."""
    return next((flag(value) for value in values if value is not None and value != ""), None)


def _scan_depth(*values: Json) -> int | None:
    """The first that is a number of messages; None where none is."""
    found = next((number(value, None) for value in values if number(value, None) is not None), None)
    return None if found is None else int(found)


def _recursion_delay(value: Json) -> float:
    """The level of recursion that an entry waits for; true is the first."""
    return 1 if value is True else max(_number(value, 0), 0)


def _probability(content: Mapping[str, Json]) -> float | None:
    """In how many of a hundred cases the entry joins; None where it always does."""
    percent = _number(content.get("probability"), 100)
    return percent if percent != 100 and flag(content.get("useProbability"), True) else None


def _digest(content: Mapping[str, Json]) -> str:
    """A short hash of JSON, as it is written."""
    return blake2b(dumps(content), digest_size=16).hexdigest()


def key_characters(entries: Iterable[Json]) -> int:
    """The characters of the regular expressions (``/pattern/flags``) among the keys of entries, in their contents."""
    keys = chain.from_iterable(
        texts(entry.get(name)) for entry in entries if isinstance(entry, Mapping) for name in ("key", "keysecondary")
    )
    return sum(len(key) for key in keys if key.startswith("/") and "/" in key[1:])
