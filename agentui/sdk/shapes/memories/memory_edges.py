"""What the server speaks of: memories, memory edges."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from agentui.sdk.shapes.memories.common import GivenSource, Source


class Edge(TypedDict):
    """What one item is to another: ``from`` updates, resolves, compacts ... ``to``."""

    id: str
    from_id: str
    to_id: str
    relation: Literal["supports", "contradicts", "updates", "derived_from", "compacts", "resolves"]
    created_at: int
    sources: NotRequired[list[Source]]


class EdgeForm(TypedDict):
    """An edge to write. With ``sources`` it counts where these pages are seen."""

    from_id: str
    to_id: str
    relation: Literal["supports", "contradicts", "updates", "derived_from", "compacts", "resolves"]
    sources: NotRequired[list[GivenSource]]


class EdgePatch(TypedDict):
    """What an edge is to say."""

    relation: Literal["supports", "contradicts", "updates", "derived_from", "compacts", "resolves"]
