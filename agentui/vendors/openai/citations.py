"""Citations of pages on the web, in the two forms that OpenAI's APIs write them.

chat        {"type": "url_citation", "url_citation": {"url", "title", "start_index", "end_index"}}
Responses   {"type": "url_citation", "url", "title", "start_index", "end_index"}

Claude and Gemini name the page without the place in the answer that both forms want (Gemini counts bytes of it): 0 to 0 there.
"""

from collections.abc import Mapping

from agentui.jsonio import Json

_TYPE = "url_citation"
_FIELDS = ("start_index", "end_index", "url", "title")


def chat_citations(raw: Json) -> list[Json]:
    """The pages that another dialect's part of an answer cites, as annotations of chat completions; none for anything else."""
    return [{"type": _TYPE, _TYPE: _complete(cited)} for cited in _cited(raw)]


def cited_pages(raw: Json) -> list[Json]:
    """The same as annotations of the Responses API."""
    return [{"type": _TYPE, **_complete(cited)} for cited in _cited(raw)]


def _cited(raw: Json) -> list[Mapping[str, Json]]:
    """What is cited by an annotation of the Responses API, a citation of Claude's, or one of Gemini's lists of sources."""
    match raw:
        case {"type": "url_citation", "url": str()}:
            return [raw]
        case {"type": "citations_delta", "citation": {"url": str() as url} as cited}:
            return [{"url": url, "title": cited.get("title")}]
        case {"groundingMetadata": {"groundingChunks": list(chunks)}}:
            pages = [chunk.get("web") for chunk in chunks if isinstance(chunk, dict)]
        case {"citationMetadata": {"citationSources": list(pages)}}:
            pass
        case _:
            return []
    return [
        {"url": page["uri"], "title": page.get("title")}
        for page in pages
        if isinstance(page, dict) and isinstance(page.get("uri"), str)
    ]


def responses_citation(annotation: Json) -> Json:
    """An annotation of chat completions as the Responses API writes it; None for any other kind."""
    match annotation:
        case {"type": "url_citation", "url_citation": {"url": str()} as cited}:
            return {"type": _TYPE, **_complete(cited)}
    return None


def _complete(cited: Mapping[str, Json]) -> dict[str, Json]:
    """A citation with every field that the clients' types require."""
    blank: dict[str, Json] = {"start_index": 0, "end_index": 0, "url": "", "title": ""}
    return {name: blank[name] if cited.get(name) is None else cited[name] for name in _FIELDS}
