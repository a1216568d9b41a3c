"""A place in the text of a regular expression, and the error of one that is none."""

from typing import Final

_HEX: Final = frozenset("0123456789abcdefABCDEF")


class RegexError(ValueError):
    """A regular expression that JavaScript refuses, or that has no counterpart here; ``at`` counts characters from 0."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(f"at character {at + 1}: {reason}")
        self.reason = reason
        self.at = at


class Cursor:
    """Where the reading of a text has got to."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def more(self) -> bool:
        """Whether there is a character left."""
        return self.at < len(self.text)

    def next(self) -> str:
        """The next character, not taken; empty at the end."""
        return self.text[self.at : self.at + 1]

    def starts(self, words: str) -> bool:
        """Whether these characters are next."""
        return self.text.startswith(words, self.at)

    def take(self) -> str:
        """The next character; the cursor passes it. Raises RegexError at the end."""
        if not self.more():
            raise self.error("the pattern ends too early")
        self.at += 1
        return self.text[self.at - 1]

    def skip(self, words: str) -> bool:
        """Pass these characters if they are next; whether they were."""
        if not self.starts(words):
            return False
        self.at += len(words)
        return True

    def digits(self) -> str:
        """The decimal digits that are next, which the cursor passes."""
        start = self.at
        while self.next() and self.next() in "0123456789":
            self.at += 1
        return self.text[start : self.at]

    def hexadecimal(self, length: int) -> int | None:
        """A number of so many hexadecimal digits; None, and nothing passed, where there are fewer."""
        digits = self.text[self.at : self.at + length]
        if len(digits) < length or not _HEX.issuperset(digits):
            return None
        self.at += length
        return int(digits, 16)

    def until(self, end: str) -> str:
        """The characters before ``end``; the cursor passes both. Raises RegexError where there is none."""
        found = self.text.find(end, self.at)
        if found < 0:
            raise self.error(f"a {end!r} is missing")
        words = self.text[self.at : found]
        self.at = found + len(end)
        return words

    def error(self, reason: str, at: int | None = None) -> RegexError:
        """What is wrong here, or at another place."""
        return RegexError(reason, self.at if at is None else at)
