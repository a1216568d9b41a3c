"""Marks of Claude's prompt cache: a request may have four (docs.claude.com, prompt caching), the one of the whole request
(``cache_control`` at the top level) among them. With a fifth it is refused."""

from collections.abc import Iterator, Mapping

from agentui.chat.messages import CACHE_MARK
from agentui.jsonio import Json

MAX_MARKS = 4


def has_room(body: Mapping[str, Json]) -> bool:
    """Whether a body may have one mark more."""
    return sum(1 for _ in _marked(body)) < MAX_MARKS


def cap_marks(body: Mapping[str, Json], dropped: list[str]) -> None:
    """Take marks from the blocks of a body that was made here until Claude takes it.

    The last marks reach furthest, so the first ones go; but the last one of tools and system text stays, for those are the same
    in every request.
    """
    marked = list(_marked(body))
    over = len(marked) + (CACHE_MARK in body) - MAX_MARKS
    if over <= 0:
        return
    lasting = [block for block, is_spoken in marked if not is_spoken][-1:]
    for block in [block for block, _ in marked if not any(block is one for one in lasting)][:over]:
        del block[CACHE_MARK]
    dropped.append(CACHE_MARK)


def _marked(body: Mapping[str, Json]) -> Iterator[tuple[dict[str, Json], bool]]:
    """The blocks with a mark in the order in which Claude reads them, and whether they are of the conversation."""
    for place in ("tools", "system"):
        yield from ((block, False) for block in _blocks(body.get(place)))
    for message in _list(body.get("messages")):
        if isinstance(message, dict):
            for block in _list(message.get("content")):
                if isinstance(block, dict):
                    yield from ((inner, True) for inner in _blocks(block.get("content")))
                    yield from ((one, True) for one in _blocks([block]))


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _blocks(value: Json) -> Iterator[dict[str, Json]]:
    return (block for block in _list(value) if isinstance(block, dict) and block.get(CACHE_MARK) is not None)
