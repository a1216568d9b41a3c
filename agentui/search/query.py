"""Reading the words index: the texts of some spaces that hold some words.

The engine tells which texts hold a word, the newest first, and how many; which are worth more is computed here. A word that
very many texts hold says little, so of those only the newest are looked at; one with rarer words in it comes in by them.
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
"""Texts of a space that are looked at for one word; where most of them are not seen, ``MORE``."""
MORE: Final = 4096
_ENOUGH: Final = 64
FEWEST: Final = 20
"""Texts among which a word's rarity is told, though there be fewer: of two texts every word would be common."""
CANDIDATES: Final = 120
"""Texts whose words are counted."""


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
    """A text that holds words, all of them counted; ``length`` is how many words it has in all."""

    text: Text
    counts: Mapping[str, int]
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


def candidates(
    db: Connection,
    account: str,
    spaces: Sequence[Space],
    wanted: Mapping[str, float],
    is_seen: Callable[[Text], bool],
    most: int = CANDIDATES,
) -> Candidates:
    """The texts of these spaces that hold most of the wanted words by their weights, among those that are seen."""
    total, length = sum(space.texts for space in spaces), sum(space.words for space in spaces)
    holding: Counter[str] = Counter()
    by_word: dict[str, list[Text]] = defaultdict(list)
    for space in spaces:
        for word, (found, count) in _holding(db, account, space, list(wanted), is_seen).items():
            holding[word] += count
            by_word[word] += found
    among = max(total, FEWEST)
    rarities = {word: rarity(count, among) for word, count in holding.items() if count}
    points: dict[int, float] = defaultdict(float)
    found_texts: dict[int, Text] = {}
    for word, found in by_word.items():
        for one in found:
            points[one.id] += wanted[word] * rarities[word]
            found_texts[one.id] = one
    best = sorted(points, key=lambda id: (-points[id], -id))[:most]
    counted = _counted(db, account, best, rarities.keys())
    likely = [Candidate(found_texts[id], *counted[id]) for id in best if id in counted]
    return Candidates(likely, rarities, length / total if total else 0.0, rarity(0, among))


def _holding(
    db: Connection, account: str, space: Space, words: Sequence[str], is_seen: Callable[[Text], bool]
) -> dict[str, tuple[list[Text], int]]:
    """By word the newest texts of a space that hold it and are seen, and how many hold it in all."""
    found = _newest(db, account, space, words, NEWEST)
    seen = {word: [one for one in texts if is_seen(one)] for word, texts in found.items()}
    counts = {word: len(texts) for word, texts in found.items()}
    common = [word for word, texts in found.items() if len(texts) == NEWEST]
    if common:
        counts.update(_count(db, account, space, common))
        hidden = [word for word in common if len(seen[word]) < _ENOUGH and counts[word] > NEWEST]
        for word, more in _newest(db, account, space, hidden, MORE).items():
            seen[word] = [one for one in more if is_seen(one)][:NEWEST]
    return {word: (seen[word], counts[word]) for word in found}


def _newest(db: Connection, account: str, space: Space, words: Sequence[str], most: int) -> dict[str, list[Text]]:
    """The newest texts of a space that hold a word, by word."""
    if not words:
        return {}
    tokens = {_token(db, space, word): word for word in words}
    values = {"account": account, "most": most}
    rows: list[tuple[str, Found]]
    if db.dialect.name == "sqlite":
        rows = [(word, row) for token, word in tokens.items() for row in _NEWEST_SQLITE.all(db, {**values, "token": token})]
    else:
        given = {**values, "tokens": dumps_text(list(tokens))}
        rows = [(tokens[row[0]], row[1:]) for row in _NEWEST_POSTGRESQL.all(db, given)]
    by_word: dict[str, list[Text]] = defaultdict(list)
    for word, row in rows:
        by_word[word].append(Text(*row))
    return by_word


def _count(db: Connection, account: str, space: Space, words: Sequence[str]) -> dict[str, int]:
    """How many texts of a space hold each of these words."""
    tokens = {_token(db, space, word): word for word in words}
    if db.dialect.name == "sqlite":
        return {word: _COUNT_SQLITE.all(db, {"token": token})[0][0] for token, word in tokens.items()}
    rows = _COUNT_POSTGRESQL.all(db, {"account": account, "tokens": dumps_text(list(tokens))})
    return {tokens[row[0]]: row[1] for row in rows}


def _token(db: Connection, space: Space, word: str) -> str:
    """A word as the engine's index knows it, in the engine's query language; words hold none of its marks."""
    mark = '"' if db.dialect.name == "sqlite" else "'"
    return f"{mark}{space.id}x{word}{mark}"


_COLUMNS = "found.id, found.item_id, found.message_id, found.page_id, found.floor_id"
_HOLDS = (
    "array_to_tsvector(string_to_array(CAST(found.space_id AS text) || 'x' ||"
    " replace(found.words, ' ', ' ' || CAST(found.space_id AS text) || 'x'), ' ')) @@ CAST(given.token AS tsquery)"
)
"""The expression of the index, letter by letter: PostgreSQL finds it by that."""
_GIVEN = "json_array_elements_text(CAST(:tokens AS json)) AS given(token)"
_NEWEST_SQLITE = Prepared(
    text(
        f"SELECT {_COLUMNS} FROM search_words JOIN search_texts AS found ON found.id = search_words.rowid"
        " WHERE search_words MATCH :token AND found.account_id = :account ORDER BY search_words.rowid DESC LIMIT :most"
    )
)
_NEWEST_POSTGRESQL = Prepared(
    text(
        # "+ 0": in the order of the primary key it would go through the table where a word is rare.
        f"SELECT given.token, newest.* FROM {_GIVEN} CROSS JOIN LATERAL (SELECT {_COLUMNS} FROM search_texts AS found"
        f" WHERE found.account_id = :account AND {_HOLDS} ORDER BY found.id + 0 DESC LIMIT :most) AS newest"
    )
)
_COUNT_SQLITE = Prepared(text("SELECT count(*) FROM search_words WHERE search_words MATCH :token"))
"""By a token, which holds the number of a space that was found in the account."""
_COUNT_POSTGRESQL = Prepared(
    text(
        f"SELECT given.token, (SELECT count(*) FROM search_texts AS found WHERE found.account_id = :account AND {_HOLDS})"
        f" FROM {_GIVEN}"
    )
)


def _counted(db: Connection, account: str, ids: Sequence[int], words: Set[str]) -> dict[int, tuple[Mapping[str, int], int]]:
    """How often each of these texts has each of the words, and how many words it has, by the text's id."""
    mine = (search_texts.c.account_id == account, search_texts.c.id.in_(ids))
    rows = db.execute(select(search_texts.c.id, search_texts.c.length, search_texts.c.words).where(*mine))
    return {row.id: (Counter(word for word in row.words.split(" ") if word in words), row.length) for row in rows}
