"""Reading the words index: the texts of some spaces that hold some words.

The engine tells how many texts hold a word, and which, the newest first; which are worth more is computed here. The rarest
words are asked for first, until there is enough to choose from: a word that very many texts hold says little, and one with
rarer words in it comes in by them. All words are counted in what was chosen.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, select, text

from agentui.jsonio import dumps_text
from agentui.search.index import Space
from agentui.store.prepared import Found, Prepared
from agentui.store.tables import search_texts
from agentui.words.ranking import bm25, rarity

NEWEST: Final = 256
"""Texts of a space that are looked at for one word; where too few of them are seen, ``MORE``."""
MORE: Final = 4096
LOOKS: Final = 1500
"""Texts that are looked at for all words together, after which no further word is asked for."""
CANDIDATES: Final = 120
"""Texts whose words are counted."""
FEWEST: Final = 20
"""Texts among which a word's rarity is told, though there be fewer: of two texts every word would be common."""
_MOST_COUNTED: Final = 8000
"""Texts that hold a word; more are not counted, for such a word finds nothing."""
_ENOUGH: Final = 40
"""Texts that are seen, with which a search is content."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text of the index: a memory's (``item_id``) or a message's."""

    id: int
    item_id: str | None
    message_id: str | None
    page_id: str | None
    floor_id: str | None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that holds words: how often it has each of those that are wanted, all of its ``words``, and how many it has in all
    (``length``)."""

    text: Text
    counts: Mapping[str, int]
    words: frozenset[str]
    length: int


@dataclass(frozen=True, slots=True)
class Candidates:
    """What holds some words, the likeliest first. ``rarities`` are the weights of the words that are held at all, by word;
    ``rarest`` is what a word weighs that no text holds."""

    candidates: Sequence[Candidate]
    rarities: Mapping[str, float]
    average: float
    rarest: float

    def ranked(self, wanted: Mapping[str, float]) -> list[tuple[float, Candidate]]:
        """The texts by BM25, the best first; ``wanted`` are the words with what each is worth beside its rarity. The order of
        equals is that of the index, the newer first."""
        weights = {word: worth * self.rarities[word] for word, worth in wanted.items() if word in self.rarities}
        scored = [(bm25(weights, one.counts, one.length, self.average), one) for one in self.candidates]
        return sorted(((score, one) for score, one in scored if score > 0), key=lambda it: (-it[0], -it[1].text.id))


IsSeen = Callable[[str | None, str | None], bool]
"""Whether a text is seen, by its memory's id or, for a message, its floor's."""


def candidates(
    db: Connection,
    account: str,
    spaces: Sequence[Space],
    wanted: Mapping[str, float],
    is_seen: IsSeen,
    most: int = CANDIDATES,
) -> Candidates:
    """The texts of these spaces that hold most of the wanted words by their weights, among those that are seen."""
    total, length = sum(space.texts for space in spaces), sum(space.words for space in spaces)
    counts = {(space.id, word): count for space in spaces for word, count in _count(db, account, space, list(wanted)).items()}
    holding: Counter[str] = Counter()
    for (_, word), count in counts.items():
        holding[word] += count
    among = max(total, FEWEST)
    rarities = {word: rarity(count, among) for word, count in holding.items() if count}
    # In an order that no engine decides: by their weights, then by themselves.
    order = sorted(rarities, key=lambda word: (-wanted[word] * rarities[word], word))
    points: dict[int, float] = defaultdict(float)
    left = LOOKS
    for space in spaces:
        asked = []
        for word in order:
            if (count := counts.get((space.id, word), 0)) and left > 0:
                asked.append(word)
                left -= min(count, NEWEST)
        seen = _seen(db, account, space, asked, NEWEST, is_seen)
        cut_off = [word for word in asked if counts[space.id, word] > NEWEST]
        if cut_off and len({id for ids in seen.values() for id in ids}) < _ENOUGH:
            seen |= _seen(db, account, space, cut_off, MORE, is_seen)
        for word, ids in seen.items():
            for id in ids:
                points[id] += wanted[word] * rarities[word]
    best = sorted(points, key=lambda id: (-points[id], -id))[:most]
    return Candidates(
        _counted(db, account, best, rarities.keys()), rarities, length / total if total else 0.0, rarity(0, among)
    )


def _seen(db: Connection, account: str, space: Space, words: Sequence[str], most: int, is_seen: IsSeen) -> dict[str, list[int]]:
    """The newest texts of a space that hold a word and are seen, by word."""
    if not words:
        return {}
    tokens = {_token(db, space, word): word for word in words}
    values = {"account": account, "most": most}
    if db.dialect.name == "sqlite":
        found = {word: list(_NEWEST_SQLITE.all(db, {**values, "token": token})) for token, word in tokens.items()}
    else:
        found = {word: [] for word in words}
        for row in _NEWEST_POSTGRESQL.all(db, {**values, "tokens": dumps_text(list(tokens))}):
            found[tokens[row[0]]].append(row[1:])
    return {word: [row[0] for row in rows if is_seen(row[1], row[2])] for word, rows in found.items()}


def _count(db: Connection, account: str, space: Space, words: Sequence[str]) -> dict[str, int]:
    """How many texts of a space hold each of these words, at most ``_MOST_COUNTED``."""
    tokens = {_token(db, space, word): word for word in words}
    if db.dialect.name == "sqlite":
        return {word: _COUNT_SQLITE.all(db, {"token": token, "most": _MOST_COUNTED})[0][0] for token, word in tokens.items()}
    rows = _COUNT_POSTGRESQL.all(db, {"account": account, "tokens": dumps_text(list(tokens)), "most": _MOST_COUNTED})
    return {tokens[row[0]]: row[1] for row in rows}


def _token(db: Connection, space: Space, word: str) -> str:
    """A word as the engine's index knows it, in the engine's query language; words hold none of its marks."""
    mark = '"' if db.dialect.name == "sqlite" else "'"
    return f"{mark}{space.id}x{word}{mark}"


_HOLDS = (
    "array_to_tsvector(string_to_array(CAST(found.space_id AS text) || 'x' ||"
    " replace(found.words, ' ', ' ' || CAST(found.space_id AS text) || 'x'), ' ')) @@ CAST(given.token AS tsquery)"
)
"""The expression of the index, letter by letter: PostgreSQL finds it by that."""
_GIVEN = "json_array_elements_text(CAST(:tokens AS json)) AS given(token)"
_NEWEST_SQLITE = Prepared(
    text(
        "SELECT found.id, found.item_id, found.floor_id FROM search_words JOIN search_texts AS found"
        " ON found.id = search_words.rowid WHERE search_words MATCH :token AND found.account_id = :account"
        " ORDER BY search_words.rowid DESC LIMIT :most"
    )
)
_NEWEST_POSTGRESQL = Prepared(
    text(
        # "+ 0": in the order of the primary key it would go through the table where a word is rare.
        f"SELECT given.token, newest.* FROM {_GIVEN} CROSS JOIN LATERAL (SELECT found.id, found.item_id, found.floor_id"
        f" FROM search_texts AS found WHERE found.account_id = :account AND {_HOLDS}"
        " ORDER BY found.id + 0 DESC LIMIT :most) AS newest"
    )
)
_COUNT_SQLITE = Prepared(text("SELECT count(*) FROM (SELECT 1 FROM search_words WHERE search_words MATCH :token LIMIT :most)"))
"""By a token, which holds the number of a space that was found in the account."""
_COUNT_POSTGRESQL = Prepared(
    text(
        "SELECT given.token, (SELECT count(*) FROM (SELECT 1 FROM search_texts AS found"
        f" WHERE found.account_id = :account AND {_HOLDS} LIMIT :most) AS held) FROM {_GIVEN}"
    )
)


def _counted(db: Connection, account: str, ids: Sequence[int], words: Set[str]) -> list[Candidate]:
    """These texts, in this order, with how often each has each of the words."""
    columns = (search_texts.c[name] for name in ("id", "item_id", "message_id", "page_id", "floor_id", "length", "words"))
    mine = (search_texts.c.account_id == account, search_texts.c.id.in_(ids))
    rows = {row.id: row for row in db.execute(select(*columns).where(*mine))} if ids else {}
    return [_candidate(rows[id], words) for id in ids if id in rows]


def _candidate(row: Found, words: Set[str]) -> Candidate:
    *of, length, written = row
    held = written.split(" ")
    return Candidate(Text(*of), Counter([word for word in held if word in words]), frozenset(held), length)
