"""What became of a HadTavern file."""

from dataclasses import dataclass, field
from typing import Final, Literal

KEPT: Final = "x_hadtavern"
"""Holds what was not understood, in a node and in the document."""
MAX_NOTES: Final = 500
"""Notes of one file; ``more`` counts those behind them."""


NoteKind = Literal["changed", "kept", "dropped", "unknown"]
"""Taken otherwise than it stands; put aside under KEPT, or ignored where it stands; left out; a node type that is not here."""


@dataclass(frozen=True, slots=True)
class ImportNote:
    """What became of something that was not taken as it stood; ``node`` is an id of the document, ``field`` a path in it."""

    message: str
    kind: NoteKind
    node: str | None = None
    field: str | None = None


@dataclass(slots=True)
class HadTavernReport:
    """The account of one file: which form it has, how much was read, and what could not be converted."""

    format: Literal["drawflow", "pipeline"]
    nodes: int = 0
    edges: int = 0
    notes: list[ImportNote] = field(default_factory=list)
    more: int = 0

    def note(self, message: str, node: str | None = None, field: str | None = None, *, kind: NoteKind = "changed") -> None:
        """Add a note; behind MAX_NOTES they are counted."""
        if len(self.notes) < MAX_NOTES:
            self.notes.append(ImportNote(message, kind, node, field if field is None else field[:200]))
        else:
            self.more += 1
