"""Recall: what a turn is reminded of, by what was just said.

    lines ──cut──▶ words ──▶ the index: memories and messages of the chat, global memories
                     lore ──▶ memories with keys                  ──▶ ranking.py ──▶ what is recalled, and why the rest is not
                    edges ──▶ what supersedes a hit, loops

Candidates are what the rule of sight lets be seen from the place, and messages of the path there that are the active version
and not hidden. Nothing is written but the index.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple

from sqlalchemy import Connection, bindparam, select

from agentui.memories.indexing import ChatIndexing, Missing, missing_of
from agentui.memories.items import find_items
from agentui.memories.keyed import Keyed, KeyHit
from agentui.memories.paths import Paths
from agentui.memories.ranking import FoundText, Ranking, RecallSettings, excerpt, rank
from agentui.memories.reading import Spot
from agentui.memories.records import Item
from agentui.memories.sight import Sight
from agentui.memories.sights import Sights
from agentui.search.index import find_space
from agentui.search.query import Candidate, Candidates, candidates
from agentui.store.base import Store
from agentui.store.prepared import OneOf, Prepared, texts
from agentui.store.tables import memory_edges, memory_items, messages, pages
from agentui.threads import in_thread
from agentui.words.cutting import cut
from agentui.words.ranking import worth

LINE_WEIGHTS: Final = (0.7, 0.2, 0.1)
"""What the user's line, the answer before it and the user's line before that are worth."""
_MOST_WORDS: Final = (32, 16, 8)
"""Words of each that are looked for: of a longer one the last, for that is what is answered."""
_LONGEST_LINE: Final = 4000
"""Characters of a line that are looked at, from its end."""


@dataclass(frozen=True, slots=True)
class Question:
    """What was just said, macros taken out: the user's line, the last answer, and the user's line before it; each may be
    empty."""

    line: str
    answer: str = ""
    line_before: str = ""

    @property
    def lines(self) -> tuple[str, str, str]:
        """The three, in the order of their weights."""
        return self.line, self.answer, self.line_before


class _Found(NamedTuple):
    """What the store holds of a question."""

    candidates: Candidates
    items: Mapping[str, Item]
    contents: Mapping[str, str]
    loops: Sequence[tuple[str, str]]
    missing: Missing
    keys: Mapping[str, str]
    """The first key of each item that was said, by the item that is seen for it."""


class Recall:
    """Answers what a turn should be reminded of. Safe for many at once. ``indexing`` gets to know what the index lacks."""

    def __init__(self, store: Store, sights: Sights, indexing: ChatIndexing) -> None:
        self._store = store
        self._indexing = indexing
        self._sights = sights
        self._paths = Paths(store)
        self._keyed = Keyed(store)

    async def recall(
        self,
        account: str,
        spot: Spot,
        question: Question,
        settings: RecallSettings | None = None,
        *,
        shown: Collection[str] = (),
        not_items: Collection[str] = (),
    ) -> Ranking:
        """What is recalled at a place. ``shown`` are the pages that the prompt shows anyway, ``not_items`` memories that
        stand in it already, the pinned ones above all. Raises 404 for a place that is not there, and the store's errors."""
        settings = settings or RecallSettings()
        lines = await in_thread(partial(_cut_lines, question))
        # A key may be made of words that nobody looks for, so a line without any is asked, too.
        said = [line[-_LONGEST_LINE:] for line in reversed(question.lines) if line.strip()]
        if not said or settings.budget <= 0:
            return Ranking()
        sight = await self._sights.at(account, spot)
        path = await self._paths.to(account, spot)
        hits = await self._keyed.said(account, sight.place.session_id, said)
        found = await self._store.read(_find, account, sight, path, lines, hits, with_turns=settings.with_turns)
        if settings.with_turns:
            # For later turns: the prompt shows what was said last anyway.
            await self._indexing.put_in(account, sight.place.session_id, found.missing)
        work = partial(_ranked, found, lines, sight, path, settings, frozenset(shown), frozenset(not_items))
        return await in_thread(work)


def _cut_lines(question: Question) -> list[dict[str, float]]:
    """The words of each line that are looked for, each once, with what each is worth."""
    return [
        {word: worth(word) for word in list(dict.fromkeys(reversed(cut(line[-_LONGEST_LINE:]))))[:most]}
        for line, most in zip(question.lines, _MOST_WORDS, strict=True)
    ]


def _find(
    db: Connection,
    account: str,
    sight: Sight,
    path: dict[str, int],
    lines: Sequence[Mapping[str, float]],
    hits: Sequence[KeyHit],
    *,
    with_turns: bool,
) -> _Found:
    """What the index and the tables hold of these words, as far as it is seen."""
    spaces = [space for of in (sight.place.session_id, None) if (space := find_space(db, account, of)) is not None]
    wanted: dict[str, float] = {}
    for words, weight in zip(lines, LINE_WEIGHTS, strict=True):
        for word in words:
            wanted[word] = max(wanted.get(word, 0.0), weight * words[word])

    def is_seen(item_id: str | None, floor_id: str | None) -> bool:
        if item_id is not None:
            return _seen_instead(sight, item_id) is not None
        return with_turns and floor_id in path

    found = candidates(db, account, spaces, wanted, is_seen)
    ids = {id for one in found.candidates if one.text.item_id and (id := _seen_instead(sight, one.text.item_id))}
    keys: dict[str, str] = {}
    for hit in hits:
        if (id := _seen_instead(sight, hit.item_id)) is not None:
            keys.setdefault(id, hit.key)
    ids |= keys.keys()
    loops = [(row[0], row[1]) for row in _LOOPS.all(db, {"account": account, "ids": texts(sorted(ids))})] if ids else []
    loops = [(hit, loop) for hit, loop in loops if loop not in ids and sight.sees(loop)]
    items = find_items(db, account, sorted({*ids, *(loop for _, loop in loops)})) if ids else {}
    said = [one.text.message_id for one in found.candidates if one.text.message_id is not None]
    contents = {row[0]: row[1] for row in _SAID.all(db, {"account": account, "ids": texts(said)})} if said else {}
    missing = missing_of(db, account, sight.place.session_id, path) if with_turns else Missing()
    return _Found(found, items, contents, loops, missing, keys)


