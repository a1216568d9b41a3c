"""
Sets of characters as JavaScript's classes mean them, and how the engine is told of them.

A set is ranges of characters and properties of Unicode (``\\p{...}``). Properties are kept by name as long as nothing has to be
computed of them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import regex

from agentui.regexes.casing import cased, variants

LAST_POINT = 0x10FFFF
Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class CharSet:
    """Characters in ``ranges`` (sorted, apart) or with one of the ``properties`` (fragments like ``\\p{L}``)."""

    ranges: Ranges = ()
    properties: tuple[str, ...] = ()

    @classmethod
    def of(cls, *ranges: tuple[int, int]) -> "CharSet":
        """The set of these ranges, in any order."""
        return cls(merged(ranges))

    @classmethod
    def one(cls, point: int) -> "CharSet":
        """The set of one character."""
        return cls(((point, point),))

    def __or__(self, other: "CharSet") -> "CharSet":
        """What is in either."""
        return CharSet(merged((*self.ranges, *other.ranges)), tuple(dict.fromkeys((*self.properties, *other.properties))))

    def __and__(self, other: "CharSet") -> "CharSet":
        """What is in both."""
        return (self.complement() | other.complement()).complement()

    def __sub__(self, other: "CharSet") -> "CharSet":
        """What is in this and not in the other."""
        return (self.complement() | other).complement()

    def complement(self) -> "CharSet":
        """Every other character."""
        ranges, start = [], 0
        for low, high in self.listed().ranges:
            if start < low:
                ranges.append((start, low - 1))
            start = high + 1
        return CharSet((*ranges, (start, LAST_POINT)) if start <= LAST_POINT else tuple(ranges))

    def listed(self) -> "CharSet":
        """The same without properties: their characters are listed, which takes some ten milliseconds for each."""
        return CharSet(merged((*self.ranges, *(each for name in self.properties for each in _having(name)))))

    def any_case(self, *, unicode: bool) -> "CharSet":
        """The set with every variant of its characters."""
        return _any_case(self, unicode)

    def cased(self, *, unicode: bool) -> list[int]:
        """Those of its characters that have variants."""
        points = list(cased(unicode=unicode))
        if self.ranges and not self.properties and sum(high - low for low, high in self.ranges) < len(points):
            known = set(points)
            return [point for low, high in self.ranges for point in range(low, high + 1) if point in known]
        return [point for point in points if self._holds(point)]

    def _holds(self, point: int) -> bool:
        if any(low <= point <= high for low, high in self.ranges):
            return True
        return any(_compiled(name).match(chr(point)) is not None for name in self.properties)

    def source(self, *, negated: bool = False) -> str:
        """The set for the engine, as one character class."""
        if not self.ranges and not self.properties:
            return r"[\x00-\U0010FFFF]" if negated else r"[^\x00-\U0010FFFF]"
        if not negated and not self.properties and len(self.ranges) == 1 and self.ranges[0][0] == self.ranges[0][1]:
            return escaped(self.ranges[0][0])
        return f"[{'^' if negated else ''}{''.join((*self._written(), *self.properties))}]"

    def _written(self) -> Iterator[str]:
        for low, high in self.ranges:
            yield escaped(low) if low == high else f"{escaped(low)}-{escaped(high)}"


def escaped(point: int) -> str:
    """One character for the engine, in or outside a class, with no meaning but itself."""
    char = chr(point)
    if char.isascii() and char.isalnum():
        return char
    return f"\\u{point:04X}" if point <= 0xFFFF else f"\\U{point:08X}"


def merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The same characters in sorted ranges that do not touch."""
    apart: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if apart and low <= apart[-1][1] + 1:
            apart[-1] = (apart[-1][0], max(apart[-1][1], high))
        else:
            apart.append((low, high))
    return tuple(apart)


@lru_cache(maxsize=64)
def _any_case(chars: CharSet, unicode: bool) -> CharSet:
    """The set with every variant of its characters; some ten milliseconds' work, and a pattern may name a set many times."""
    held = chars.cased(unicode=unicode)
    return chars | CharSet.of(*((other, other) for point in held for other in variants(point, unicode=unicode)))


@lru_cache(maxsize=256)
def _compiled(name: str) -> "regex.Pattern[str]":
    return regex.compile(name)


