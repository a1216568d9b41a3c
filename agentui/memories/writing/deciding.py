"""What of a model's answer is taken. Pure: nothing is stored here.

Each entry but a summary has to quote words of the floors that were read, and to have something in common with them; one that
changes an item has to have to do with that, too, so that "forget everything" changes nothing. What names an item that the
model was not shown is no entry at all.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from agentui.memories.items import normal_fact_key
from agentui.memories.records import Item, MemoryScope, MemoryType
from agentui.memories.writing.material import FloorText, Material
from agentui.memories.writing.proposals import LONGEST_VALUE, Kind, Proposed, read_answer
from agentui.memories.writing.quotes import Quotes, shares_words

Reason: TypeAlias = Literal[
    "no_quote", "quote_not_found", "quote_says_nothing", "unknown_id", "unrelated", "pinned", "too_long", "not_json"
]
"""Why an entry was not taken.

no_quote             it quotes nothing
quote_not_found      what it quotes stands on none of the floors
quote_says_nothing   what it quotes has no word of what it says
unknown_id           it names an item that was not shown
unrelated            it has nothing to do with the item that it changes
pinned               a person wants that item as it is
too_long             it is longer than an item may be
not_json             the whole answer could not be understood
"""

MOST_REJECTIONS: Final = 100
"""Rejections of one answer that are kept."""
LONGEST_REJECTED: Final = 500
FALLBACK_IMPORTANCE: Final = 0.5
SUMMARY_IMPORTANCE: Final = 0.6
MACRO_IMPORTANCE: Final = 0.65
_MAKES: Final[Mapping[Kind, MemoryType]] = {
    "add": "fact",
    "update": "fact",
    "open": "open_loop",
    "deprecate": "summary",
    "resolve": "summary",
}
"""The item that an entry makes: what only ends another is superseded by the floor's summary."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of a floor. ``is_own``: it stood in the answer's ``<summary>`` blocks."""

    floor: FloorText
    text: str
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class Accepted:
    """An entry that is taken, with the page and the words of it that say so, and the item that it changes."""

    proposed: Proposed
    floor: FloorText
    page_id: str
    changes: Item | None = None

    @property
    def type(self) -> MemoryType:
        """Which kind of item it makes."""
        return _MAKES[self.proposed.kind]

    @property
    def text(self) -> str:
        """The words of the item that it makes: those of a new fact begin with its key (contract, 3.7)."""
        said, key = self.proposed.text, self.proposed.key
        return f"{key}: {said}" if self.proposed.kind == "add" and key and key.lower() not in said.lower() else said

    @property
    def fact_key(self) -> str | None:
        """The key of the fact that it makes."""
        if self.type != "fact":
            return None
        return normal_fact_key(self.proposed.key) or (self.changes.fact_key if self.changes is not None else None)

    @property
    def scope(self) -> MemoryScope:
        """Where the item belongs: a model may choose the chat instead of the branch, and nothing beyond."""
        return "chat" if self.proposed.scope == "chat" else "branch"


@dataclass(frozen=True, slots=True)
class Rejection:
    """An entry that is not taken."""

    type: MemoryType
    text: str
    quote: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of an answer."""

    material: Material
    summaries: tuple[Summary, ...] = ()
    accepted: tuple[Accepted, ...] = ()
    rejections: tuple[Rejection, ...] = field(default=())


def decide(material: Material, text: str) -> Decision:
    """What of an answer to ``ingest_question`` is taken."""
    answer = read_answer(text)
    if answer is None:
        rejection = Rejection("summary", text.strip()[:LONGEST_REJECTED] or "(nothing)", "", "not_json")
        return Decision(material, tuple(_own(material)), (), (rejection,))
    rejections: list[Rejection] = []
    accepted: list[Accepted] = []
    quotes = [Quotes(floor.pages) for floor in material.floors]
    for entry in answer.entries:
        found = _judged(material, quotes, entry)
        if isinstance(found, Accepted):
            accepted.append(found)
        elif len(rejections) < MOST_REJECTIONS:
            type: MemoryType = "open_loop" if entry.kind in ("open", "resolve") else "fact"
            rejections.append(Rejection(type, entry.text[:LONGEST_REJECTED], entry.quote[:LONGEST_REJECTED], found))
    summaries = dict(answer.summaries or {})
    if answer.summary is not None and len(material.floors) == 1:
        summaries.setdefault(material.floors[0].floor_no, answer.summary)
    taken = list(_summaries(material, summaries, rejections))
    return Decision(material, tuple(taken), tuple(accepted), tuple(rejections[:MOST_REJECTIONS]))


def _own(material: Material) -> Iterator[Summary]:
    """What is left where a model said nothing that can be used: the summaries that stood in the answers themselves."""
    for floor in material.floors:
        if floor.summaries:
            yield Summary(floor, "\n".join(floor.summaries), is_own=True)


def _summaries(material: Material, said: Mapping[int, str], rejections: list[Rejection]) -> Iterator[Summary]:
    """A summary of each floor: the model's where it has to do with what was said, else the answer's own."""
    for floor in material.floors:
        text = said.get(floor.floor_no, "")
        source = "\n".join([*(page.text for page in floor.pages), *floor.summaries])
        if text and len(text) <= LONGEST_VALUE and shares_words(text, source):
            yield Summary(floor, text)
            continue
        if text:
            reason: Reason = "too_long" if len(text) > LONGEST_VALUE else "quote_says_nothing"
            rejections.append(Rejection("summary", text[:LONGEST_REJECTED], "", reason))
        if floor.summaries:
            yield Summary(floor, "\n".join(floor.summaries), is_own=True)


def _judged(material: Material, quotes: list[Quotes], entry: Proposed) -> Accepted | Reason:
    if len(entry.text) > LONGEST_VALUE:
        return "too_long"
    changes: Item | None = None
    if entry.named is not None and entry.kind in ("update", "deprecate", "resolve"):
        items = material.known.loops if entry.kind == "resolve" else material.known.facts
        changes = items.get(entry.named)
        if changes is None:
            return "unknown_id"
        if changes.pinned:
            return "pinned"
    if not entry.quote:
        return "no_quote"
    found = next(((number, page) for number, each in enumerate(quotes) if (page := each.page_of(entry.quote))), None)
    if found is None:
        return "quote_not_found"
    if changes is not None:
        about = f"{changes.fact_key or ''} {changes.text}"
        is_said = entry.kind != "update" or shares_words(entry.text, entry.quote)
        if not is_said:
            return "quote_says_nothing"
        # A model that was talked into it may quote that very order: it has to be about the item all the same.
        beside = f"{entry.quote} {entry.text}" if entry.kind == "update" else entry.quote
        if not shares_words(beside, about):
            return "unrelated"
    elif not shares_words(entry.text, entry.quote):
        return "quote_says_nothing"
    return Accepted(entry, material.floors[found[0]], found[1], changes)
