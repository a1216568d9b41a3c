"""Which characters JavaScript takes for one when case is ignored (ECMA-262, Canonicalize)."""

from collections.abc import Iterable
from functools import cache

LAST_UNIT = 0xFFFF
_LAST_CASED = 0x1E943
"""The last character that has another case."""
_FOLDED = {0x1FD3: 0x0390, 0x1FE3: 0x03B0, 0xFB05: 0xFB06}
"""Simple foldings that Unicode 15.1 added."""


def variants(point: int, *, unicode: bool) -> tuple[int, ...]:
    """Every character that counts as this one, itself among them. ``unicode``: by the rules of the flags ``u`` and ``v``."""
    return _classes(unicode).get(point, (point,))


def cased(*, unicode: bool) -> Iterable[int]:
    """Every character that has variants."""
    return _classes(unicode)


@cache
def _classes(unicode: bool) -> dict[int, tuple[int, ...]]:
    """The characters that are the same without their case, by each of them; only where there are several."""
    canonical = _fold if unicode else _upper
    members: dict[int, list[int]] = {}
    for point in range(_LAST_CASED + 1 if unicode else LAST_UNIT + 1):
        members.setdefault(canonical(point), []).append(point)
    return {point: tuple(same) for same in members.values() if len(same) > 1 for point in same}


def _upper(point: int) -> int:
    """The capital of a UTF-16 unit: itself where that is several units, or where ASCII would come of another character."""
    capital = chr(point).upper()
    if len(capital) != 1 or ord(capital) > LAST_UNIT or (point >= 128 and ord(capital) < 128):
        return point
    return ord(capital)


def _fold(point: int) -> int:
    """Unicode's simple case folding: one character for one."""
    if point in _FOLDED:
        return _FOLDED[point]
    char = chr(point)
    for folded in (char.casefold(), char.lower()):
        if len(folded) == 1:
            return ord(folded)
    return point
