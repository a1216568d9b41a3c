"""JSON as models write it: between other words, in a fence, and with small mistakes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from agentui.jsonio import MAX_DEPTH, InvalidJson, Json, loads
from agentui.templating.core.values import CONSTANTS, is_in_range, join_surrogates, unescape

MAX_TEXT: Final = 1024 * 1024
"""Characters of a text in which JSON is looked for."""
_CANDIDATES: Final = 20
"""How many fenced blocks, objects and lists of a text are tried."""
_ENDLESS: Final = 3
"""How many of those that never end: every one is looked through to the end of the text."""

_FENCE = re.compile(r"^[ \t]*(```+|~~~+)[^\n`]*\n(.*?)(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_OPENING = re.compile(r"[{\[]")
_LIKELY = re.compile(r"\{\s*+(?:[\"'“‘`{}\[]|[\w$-]++\s*+:)|\[\s*+(?:[\"'“‘`{}\[\]]|[-0-9])")
"""How an object or a list begins that is none of prose."""
_SIGN = re.compile(r'["{}\[\]]')
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_SPACE = re.compile(r"(?:[\s\ufeff]++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)|#[^\n]*+)*+")
_BARE = re.compile(r"[^\s,:{}\[\]\"]++")
_BLANK = re.compile(r"\s*+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "`"}
_PLAIN = {quote: re.compile(rf"[^\\{end}]++") for quote, end in _QUOTES.items()}
_MAX_DIGITS = 400


class NoJson(ValueError):
    """A text in which there is no JSON; the message says what was looked for."""


@dataclass(frozen=True, slots=True)
class Found:
    """The JSON of a text, and whether mistakes in it were mended."""

    value: Json
    is_repaired: bool = False


def find_json(text: str, *, repair: bool = True) -> Found:
    """The JSON of a model's answer: the whole text, else the first fenced block that is JSON, else the longest object or
    list between other words; where none is without mistakes and ``repair`` is on, the first that begins like one, mended.

    Work is linear in the text. Raises NoJson.
    """
    if len(text) > MAX_TEXT:
        raise NoJson(f"the text is longer than {MAX_TEXT} characters")
    fenced = [match[2] for match in islice(_FENCE.finditer(text), _CANDIDATES)]
    # Where the first one is cut off, those within it are not what was meant.
    cut_off = _LIKELY.search(text) if repair else None
    balanced = [] if cut_off is not None and _end_of(text, cut_off.start()) is None else list(_balanced(text))
    for candidate in (text, *fenced, *sorted(balanced, key=len, reverse=True)):
        try:
            return Found(loads(candidate))
        except InvalidJson:
            continue
    for candidate in (*fenced, text) if repair else ():
        opening = _LIKELY.search(candidate)
        if opening is not None:
            return Found(_Repair(candidate, opening.start()).value(0), True)
    raise NoJson("there is no JSON object or list in the text")


def _balanced(text: str) -> Iterator[str]:
    """The objects and lists of a text that end, from the left; none within another one that ends."""
    at = endless = 0
    for _ in range(_CANDIDATES):
        opening = _OPENING.search(text, at)
        if opening is None or endless == _ENDLESS:
            return
        end = _end_of(text, opening.start())
        if end is None:
            at = opening.end()
            endless += 1
        else:
            yield text[opening.start() : end]
            at = end


def _end_of(text: str, start: int) -> int | None:
    """Where the object or list that begins at ``start`` ends; None where it does not."""
    depth, at = 0, start
    while (sign := _SIGN.search(text, at)) is not None:
        at = sign.end()
        if sign[0] == '"':
            string = _STRING.match(text, sign.start())
            if string is None:
                return None
            at = string.end()
        elif sign[0] in "{[":
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                return at
    return None


class _Repair:
    """Reads JSON and takes for meant what is nearly right: words without quotes, other quotes, quotes within texts, commas too
    many or too few, comments, and an end that is missing."""

    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self._at = at
        self._word = ""

    def value(self, depth: int) -> Json:
        """The value that comes next; null where nothing does. Raises NoJson for what nests too deep."""
        if depth > MAX_DEPTH:
            raise NoJson(f"the JSON is nested deeper than {MAX_DEPTH} levels")
        match self._sign():
            case "{":
                return self._object(depth)
            case "[":
                return self._list(depth)
            case quote if quote in _QUOTES and quote:
                return self._string(quote)
            case _:
                return self._bare()

    def _sign(self) -> str:
        """The next sign that is no space and no comment; "" at the end."""
        space = _SPACE.match(self._text, self._at)
        assert space is not None  # it matches nothing, too
        self._at = space.end()
        return self._text[self._at : self._at + 1]

    def _object(self, depth: int) -> dict[str, Json]:
        made: dict[str, Json] = {}
        self._at += 1
        while (sign := self._sign()) not in ("}", ""):
            if sign in ",:]":
                self._at += 1
                continue
            key = self.value(depth + 1)
            if isinstance(key, dict | list):  # braces that stand twice
                made.update(key if isinstance(key, dict) else {})
                continue
            made[key if isinstance(key, str) else self._word] = self._member(depth)
        self._at += 1
        return made

    def _member(self, depth: int) -> Json:
        if self._sign() != ":":
            return None
        self._at += 1
        return None if self._sign() in (",", "}", "") else self.value(depth + 1)

    def _list(self, depth: int) -> list[Json]:
        made: list[Json] = []
        self._at += 1
        while (sign := self._sign()) not in ("]", ""):
            if sign in ",:}":
                self._at += 1
                continue
            made.append(self.value(depth + 1))
        self._at += 1
        return made

    def _bare(self) -> Json:
        """A number, a word that is a value, or a text without quotes."""
        found = _BARE.match(self._text, self._at)
        if found is None:
            self._at += 1
            self._word = ""
            return None
        self._at = found.end()
        word = self._word = found[0]
        if word in CONSTANTS:
            return CONSTANTS[word]
        if len(word) <= _MAX_DIGITS and _NUMBER.fullmatch(word):
            number = float(word)
            if word.lstrip("+-").isdecimal() and abs(number) < 2**63:
                return int(word)
            return number if is_in_range(number) else word
        return None if word in ("NaN", "Infinity", "-Infinity", "undefined") else word

    def _string(self, quote: str) -> str:
        """A text in quotes; one within it is a part of the text, where no comma, colon or bracket follows."""
        end, plain, text = _QUOTES[quote], _PLAIN[quote], self._text
        pieces: list[str] = []
        self._at += 1
        while self._at < len(text):
            run = plain.match(text, self._at)
            if run is not None:
                pieces.append(run[0])
                self._at = run.end()
                continue
            if text[self._at] == "\\":
                pieces.append(text[self._at : self._at + 2])
                self._at += 2
                continue
            self._at += 1
            blank = _BLANK.match(text, self._at)
            assert blank is not None
            if text[blank.end() : blank.end() + 1] in (",", ":", "}", "]", ""):
                break
            pieces.append(end)
        return join_surrogates(unescape("".join(pieces))).encode("utf-8", "replace").decode()
