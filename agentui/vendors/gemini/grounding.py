"""The pages that an answer cites, as Gemini tells them beside the candidate's content.

groundingMetadata   {"groundingChunks": [{"web": {"uri", "title"}}],
                     "groundingSupports": [{"segment": {"partIndex", "startIndex", "endIndex", "text"},
                                            "groundingChunkIndices"}]}
citationMetadata    {"citationSources": [{"startIndex", "endIndex", "uri", "title"}]}       (Vertex AI: "citations")

Places are counted in bytes of UTF-8, from the beginning of the part; a stream counts from its first words on. Source:
ai.google.dev, GenerateContentResponse (GroundingMetadata, CitationMetadata).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agentui.chat.citations import Citation, byte_places, character_places
from agentui.jsonio import Json
from agentui.vendors.gemini.protojson import Malformed, integer, items, member, obj, text


@dataclass(frozen=True, slots=True)
class _Cited:
    """A page and the bytes that rest on it; ``words`` are what Gemini says stands there."""

    url: str
    title: str | None
    start: int = 0
    end: int = 0
    words: str | None = None


def read_citations(
    beside: Sequence[tuple[str, Json]], said: str, part_starts: Sequence[int] = ()
) -> list[tuple[Citation, ...]]:
    """The pages that each of a candidate's members (name and value) cites, of an answer that ``said`` this; the words are
    looked at once, however many events of a stream have members. ``part_starts`` says where in its bytes each part begins;
    where it is empty, all places are counted from the beginning. A place at which Gemini's own words do not stand is not told,
    and nothing twice, though each event may say again what those before it said."""
    every = [_cited(name, raw, part_starts) for name, raw in beside]
    places = character_places(said, [place for cited in every for one in cited for place in (one.start, one.end)])
    placed = [[_placed(one, places[one.start], places[one.end], said) for one in cited] for cited in every]
    is_placed = {one.url for cited in placed for one in cited if one.start is not None}
    told: set[Citation] = set()
    found: list[tuple[Citation, ...]] = []
    for cited in placed:
        new = [one for one in dict.fromkeys(cited) if one not in told and (one.start is not None or one.url not in is_placed)]
        told.update(new)
        found.append(tuple(new))
    return found


def _cited(name: str, raw: Json, part_starts: Sequence[int]) -> Sequence[_Cited]:
    """What one member cites; nothing where it is odd, for an answer is no worse for what is beside it."""
    if not isinstance(raw, dict):
        return ()
    try:
        return list(_grounded(raw, part_starts) if name == "groundingMetadata" else _recited(raw))
    except Malformed:
        return ()


def _placed(one: _Cited, start: int, end: int, said: str) -> Citation:
    # Not cut out: thousands of citations may each name the whole text.
    is_said = one.words is None or (end - start == len(one.words) and said.startswith(one.words, start))
    is_there = 0 <= start < end and is_said
    return Citation(one.url, one.title, start if is_there else None, end if is_there else None)


def _grounded(raw: dict[str, Json], part_starts: Sequence[int]) -> Iterator[_Cited]:
    """What rests on each page of the web, and the pages on which nothing is said to rest."""
    pages = [_page(chunk) for chunk in items(raw, "groundingChunks")]
    named: set[int] = set()
    for support in items(raw, "groundingSupports"):
        if not isinstance(support, dict):
            continue
        segment = obj(support, "segment")
        part = integer(segment, "partIndex") or 0
        before = part_starts[part] if 0 <= part < len(part_starts) else 0
        start, end = (before + (integer(segment, key) or 0) for key in ("startIndex", "endIndex"))
        for index in items(support, "groundingChunkIndices"):
            if isinstance(index, int) and 0 <= index < len(pages) and (page := pages[index]) is not None:
                named.add(index)
                yield _Cited(*page, max(start, 0), max(end, 0), text(segment, "text"))
    for index, page in enumerate(pages):
        if page is not None and index not in named:
            yield _Cited(*page)


def _page(chunk: Json) -> tuple[str, str | None] | None:
    """The address and the title of a page of the web; None for a source of another kind."""
    web = member(chunk, "web") if isinstance(chunk, dict) else None
    if not isinstance(web, dict) or (uri := text(web, "uri")) is None:
        return None
    return uri, text(web, "title")


def _recited(raw: dict[str, Json]) -> Iterator[_Cited]:
    """Pages whose very words the answer repeats."""
    for source in items(raw, "citationSources") or items(raw, "citations"):
        if isinstance(source, dict) and (uri := text(source, "uri")):
            start, end = integer(source, "startIndex") or 0, integer(source, "endIndex") or 0
            yield _Cited(uri, text(source, "title"), max(start, 0), max(end, 0))


def grounding_metadata(cited: Sequence[Citation], said: str) -> dict[str, Json]:
    """The member of a candidate that tells the pages which another vendor's answer cites; {} for none. Each page stands there
    once, and each piece of the answer with all pages that it rests on."""
    if not cited:
        return {}
    titles: dict[str, str | None] = {}
    for one in cited:
        titles[one.url] = titles.get(one.url) or one.title
    number = {url: index for index, url in enumerate(titles)}
    resting: dict[tuple[int, int], dict[int, None]] = {}
    for one in cited:
        if one.start is not None and one.end is not None:
            resting.setdefault((one.start, one.end), {})[number[one.url]] = None
    places = byte_places(said, [place for segment in resting for place in segment])
    metadata: dict[str, Json] = {"groundingChunks": [_chunk(url, title) for url, title in titles.items()]}
    if resting:
        metadata["groundingSupports"] = [
            {
                "segment": {"startIndex": places[start], "endIndex": places[end]},
                "groundingChunkIndices": list(pages),
            }
            for (start, end), pages in resting.items()
        ]
    return {"groundingMetadata": metadata}


def _chunk(url: str, title: str | None) -> Mapping[str, Json]:
    return {"web": {"uri": url, **({"title": title} if title else {})}}
