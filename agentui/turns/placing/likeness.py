"""How alike two texts are of which a client may have made one of the other: with its regular expressions, or by hand. Pure."""

import re
from collections.abc import Iterable
from typing import Final

from agentui.chat.fingerprints import LONGEST, letters, without_name

LEAST: Final = 0.5
"""From here on one is taken for the other."""
_PIECE: Final = re.compile(r"[\n.!?;。！？；…]+")
_LEAST_PIECE: Final = 4
"""Letters of a sentence that tell anything."""
_LEAST_WHOLE: Final = 12
"""Letters of a text that is looked for in another."""


def likeness(one: str, other: str) -> float:
    """How much of the shorter text stands in the longer, by its sentences, from 0 to 1; all of it where its letters stand there
    in a row. A speaker's name before them is none of them."""
    one, other = without_name(one), without_name(other)
    short, long = sorted((letters(one), letters(other)), key=len)
    if len(short) >= _LEAST_WHOLE and short in long:
        return 1.0
    pieces, others = (set(_pieces(text)) for text in (one, other))
    fewer, more = sorted((pieces, others), key=_size)
    return _size(fewer & more) / _size(fewer) if fewer else 0.0


def _pieces(text: str) -> Iterable[str]:
    found = (letters(piece) for piece in _PIECE.split(text[: 2 * LONGEST]))
    return (piece for piece in found if len(piece) >= _LEAST_PIECE)


def _size(pieces: Iterable[str]) -> int:
    return sum(map(len, pieces))
