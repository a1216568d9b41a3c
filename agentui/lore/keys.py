"""Keys of entries: plain words, JavaScript's regular expressions, and keys with macros, which are one of both when replaced."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from agentui.lore.plain_keys import Needle
from agentui.regexes.cursor import RegexError
from agentui.regexes.javascript import JsPattern, compile_js

_WRITTEN: Final = re.compile(r"/(.+?)/([gimsuy]*)\Z", re.DOTALL)
_BARE_SLASH: Final = re.compile(r"(?:^|[^\\])/")
_MACRO: Final = re.compile(r"\{\{|<(?:user|bot|char)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Key:
    """One key. Exactly one of ``needle`` (its number) and ``pattern`` is there; neither, where macros stand in it."""

    text: str
    needle: int | None = None
    pattern: JsPattern | None = None

    @property
    def is_open(self) -> bool:
        """True while its macros are not replaced."""
        return self.needle is None and self.pattern is None


@dataclass(frozen=True, slots=True)
class KeyRules:
    """How an entry's plain keys are compared."""

    is_cased: bool
    is_whole: bool


class KeyReader:
    """Reads keys and gives every plain one a number; equal ones have the same. Numbers begin with ``first``."""

    def __init__(self, first: int = 0) -> None:
        self.needles: dict[Needle, int] = {}
        self._first = first

    def read(self, written: str, rules: KeyRules) -> Key | None:
        """The key of a text without macros; None where it is blank."""
        text = written.strip()
        if not text:
            return None
        pattern = pattern_of(text)
        if pattern is not None:
            return Key(text, pattern=pattern)
        needle = Needle.of(text, is_cased=rules.is_cased, is_whole=rules.is_whole)
        return Key(text, needle=self.needles.setdefault(needle, self._first + len(self.needles)))

    def read_all(self, texts: tuple[str, ...], rules: KeyRules) -> tuple[Key, ...]:
        """The keys of an entry; those with macros stay open, and blank ones are left out."""
        keys = (Key(text) if _MACRO.search(text) else self.read(text, rules) for text in texts)
        return tuple(key for key in keys if key is not None)

    def opened(self, keys: tuple[Key, ...], rules: KeyRules, expand: Callable[[str], str]) -> tuple[Key, ...]:
        """The keys with all macros replaced. One that comes to nothing is left out."""
        read = (self.read(expand(key.text), rules) if key.is_open else key for key in keys)
        return tuple(key for key in read if key is not None)


def pattern_of(text: str) -> JsPattern | None:
    """The regular expression that ``/pattern/flags`` writes; None for anything else, and for one that JavaScript refuses."""
    written = _WRITTEN.match(text)
    if written is None or _BARE_SLASH.search(written[1]):
        return None
    try:
        return compile_js(written[1], written[2])
    except RegexError:
        return None