@lru_cache(maxsize=64)
def _having(name: str) -> Ranges:
    """The characters with a property."""
    everything = "".join(map(chr, range(LAST_POINT + 1)))
    return tuple((found.start(), found.end() - 1) for found in regex.finditer(f"{name}+", everything))


DIGITS = CharSet.of((0x30, 0x39))
WORDS = CharSet.of((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
SPACES = CharSet.of(
    (0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F),
    (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
)  # fmt: skip
LINE_ENDS = CharSet.of((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))

_CATEGORIES_NAMED = """
    C Other Cc Control cntrl Cf Format Cn Unassigned Co Private_Use Cs Surrogate L Letter LC Cased_Letter Ll
    Lowercase_Letter Lm Modifier_Letter Lo Other_Letter Lt Titlecase_Letter Lu Uppercase_Letter M Mark Combining_Mark Mc
    Spacing_Mark Me Enclosing_Mark Mn Nonspacing_Mark N Number Nd Decimal_Number digit Nl Letter_Number No Other_Number
    P Punctuation punct Pc Connector_Punctuation Pd Dash_Punctuation Pe Close_Punctuation Pf Final_Punctuation Pi
    Initial_Punctuation Po Other_Punctuation Ps Open_Punctuation S Symbol Sc Currency_Symbol Sk Modifier_Symbol Sm
    Math_Symbol So Other_Symbol Z Separator Zl Line_Separator Zp Paragraph_Separator Zs Space_Separator
"""
_CATEGORIES = frozenset(_CATEGORIES_NAMED.split())
_BINARY_NAMED = """
    ASCII_Hex_Digit AHex Alphabetic Alpha Bidi_Control Bidi_C Bidi_Mirrored Bidi_M Case_Ignorable CI Cased
    Changes_When_Casefolded CWCF Changes_When_Casemapped CWCM Changes_When_Lowercased CWL Changes_When_NFKC_Casefolded
    CWKCF Changes_When_Titlecased CWT Changes_When_Uppercased CWU Dash Default_Ignorable_Code_Point DI Deprecated Dep
    Diacritic Dia Emoji Emoji_Component EComp Emoji_Modifier EMod Emoji_Modifier_Base EBase Emoji_Presentation EPres
    Extended_Pictographic ExtPict Extender Ext Grapheme_Base Gr_Base Grapheme_Extend Gr_Ext Hex_Digit Hex
    IDS_Binary_Operator IDSB IDS_Trinary_Operator IDST ID_Continue IDC ID_Start IDS Ideographic Ideo Join_Control Join_C
    Logical_Order_Exception LOE Lowercase Lower Math Noncharacter_Code_Point NChar Pattern_Syntax Pat_Syn
    Pattern_White_Space Pat_WS Quotation_Mark QMark Radical Regional_Indicator RI Sentence_Terminal STerm Soft_Dotted SD
    Terminal_Punctuation Term Unified_Ideograph UIdeo Uppercase Upper Variation_Selector VS White_Space space
    XID_Continue XIDC XID_Start XIDS
"""
_BINARY = frozenset(_BINARY_NAMED.split())
_KEYED = {
    "General_Category": "gc", "gc": "gc", "Script": "sc", "sc": "sc", "Script_Extensions": "scx", "scx": "scx",
}  # fmt: skip


@lru_cache(maxsize=256)
def of_property(text: str) -> CharSet | None:
    """The characters that ``\\p{text}`` stands for; None where JavaScript has no such property, or the engine knows none."""
    key, equals, value = text.partition("=")
    if equals:
        if key not in _KEYED or (_KEYED[key] == "gc" and value not in _CATEGORIES):
            return None
        name = f"{_KEYED[key]}={value}"
    elif key == "Any":
        return CharSet.of((0, LAST_POINT))
    elif key == "ASCII":
        return CharSet.of((0, 0x7F))
    elif key == "Assigned":
        return CharSet((), (r"\P{gc=Cn}",))
    elif key in _CATEGORIES:
        name = f"gc={key}"
    elif key in _BINARY:
        name = key
    else:
        return None
    try:
        _compiled(f"\\p{{{name}}}")
    except regex.error:
        return None
    return CharSet((), (f"\\p{{{name}}}",))
