"""How SillyTavern reads what a script looks for, and how it replaces it.

SillyTavern 1.19 replaces with a function of its own, so of JavaScript's signs only ``$1`` and ``$<name>`` mean something here;
``$&`` and ``$$`` are themselves, and ``{{match}}`` is the whole match.
"""

import re
from collections.abc import Callable, Sequence
from math import inf
from typing import Final, TypeAlias

from agentui.regexes.cursor import RegexError
from agentui.regexes.javascript import MAX_TEXT, SEARCH_SECONDS, JsMatch, JsPattern, compile_js, joined

Expand: TypeAlias = Callable[[str], str]
"""Replaces the macros of a text."""

_MACRO: Final = re.compile(r"\{\{|<(?:user|bot|char|group)", re.IGNORECASE)
"""What a text with macros has somewhere."""
_FIND: Final = re.compile("(/?)([^\n\r\u2028\u2029]+)\\1([A-Za-z]*)")
_FLAGS: Final = frozenset("gmixXsuUAJ")
"""Letters that SillyTavern takes for flags; JavaScript refuses some of them."""
_MATCH: Final = re.compile(r"\{\{match\}\}", re.IGNORECASE)
_INSERTED: Final = re.compile(r"\$([0-9]+)|\$<([^>]+)>")
_SPECIAL: Final = re.compile(r"[\n\r\t\v\f\0.^$*+?{}\[\]\\/|()]")
_NAMED: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\f": "\\f", "\0": "\\0"}
_DIGITS: Final = 6
"""Digits of the highest number that a group may have."""


def compile_find(find: str) -> JsPattern:
    """
    The expression that a script looks for: ``/pattern/flags``, or a pattern alone, which has no flags.

    A text with flags that SillyTavern does not know (``y``, ``v``, one twice) is a pattern as a whole, slashes included; a
    pattern ends with its first line. Raises RegexError.
    """
    found = _FIND.search(find)
    if found is None:
        raise RegexError("there is no pattern", 0)
    flags = found[3]
    if flags and (len(set(flags)) < len(flags) or not _FLAGS.issuperset(flags)):
        return compile_js(find)
    return compile_js(found[2], flags)


def has_macros(text: str) -> bool:
    """Whether a text that a script puts in may have macros; ``{{match}}`` is none."""
    return _MACRO.search(_MATCH.sub("", text)) is not None


def escape_value(value: str) -> str:
    """A macro's value as an expression that matches it."""
    return _SPECIAL.sub(lambda found: _NAMED.get(found[0], "\\" + found[0]), value)


def expand_escaped(find: str, expand: Expand) -> str:
    """An expression with each of its macros replaced by an expression that matches the value; unknown ones stay."""
    pieces: list[str] = []
    at = 0
    for start, end in _macros_of(find):
        source = find[start:end]
        value = expand(source)
        pieces += (find[at:start], source if value == source else escape_value(value))
        at = end
    return "".join((*pieces, find[at:]))


def _macros_of(text: str) -> Sequence[tuple[int, int]]:
    """Where the macros of a text stand; one within another is a part of it."""
    found, opened = [], []
    for sign in re.finditer(r"\{\{|\}\}", text):
        if sign[0] == "{{":
            opened.append(sign.start())
        elif opened:
            start = opened.pop()
            if not opened:
                found.append((start, sign.end()))
    return found


def replace_js(
    text: str,
    pattern: JsPattern,
    replacement: str,
    *,
    trims: Sequence[str] = (),
    expand: Expand | None = None,
    limit: float = SEARCH_SECONDS,
    in_all: float = inf,
) -> tuple[str, int]:
    """
    The text with its matches replaced, and how many there were.

    ``$1`` and ``$<name>`` insert what a group matched, without the ``trims``; a group that there is not, or that matched
    nothing, inserts nothing. ``expand`` is for the trims, and for each piece that was put in and has a macro. ``limit`` and
    ``in_all`` are as in ``JsPattern.replace``. Raises TimeoutError, and RegexError for a text that is too long or becomes so.
    """
    template = _MATCH.sub("$0", replacement)
    trimmed = [pattern.units(expand(each) if expand and _MACRO.search(each) else each) for each in trims]
    count = inserted = 0

    def insert(match: JsMatch, sign: "re.Match[str]") -> str:
        nonlocal inserted
        text = _inserted(match, sign)
        inserted += len(text)
        if inserted > 2 * MAX_TEXT:  # told before the piece is there: a thousand signs may insert the whole text each
            raise RegexError(f"more than {MAX_TEXT} characters come of it", 0)
        return _trim(text, trimmed)

    def by(match: JsMatch) -> str:
        nonlocal count
        count += 1
        piece = _INSERTED.sub(lambda sign: insert(match, sign), template)
        return expand(joined(piece)) if expand and _MACRO.search(piece) else piece

    return pattern.replace(text, by, limit, in_all), count


def _inserted(match: JsMatch, sign: "re.Match[str]") -> str:
    """What a sign of the replacement stands for."""
    if sign[1]:
        return (match.group(int(sign[1])) if len(sign[1]) <= _DIGITS else None) or ""
    return match.named(sign[2]) or ""


def _trim(text: str, trims: Sequence[str]) -> str:
    for each in trims:
        text = text.replace(each, "") if each else text
    return text
