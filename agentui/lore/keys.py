"""Keys of entries: plain words, JavaScript's regular expressions, and keys with macros, which are one of both when replaced."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from agentui.assets.script import MOST_PATTERNS
from agentui.lore.plain_keys import Needle
from agentui.regexes.cursor import RegexError
from agentui.regexes.javascript import check_js

_WRITTEN: Final = re.compile(r"/(.+?)/([gimsuy]*)\Z", re.DOTALL)
_BARE_SLASH: Final = re.compile(r"(?:^|[^\\])/")
_MACRO: Final = re.compile(r"\{\{|<(?:user|bot|char)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Key:
    """One key. Exactly one of ``needle`` (its number) and ``pattern`` (a regular expression and its flags) is there; neither,
    where macros stand in it."""

    text: str
    needle: int | None = None
    pattern: tuple[str, str] | None = None

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
        self.left_out: list[str] = []
        """Regular expressions for which there was no room any more."""
        self._first = first
        self._patterns = 0

    def read(self, written: str, rules: KeyRules) -> Key | None:
        """The key of a text without macros; None where it is blank, and for an expression beyond what one lorebook may have of
        them (MOST_PATTERNS), which all together may have here."""
        text = written.strip()
        if not text:
            return None
        regex = written_of(text)
        if regex is not None:
            self._patterns += len(text)
            if self._patterns > MOST_PATTERNS:
                self.left_out.append(text)
                return None
            checked = checked_pattern(*regex)
            if checked is not None:
                return Key(text, pattern=checked)
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


def written_of(text: str) -> tuple[str, str] | None:
    """The pattern and the flags of a key that is written as ``/pattern/flags``; None for anything else."""
    written = _WRITTEN.match(text)
    return None if written is None or _BARE_SLASH.search(written[1]) else (written[1], written[2])


def checked_pattern(pattern: str, flags: str) -> tuple[str, str] | None:
    """An expression that JavaScript takes; None for one that it refuses. It is compiled when somebody looks for it."""
    try:
        check_js(pattern, flags)
    except RegexError:
        return None
    return pattern, flags
