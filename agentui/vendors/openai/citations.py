"""Citations of pages on the web, in the two forms that OpenAI's APIs write them.

chat        {"type": "url_citation", "url_citation": {"url", "title", "start_index", "end_index"}}
Responses   {"type": "url_citation", "url", "title", "start_index", "end_index"}

Both forms want a place in the answer: 0 to 0 where another vendor names the page alone. A chat counts from the beginning of its
message, Responses from that of the text that is annotated. Servers that search without such annotations (Perplexity, xAI) list
the pages beside the choices, as ``citations`` (addresses) and ``search_results`` (with titles).
"""

from collections.abc import Mapping, Sequence

from agentui.chat.citations import Citation
from agentui.jsonio import Json

_TYPE = "url_citation"


def read_citations(annotations: Json, before: int = 0) -> tuple[Citation, ...]:
    """The pages that a list of annotations of either form cites. ``before`` counts the characters of the answer that stand
    before the text that is annotated."""
    if not isinstance(annotations, list):
        return ()
    return tuple(cited for annotation in annotations if (cited := _read(annotation, before)) is not None)


def _read(annotation: Json, before: int) -> Citation | None:
    match annotation:
        case {"type": "url_citation", "url_citation": {"url": str(url)} as cited}:
            pass
        case {"type": "url_citation", "url": str(url)} as cited:
            pass
        case _:
            return None
    start, end, title, quote = (cited.get(name) for name in ("start_index", "end_index", "title", "content"))
    is_placed = isinstance(start, int) and isinstance(end, int) and 0 <= start < end
    return Citation(
        url,
        title if isinstance(title, str) and title else None,
        before + start if is_placed else None,
        before + end if is_placed else None,
        quote if isinstance(quote, str) and quote else None,  # OpenRouter's
    )


def listed_pages(body: Mapping[str, Json]) -> tuple[Citation, ...]:
    """The pages that stand beside the choices."""
    results, addresses = body.get("search_results"), body.get("citations")
    found = {
        page["url"]: page.get("title")
        for page in (results if isinstance(results, list) else ())
        if isinstance(page, dict) and isinstance(page.get("url"), str)
    }
    for address in addresses if isinstance(addresses, list) else ():
        if isinstance(address, str):
            found.setdefault(address, None)
    return tuple(Citation(url, title if isinstance(title, str) else None) for url, title in found.items())


def chat_annotations(cited: Sequence[Citation]) -> list[Json]:
    """The citations as annotations of chat completions."""
    return [{"type": _TYPE, _TYPE: _written(citation, 0)} for citation in cited]


def responses_annotations(cited: Sequence[Citation], before: int) -> list[Json]:
    """The same as annotations of the Responses API, of a text that stands behind so many characters."""
    return [{"type": _TYPE, **_written(citation, before)} for citation in cited]


def _written(citation: Citation, before: int) -> dict[str, Json]:
    """A citation with every field that the clients' types require."""
    start, end = (max(0, place - before) if place is not None else 0 for place in (citation.start, citation.end))
    return {"start_index": start, "end_index": end, "url": citation.url, "title": citation.title or ""}