def _seen_instead(sight: Sight, item_id: str) -> str | None:
    """The item itself where it is seen; where another has taken its place, that one; None where neither is."""
    for _ in range(_MOST_STEPS):
        hidden = sight.hidden(item_id)
        if hidden is None:
            return item_id
        if hidden.by is None or hidden.reason != "superseded":
            return None
        item_id = hidden.by
    return None


_MOST_STEPS: Final = 20
"""Items that may have superseded one another, one by one; of more, nothing is recalled by the oldest."""


def _loops() -> Prepared:
    """Open loops one edge away from items: the item and the loop, one a row."""
    ends = (memory_edges.c.from_id, memory_edges.c.to_id)
    ways = [
        select(hit, loop)
        .join(memory_items, memory_items.c.id == loop)
        .where(OneOf(hit, "ids"), memory_edges.c.account_id == bindparam("account"), memory_items.c.type == "open_loop")
        for hit, loop in (ends, ends[::-1])
    ]
    return Prepared(ways[0].union(ways[1]))


_LOOPS = _loops()
_SAID = Prepared(
    select(messages.c.id, messages.c.content)
    .join(pages, pages.c.id == messages.c.page_id)
    .where(OneOf(messages.c.id, "ids"), messages.c.account_id == bindparam("account"), pages.c.is_active)
    .where(~messages.c.is_hidden)
)


def _ranked(
    found: _Found,
    lines: Sequence[Mapping[str, float]],
    sight: Sight,
    path: dict[str, int],
    settings: RecallSettings,
    shown: frozenset[str],
    not_items: frozenset[str],
) -> Ranking:
    """Score what was found, and choose."""
    by_line: dict[int, list[float]] = {one.text.id: [0.0] * len(lines) for one in found.candidates.candidates}
    for at, words in enumerate(lines):
        for score, one in found.candidates.ranked(words):
            by_line[one.text.id][at] = score
    texts: dict[str, FoundText] = {}
    for one in found.candidates.candidates:
        made = _text_of(one, tuple(by_line[one.text.id]), found, sight, path)
        if made is not None and made.id not in not_items and (made.id not in texts or made.edge_from is None):
            rarity = max(found.candidates.rarities[word] * worth(word) for word in one.counts)
            texts[made.id] = replace(made, key=found.keys.get(made.id), rarity=rarity)
    for id, key in found.keys.items():
        item = found.items.get(id)
        if item is not None and id not in texts and id not in not_items:
            texts[id] = replace(_of_item(item, path), key=key, words=frozenset(cut(item.text)))
    for hit, loop in found.loops:
        item = found.items.get(loop)
        if hit in texts and item is not None and loop not in texts and loop not in not_items:
            texts[loop] = replace(_of_item(item, path), edge_from=hit)
    weighed: dict[str, float] = {}
    for words, weight in zip(lines, LINE_WEIGHTS, strict=True):
        for word, each in words.items():
            weighed[word] = max(weighed.get(word, 0.0), weight * each * found.candidates.rarities.get(word, 0.0))

    def shortened(text: FoundText) -> str:
        return excerpt(text.text, weighed, settings.longest) if text.kind == "turn" else text.text

    return rank(list(texts.values()), LINE_WEIGHTS, found.candidates.rarest, settings, shown, shortened)


def _text_of(
    one: Candidate,
    by_line: tuple[float, ...],
    found: _Found,
    sight: Sight,
    path: dict[str, int],
) -> FoundText | None:
    """A candidate as a text that may be recalled; None for a message that is gone or hidden."""
    text = one.text
    if text.item_id is not None:
        id = _seen_instead(sight, text.item_id)
        item = found.items.get(id or "")
        if item is None:
            return None
        edge_from = text.item_id if item.id != text.item_id else None
        return replace(_of_item(item, path), by_line=by_line, edge_from=edge_from, words=one.words)
    content = found.contents.get(text.message_id or "")
    if content is None or text.page_id is None:
        return None
    said = frozenset((text.page_id,))
    distance = _distance(path, text.floor_id)
    return FoundText(
        text.page_id, "turn", content, by_line, words=one.words, distance=distance, floor_id=text.floor_id, sources=said
    )


def _of_item(item: Item, path: dict[str, int]) -> FoundText:
    floor_id = item.sources[-1].floor_id if item.sources else item.source_floor_id
    return FoundText(
        item.id,
        item.type,
        item.text,
        importance=item.importance,
        distance=_distance(path, floor_id),
        floor_id=floor_id,
        sources=frozenset(source.page_id for source in item.sources),
    )


def _distance(path: dict[str, int], floor_id: str | None) -> int | None:
    """How many floors of the path lie behind one of them."""
    number = path.get(floor_id or "")
    return None if number is None else len(path) - 1 - number
